"""Changes of a cluster that `kubestow what-if` tries out, and what is left of a cluster after them.

A change knows how a file says it (`document`); docs/what-if.md has the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .node import ZONE
from .snapshot import Snapshot

LIKE: Final = "like:"
"""What stands before the name of a node of the input that new ones are copies of."""


@dataclass(frozen=True, slots=True)
class AddNodes:
    """Nodes come: copies of a node group's template, or of a node of the input (`like:NODE`)."""

    source: str
    count: int = 1

    def document(self) -> dict[str, Any]:
        """Return the change as a file has it."""
        return {"addNodes": self.source, "count": self.count}


@dataclass(frozen=True, slots=True)
class RemoveNode:
    """A node is gone, and what ran on it."""

    node: str

    def document(self) -> dict[str, Any]:
        """Return the change as a file has it."""
        return {"remove": self.node}


@dataclass(frozen=True, slots=True)
class CordonNode:
    """A node takes no more pods, or takes some again."""

    node: str
    on: bool = True

    def document(self) -> dict[str, Any]:
        """Return the change as a file has it."""
        return {"cordon" if self.on else "uncordon": self.node}


@dataclass(frozen=True, slots=True)
class ZoneDown:
    """All nodes with a value of a label are gone."""

    value: str
    key: str = ZONE

    def document(self) -> dict[str, Any]:
        """Return the change as a file has it."""
        return {"zoneDown": self.value, **({} if self.key == ZONE else {"key": self.key})}


@dataclass(frozen=True, slots=True)
class ScaleWorkload:
    """A workload gets another number of replicas (a Job: of parallel pods)."""

    workload: str
    replicas: int

    def document(self) -> dict[str, Any]:
        """Return the change as a file has it."""
        return {"scale": self.workload, "replicas": self.replicas}


@dataclass(frozen=True, slots=True)
class SetField:
    """One field of an object gets a value; null takes the field away."""

    target: str
    path: str
    value: Any

    def document(self) -> dict[str, Any]:
        """Return the change as a file has it."""
        return {"set": self.target, "field": self.path, "value": self.value}


@dataclass(frozen=True, slots=True)
class Patch:
    """An object is patched: a JSON merge patch (RFC 7386)."""

    target: str
    merge: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """Return the change as a file has it."""
        return {"patch": self.target, "with": dict(self.merge)}


@dataclass(frozen=True, slots=True)
class UseProfile:
    """The scheduler has another configuration: a KubeSchedulerConfiguration."""

    configuration: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """Return the change as a file has it."""
        return {"profile": dict(self.configuration)}


@dataclass(frozen=True, slots=True)
class DeletePod:
    """A pod is gone at once, without the time that it takes to terminate."""

    pod: str

    def document(self) -> dict[str, Any]:
        """Return the change as a file has it."""
        return {"delete": self.pod}


Change = (
    AddNodes | RemoveNode | CordonNode | DeletePod | ZoneDown | ScaleWorkload | SetField | Patch | UseProfile
)


@dataclass(frozen=True, kw_only=True)
class ChangeSet:
    """Changes that are made together, one after the other.

    Attributes
    ----------
    name : str
        What the output calls them.
    title : str
        For people.
    node_groups : tuple of mapping
        Kubernetes objects: a Node for each group, of its name, with that node's ResourceSlices and CSINode.
    changes : tuple of Change
    """

    name: str
    title: str = ""
    node_groups: tuple[Mapping[str, Any], ...] = ()
    changes: tuple[Change, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the changes as a file has them."""
        return {
            "kind": "WhatIf",
            "name": self.name,
            **({"title": self.title} if self.title else {}),
            **({"nodeGroups": [dict(item) for item in self.node_groups]} if self.node_groups else {}),
            "changes": [change.document() for change in self.changes],
        }


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A cluster after changes, as the API server and the controllers would leave it at once.

    Attributes
    ----------
    change_set : ChangeSet
    snapshot : Snapshot
        Budgets still have the status of before.
    new_nodes, lost_nodes : tuple of str
        Names.
    made_again : mapping
        Pods whose node is gone and that their controllers make again, with that node.
    lost : tuple of str
        Pods whose node is gone and that have no controller.
    removed : tuple of str
        Pods that go without loss: those of DaemonSets and mirrors with their node, copies that are too many.
    new_pods : tuple of str
        Pods that a workload got.
    notes : tuple of str
        What the reader should know.
    """

    change_set: ChangeSet
    snapshot: Snapshot
    new_nodes: tuple[str, ...] = ()
    lost_nodes: tuple[str, ...] = ()
    made_again: Mapping[str, str] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    new_pods: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
