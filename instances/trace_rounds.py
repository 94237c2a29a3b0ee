"""A trace of SimKube as a round: what there is at one time, or all that ever came.

The trace has no nodes of its own; the round's cluster comes beside it. Decided here:

- All pods wait: where they ran is another cluster's affair. A round is the whole cluster, packed anew.
- At a time there is what was applied until then and not deleted, in its last version, without the pods of no
  workload that were over by then.
- The whole trace as one batch has all that was ever applied, in its last version, whatever was deleted.
- Workloads have the pods that they lack (`expand`); DaemonSets, whose pods depend on nodes, have none.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ..models.errors import InputError
from ..models.pod import Pod
from ..models.scenario import SECOND
from .sktrace import TraceReader, opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ..models.features import FeatureGates
    from ..models.snapshot import Snapshot
    from .packed_stream import Readable
    from .scenario_cluster import ClusterSource
    from .sktrace import Item


class Scanned(NamedTuple):
    """What a trace is, without its objects.

    Attributes
    ----------
    digest : bytes
        SHA-256 of the file.
    end : int
        Nanoseconds from its first event to its last.
    """

    digest: bytes
    end: int


class TraceObjects(NamedTuple):
    """What a trace brings to a round.

    Attributes
    ----------
    digest : bytes
        SHA-256 of the file that these were read from.
    objects : list of mapping
        As they were posted.
    now : datetime
    notes : tuple of str
    """

    digest: bytes
    objects: list[Mapping[str, Any]]
    now: datetime
    notes: tuple[str, ...]


def scan(path: Path) -> Scanned:
    """Read a trace through; its objects are not looked into.

    Raises
    ------
    InputError
        Where it is no trace of version 2.
    KubestowError
        Without the extra `traces`.
    """
    with opened(path) as file:
        hashed = _Hashed(file)
        reader = TraceReader(str(path), hashed)
        for _ in reader.moments():
            pass
        return Scanned(hashed.digest(), reader.end)


def objects_at(path: Path, at: int | None) -> TraceObjects:
    """Read what a trace has at a time, or all of it.

    Parameters
    ----------
    at : int or None
        Nanoseconds from its first event; None takes the whole trace as one batch.
    """
    there: dict[tuple[str, str], _There] = {}
    with opened(path) as file:
        hashed = _Hashed(file)
        reader = TraceReader(str(path), hashed)
        for moment in reader.moments():
            if at is not None and moment.at > at:
                continue  # read on: the hash is of the whole file, and lives stand at its end
            for item in moment.applied:
                key = _key(item, str(path))
                since = there[key].since if key in there else moment.at
                there[key] = _There(item, since)
            if at is not None:
                for item in moment.deleted:
                    there.pop(_key(item, str(path)), None)
        digest = hashed.digest()
    kept = [each.item[1] for key, each in there.items() if at is None or not _over(reader, key, each, at)]
    now = datetime.fromtimestamp(reader.start, UTC) + timedelta(
        seconds=(reader.end if at is None else at) / SECOND
    )
    return TraceObjects(digest, list(kept), now, reader.notes())


def round_of(
    found: TraceObjects,
    cluster: ClusterSource,
    contents: list[tuple[str, bytes]],
    file: str,
    feature_gates: FeatureGates,
) -> Snapshot:
    """Put a trace's objects into a cluster.

    Parameters
    ----------
    contents : list of (str, bytes)
        The files of the cluster.
    file : str
        The trace, for messages.
    """
    snapshot = cluster.snapshot(
        name=file,
        contents=contents,
        more=found.objects,
        now=found.now,
        expand=True,
        feature_gates=feature_gates,
    )
    return replace(snapshot, notes=(*snapshot.notes, *found.notes))


class _There(NamedTuple):
    """An object that is there, and since when (nanoseconds)."""

    item: Item
    since: int


class _Hashed:
    """A file that is hashed as it is read."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def read(self, size: int, /) -> bytes:
        piece = self._file.read(size)
        self._hash.update(piece)
        return piece

    def digest(self) -> bytes:
        """Return the hash of the whole file, whatever was asked for so far."""
        for _ in iter(lambda: self.read(1 << 20), b""):
            pass
        return self._hash.digest()


def _key(item: Item, file: str) -> tuple[str, str]:
    model, raw = item
    match raw.get("metadata"):
        case {"name": str(name), **meta} if name:
            return raw["kind"], f"{meta.get('namespace') or 'default'}/{name}" if model.namespaced else name
    raise InputError(file, raw["kind"], "metadata.name", "required in a trace")


def _over(reader: TraceReader, key: tuple[str, str], there: _There, at: int) -> bool:
    """Whether a pod of no workload, there since a time, has ended by another."""
    kind, name = key
    return kind == Pod.__name__ and any(
        there.since <= (end - reader.start) * SECOND <= at for end in _ends(reader.lives.get(name, ()))
    )


def _ends(lives: Any) -> Iterator[int]:
    for life in lives:
        for each in life if isinstance(life, list) else ():
            match each:
                case {"Finished": [int(), int(end)]}:
                    yield end
