"""What has been read of pods and nodes, for the clusters that follow: it goes by the identity of objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...models.requests import in_units
from .podinfo import RequestsIndex

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from ...models.features import FeatureGates
    from ...models.node import Node
    from ...models.pod import Pod
    from .podinfo import PodInfo, Requests

# Entries beyond which a table is not handed on: what no pod has any more is never dropped one by one, and a
# signature takes about a kilobyte.
_MOST: Final = 30_000


class Readings:
    """What a cluster has read, with what it takes over from one that reads pods in the same way.

    Parameters
    ----------
    gates : FeatureGates
    before : Readings, optional
        Of the other cluster.

    Attributes
    ----------
    pods, nodes : dict
        What was read, by the identity of the object.
    wanted : RequestsIndex
    signatures : dict
        Pods' signatures (`index.signature`), numbered. A number means the same to all clusters that share the
        table, which have the same resources.
    """

    def __init__(self, gates: FeatureGates, before: Readings | None) -> None:
        self.pods: dict[int, tuple[Pod, PodInfo, Requests]] = {}
        self.nodes: dict[int, tuple[Node, Mapping[str, int]]] = {}
        self._pods_before = {} if before is None else before.pods
        self._nodes_before = {} if before is None else before.nodes
        self.wanted = RequestsIndex(gates)
        self.signatures: dict[Hashable, int] = {}
        self.resources: tuple[str, ...] = ()
        if before is not None and len(before.wanted) <= _MOST:
            self.wanted = before.wanted
        if before is not None:
            self.signatures, self.resources = before.signatures, before.resources

    def known(self, pod: Pod) -> tuple[PodInfo, Requests] | None:
        """Return what the other cluster has read of a pod; None where that is nothing."""
        found = self._pods_before.get(id(pod))
        return None if found is None else found[1:]

    def keep(self, pod: Pod, info: PodInfo, requests: Requests) -> None:
        """Keep what was read of a pod."""
        self.pods[id(pod)] = pod, info, requests

    def offered(self, node: Node) -> Mapping[str, int]:
        """Return what a node has, in the scheduler's units."""
        found = self._nodes_before.get(id(node)) or (node, in_units(node.status.allocatable))
        self.nodes[id(node)] = found
        return found[1]

    def begin_signatures(self, resources: tuple[str, ...]) -> bool:
        """Whether the signatures taken over are forgotten, since they are about other resources."""
        forgotten = resources != self.resources
        if forgotten:
            self.signatures, self.resources = {}, resources
        return forgotten

    def end(self) -> None:
        """Take nothing more over, and hand on no table that is too large."""
        self._pods_before, self._nodes_before = {}, {}
        if len(self.signatures) > _MOST:
            self.signatures, self.resources = {}, ()
