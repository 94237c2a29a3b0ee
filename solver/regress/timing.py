"""Two installed versions of kubestow side by side: processor seconds of the same rounds, in turns.

Each round is one process, from its start to its end, so that nothing of one version is warm for the other.
Processor time is that of the process and of all that it started; other work on the machine lengthens it less
than the time of a clock.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

from ...models.errors import KubestowError
from ...models.regress import TimedInstance, Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_PATIENCE: Final = 60.0
"""Seconds within which a program says its version."""

# Without what stands in the current folder: it may hold another kubestow.
_MODULE: Final = ("-P", "-m", "kubestow")


@dataclass(frozen=True)
class Installed:
    """An installed kubestow: how it is called, and its version."""

    command: tuple[str, ...]
    version: str


def this_kubestow(version: str) -> Installed:
    """Return the kubestow that runs now."""
    return Installed((sys.executable, *_MODULE), version)


def other_kubestow(path: str) -> Installed:
    """Return the kubestow of an interpreter that has it installed, or of its own executable.

    Raises
    ------
    KubestowError
        Where the path is neither.
    """
    for command in ((path, *_MODULE), (path,)):
        try:
            answer = subprocess.run(
                [*command, "--version"], capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            break
        name, comma, version = answer.stdout.strip().partition(", version ")
        if answer.returncode == 0 and name == "kubestow" and comma:
            return Installed(command, version)
    raise KubestowError(
        f"--against: {path} is neither a Python that has kubestow installed nor the executable of one"
    )


def in_turns(
    ours: Installed,
    other: Installed,
    calls: Mapping[str, Sequence[str]],
    *,
    repeats: int,
    max_ratio: float | None,
    watch: Callable[[TimedInstance], None],
) -> Timing:
    """Time the same calls of two versions, one after the other, again and again.

    Parameters
    ----------
    calls : mapping
        Name of a round -> the arguments of `kubestow` that solve it.
    repeats : int
        Times that each is run by each; the medians are compared. Who begins changes each time.
    max_ratio : float or None
        The ratio of the medians beyond which a round is slower, and the sum over all of them.
    watch : callable
        Called with each round when it is timed.
    """
    rows = []
    for name, arguments in calls.items():
        row = _timed(name, arguments, ours, other, repeats)
        watch(row)
        rows.append(row)
    good = [row for row in rows if row.error is None]
    if good:
        seconds = sum(row.seconds or 0.0 for row in good)
        other_seconds = sum(row.other_seconds or 0.0 for row in good)
        rows.append(_row(None, seconds, other_seconds))
    slower = tuple(
        row.instance or "all together"
        for row in rows
        if max_ratio is not None and row.ratio is not None and row.ratio > max_ratio
    )
    return Timing(
        version=ours.version,
        other_version=other.version,
        repeats=repeats,
        max_ratio=max_ratio,
        instances=tuple(rows),
        slower=slower,
    )


def _timed(
    name: str, arguments: Sequence[str], ours: Installed, other: Installed, repeats: int
) -> TimedInstance:
    seconds: dict[Installed, list[float]] = {ours: [], other: []}
    for turn in range(repeats):
        for who in (ours, other) if turn % 2 == 0 else (other, ours):
            try:
                seconds[who].append(_processor_seconds([*who.command, *arguments]))
            except KubestowError as error:
                return TimedInstance(
                    instance=name,
                    seconds=None,
                    other_seconds=None,
                    ratio=None,
                    error=f"kubestow {who.version} failed: {error}",
                )
    return _row(name, median(seconds[ours]), median(seconds[other]))


def _row(name: str | None, seconds: float, other_seconds: float) -> TimedInstance:
    return TimedInstance(
        instance=name,
        seconds=round(seconds, 3),
        other_seconds=round(other_seconds, 3),
        ratio=round(seconds / other_seconds, 3) if other_seconds else None,
    )


def _processor_seconds(command: Sequence[str]) -> float:
    """Run a command to its end; what it prints is dropped.

    Raises
    ------
    KubestowError
        Where it fails, with the last line that it wrote to stderr.
    """
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=words)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            words.seek(0)
            lines = words.read().decode(errors="replace").strip().splitlines()
            raise KubestowError(lines[-1] if lines else f"exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime
