"""Nodes that are free, and how many more could be: counted by a first-fit re-placing, and bounded by sums.

A pod **belongs to its node** if it is a DaemonSet's or a mirror of a static pod. A node is **free** if all
pods on it belong to it or terminate. Of the others, pods that the eviction API refuses, or of which it is not
certain that they come back as they were, **stay**: those without a controller, of pod groups, of several
budgets, with resource claims or ephemeral volumes, in the middle of a resize, or of a scheduler that has no
profile. The rest can **move**: evicted, they are made again without a node.

The re-placing empties one node after the other, the one with the fewest pods first, where no pod on it stays
and budgets allow all evictions together with those before. Each pod is made again and bound to the first
node that has the room and passes the filters of its profile, never to a free one. A node that took a pod in
is not emptied, so every pod moves once at most. What it empties can be emptied; a better re-placing may empty
more.

The bound: nodes that are not free in the end hold the requests of all pods that can move.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...models.daemons import is_daemon, is_mirror
from ...models.remade import made_again
from ..build import build_cluster
from ..cycle.runtime import framework_for
from ..rules.budgets import budgets_of
from ..state.moves import Bind, Leave, Mark, Move
from ..state.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...models.pod import Pod
    from ...models.snapshot import Snapshot
    from ..index.cluster import Cluster
    from ..vocabulary.arrays import Bools, Ints

MOST_MOVES: Final = 2000
"""Pods that are tried at most: those on the nodes with the fewest."""

_AGAIN: Final = " (again)"  # no API server has such a name


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
    leaving = [found.cluster.pods[i].pod for node in tried for i in found.on[node]]
    twins = tuple(_twin(pod, snapshot) for pod in leaving)
    cluster = build_cluster(replace(snapshot, pods=(*snapshot.pods, *twins)))
    names = [found.cluster.node_names[node] for node in tried]
    emptied, moves = _Emptying(_Movable(cluster)).run([cluster.node_index[name] for name in names])
    return FreeNodes(int(found.free.sum()), emptied, found.at_most(), moves, cluster)


def _twin(pod: Pod, snapshot: Snapshot) -> Pod:
    again = made_again(pod, snapshot.now)
    meta = again.metadata.model_copy(update={"name": pod.name + _AGAIN, "uid": ""})
    return again.model_copy(update={"metadata": meta})


class _Movable:
    """Which pods of a cluster can move.

    Attributes
    ----------
    on : mapping
        The pods that can move, by their node.
    kept : Bools
        Nodes on which a pod stays that does not belong to them.
    free : Bools
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.on: dict[int, list[int]] = {}
        self.kept: Bools = np.zeros(cluster.n_nodes, dtype=bool)
        self._standing: Ints = np.zeros((len(cluster.resources) + 1, cluster.n_nodes), dtype=cluster.dtype)
        for i in cluster.bound:
            info = cluster.pods[i]
            node, pod = info.initial_node, info.pod
            if info.terminating:
                continue
            if is_daemon(pod) or is_mirror(pod):
                self._standing[:, node] += _taken(cluster, [i])
            elif _stays(cluster, i):
                self._standing[:, node] += _taken(cluster, [i])
                self.kept[node] = True
            else:
                self.on.setdefault(node, []).append(i)
        occupied = self.kept.copy()
        occupied[list(self.on)] = True
        self.free: Bools = ~occupied

    def candidates(self) -> list[int]:
        """Return the nodes that might be emptied, those with the fewest pods first."""
        nodes = [node for node in self.on if not self.kept[node]]
        return sorted(nodes, key=lambda node: (len(self.on[node]), node))

    def at_most(self) -> int:
        """Return how many nodes beside the free ones can be free at most.

        The others hold all that can move: of each node no more than it has beside what stands, or than is on
        it now, counts.
        """
        cluster = self.cluster
        moving = np.zeros_like(self._standing)
        for node, pods in self.on.items():
            moving[:, node] = _taken(cluster, pods)
        room = np.maximum(np.vstack([cluster.allocatable, cluster.allowed_pods]) - self._standing, moving)
        needed = max(
            _fewest(there[~self.kept], int(wanted.sum() - there[self.kept].sum()))
            for there, wanted in zip(room, moving, strict=True)
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


def _stays(cluster: Cluster, i: int) -> bool:
    """Whether a pod stays that does not belong to its node."""
    info, pod = cluster.pods[i], cluster.pods[i].pod
    spec = pod.spec
    return (
        pod.metadata.controller is None
        or spec.workload_ref is not None
        or spec.scheduling_group is not None
        or bool(spec.resource_claims)
        or pod.status.extended_resource_claim_status is not None
        or any(volume.ephemeral is not None for volume in spec.volumes)
        or len(budgets_of(cluster, i)) > 1
        or info.usage != info.request
        or info.scheduler not in cluster.profiles
    )


class _Emptying:
    """The re-placing."""

    def __init__(self, movable: _Movable) -> None:
        cluster = movable.cluster
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
            twin = cluster.pod_index[cluster.pods[i].key + _AGAIN]
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
