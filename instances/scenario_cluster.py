"""The cluster of a scenario: an instance, files, objects in place, equal nodes written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..models.node import ZONE
from .crowds import MOST_PODS
from .files import read_files
from .manifests import parse_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from ..models.features import FeatureGates
    from ..models.snapshot import Snapshot
    from .scenario_reader import Section

HOST: Final = "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True)
class ClusterSource:
    """What a cluster is read from.

    Attributes
    ----------
    paths : tuple of str
        Files and folders.
    objects : tuple of mapping
        Raw objects beside those of the files.
    whole : bool
        Whether the one path is an instance, which has to have objects of its own.
    """

    paths: tuple[str, ...]
    objects: tuple[Mapping[str, Any], ...] = ()
    whole: bool = False

    def snapshot(
        self,
        *,
        name: str,
        contents: Iterable[tuple[str, bytes]] | None = None,
        more: Iterable[Mapping[str, Any]] = (),
        now: datetime | None = None,
        expand: bool = False,
        feature_gates: FeatureGates | None = None,
    ) -> Snapshot:
        """Read the cluster; `more` are raw objects that come to it, otherwise as `parse_snapshot`."""
        raw = [*self.objects, *more]
        return parse_snapshot(
            read_files(self.paths) if contents is None else contents,
            name=name,
            more=None if self.whole and not raw else raw,
            now=now,
            expand=expand,
            feature_gates=feature_gates,
        )


def read_cluster(section: Section, folder: Path, locate: Callable[[str], str]) -> ClusterSource:
    """Read the section `cluster`.

    Parameters
    ----------
    folder : Path
        What paths are relative to.
    locate : callable
        From an instance's name to what to read.
    """
    instance, files = section.text("instance", ""), section.texts("files")
    objects = section.list_of("objects")
    if "" in files:
        raise section.fault(f"files[{files.index('')}]", "is no file or folder; the scenario's own is '.'")
    if instance and (files or objects):
        raise section.fault("instance", "is the whole cluster; files and objects cannot be given as well")
    nodes = [node for each in section.sections("nodes") for node in _equal_nodes(each)]
    section.close()
    if instance and nodes:
        raise section.fault("nodes", "cannot be added to an instance")
    if instance:
        return ClusterSource((locate(instance),), whole=True)
    for index, item in enumerate(objects):
        if not isinstance(item, dict):
            raise section.fault(f"objects[{index}]", "is no Kubernetes object (a map)")
    return ClusterSource(tuple(str(folder / path) for path in files), (*objects, *nodes))


def _equal_nodes(section: Section) -> list[dict[str, Any]]:
    """Write equal nodes out, spread over zones in turn."""
    number, prefix = section.whole("count", 1), section.text("name", "node")
    if number > MOST_PODS:
        raise section.fault("count", f"must be at most {MOST_PODS}, not {number}")
    zones, labels = section.texts("zones"), section.strings("labels")
    allocatable, taints = section.mapping("allocatable"), section.list_of("taints")
    section.close()
    if not allocatable:
        raise section.fault("allocatable", "required")
    found = []
    for k in range(number):
        name = f"{prefix}-{k}"
        zone = {ZONE: zones[k % len(zones)]} if zones else {}
        found.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": {HOST: name, **zone, **labels}},
                "spec": {"taints": list(taints)},
                "status": {"allocatable": {"pods": "110", **allocatable}},
            }
        )
    return found
