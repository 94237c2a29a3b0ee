"""The instances that a study takes from traces: openb's batches, SimKube's at their times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..instances import catalogue
from ..instances.files import read_files
from ..instances.openb import read_openb
from ..instances.openb_options import OpenbOptions
from ..instances.scenario_cluster import ClusterSource, read_cluster
from ..instances.scenario_reader import Section
from ..instances.trace_rounds import scan
from ..models.base import parse_duration
from ..models.errors import KubestowError
from ..models.scenario import SECOND
from .origins import Instance, OfTrace, Openb, beside, digest_of, there, trace_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..models.study_file import OpenbFiles, Source

_MOST_ROUNDS: Final = 10_000
"""How many rounds `every` may make: more are a slip of the pen."""


def instances_of_openb(source: Source, files: OpenbFiles, file: str, place: str) -> Iterator[Instance]:
    """Yield the trace as one batch, shuffled by each seed if seeds are given.

    Parameters
    ----------
    place : str
        Where the source stands in the study file.

    Raises
    ------
    KubestowError
        Where a table is not there, or an option is wrong.
    """
    nodes = there(file, f"{place}.openb.nodes", files.nodes)
    pods = there(file, f"{place}.openb.pods", files.pods)
    given = {name: _word(value) for name, value in source.arguments.items()}
    shuffles: list[dict[str, str]] = [{}]
    if "seeds" in source.model_fields_set:
        if "shuffle" in given:
            raise KubestowError("must say seeds or shuffle, not both")
        shuffles = [{"shuffle": str(seed)} for seed in source.seeds]
    digest = digest_of(read_openb(nodes, pods))
    for shuffle in shuffles:
        chosen = {**given, **shuffle}
        origin = Openb(nodes, pods, OpenbOptions.of(chosen.items()))
        words = "".join(f" {name}={value}" for name, value in chosen.items())
        yield Instance(f"{files.pods} on {files.nodes}{words}", source.family or files.pods, origin, digest)


def instances_of_trace(source: Source, trace: str, file: str, place: str) -> Iterator[Instance]:
    """Yield what a trace has at each time, or the whole of it.

    Parameters
    ----------
    place : str
        Where the source stands in the study file.

    Raises
    ------
    KubestowError
        Where the trace or its cluster cannot be read, or a time is beyond the trace.
    """
    path = there(file, f"{place}.trace", trace)
    cluster, words = _cluster(source, file, place)
    scanned = scan(Path(path))
    contents = list(read_files(cluster.paths))
    cluster.snapshot(name=file, contents=contents)  # refuses what the API server would
    digest = trace_digest(scanned.digest, contents)
    for at in _times(source, scanned.end):
        when = "" if at is None else f" at {_seconds(at)}"
        yield Instance(f"{trace}{words}{when}", source.family or trace, OfTrace(path, at, cluster), digest)


def _word(value: bool | int | float | str) -> str:
    """Return a value as the command line spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cluster(source: Source, file: str, place: str) -> tuple[ClusterSource, str]:
    """Return the cluster of a trace, and how an instance's name tells it from others."""
    if isinstance(source.cluster, str):
        path = beside(file, source.cluster)
        there = path if Path(path).exists() else catalogue.locate(source.cluster)
        return ClusterSource((there,)), f" on {source.cluster}"
    section = Section(file, f"{place}.cluster", source.cluster)
    folder = Path(file).parent if file != "-" else Path()
    found = read_cluster(section, folder, lambda name: _located(folder, name))
    nodes = sum(item.get("kind") == "Node" for item in found.objects)
    named = [Path(path).name for path in found.paths] + ([f"{nodes} node{'s'[: nodes > 1]}"] if nodes else [])
    return found, f" on {', '.join(named)}" if named else ""


def _located(folder: Path, name: str) -> str:
    path = folder / name
    return str(path) if path.exists() else catalogue.locate(name)


def _times(source: Source, end: int) -> list[int | None]:
    if source.every is not None:
        step = _nanoseconds(source.every)
        if step <= 0:
            raise KubestowError("every: must be longer than 0s")
        if end // step >= _MOST_ROUNDS:
            raise KubestowError(
                f"every: {source.every} gives {end // step + 1} rounds of {_seconds(end)}; "
                f"{_MOST_ROUNDS} is the most"
            )
        return list(range(0, end + 1, step))
    times = [_nanoseconds(each) for each in source.at]
    for written, at in zip(source.at, times, strict=True):
        if at > end:
            raise KubestowError(f"at: {written} is after the end of the trace, {_seconds(end)}")
    return [*times] or [None]


def _nanoseconds(text: str) -> int:
    return round(parse_duration(text) * SECOND)


def _seconds(time: int) -> str:
    return f"{time / SECOND:.9f}".rstrip("0").rstrip(".") + "s"
