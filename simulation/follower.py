"""Keeps a cluster index and a state in step with the object store.

Changes are noted when they happen and applied on the next read: all changes since the last one are one
exchange of nodes at most. A pod takes a slot that an equal pod has left, or a spare one; where there is none,
as many are added as there are of its kind, so that arrivals cost the same each, however many there are. A pod
of a new kind has everything indexed anew.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from datetime import datetime
from enum import Enum
from typing import Final, TypeGuard

import numpy as np

from ..framework.build import classify
from ..framework.dra.allocation import Allocation
from ..framework.events.changes import identity
from ..framework.events.objects import ObjectStore
from ..framework.index.podinfo import EARLIEST, PodInfo, terminates_by_preemption
from ..framework.state.state import NO_ALLOCATIONS
from ..framework.vocabulary.profile import Profile, profiles_of
from ..framework.vocabulary.releases import RELEASES
from ..models.meta import KubeObject
from ..models.node import Node
from ..models.pod import Pod
from ..models.policy import PodDisruptionBudget
from ..models.scheduling import CompositePodGroup, PodGroup
from ..models.snapshot import Snapshot
from .live_cluster import LiveCluster, LiveState
from .seats import Seat, Seats, ShapeSeats
from .shapes import Shapes
from .snapshots import FIELDS, snapshot_of_store

_CONTROLLERS: Final = frozenset(
    ("ReplicaSet", "StatefulSet", "ReplicationController", "Deployment", "Job", "DaemonSet")
)
_INDEXED: Final = frozenset(FIELDS) - {"Node", "Pod", "PodDisruptionBudget", "PriorityClass"} - _CONTROLLERS
"""Kinds of which a change means indexing anew; a controller's selector, all that matters, never changes."""


class Step(Enum):
    """How a pod has changed."""

    CAME = "came"
    """It is new and waits."""
    BOUND = "bound"
    """It waited and is on a node, its status apart as it was."""
    RAN = "ran"
    """Nothing but its status is new, and it is on a node."""
    GONE = "gone"
    OTHER = "other"


