"""Nodes that are free, and how many more could be: counted by a first-fit re-placing, and bounded by sums.

A node is **free** if all pods on it go with it or terminate: those of DaemonSets and mirrors of static pods.
Which of the others may move is `framework.rules.movable`; those that may not keep their node.

The re-placing empties one node after the other, the one with the fewest pods first, where every pod may move
and budgets allow all evictions together with those before. Each pod is made again and bound to the first
node that has the room and passes the filters of its profile, never to a free one. A node that took a pod in
is not emptied, so every pod moves once at most. Nodes with pods for which first fit is too simple are left
alone: members of pod groups, pods with resource claims or ephemeral volumes, pods in the middle of a resize.
What it empties can be emptied; a better re-placing may empty more.

The bound: nodes that are not free in the end hold the requests of all pods that may move; of those for which
first fit is too simple only the number is sure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...models.moves import MoveOptions
from ...models.recreated import with_replacements
from ..build import build_cluster
from ..cycle.runtime import framework_for
from ..rules.budgets import budgets_of
from ..rules.movable import movable
from ..state.moves import Bind, Leave, Mark, Move
from ..state.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...models.snapshot import Snapshot
    from ..index.cluster import Cluster
    from ..vocabulary.arrays import Bools, Ints

MOST_MOVES: Final = 2000
"""Pods that are tried at most: those on the nodes with the fewest."""


class FreeNodes(NamedTuple):
    """Numbers of nodes.

    Attributes
    ----------
    free : int
    emptied : int
        How many others the re-placing empties.
    at_most : int
        No re-placing empties more.
    moves : tuple of Move
        The re-placing, in indices of `cluster`, whose pods made again wait beside those that run.
    cluster : Cluster
    """

    free: int
    emptied: int
    at_most: int
    moves: tuple[Move, ...]
    cluster: Cluster


def free_nodes(snapshot: Snapshot, most: int = MOST_MOVES) -> FreeNodes:
    """Count free nodes, empty others by first fit, and bound how many could be emptied.

    Parameters
    ----------
    snapshot : Snapshot
    most : int
        How many pods are tried.
    """
    found = _Movable(build_cluster(snapshot))
    tried: list[int] = []
    pods = 0
    for node in found.candidates():
        pods += len(found.on[node])
        if pods > most:
            break
        tried.append(node)
    keys = [found.cluster.pods[i].key for node in tried for i in found.on[node]]
    twins = with_replacements(snapshot, keys)
    cluster = build_cluster(twins.snapshot)
    names = [found.cluster.node_names[node] for node in tried]
    index = {cluster.pod_index[old]: cluster.pod_index[new] for old, new in twins.replacement.items()}
    emptying = _Emptying(_Movable(cluster), index)
    emptied, moves = emptying.run([cluster.node_index[name] for name in names])
    return FreeNodes(int(found.free.sum()), emptied, found.at_most(), moves, cluster)


class _Movable:
    """The pods of a cluster that may move.

    Attributes
    ----------
    on : mapping
        They, by their node.
    kept : Bools
        Nodes that a pod keeps.
    free : Bools
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.on: dict[int, list[int]] = {}
        self.kept: Bools = np.zeros(cluster.n_nodes, dtype=bool)
        self._standing: Ints = np.zeros((len(cluster.resources) + 1, cluster.n_nodes), dtype=cluster.dtype)
        found = movable(cluster, MoveOptions())
        keeping = found.blocking()
        for i in cluster.bound:
            info = cluster.pods[i]
            if i in found.reasons:
                self.kept[info.initial_node] |= i in keeping
                if not info.terminating:
                    self._standing[:, info.initial_node] += _taken(cluster, [i])
            else:
                self.on.setdefault(info.initial_node, []).append(i)
        occupied = self.kept.copy()
        occupied[list(self.on)] = True
        self.free: Bools = ~occupied

    def candidates(self) -> list[int]:
        """Return the nodes that might be emptied, those with the fewest pods first."""
        cluster = self.cluster
        nodes = [
            node
            for node, pods in self.on.items()
            if not self.kept[node] and all(_simple(cluster, i) for i in pods)
        ]
        return sorted(nodes, key=lambda node: (len(self.on[node]), node))

    def at_most(self) -> int:
        """Return how many nodes beside the free ones can be free at most.

        The others hold all that can move: of each node no more than it has beside what stands, or than is on
        it now, counts.
        """
        cluster = self.cluster
        moving, least = np.zeros_like(self._standing), np.zeros_like(self._standing)
        for node, pods in self.on.items():
            moving[:, node] = _taken(cluster, pods)
            least[:, node] = _taken(cluster, [i for i in pods if _simple(cluster, i)])
            least[-1, node] = len(pods)
        room = np.maximum(np.vstack([cluster.allocatable, cluster.allowed_pods]) - self._standing, moving)
        needed = max(
            _fewest(there[~self.kept], int(wanted.sum() - there[self.kept].sum()))
            for there, wanted in zip(room, least, strict=True)
        )
        others = cluster.n_nodes - int(self.kept.sum())
        return max(0, others - needed - int(self.free.sum()))


