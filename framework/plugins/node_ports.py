"""NodePorts: two pods on a node cannot have the same host port.

Source: kube-scheduler 1.34.1 plugins/nodeports.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ..index.matchers import Matcher
from ..index.missing import Missing, named
from ..index.ports import HostPort, conflict
from ..vocabulary import names
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.status import Code
from .base import LocalFilter, Nodes, Verdicts

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State

REASON: Final = "node(s) didn't have free ports for the requested pod ports"


@dataclass(slots=True, eq=False)
class _Wanted:
    matcher: Matcher
    taken: Ints


@dataclass(slots=True, eq=False)
class _Fork:
    matcher: Matcher
    node: int
    taken: int


class NodePorts(LocalFilter):
    """Rejects nodes where a pod holds a host port that the pod wants."""

    name: ClassVar[str] = names.NODE_PORTS
    codes: ClassVar[tuple[Code, ...]] = (Code.SUCCESS, Code.UNSCHEDULABLE)

    def is_settled(self, i: int) -> bool:
        """Whether the pod has no host ports."""
        return not self.cluster.pods[i].ports

    def pre_filter(self, state: "State", i: int) -> _Wanted | None:
        """Count the pods in the way on each node; skips a pod without host ports."""
        ports = self.cluster.pods[i].ports
        if not ports:
            return None
        matcher = port_matcher(self.cluster, ports)
        return _Wanted(matcher, state.counts(matcher))

    def missing(self, fork: _Fork, verdict: int, state: "State", i: int) -> tuple[Missing, ...]:
        """Name each port that is taken, and by whom."""
        cluster = self.cluster
        there = [j for j in state.pods_on(fork.node) if cluster.pods[j].ports]
        found: list[Missing] = []
        for port in sorted(cluster.pods[i].ports):
            holders = [j for j in there if conflict((port,), cluster.pods[j].ports)]
            if holders:
                name = f"{port.port}/{port.protocol}"
                text = f"host port {name} is taken by {named(cluster, holders)}"
                facts = {"port": port.port, "pods": [cluster.pods[j].key for j in holders]}
                found.append(Missing(f"host port {name}", text, facts=facts))
        return tuple(found)

    def judge(self, data: _Wanted, state: "State", i: int, nodes: Nodes) -> Verdicts:
        """Judge some nodes."""
        return (data.taken[nodes] > 0).astype(np.uint8)

    def fork(self, data: _Wanted, state: "State", i: int, n: int) -> _Fork:
        """Return how many pods are in the way on the node."""
        return _Fork(data.matcher, n, int(data.taken[n]))

    def concerned(self, data: _Wanted) -> Bools:
        """Say which pods hold one of the ports."""
        return data.matcher.weights[self.cluster.unit_of] > 0

    def add(self, fork: _Fork, j: int) -> None:
        """Count pod j."""
        fork.taken += int(fork.matcher.weights[self.cluster.pods[j].unit])

    def remove(self, fork: _Fork, j: int) -> None:
        """Count pod j no longer."""
        fork.taken -= int(fork.matcher.weights[self.cluster.pods[j].unit])

    def check(self, fork: _Fork) -> int:
        """Judge the node."""
        return int(fork.taken > 0)

    def reasons(self, fork: _Fork, verdict: int) -> tuple[str, ...]:
        """Say that a port is taken."""
        return (REASON,)


def port_matcher(cluster: "Cluster", wanted: frozenset[HostPort]) -> Matcher:
    """Return the matcher of the pods that hold a host port in conflict with any of these."""

    def weigh() -> Ints:
        held = (cluster.pods[j].ports for j in cluster.unit_pods)
        return np.array([bool(ports) and conflict(wanted, ports) for ports in held], dtype=np.int64)

    return cluster.units.get(("ports", wanted), weigh)