class Follower:
    """See the module's docstring.

    Parameters
    ----------
    objects : ObjectStore
    base : Snapshot
        For the name, the gates and the configuration.
    now : callable
        The time.

    Attributes
    ----------
    shapes : Shapes
        Which pods share slots.
    rebuilds : int
        How often everything was indexed anew.
    revision : int
        Grows with every exchange of nodes and every new index.
    """

    def __init__(self, objects: ObjectStore, base: Snapshot, now: Callable[[], datetime]) -> None:
        self._objects = objects
        self._base = base
        self._now = now
        self._gates = base.feature_gates.known_to(base.kube_version)
        self._profiles: dict[str, Profile] = profiles_of(
            base.configuration, RELEASES[base.kube_version], self._gates, file=base.name
        )
        self._seats = Seats()
        self.shapes = Shapes(self._profiles, self._gates, now, lambda: len(self._seats))
        self._dirty_pods: dict[str, Step] = {}
        self._brought: dict[str, Mapping[str, Allocation]] = {}
        self._dirty_nodes: dict[str, None] = {}
        self._stale = True
        self._started = False
        self._cluster: LiveCluster | None = None
        self._state: LiveState | None = None
        self.rebuilds = 0
        self.revision = 0

    # -- looking ------------------------------------------------------------

    def look(self) -> tuple[LiveCluster, LiveState]:
        """Return the cluster and the state of this moment; the state is not to be changed."""
        if not self._stale:
            self._follow_nodes()
        if not self._stale:
            self._follow_pods()
        if self._stale:
            self._rebuild()
        assert self._cluster is not None
        assert self._state is not None
        return self._cluster, self._state

    def reserves_claims(self, pod: Pod) -> bool:
        """Whether a pod's scheduler records that the pod uses its resource claims."""
        profile = self._profiles.get(pod.spec.scheduler_name)
        return profile is None or profile.reserves_claims

    def number(self, key: str) -> int:
        """Return a pod's number; `KeyError` where it plays no part."""
        return self._seats.of[key].i

    def plays(self, key: str) -> bool:
        """Whether a pod has a number: not once it has ended, or its node is gone."""
        return key in self._seats.of

    def key(self, i: int) -> str:
        """Return the pod in a slot."""
        assert self._cluster is not None
        return self._cluster.pods[i].key

    def note_pod(self, key: str, step: Step) -> None:
        """Record that a pod has changed, and how; after other changes since the last look that is unknown."""
        self._dirty_pods[key] = Step.OTHER if key in self._dirty_pods else step

    def note(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """Record a change of an object that is no pod."""
        item = new if new is not None else old
        if isinstance(item, Node):
            self._dirty_nodes[item.name] = None
        elif isinstance(item, PodDisruptionBudget):
            self._stale |= not (isinstance(old, PodDisruptionBudget) and new is not None and _same(old, new))
        elif item is not None and item.kind in _INDEXED:
            # A group's status says nothing to those who are scheduled one by one.
            self._stale |= not (_is_group(old) and _is_group(new) and old.spec == new.spec)

    def bring(self, key: str, allocations: Mapping[str, Allocation]) -> None:
        """Note which devices a pod brings along to the node that it is about to be bound to."""
        if allocations:
            self._brought[key] = allocations

    def touch(self, key: str) -> None:
        """Judge anew what depends on the time (KEP-3990's timeout) for a pod."""
        self._dirty_pods[key] = Step.OTHER

    def fallen(self, pod: Pod) -> list[str]:
        """Return the topology keys of a waiting pod's constraints that have fallen back now."""
        if not self.shapes.may_fall_back(pod):
            return []
        if pod.key not in self._seats.of:
            self.look()  # a group is tried on an index of its own
        assert self._cluster is not None
        by_default = not self._cluster.pods[self.number(pod.key)].default_selector.is_empty
        return self.shapes.fallen(pod, by_default=by_default)

    # -- following ------------------------------------------------------------

    def _follow_nodes(self) -> None:
        if not self._dirty_nodes:
            return
        cluster, state = self._cluster, self._state
        assert cluster is not None
        assert state is not None
        changed = {name: self._objects.get(Node, name) for name in self._dirty_nodes}
        new = [node for node in changed.values() if node is not None]
        if state.volumes is not None or state.claims is not None or not cluster.takes(new):
            self._stale = True
            return
        self._dirty_nodes = {}
        before = cluster.node_index
        self.revision += 1
        if len(new) == len(changed) and all(name in before for name in changed):
            if cluster.change_nodes({before[node.name]: node for node in new}):
                state.forget_counts()
            return
        for name, node in changed.items():
            n = before.get(name)
            if node is None and n is not None:
                for i in state.pods_on(n):
                    self._dirty_pods[cluster.pods[i].key] = Step.OTHER
                    state.remove(i)
        nodes = tuple(self._objects.all(Node))
        cluster.set_nodes(nodes)
        state.renumber(np.array([before.get(node.name, -1) for node in nodes], dtype=np.int64))

    def _follow_pods(self) -> None:
        if not self._dirty_pods:
            return
        cluster, state = self._cluster, self._state
        assert cluster is not None
        assert state is not None
        dirty, self._dirty_pods = self._dirty_pods, {}
        pods, seats = self._objects.by_key(Pod), self._seats.of
        waiting: list[tuple[str, Pod, Hashable]] = []
        for key, step in dirty.items():
            seat = seats.get(key)
            pod = pods.get(key)
            if step is not Step.OTHER:
                if seat is not None:
                    if self._take(cluster, state, key, seat, pod, step):
                        continue
                elif step is Step.CAME and pod is not None:
                    waiting.append((key, pod, self.shapes.of(pod)))
                    continue
            if seat is not None and pod is not None and self._only_status(state, seat, pod):
                self._settle_status(cluster.pods[seat.i], seat, pod)
                continue
            shape: Hashable = None
            if pod is None or not self._plays(pod):
                pod = None
            elif seat is None or seat.uid != identity(pod) or not pod.spec.node_name:
                shape = self.shapes.of(pod)
            elif seat.pod is None or self.shapes.alike(seat.pod, pod):
                shape = seat.kind.shape
            else:
                shape = self.shapes.of(pod)
            if seat is not None and (pod is None or seat.uid != identity(pod) or seat.kind.shape != shape):
                self._leave(state, key, seat)
                seat = None
            if pod is None:
                continue
            if seat is None:
                waiting.append((key, pod, shape))
            else:
                self._settle(cluster, state, seat, pod)
        for key, pod, shape in waiting:
            kind = self._seats.kind(shape)
            if kind is None or not (kind.free or self._add_seats(cluster, state, kind)):
                self._stale = True
                return
            self._settle(cluster, state, self._seats.take(key, identity(pod), kind), pod)
        if self._started:
            cluster.forget_starts()
            self._started = False

    def _take(
        self, cluster: LiveCluster, state: LiveState, key: str, seat: Seat, pod: Pod | None, step: Step
    ) -> bool:
        """Follow one step of a pod that was up to date before; return whether that was possible."""
        if step is Step.GONE:
            self._leave(state, key, seat)
            return True
        if pod is None:
            return False
        if step is Step.RAN:
            self._settle_status(cluster.pods[seat.i], seat, pod)
            return True
        if step is not Step.BOUND or pod.is_terminating:
            return False
        node = cluster.node_index.get(pod.spec.node_name or "")
        if node is None:
            return False
        i = seat.i
        self._settle_status(cluster.pods[i], seat, pod)
        if state.nominated:
            state.withdraw(i)
        state.place(i, node, self._brought.pop(key, NO_ALLOCATIONS) if self._brought else NO_ALLOCATIONS)
        return True

    def _add_seats(self, cluster: LiveCluster, state: LiveState, kind: ShapeSeats) -> bool:
        """Double the slots of a kind; return whether that was possible."""
        if state.volumes is not None or state.claims is not None:
            return False
        first, more = len(cluster.pods), self._seats.wanted(kind)
        if not cluster.grow(kind.slots[:1] * more):
            return False
        state.grow(more)
        self._seats.add(kind, range(first, first + more))
        return True

    def _plays(self, pod: Pod) -> bool:
        node = pod.spec.node_name
        return not pod.is_terminal and (not node or self._objects.get(Node, node) is not None)

    def _leave(self, state: LiveState, key: str, seat: Seat) -> None:
        i = seat.i
        if state.nominated:
            state.withdraw(i)
        if state.node_of[i] >= 0:
            state.remove(i)
        self._seats.leave(key)

    def _only_status(self, state: LiveState, seat: Seat, pod: Pod) -> bool:
        """Whether a pod stays on its node, and differs from what is known of it in its status alone."""
        known = seat.pod
        return (
            known is not None
            and known.spec is pod.spec
            and known.metadata is pod.metadata
            and not pod.is_terminating
            and not pod.is_terminal
            and state.node_of[seat.i] >= 0
        )

    def _settle_status(self, info: PodInfo, seat: Seat, pod: Pod) -> None:
        seat.pod = info.pod = pod
        start = pod.status.start_time or self._base.now
        if info.start is not start and info.start != start:
            info.start, self._started = start, True

    def _settle(self, cluster: LiveCluster, state: LiveState, seat: Seat, pod: Pod) -> None:
        """Bring one slot up to date with the pod in it."""
        i = seat.i
        info: PodInfo = cluster.pods[i]
        self._settle_status(info, seat, pod)
        spec, metadata = pod.spec, pod.metadata
        info.key = metadata.key
        info.created = metadata.creation_timestamp or EARLIEST
        terminating = metadata.deletion_timestamp is not None
        info.terminating, info.preempted = terminating, terminating and terminates_by_preemption(pod)
        node = cluster.node_index.get(spec.node_name, -1) if spec.node_name else -1
        there = int(state.node_of[i])
        if there != node:
            if there >= 0:
                state.remove(i)
            if node >= 0:
                state.withdraw(i)
                state.place(i, node, self._brought.pop(info.key, NO_ALLOCATIONS))
        if bool(state.terminating[i]) != terminating:
            (state.mark if terminating else state.unmark)(i)
        wanted = pod.status.nominated_node_name
        nominated = cluster.node_index.get(wanted, -1) if wanted and node < 0 else -1
        if state.nominated.get(i, -1) != nominated:
            state.withdraw(i)
            if nominated >= 0:
                state.nominate(i, nominated)

    # -- indexing anew ------------------------------------------------------------

    def _rebuild(self) -> None:
        self.rebuilds += 1
        self.revision += 1
        live = [pod for pod in self._objects.all(Pod) if self._plays(pod)]
        shapes = [self.shapes.of(pod) for pod in live]
        self.shapes.keep(live)
        often = Counter(shapes)
        first: dict[Hashable, Pod] = {}
        seats: list[Pod] = []
        for pod, shape in zip(live, shapes, strict=True):
            first.setdefault(shape, pod)
            seats.append(_unbound(pod))
        spare: list[Hashable] = []
        for shape, number in often.items():
            if number > 1:
                spare += [shape] * number
        seats += [_unbound(first[shape]) for shape in spare]
        # What is left of budgets, and whose disruption is paid for, is asked when it matters.
        unpaid = tuple(
            budget.model_copy(update={"status": budget.status.model_copy(update={"disrupted_pods": {}})})
            for budget in self._objects.all(PodDisruptionBudget)
        )
        snapshot = snapshot_of_store(self._objects, self._base, self._now(), pod_disruption_budgets=unpaid)
        cluster = LiveCluster(replace(snapshot, pods=tuple(seats)))
        classify(cluster)
        state = LiveState(cluster)
        before = self._state.claims if self._state is not None else None
        self._cluster, self._state = cluster, state
        taken = [(pod.key, identity(pod), shape) for pod, shape in zip(live, shapes, strict=True)]
        self._seats = Seats(taken, spare)
        if state.claims is not None and before is not None:
            for claim, allocation in before.allocations.items():
                if claim not in state.claims.allocations and self._knows(claim):
                    state.allocate(claim, allocation)
        for pod in live:
            self._settle(cluster, state, self._seats.of[pod.key], pod)
        self._stale = self._started = False
        self._dirty_nodes = {}
        self._dirty_pods = {}

    def _knows(self, claim: str) -> bool:
        from ..models.resource_api import ResourceClaim

        return self._objects.get(ResourceClaim, claim) is not None


def _same(old: PodDisruptionBudget, new: KubeObject) -> bool:
    return isinstance(new, PodDisruptionBudget) and old.spec == new.spec


def _is_group(item: KubeObject | None) -> TypeGuard[PodGroup | CompositePodGroup]:
    return isinstance(item, (PodGroup, CompositePodGroup))


def _unbound(pod: Pod) -> Pod:
    """Return a pod as it waits to be placed: how the index sees every slot."""
    if pod.status.container_statuses:
        return pod
    spec = pod.spec
    if not (spec.node_name or spec.scheduling_gates or pod.metadata.deletion_timestamp):
        return pod
    return pod.model_copy(
        update={
            "spec": spec.model_copy(update={"node_name": None}) if spec.node_name else spec,
            "metadata": pod.metadata.model_copy(update={"deletion_timestamp": None}),
        }
    )
