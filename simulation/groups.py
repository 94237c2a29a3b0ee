"""Cycles of pod groups, and of trees of them, in time: each is tried as one, on the cluster of the moment.

A popped member brings the others along from wherever they wait, their backoff included. The cycle is that
of a round (`framework.workload`), on an index made for it; what it means for each member happens when it is
over. Members whose text is the group's have no rejector: they back off as after an error. The others wait for
what rejected them, and whoever wakes first brings all along. A group that preempts is not kept out while its
victims terminate, so that it may be tried, and preempt, again and again.

Source: kube-scheduler 1.36.2 schedule_one_podgroup.go.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..framework.build import build_cluster
from ..framework.cycle.budget_ledger import Ledger
from ..framework.cycle.cycle import Cycle
from ..framework.dra.allocation import Allocation
from ..framework.events.changes import identity
from ..framework.index.group_names import GroupName, UnitName, group_name
from ..framework.queue.clock import SECOND
from ..framework.queue.queued_pod import QueuedPod
from ..framework.rules.supported import require_supported
from ..framework.workload.cycle import schedule_group
from ..framework.workload.units import group_in_cycle, opening
from ..models.meta import Condition, KubeObject
from ..models.pod import Pod, PodSchedulingGate
from ..models.policy import PodDisruptionBudget
from ..models.snapshot import Snapshot
from .effects import Effects
from .group_conditions import tell_unit
from .listeners import Whereabouts
from .snapshots import snapshot_of_store

_MANY: Final = 100
"""Cycles of one group within one second from which on the reader is told."""

_HELD: Final = PodSchedulingGate(name="simulate.kubestow/held")


@dataclass(frozen=True, slots=True)
class _Decision:
    """What a cycle decided about one member."""

    item: QueuedPod
    outcome: str
    node: str
    plugins: frozenset[str]
    message: str
    error: bool
    keeps_nomination: bool
    allocations: dict[str, Allocation]
    deallocated: str


@dataclass(frozen=True, slots=True)
class GroupDecision:
    """What a cycle decided about a group.

    Attributes
    ----------
    name : GroupName or TreeName
    items : tuple of QueuedPod
        All members that were popped.
    members : tuple of _Decision
        Those of them that were tried.
    victims : tuple of (Pod, Pod)
        Who leaves, and for whom.
    condition : Condition or None
        The group's; None where there was no cycle.
    """

    name: UnitName
    items: tuple[QueuedPod, ...]
    members: tuple[_Decision, ...]
    victims: tuple[tuple[Pod, Pod], ...]
    condition: Condition | None


class Groups:
    """See the module's docstring.

    Parameters
    ----------
    effects : Effects
    """

    def __init__(self, effects: Effects) -> None:
        self._world = effects.world
        self._disruptions = effects.disruptions
        self._effects = effects
        self._trees = self._world.queue.trees
        self._cycles: Counter[UnitName] = Counter()
        self._second = -1
        self._leaving: dict[UnitName, set[str]] = {}
        self._world.listeners.add(self._changed, "Pod", only=Whereabouts.GONE)

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if isinstance(old, Pod) and new is None and self._leaving:
            self._left(identity(old))

    def _left(self, uid: str) -> None:
        """Take note of a victim that is gone: members of groups that wait for no other may be tried again."""
        for name, victims in list(self._leaving.items()):
            victims.discard(uid)
            if victims:
                continue
            del self._leaving[name]
            members = [pod for pod in self._trees.members(name) if not pod.spec.node_name]
            self._world.queue.preempting.difference_update(map(identity, members))
            self._world.queue.activate(members)

    def waits(self, pod: Pod) -> bool:
        """Whether a pod's group waits for others to leave (`make_room`)."""
        name = self.name(pod)
        return name is not None and name in self._leaving

    def name(self, pod: Pod) -> UnitName | None:
        """Return the group or tree as part of which a pod is scheduled, as far as the gates have it."""
        return self._trees.unit(pod) if self._world.gates.enabled("GenericWorkload") else None

    def pull(self, item: QueuedPod) -> list[QueuedPod]:
        """Take all members of a popped pod's group or tree that no gate keeps out; the pod first."""
        return [item] if self.name(item.pod) is None else [item, *self._world.queue.pull_group(item)]

    def snapshot(self) -> Snapshot:
        """Return the cluster of this moment, with budgets as they are counted now."""
        world = self._world
        budgets = tuple(self._disruptions.budget(item.key) for item in world.objects.all(PodDisruptionBudget))
        return snapshot_of_store(
            world.objects, world.scenario.snapshot, world.now, pod_disruption_budgets=budgets
        )

    def decide(self, item: QueuedPod) -> GroupDecision | None:
        """Run a cycle of a popped pod's group; None where the pod is to be tried alone.

        The others are popped too, and are the caller's to give back (`carry_out` does).
        """
        name = self.name(item.pod)
        assert name is not None
        world, snapshot = self._world, self.snapshot()
        items = {each.key: each for each in self.pull(item)}
        together = frozenset(self._trees.groups(name))
        # Who is kept out of the queue by something else counts as a member, and is not tried.
        pods = tuple(
            _held(pod) if pod.key not in items and group_name(pod) in together else pod
            for pod in snapshot.pods
        )
        cluster = build_cluster(replace(snapshot, pods=pods))
        require_supported(cluster)
        i = cluster.pod_index.get(item.key)
        group = None if i is None else group_in_cycle(cluster, i)
        if group is None:
            for key, each in items.items():
                if key != item.key:
                    world.queue.fail(each)
            return None
        self._count(name)
        state, ledger = opening(cluster), Ledger(cluster)
        cycle = schedule_group(cluster, state, group, ledger)
        if cycle is None:
            return GroupDecision(name, tuple(items.values()), (), (), None)
        members: list[_Decision] = []
        for member in cycle.members(state, ledger):
            own = member.cycle
            pod = cluster.pods[own.pod]
            plugins = frozenset() if member.of_group else _rejectors(own)
            members.append(
                _Decision(
                    items[pod.key],
                    own.outcome,
                    cluster.node_names[own.node] if own.node >= 0 else "",
                    plugins,
                    member.message,
                    bool(own.error),
                    own.keeps_nomination,
                    dict(own.allocations),
                    own.deallocated,
                )
            )
        victims = tuple((cluster.pods[j].pod, cluster.pods[p].pod) for j, p in cycle.departures())
        reason = "Scheduled" if cycle.placed else "SchedulerError" if cycle.error else "Unschedulable"
        condition = Condition(
            type="PodGroupScheduled",
            status="True" if cycle.placed else "False",
            reason=reason,
            message=cycle.refusal,
        )
        return GroupDecision(name, tuple(items.values()), tuple(members), victims, condition)

    def carry_out(self, decision: GroupDecision) -> None:
        """Let a decision happen: bind, nominate and give back members, write the condition, evict."""
        world, effects = self._world, self._effects
        decided = {member.item.key for member in decision.members}
        for item in decision.items:
            if item.key not in decided:
                world.queue.done(item)
        for member in decision.members:
            if member.deallocated:
                effects.claims.deallocate(member.deallocated)
            if member.outcome == "bound":
                effects.bind(member.item, member.node, member.allocations)
            else:
                nominated = member.node if member.outcome == "nominated" else None
                effects.reject(
                    member.item,
                    member.plugins,
                    member.message,
                    keeps_nomination=member.keeps_nomination and nominated is None,
                    nominated=nominated,
                    error=member.error,
                )
        if decision.condition is not None:
            bound = [member.item.pod for member in decision.members if member.outcome == "bound"]
            self.tell(decision.name, decision.condition, bound)
        if decision.victims:
            world.record.metrics.preemption_attempts += 1
            world.record.metrics.victims.observe(len(decision.victims))
            world.agenda.after(world.pace.api, lambda: self._evict(decision))

    def _evict(self, decision: GroupDecision) -> None:
        for victim, preemptor in decision.victims:
            self._disruptions.preempt(victim, preemptor, guarded=self._effects.guarded(victim, preemptor))

    def make_room(
        self,
        name: UnitName,
        members: Sequence[tuple[QueuedPod, str]],
        victims: Sequence[tuple[Pod, Pod]],
        plugins: Collection[str],
        message: str,
    ) -> None:
        """Nominate members that are placed once others have left, and keep them out until then.

        Parameters
        ----------
        name : GroupName or TreeName
        members : sequence of (QueuedPod, str)
            Each with its node.
        victims : sequence of (Pod, Pod)
            Who leaves, and for whom.
        plugins : collection of str
            What is in the members' way.
        message : str
        """
        self._world.queue.preempting.update(item.uid for item, _ in members)
        for item, node in members:
            self._effects.reject(item, plugins, message, nominated=node)
        self._leaving.setdefault(name, set()).update(identity(victim) for victim, _ in victims)
        for victim, preemptor in victims:
            guarded = self._effects.guarded(victim, preemptor)
            removed = self._disruptions.preempt(victim, preemptor, guarded=guarded)
            if not removed or not victim.spec.node_name:
                self._left(identity(victim))

    def tell(self, name: UnitName, condition: Condition, bound: Iterable[Pod]) -> None:
        """Write the condition of a group, or those of a tree's groups, members of which were bound."""
        keys = {group.key for pod in bound if (group := group_name(pod)) is not None}
        tell_unit(self._world, name, condition, keys)

    def _count(self, name: UnitName) -> None:
        second = self._world.clock.now // SECOND
        if second != self._second:
            self._second = second
            self._cycles.clear()
        self._cycles[name] += 1
        if self._cycles[name] == _MANY:
            kind = "PodGroup" if isinstance(name, GroupName) else "CompositePodGroup"
            self._world.record.note(
                f"{kind} {name.key} is tried again at once and without backoff, as kube-scheduler does "
                f"({_MANY} times and more within one second)"
            )


def _rejectors(own: Cycle) -> frozenset[str]:
    return frozenset() if own.error or own.result is None else frozenset(own.result.plugins)


def _held(pod: Pod) -> Pod:
    if pod.spec.node_name or pod.spec.scheduling_gates:
        return pod
    return pod.model_copy(update={"spec": pod.spec.model_copy(update={"scheduling_gates": (_HELD,)})})
