"""How much a command says on stderr beside its answer: nothing, notes and progress, or what it is doing."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from .group import complain
from .help import shared_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..models.plan import Plan
    from ..reports.progress import Listener

F = TypeVar("F", bound="Callable[..., Any]")

PATIENCE: Final = 1.0
"""Seconds that a command may take without a word."""

_QUIET: Final = "kubestow.quiet"
_VERBOSE: Final = "kubestow.verbose"


def _note_flag(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    ctx.meta[f"kubestow.{param.name}"] = value
    if is_quiet() and is_verbose():
        raise click.UsageError("--quiet and --verbose do not go together", ctx)
    return value


def voice_options(function: F) -> F:
    """Give a command `-q` and `-v`; what they say is asked of this module, not of the command."""
    decorators = (
        shared_option(
            "-q",
            "--quiet",
            is_flag=True,
            expose_value=False,
            callback=_note_flag,
            help="No progress and no notes on stderr.",
        ),
        shared_option(
            "-v",
            "--verbose",
            is_flag=True,
            expose_value=False,
            callback=_note_flag,
            help="Also what is read, how the search goes, and what was checked.",
        ),
    )
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def is_quiet() -> bool:
    """Whether progress and notes are left out."""
    return _said(_QUIET)


def is_verbose() -> bool:
    """Whether what is done is told."""
    return _said(_VERBOSE)


def _said(flag: str) -> bool:
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(flag))


def note(words: str) -> None:
    """Write a note to stderr, unless notes are not wanted."""
    news(f"note: {words}")


def news(words: str) -> None:
    """Write how far a command is to stderr, unless that is not wanted."""
    if not is_quiet():
        complain(words)


def tell_solved(plan: Plan) -> None:
    """With --verbose, say what was solved and how."""
    if is_verbose():
        from ..reports.narration import what_was_solved

        news(what_was_solved(plan))


@contextmanager
def news_in_time() -> Iterator[Callable[[str], None]]:
    """Write news to stderr where the command still works on after `PATIENCE`, unless that is not wanted.

    Yields
    ------
    callable
        Takes the words.
    """
    timers: list[threading.Timer] = []
    quiet = is_quiet()  # the timer's thread has no context of click

    def say(words: str) -> None:
        timer = threading.Timer(PATIENCE, complain, (words,))
        timer.daemon = True
        timers.append(timer)
        if not quiet:
            timer.start()

    try:
        yield say
    finally:
        for timer in timers:
            timer.cancel()


@contextmanager
def progress_told() -> Iterator[Listener]:
    """Show where a command is: nowhere, on a live line, or with `--verbose` a line for each of its steps.

    Yields
    ------
    Listener
        What reading, greedy and the solver tell their progress to.
    """
    from ..reports.progress import ProgressReport, Silence

    if is_quiet():
        yield Silence()
    elif is_verbose():
        from ..reports.narration import Narrator

        yield Narrator(complain)
    else:
        with ProgressReport(sys.stderr) as progress:
            yield progress
