"""Nodes that come, go and are cordoned.

A copy of a node has its labels (its own name apart), taints, allocatable, devices and volume limits; it has
no pods, no images, and no taint that a condition or a cordon put there.

Sources: kubernetes pkg/controller/{podgc,nodelifecycle}; autoscaler cluster-autoscaler/utils/taints.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Final

from ...models.changes import LIKE, AddNodes, Changed, CordonNode, RemoveNode, ZoneDown
from ...models.daemons import is_daemon, node_meant
from ...models.errors import KubestowError
from ...models.leaving import fate_of, without_pods
from ...models.node import Node, NodeSpec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ...models.pod import Pod
    from ...models.resource_api import ResourceSlice
    from ...models.snapshot import Snapshot

HOST: Final = "kubernetes.io/hostname"
MOST_NODES: Final = 10_000
"""Nodes that one change may bring; Kubernetes is made for 5,000."""

_PASSING: Final = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
)
"""Beginnings of taints that come from a node's state."""


def _node(snapshot: Snapshot, name: str) -> Node:
    for node in snapshot.nodes:
        if node.name == name:
            return node
    raise KubestowError(f"there is no Node {name} in the input")


# -- cordons ------------------------------------------------------------


def cordon(changed: Changed, change: CordonNode) -> Changed:
    """Make a node unschedulable, or schedulable again."""
    snapshot = changed.snapshot
    old = _node(snapshot, change.node)
    taints = tuple(
        taint for taint in old.spec.taints if change.on or taint.key != "node.kubernetes.io/unschedulable"
    )
    spec = old.spec.model_copy(update={"unschedulable": change.on, "taints": taints})
    new = old.model_copy(update={"spec": spec})
    nodes = tuple(new if node is old else node for node in snapshot.nodes)
    return replace(changed, snapshot=replace(snapshot, nodes=nodes))


# -- nodes that go ------------------------------------------------------------


def zone_down(changed: Changed, change: ZoneDown) -> Changed:
    """Take all nodes of a zone away."""
    nodes = [node for node in changed.snapshot.nodes if node.metadata.labels.get(change.key) == change.value]
    if not nodes:
        values = sorted({node.metadata.labels.get(change.key, "") for node in changed.snapshot.nodes} - {""})
        known = ", ".join(values) or "none"
        raise KubestowError(f"no node has the label {change.key}={change.value}; there are: {known}")
    return _without(changed, {node.name for node in nodes})


def remove(changed: Changed, change: RemoveNode) -> Changed:
    """Take a node away."""
    return _without(changed, {_node(changed.snapshot, change.node).name})


def _without(changed: Changed, names: Collection[str]) -> Changed:
    """Take nodes away with what is theirs; pods that have a controller are made again."""
    snapshot = changed.snapshot
    left = _Left(snapshot.pods, names)
    snapshot = without_pods(snapshot, {*left.lost, *left.removed}, left.again)
    snapshot = replace(
        snapshot,
        nodes=tuple(node for node in snapshot.nodes if node.name not in names),
        pods=tuple(_not_nominated(pod, names) for pod in snapshot.pods),
        csi_nodes=tuple(item for item in snapshot.csi_nodes if item.name not in names),
        resource_slices=tuple(item for item in snapshot.resource_slices if item.spec.node_name not in names),
        volume_attachments=tuple(
            item for item in snapshot.volume_attachments if item.spec.node_name not in names
        ),
    )
    return replace(
        changed,
        snapshot=snapshot,
        new_nodes=tuple(name for name in changed.new_nodes if name not in names),
        lost_nodes=(*changed.lost_nodes, *(name for name in names if name not in changed.new_nodes)),
        made_again={**changed.made_again, **left.again},
        lost=(*changed.lost, *left.lost),
        removed=(*changed.removed, *left.removed),
    )


class _Left:
    """The pods of nodes that are gone: made again, lost, or removed without loss."""

    def __init__(self, pods: Collection[Pod], names: Collection[str]) -> None:
        self.again: dict[str, str] = {}
        self.lost: list[str] = []
        self.removed: list[str] = []
        for pod in pods:
            if is_daemon(pod):
                if node_meant(pod) in names:
                    self.removed.append(pod.key)
            elif pod.spec.node_name in names:
                self._place(pod)

    def _place(self, pod: Pod) -> None:
        match fate_of(pod):
            case "removed":
                self.removed.append(pod.key)
            case "lost":
                self.lost.append(pod.key)
            case "again":
                self.again[pod.key] = pod.spec.node_name or ""


