"""The command for studies of many instances: `kubestow study`."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..instances.dump import DUMP
from .group import INCOMPLETE, INTERRUPTED, leave
from .help import Command
from .inputs import OPENB, complete_instance, input_options, search_of, search_options, snapshots, stdin_once
from .live import live_options, refuse_stray
from .plugin import is_plugin
from .printing import Printing, printing
from .study_into import into_options, refuse_stray_options, study_into
from .voice import news

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

    from ..models.snapshot import Snapshot
    from ..models.study import StudiedInstance, Study


@click.command(
    cls=Command,
    epilog=f"""\b
Examples:
  kubestow study guard-service min-domains-upgrade
  {DUMP} > monday.json
  kubestow study monday.yaml tuesday.yaml -o csv
  kubestow study monday.yaml tuesday.yaml -o json --time-limit 300 --workers 2
  kubestow study monday.yaml --live
  kubestow study study.yaml --into results --workers 2
""",
)
@click.argument(
    "instances",
    nargs=-1,
    metavar="[INSTANCE]...",
    callback=stdin_once,
    shell_complete=complete_instance,
)
@into_options
@printing("wide", "csv", "json")
@live_options
@search_options
@input_options
def study(instances: tuple[str, ...], printing: Printing, **choices: Any) -> None:
    """Solve many instances with both schedulers, as one table.

    It has values, bounds, gaps and seconds. As many instances as there are workers are solved at a time, each
    with one thread, on this machine or on a Dask cluster; the time limit is for each of them. An instance
    that cannot be read or solved has a row with the reason, and the exit code is 1. Ctrl-C ends the study
    with the rows that are done. With --live the cluster as it is now is one more instance, the last.

    With --into the one argument is a study file: instances, schedulers, variants and seeds. Each of its runs
    is kept in the folder when it is done, and `kubestow study-report` has the statistics.
    """
    if choices["into"] is not None:
        with _interrupts_noted() as interrupted:
            study_into(instances, printing, choices, interrupted)
        return
    refuse_stray_options()
    from ..models.study import ERROR
    from ..solver.study import study as solve_all

    options = search_of(choices)
    number = 0

    def tell(row: StudiedInstance) -> None:
        nonlocal number
        number += 1
        told = row.error if row.status == ERROR else f"{row.instance}: {row.status}, {row.seconds} s"
        news(f"{number} of {len(loaded)}: {told}")

    with _interrupts_noted() as interrupted:
        loaded = _loaded(instances, choices, interrupted)
        result = solve_all(loaded, options, tell, interrupted)
        _write(result, printing)
    if result.interrupted:
        leave(INTERRUPTED, "interrupted; these are the instances that were done")
    failed = sum(row.status == ERROR for row in result.instances)
    if failed:
        leave(INCOMPLETE, f"{failed} of {len(loaded)} instances could not be solved")


def _loaded(
    instances: Sequence[str], choices: Mapping[str, Any], interrupted: Callable[[], bool]
) -> list[Snapshot | StudiedInstance]:
    """Read the instances; what cannot be read has its row already.

    Raises
    ------
    KubestowError
        Where not a single one can be read.
    """
    from ..models.errors import KubestowError
    from ..models.study import StudiedInstance
    from ..studies.reading import is_study

    live = choices["live"] or (is_plugin() and not instances)
    if not instances and not live:
        raise click.UsageError("what is needed is an INSTANCE, or --live")
    if not live:
        refuse_stray(choices)
    of_files = {**choices, "live": False, "context": None, "kubeconfig": None}
    names = [list(instances)] if choices["input_format"] == OPENB else [[name] for name in instances]
    groups: list[tuple[list[str], Mapping[str, Any]]] = [(group, of_files) for group in names if group]
    if live:
        groups.append(([], choices))
    loaded: list[Snapshot | StudiedInstance] = []
    first: KubestowError | None = None
    for group, how in groups:
        if interrupted():
            break
        try:
            loaded += [item.snapshot for item in snapshots(group, how)]
        except KubestowError as error:
            if group and group != ["-"] and is_study(group[0]):
                raise click.UsageError(f"{group[0]} is a study file: --into DIR runs it") from None
            first = first or error
            loaded.append(StudiedInstance.failed(" ".join(group) or "live", str(error)))
    if first is not None and all(isinstance(item, StudiedInstance) for item in loaded):
        raise first
    return loaded


def _write(result: Study, printing: Printing) -> None:
    from ..reports.study import study_csv, study_report

    if printing.output == "csv":
        click.echo(study_csv(result), nl=False)
    else:
        wide = printing.output == "wide"
        printing.emit(result.model_dump(by_alias=True), partial(study_report, result, wide=wide))
    sys.stdout.flush()


@contextmanager
def _interrupts_noted() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C tear nothing apart: it is noted, and what runs looks at it where it can stop.

    Yields
    ------
    callable
        Whether it came.
    """
    came = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True

    if threading.current_thread() is not threading.main_thread():
        yield lambda: came
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: came
    finally:
        signal.signal(signal.SIGINT, before)
