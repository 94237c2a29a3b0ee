"""The one place where errors become exit codes, and where the outside world tells a command to stop.

A fault is one line on stderr, whether a command finds it or click while it parses the arguments.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from io import BufferedWriter, RawIOBase, TextIOWrapper, UnsupportedOperation
from typing import TYPE_CHECKING, Any, Final, NoReturn, TextIO

import click

from .help import CommandGroup

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

DONE: Final = 0
INCOMPLETE: Final = 1
BAD_INPUT: Final = 2
BUG: Final = 70
INTERRUPTED: Final = 130
UNREAD: Final = 141


class Cli(CommandGroup):
    """The group of all commands, whose errors become exit codes."""

    _ends_process = False

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line and leave with its exit code."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        if sys.stderr is None:
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - it stays open to the end
        if sys.stdout is None:
            complain("error: output: is closed")
            sys.exit(BAD_INPUT)
        sys.stdout, sys.stderr = _whole(sys.stdout), _whole(sys.stderr)
        # Without arguments the command line is that of the process.
        self._ends_process = args is None and threading.current_thread() is threading.main_thread()
        try:
            with _terminated_like_interrupted():
                result = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
            code = result if isinstance(result, int) else DONE
        except click.ClickException as error:
            complain(f"error: {_line(error)}")
            code = error.exit_code if isinstance(error, click.UsageError) else BAD_INPUT
        except (KeyboardInterrupt, click.Abort):
            complain("interrupted")
            code = INTERRUPTED
        finally:
            if self._ends_process:
                _end_undisturbed()
        sys.exit(code)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the words before the command; help and version are written here."""
        with _exit_codes():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        with _exit_codes():
            result = super().invoke(ctx)
            # Flush now, so that a full disk or a closed pipe is known before Python ends.
            sys.stdout.flush()
            if self._ends_process:
                _end_undisturbed()
        return result


@contextmanager
def _exit_codes() -> Iterator[None]:
    """Turn each error into an exit code: what a user can cause is one line, everything else is a bug."""
    try:
        yield
    except (click.exceptions.Exit, click.ClickException):
        raise
    except BrokenPipeError:
        _drop(sys.stdout)
        raise click.exceptions.Exit(UNREAD) from None
    except (KeyboardInterrupt, click.Abort):
        complain("interrupted")
        raise click.exceptions.Exit(INTERRUPTED) from None
    except Exception as error:
        from ..models.errors import is_interrupt

        if is_interrupt(error):
            complain("interrupted")
            raise click.exceptions.Exit(INTERRUPTED) from None
        raise click.exceptions.Exit(_failed(error)) from None


@contextmanager
def before_a_plan() -> Iterator[None]:
    """Tell of a Ctrl-C that there was no plan yet when it came, or none that was replayed."""
    from ..models.errors import Unreplayed, is_interrupt

    try:
        yield
    except Unreplayed:
        complain("interrupted twice; the plan that was found is not printed, as it was not replayed")
        raise click.exceptions.Exit(INTERRUPTED) from None
    except BaseException as error:
        if not is_interrupt(error):
            raise
        complain("interrupted before a plan was found")
        raise click.exceptions.Exit(INTERRUPTED) from None


@contextmanager
def serving() -> Iterator[None]:
    """Let SIGTERM end a server with exit code 0, as that is how one is stopped; Ctrl-C ends it with 130."""
    from ..models.errors import is_interrupt

    asked = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        _interrupt(number, frame)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except BaseException as error:
        if not (asked and is_interrupt(error)):
            raise
        complain("terminated")
        raise click.exceptions.Exit(DONE) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def leave(code: int, words: str) -> NoReturn:
    """End a command whose answer is written, with words on stderr and an exit code."""
    sys.stdout.flush()
    complain(words)
    sys.exit(code)


def leave_early() -> NoReturn:
    """End a command that was interrupted and has printed the best plan that it had."""
    leave(INTERRUPTED, "interrupted; this was the best plan so far")


def _failed(error: Exception) -> int:
    """Report an error and return its exit code."""
    from ..models.errors import InternalError, KubestowError

    if isinstance(error, OSError) and error.errno is not None:
        _drop(sys.stdout)
        error = KubestowError(f"{error.filename or 'output'}: {error.strerror}")
    if isinstance(error, KubestowError):
        complain(f"error: {error}")
        return error.exit_code
    import traceback

    traceback.print_exception(error)
    if isinstance(error, InternalError) and error.dump:
        complain(f"what a developer needs to see it again is in {_dump(error.dump)}")
    complain("this is a bug in kubestow, not in your input")
    return BUG


def _whole(stream: TextIO) -> TextIO:
    """Return a stream that writes everything or fails.

    Under PYTHONUNBUFFERED text goes to the file without a buffer, and Python does not look at how much of it
    the system took.
    """
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, RawIOBase):
        return stream
    return TextIOWrapper(
        BufferedWriter(raw), encoding=stream.encoding, errors=stream.errors, write_through=True
    )


def complain(words: str) -> None:
    """Write a line to stderr, if anything takes it: the answer does not depend on that."""
    from ..reports.words import shown

    try:
        click.echo(f"kubestow: {shown(words)}", err=True)
    except OSError:  # stderr is closed: the exit code is all that is left
        _drop(sys.stderr)


def _line(error: click.ClickException) -> str:
    """Return what click complains of in one line, and where its help is."""
    words = " ".join(error.format_message().split())
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    return words if ctx is None else f"{words.rstrip('.')} (try '{ctx.command_path} --help')"


def _drop(stream: TextIO) -> None:
    """Forget what is still buffered: it would fail once more when Python flushes it on its way out."""
    with suppress(UnsupportedOperation):  # a stream in memory
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _dump(document: Mapping[str, Any]) -> str:
    import json
    import tempfile

    with tempfile.NamedTemporaryFile("w", prefix="kubestow-", suffix=".json", delete=False) as file:
        json.dump(document, file, indent=2, default=str)
    return file.name


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Make SIGTERM (`timeout`, a pod that is shut down) end a command as Ctrl-C does, with its best plan."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is _interrupt:
            signal.signal(signal.SIGTERM, before)


def _end_undisturbed() -> None:
    """Let signals change nothing more: the answer and the words are out, and the exit code is known.

    While Python ends, Ctrl-C would kill it by the signal or leave a traceback of what was being taken down,
    and SIGTERM would kill it.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> None:
    stop = signal.getsignal(signal.SIGINT)
    # A shell starts what runs in its background with Ctrl-C ignored; what asks to end is not.
    if callable(stop):
        stop(number, frame)
    else:
        raise KeyboardInterrupt