def _not_nominated(pod: Pod, names: Collection[str]) -> Pod:
    if pod.status.nominated_node_name not in names:
        return pod
    return pod.model_copy(update={"status": pod.status.model_copy(update={"nominated_node_name": None})})


# -- nodes that come ------------------------------------------------------------


@dataclass(frozen=True)
class _Copy:
    """One new node, made of another."""

    template: Snapshot
    source: Node
    name: str

    def node(self) -> Node:
        """Return the node itself."""
        labels = {
            key: self.name if text == self.source.name else text
            for key, text in self.source.metadata.labels.items()
        }
        spec = self.source.spec
        return self.source.model_copy(
            update={
                "metadata": self.source.metadata.model_copy(
                    update={
                        "name": self.name,
                        "uid": "",
                        "labels": {**labels, HOST: self.name},
                        "creation_timestamp": self.template.now,
                    }
                ),
                "spec": NodeSpec(
                    taints=tuple(taint for taint in spec.taints if not taint.key.startswith(_PASSING))
                ),
                "status": self.source.status.model_copy(update={"images": (), "conditions": ()}),
            }
        )

    def slices(self) -> Iterator[ResourceSlice]:
        """Yield the devices of the node, each pool under a name of its own."""
        for item in self.template.resource_slices:
            if item.spec.node_name == self.source.name:
                pool = item.spec.pool.model_copy(update={"name": self._renamed(item.spec.pool.name)})
                spec = item.spec.model_copy(update={"node_name": self.name, "pool": pool})
                yield item.model_copy(update={"metadata": self._meta(item), "spec": spec})

    def csi_nodes(self) -> Iterator[Any]:
        """Yield the volume limits of the node."""
        for item in self.template.csi_nodes:
            if item.name == self.source.name:
                yield item.model_copy(update={"metadata": self._meta(item)})

    def _meta(self, item: Any) -> Any:
        return item.metadata.model_copy(update={"name": self._renamed(item.name), "uid": ""})

    def _renamed(self, name: str) -> str:
        return self.name if name == self.source.name else f"{name}-{self.name}"


def add(changed: Changed, change: AddNodes, original: Snapshot, groups: Snapshot | None) -> Changed:
    """Add copies of a node group's template, or of a node of the input as it was before all changes."""
    group = change.source.removeprefix(LIKE)
    if change.source.startswith(LIKE):
        template, source = original, _node(original, group)
    else:
        known = {node.name: node for node in groups.nodes} if groups is not None else {}
        if groups is None or group not in known:
            names = ", ".join(sorted(known)) or "none"
            words = f"there are: {names} (or {LIKE}NODE, as a node of the input)"
            raise KubestowError(f"there is no node group {group!r}; {words}")
        template, source = groups, known[group]
    if not 1 <= change.count <= MOST_NODES:
        raise KubestowError(f"{change.count} nodes cannot be added; from 1 to {MOST_NODES} can")
    snapshot = changed.snapshot
    taken = {*changed.lost_nodes, *(node.name for node in snapshot.nodes)}
    free = (name for k in count(1) if (name := f"{group}-new-{k}") not in taken)
    copies = [_Copy(replace(template, now=snapshot.now), source, name) for name in islice(free, change.count)]
    return replace(
        changed,
        snapshot=replace(
            snapshot,
            nodes=(*snapshot.nodes, *(copy.node() for copy in copies)),
            resource_slices=(*snapshot.resource_slices, *(item for copy in copies for item in copy.slices())),
            csi_nodes=(*snapshot.csi_nodes, *(item for copy in copies for item in copy.csi_nodes())),
        ),
        new_nodes=(*changed.new_nodes, *(copy.name for copy in copies)),
        notes=(*changed.notes, *_unknown_daemons(original, source.name)),
    )


def _unknown_daemons(snapshot: Snapshot, node: str) -> list[str]:
    """Return a line for each DaemonSet that has a pod on a node and is not in the input."""
    known = {item.key for item in snapshot.daemon_sets}
    owners = {
        f"{pod.namespace}/{owner.name}": None
        for pod in snapshot.pods
        if pod.spec.node_name == node and is_daemon(pod)
        for owner in [pod.metadata.controller]
        if owner is not None
    }
    return [
        f"DaemonSet {key} is not in the input: new nodes have no pod of it"
        for key in owners
        if key not in known
    ]
