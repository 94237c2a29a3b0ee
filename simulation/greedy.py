"""kube-scheduler's loop: one pod after another, each cycle takes its time."""

from typing import TYPE_CHECKING

from ..framework.cycle.cycle import Cycle, find_node, run_post_filter
from ..framework.cycle.runtime import framework_for
from ..framework.queue.queued_pod import QueuedPod
from .agenda import USUAL
from .effects import Effects
from .groups import GroupDecision, Groups
from .live_cluster import LiveCluster, LiveState

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ..models.pod import Pod


class GreedyScheduler:
    """Pops pods and tries them.

    A decision is made on the cluster as it is when the pod is popped and takes effect when the cycle is over;
    what happens in between is in flight.

    Parameters
    ----------
    effects : Effects
    """

    def __init__(self, effects: Effects) -> None:
        self._world = effects.world
        self._disruptions = effects.disruptions
        self._effects = effects
        self._groups = Groups(effects)
        self._busy = False
        self._moment: Hashable = None
        self._failed: dict[int, Cycle] = {}
        self._told: dict[int, tuple[str, frozenset[str]]] = {}

    def wake(self) -> None:
        """Start a cycle if none is running and a pod is to be tried."""
        if self._busy:
            return
        popped = self._world.queue.pop()
        if popped is None:
            return
        self._busy = True
        if self._groups.name(popped.item.pod) is None:
            self._try(popped.item)
        else:
            self._try_group(popped.item)

    def _try_group(self, item: QueuedPod) -> None:
        decision = self._groups.decide(item)
        if decision is None:
            self._try(item)
        else:
            self._world.agenda.after(self._world.pace.cycle, self._carry_out, USUAL, decision)

    def _carry_out(self, decision: GroupDecision) -> None:
        self._busy = False
        self._groups.carry_out(decision)

    def _try(self, item: QueuedPod) -> None:
        world = self._world
        if world.follower.shapes.may_fall_back(item.pod):
            world.follower.touch(item.key)  # a timeout may have passed
        cluster, state = world.follower.look()
        try:
            i = world.follower.number(item.key)
        except KeyError:
            world.agenda.after(world.pace.cycle, self._gone, USUAL, item)
            return
        cycle = self._cycle(cluster, state, i)
        if cycle.outcome == "bound":
            if cycle.allocations and world.pace.driver:
                world.agenda.after(world.pace.cycle, self._ask_driver, USUAL, item, cycle)
            else:
                node = cluster.node_names[cycle.node]
                world.agenda.after(world.pace.cycle, self._bind, USUAL, item, node, cycle)
            return
        told = self._told.get(id(cycle))
        if told is None:
            plugins = frozenset() if cycle.error or cycle.result is None else cycle.result.plugins
            told = cycle.message(cluster.n_nodes), plugins
            if self._failed.get(cluster.pods[i].cls) is cycle:
                self._told[id(cycle)] = told
        message, plugins = told
        if cycle.preemption is not None and not cycle.preemption.ineligible:
            world.record.metrics.preemption_attempts += 1
        if cycle.outcome == "nominated":
            node = cluster.node_names[cycle.node]
            victims = [cluster.pods[j].pod for j in cycle.victims]
            world.agenda.after(world.pace.cycle, self._nominate, USUAL, item, node, victims, plugins, message)
        else:
            world.agenda.after(world.pace.cycle, self._reject, USUAL, item, plugins, message, cycle)

    def _cycle(self, cluster: LiveCluster, state: LiveState, i: int) -> Cycle:
        """Run pod i's cycle; what a pod like it has failed of stands as long as nothing has changed since."""
        cls = cluster.pods[i].cls
        alone = i not in state.nominated
        allowed = self._disruptions.allowed(cluster)
        if self._failed and self._moment != self._of(state, allowed):
            self._failed.clear()
            self._told.clear()
        if alone and cls in self._failed:
            return self._failed[cls]
        framework = framework_for(cluster, i)
        cycle = find_node(framework, state, i)
        if cycle.outcome != "bound" and not cycle.error:
            run_post_filter(framework, state, cycle, self._disruptions.ledger(cluster))
        if alone and cycle.outcome == "unschedulable" and not cycle.deallocated:
            if not self._failed:
                self._moment = self._of(state, allowed)
            self._failed[cls] = cycle
        return cycle

    def _of(self, state: LiveState, allowed: tuple[int, ...]) -> "Hashable":
        """Return what a cycle that fails depends on, given what is left of each budget."""
        return self._world.follower.revision, state.version, state.nominations_version, allowed

    def _gone(self, item: QueuedPod) -> None:
        self._busy = False
        self._world.queue.done(item)

    def _ask_driver(self, item: QueuedPod, cycle: Cycle) -> None:
        self._busy = False
        self._effects.ask_driver(item, cycle.allocations)

    def _bind(self, item: QueuedPod, node: str, cycle: Cycle) -> None:
        self._busy = False
        self._effects.bind(item, node, cycle.allocations)

    def _nominate(
        self, item: QueuedPod, node: str, victims: "list[Pod]", plugins: frozenset[str], message: str
    ) -> None:
        self._busy = False
        self._effects.nominate(item, node, victims, plugins, message)

    def _reject(self, item: QueuedPod, plugins: frozenset[str], message: str, cycle: Cycle) -> None:
        self._busy = False
        if cycle.deallocated:
            self._effects.claims.deallocate(cycle.deallocated)
        self._effects.reject(item, plugins, message, keeps_nomination=cycle.keeps_nomination)