def _taken(cluster: Cluster, pods: Sequence[int]) -> Ints:
    """Return what pods take together: of each resource, and how many they are."""
    return np.append(cluster.usage[pods].sum(axis=0), len(pods))


def _fewest(room: Ints, amount: int) -> int:
    """Return how many of the largest have the amount together."""
    if amount <= 0:
        return 0
    return int(np.searchsorted(np.cumsum(np.sort(room)[::-1]), amount)) + 1


def _simple(cluster: Cluster, i: int) -> bool:
    """Whether first fit knows what a pod takes where it comes to."""
    info, pod = cluster.pods[i], cluster.pods[i].pod
    spec = pod.spec
    return (
        spec.workload_ref is None
        and spec.scheduling_group is None
        and not spec.resource_claims
        and pod.status.extended_resource_claim_status is None
        and all(volume.ephemeral is None for volume in spec.volumes)
        and info.usage == info.request
    )


class _Emptying:
    """The re-placing.

    Parameters
    ----------
    twins : mapping
        Pod to the pod that is made again in its place.
    """

    def __init__(self, movable: _Movable, twins: Mapping[int, int]) -> None:
        cluster = movable.cluster
        self._twins = twins
        self._cluster, self._movable = cluster, movable
        self._state = State.initial(cluster, nominations=True)
        self._targets: Bools = ~movable.free
        self._took_in: set[int] = set()
        self._allowed = {}
        for i in (i for pods in movable.on.values() for i in pods):
            for budget in budgets_of(cluster, i):
                self._allowed[budget.index] = budget.allowed
        # nodes that cannot be emptied take first, then those that would be emptied last
        last = {node: -k for k, node in enumerate(movable.candidates())}
        self._order = sorted(range(cluster.n_nodes), key=lambda n: (last.get(n, -cluster.n_nodes), n))

    def run(self, nodes: Sequence[int]) -> tuple[int, tuple[Move, ...]]:
        """Empty as many of the nodes as first fit does; return their number and the moves."""
        emptied, moves = 0, list[Move]()
        for node in nodes:
            if node in self._took_in:
                continue
            done = self._emptied(node)
            if done is not None:
                emptied += 1
                moves += done
        return emptied, tuple(moves)

    def _emptied(self, node: int) -> list[Move] | None:
        """Empty a node, or leave everything as it was and return None."""
        pods = self._movable.on[node]
        allowed = self._charged(pods)
        if allowed is None:
            return None
        state, cluster = self._state.copy(), self._cluster
        moves: list[Move] = []
        targets = self._targets.copy()
        targets[node] = False
        for i in pods:
            state.mark(i)
            state.remove(i)
            moves += (Mark(i), Leave(i))
        for i in sorted(pods, key=lambda i: (*(-amount for amount in cluster.usage[i].tolist()), i)):
            twin = self._twins[i]
            target = self._first(state, twin, targets)
            if target is None:
                return None
            state.place(twin, target)
            moves.append(Bind(twin, target))
        self._state, self._targets, self._allowed = state, targets, dict(allowed)
        self._took_in.update(move.node for move in moves if isinstance(move, Bind))
        return moves

    def _first(self, state: State, twin: int, targets: Bools) -> int | None:
        """Return the first node that takes a pod."""
        cluster, wanted = self._cluster, self._cluster.usage[twin][:, None]
        free = cluster.allocatable - state.requested
        roomy = ((wanted <= free) | (wanted == 0)).all(axis=0) & (state.pod_count < cluster.allowed_pods)
        fine = np.zeros(cluster.n_nodes, dtype=bool)
        fine[framework_for(cluster, twin).bindable(state, twin, nominated=True)] = True
        fine &= targets & roomy
        return next((n for n in self._order if fine[n]), None)

    def _charged(self, pods: Sequence[int]) -> Mapping[int, int] | None:
        """Return what budgets allow after these pods are evicted; None where they do not allow that."""
        left = dict(self._allowed)
        for i in pods:
            for budget in budgets_of(self._cluster, i):
                left[budget.index] -= budget.charges(self._cluster, i)
        return None if any(number < 0 for number in left.values()) else left
