"""An instance of a study: where it comes from, and how a run reads it there.

An instance is read when it is planned, for its hash, and when it is run; a run solves what its own reading
has hashed, and refuses what is not what was planned.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from ..instances.files import read_files
from ..instances.generators.registry import generate
from ..instances.manifests import parse_snapshot, snapshot_of
from ..instances.openb import openb_objects, read_openb
from ..instances.trace_rounds import objects_at, round_of
from ..models.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..instances.openb_options import OpenbOptions
    from ..instances.scenario_cluster import ClusterSource
    from ..models.features import FeatureGates
    from ..models.snapshot import Snapshot


class Origin(Protocol):
    """Where an instance comes from."""

    def definition(self) -> dict[str, Any]:
        """Return what makes it this instance beside its name and its hash, as a JSON value."""

    def load(self, name: str, gates: FeatureGates) -> tuple[Snapshot, str]:
        """Read the instance: its snapshot, and the hash of what it was read from.

        Raises
        ------
        InputError
            Where it cannot be read.
        """


@dataclass(frozen=True)
class Instance:
    """One instance of a study.

    Attributes
    ----------
    name : str
        As the study file spells it; of a generated one the generator, its arguments and its seed.
    family : str
    origin : Origin
    digest : str
        SHA-256 of what it is read from when the study is planned; empty where it cannot be read, or is
        generated.
    """

    name: str
    family: str
    origin: Origin
    digest: str = ""

    def definition(self) -> dict[str, Any]:
        """Return what makes it this instance, as a JSON value."""
        if isinstance(self.origin, Generated):
            return self.origin.definition()
        return {"name": self.name, "sha256": self.digest, **self.origin.definition()}


def beside(file: str, path: str) -> str:
    """Return a path of a study file from where kubestow runs."""
    return str(Path(file).parent / path) if file != "-" else path


def there(file: str, field: str, path: str) -> str:
    """Return a file or folder that a study file names, from where kubestow runs.

    Raises
    ------
    InputError
        Where there is none, naming the field.
    """
    found = beside(file, path)
    if not Path(found).exists():
        raise InputError(file, "", field, f"{path}: no such file")
    return found


def digest_of(contents: Iterable[tuple[str, bytes]]) -> str:
    """Return SHA-256 of the contents of files, in their order; their names play no part."""
    return combined(hashlib.sha256(content).digest() for _, content in contents)


def combined(digests: Iterable[bytes]) -> str:
    """Return one hash for the SHA-256 of several files."""
    total = hashlib.sha256()
    for digest in digests:
        total.update(digest)
    return total.hexdigest()


@dataclass(frozen=True)
class Files:
    """A file, or a folder with all that is in it."""

    path: str

    def definition(self) -> dict[str, Any]:
        """Nothing beside name and hash."""
        return {}

    def load(self, name: str, gates: FeatureGates) -> tuple[Snapshot, str]:
        """Read it."""
        contents = list(read_files([self.path]))
        return parse_snapshot(contents, name=name, feature_gates=gates), digest_of(contents)


@dataclass(frozen=True)
class Generated:
    """A round of a generator; `arguments` are its knobs, the seed among them."""

    generator: str
    arguments: tuple[tuple[str, int | float | str], ...]

    def definition(self) -> dict[str, Any]:
        """Return generator and arguments."""
        return {"generate": self.generator, "with": dict(self.arguments)}

    def load(self, name: str, gates: FeatureGates) -> tuple[Snapshot, str]:
        """Make it; its hash is that of its objects."""
        arguments: dict[str, Any] = dict(self.arguments)
        objects = generate(self.generator, **arguments)
        return snapshot_of(objects, name=name, feature_gates=gates), digest_of([("", orjson.dumps(objects))])


@dataclass(frozen=True)
class Openb:
    """The openb trace as one batch."""

    nodes: str
    pods: str
    options: OpenbOptions

    def definition(self) -> dict[str, Any]:
        """Return the options."""
        return {"openb": asdict(self.options)}

    def load(self, name: str, gates: FeatureGates) -> tuple[Snapshot, str]:
        """Read the two tables; the hash is of the nodes first."""
        tables = read_openb(self.nodes, self.pods)
        objects = openb_objects(*tables, self.options)
        return snapshot_of(objects, name=name, feature_gates=gates), digest_of(tables)


@dataclass(frozen=True)
class OfTrace:
    """A trace of SimKube at a time (nanoseconds), or as one batch, in a cluster."""

    path: str
    at: int | None
    cluster: ClusterSource

    def definition(self) -> dict[str, Any]:
        """Return the time, and what the cluster has beside its files."""
        return {"at": self.at, "objects": list(self.cluster.objects)}

    def load(self, name: str, gates: FeatureGates) -> tuple[Snapshot, str]:
        """Read trace and cluster; the hash is of the trace first."""
        contents = list(read_files(self.cluster.paths))
        found = objects_at(Path(self.path), self.at)
        snapshot = round_of(found, self.cluster, contents, self.path, gates)
        return replace(snapshot, name=name), trace_digest(found.digest, contents)


def trace_digest(trace: bytes, cluster: Iterable[tuple[str, bytes]]) -> str:
    """Return the hash of a trace and of the files of its cluster."""
    return combined([trace, *(hashlib.sha256(content).digest() for _, content in cluster)])
