"""Optimal rounds one after another, in place of kube-scheduler's loop in a simulation.

On a grid of times a round takes whatever the queue would hand out then (activeQ, and backoffQ as an idle
scheduler would), and the solver plans all of it at once. What the plan binds is bound, its victims are
evicted and the pods that need their room are nominated; the rest goes back to wait for events, as after any
attempt. A pod that was nominated before binds first where its node takes it, and where it does not it is
planned like any other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..framework.cycle.cycle import find_node
from ..framework.cycle.runtime import framework_for
from ..framework.vocabulary import names
from ..models.memory import collect_young
from ..models.meta import Condition
from ..simulation.agenda import LATE
from ..simulation.groups import Groups
from .api import solve_round
from .options import SolveOptions
from .plans.making_room import room_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..framework.dra.allocation import Allocation
    from ..framework.index.group_names import UnitName
    from ..framework.queue.queued_pod import QueuedPod
    from ..models.pod import Pod
    from ..simulation.effects import Effects
    from .plans.making_room import Room
    from .plans.outcome import SolvedRound


class OptimalScheduler:
    """See the module's docstring.

    Parameters
    ----------
    effects : Effects
    warm : bool
        Whether a round begins with what the one before it leaves (`solver.warm`).
    """

    def __init__(self, effects: Effects, *, warm: bool = True) -> None:
        self._warm = warm
        self._world = effects.world
        self._effects = effects
        self._groups = Groups(effects)
        self._planned = False
        self._in_vain = -1
        self._moment = -1
        self._here = 0
        self._last: SolvedRound | None = None

    def wake(self) -> None:
        """Schedule a round at the next time of the grid, if any pod is to be tried."""
        lengths = self._world.queue.lengths()
        if self._planned or not (lengths["active"] or lengths["backoff"]):
            return
        self._planned = True
        now, every = self._world.clock.now, self._world.pace.optimal
        nobody = now == self._in_vain and not lengths["active"]  # who backs off is not available yet
        if nobody or (now == self._moment and self._here >= _MOST_ROUNDS):
            now += 1  # not at this time again
        self._world.agenda.at(-(-now // every) * every, self._round, LATE)

    def _round(self) -> None:
        self._planned = False
        items: list[QueuedPod] = []
        early: list[QueuedPod] = []
        while (popped := self._world.queue.pop()) is not None:
            if self._groups.waits(popped.item.pod):
                early.append(popped.item)
            else:
                items += self._groups.pull(popped.item)
        now = self._world.clock.now
        self._here = self._here + 1 if now == self._moment else 1
        self._moment = now
        if not items:
            self._in_vain = now
        for item in early:
            reason = "the room for its group is being made"
            self._effects.reject(item, _REJECTORS, reason, keeps_nomination=True)
        left = [item for item in items if not self._bound_where_nominated(item)]
        if not left:
            return
        self._world.record.rounds += 1
        solved = self._solve(left)
        self._apply(solved, {item.key: item for item in left})

    def _bound_where_nominated(self, item: QueuedPod) -> bool:
        """Bind a nominated pod if its node takes it now; return whether its attempt is over."""
        world = self._world
        if world.follower.shapes.may_fall_back(item.pod):
            world.follower.touch(item.key)
        cluster, state = world.follower.look()
        pod = world.pod(item.key, item.uid)
        if pod is None or pod.spec.node_name:
            world.queue.done(item)
            return True
        i = world.follower.number(item.key)
        if i not in state.nominated or self._groups.name(item.pod) is not None:
            return False
        framework = framework_for(cluster, i)
        node = state.nominated[i]
        if not framework.filter_nominated(state, i, node).ok or framework.binding_error(state, i):
            return False
        cycle = find_node(framework, state, i)
        self._bind(item, cluster.node_names[cycle.node], cycle.allocations)
        return True

    def _bind(self, item: QueuedPod, node: str, allocations: Mapping[str, Allocation]) -> None:
        """Bind a pod, or have a driver allocate its claims first where that takes time."""
        free = {claim.key for claim in self._effects.claims.of(item.pod) if claim.status.allocation is None}
        asked = {key: found for key, found in allocations.items() if key in free}
        if asked and self._world.pace.driver:
            self._effects.ask_driver(item, asked)
        else:
            self._effects.bind(item, node, allocations)

    def _solve(self, items: list[QueuedPod]) -> SolvedRound:
        """Plan the pods of the round.

        Pods that wait elsewhere are left out; those of them that were promised a node hold its room, as
        running pods.
        """
        world = self._world
        mine = {item.key for item in items}
        pods: list[Pod] = []
        base = self._groups.snapshot()
        for pod in base.pods:
            if pod.spec.node_name:
                pods.append(pod)
            elif pod.key in mine:
                status = pod.status.model_copy(update={"nominated_node_name": None})
                pods.append(pod.model_copy(update={"status": status}))
            elif pod.status.nominated_node_name and not pod.is_terminating:
                spec = pod.spec.model_copy(update={"node_name": pod.status.nominated_node_name})
                pods.append(pod.model_copy(update={"spec": spec}))
            elif pod.spec.scheduling_gates and self._groups.name(pod) is not None:
                pods.append(pod)  # it counts as a member, wherever it waits
        snapshot = replace(base, pods=tuple(pods))
        options = SolveOptions(time_limit=world.pace.budget, workers=1, seed=world.scenario.seed)
        solved = solve_round(snapshot, options, after=self._last)
        self._last = solved if self._warm else None
        if world.record.rounds % _ROUNDS_KEPT == 0:
            collect_young()
        if solved.plan.stats.interrupted:
            raise KeyboardInterrupt  # it ends the run, not this round alone
        return solved

    def _apply(self, solved: SolvedRound, items: dict[str, QueuedPod]) -> None:
        """Carry a plan out: evictions and nominations first, so that no other pod is promised their room."""
        world, plan, room = self._world, solved.plan, room_of(solved)
        stays = {entry.pod: entry for entry in plan.unschedulable}
        world.record.write(
            "Round",
            pods=len(items),
            status=plan.status,
            bindings=len(plan.bindings),
            nominations=len(plan.nominations),
            evictions=len(plan.evictions),
        )
        groups = self._groups_of(items)
        to = {binding.pod: binding.node for binding in plan.bindings}
        to |= {nomination.pod: nomination.node for nomination in plan.nominations}
        later = self._make_room(to, room, items, groups)
        waits = [key for key in to if key in room.needed and groups.get(key) not in later]
        # Whoever evicts comes first: the others wait for pods that terminate by then.
        for key in sorted(waits, key=lambda key: key not in room.served):
            victims = [pod for each in room.needed[key] if (pod := world.pod(each)) is not None]
            world.record.metrics.preemption_attempts += 1
            own = key in room.served
            reason = "the round makes room for it" if own else "its room is being made in the round"
            self._effects.nominate(items[key], to[key], victims, _REJECTORS, reason)
        for step in plan.steps:
            if step.deallocate is not None:
                self._effects.claims.deallocate(step.deallocate)
        for binding in plan.bindings:
            if groups.get(binding.pod) in later or binding.pod in room.needed:
                continue
            item = items[binding.pod]
            mine = {claim.key for claim in self._effects.claims.of(item.pod)}
            brought = {key: found for key, found in solved.outcome.allocations.items() if key in mine}
            self._bind(item, binding.node, brought)
        for key, item in items.items():
            if key in stays:
                entry = stays[key]
                # That its group waits for room is no wait for members: nobody has to come for it to end.
                by = [plugin for plugin in entry.blocked_by if plugin != names.GANG_SCHEDULING]
                self._effects.reject(item, by, entry.message, error=not entry.blocked_by)
        placed = {groups[binding.pod] for binding in plan.bindings if binding.pod in groups} - later
        for name in dict.fromkeys(groups.values()):
            status, reason = ("True", "Scheduled") if name in placed else ("False", "Unschedulable")
            condition = Condition(type="PodGroupScheduled", status=status, reason=reason)
            self._groups.tell(name, condition, [items[binding.pod].pod for binding in plan.bindings])

    def _groups_of(self, items: Mapping[str, QueuedPod]) -> dict[str, UnitName]:
        """Return the groups and trees of the pods that have one, by pod."""
        named = {key: self._groups.name(item.pod) for key, item in items.items()}
        return {key: name for key, name in named.items() if name is not None}

    def _make_room(
        self,
        to: Mapping[str, str],
        room: Room,
        items: Mapping[str, QueuedPod],
        groups: Mapping[str, UnitName],
    ) -> set[UnitName]:
        """Evict for groups whose members bind together once the last victim has left; return those groups."""
        later: set[UnitName] = set()
        for name in dict.fromkeys(groups[key] for key in to if key in groups):
            places = {key: node for key, node in to.items() if groups.get(key) == name}
            leaves = {
                victim: key
                for key in places
                for victim in (*room.needed.get(key, ()), *room.served.get(key, ()))
            }
            victims = [
                (pod, items[preemptor].pod)
                for key, preemptor in leaves.items()
                if (pod := self._world.pod(key)) is not None
            ]
            if not victims:
                continue
            later.add(name)
            members = [(items[key], node) for key, node in places.items()]
            self._world.record.metrics.preemption_attempts += 1
            self._groups.make_room(name, members, victims, _REJECTORS, "the round makes room for its group")
        return later


_MOST_ROUNDS: Final = 10
"""At one time: what a round does may wake pods for another one at once, and that has to end."""

_ROUNDS_KEPT: Final = 16
"""Rounds after which their indexes, which refer to themselves, are freed; nothing else frees them."""

_REJECTORS = ("NodeResourcesFit", "NodePorts", "InterPodAffinity", "PodTopologySpread")
"""Plugins that may reject a nominated pod until its victims are gone: their events wake it then."""
