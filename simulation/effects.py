"""Effects of a decision about a pod: it is bound, nominated, or waits.

Source: kube-scheduler 1.34.1 schedule_one.go (handleSchedulingFailure), framework/preemption/preemption.go
(prepareCandidateAsync); KEP-4664.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Final

from ..framework.cycle.preemption import NOT_HELPFUL, preempt
from ..framework.cycle.runtime import framework_for
from ..framework.dra.allocation import Allocation
from ..framework.events.changes import identity
from ..framework.queue.queued_pod import QueuedPod
from ..framework.state.state import NO_ALLOCATIONS
from ..framework.vocabulary import names
from ..models.meta import Condition
from ..models.pod import Pod
from .claims import ClaimController
from .disruptions import Disruptions
from .world import World

# With its time told, a copy with another time needs no set of such names of its own.
_IS_SCHEDULED: Final = Condition(type="PodScheduled", status="True").model_copy(
    update={"last_transition_time": None}
)

#: Outcomes of attempts, as upstream's metric has them.
SCHEDULED, UNSCHEDULABLE, ERROR = "scheduled", "unschedulable", "error"


class Effects:
    """See the module's docstring.

    Parameters
    ----------
    world : World
    disruptions : Disruptions
    claims : ClaimController
    """

    def __init__(self, world: World, disruptions: Disruptions, claims: ClaimController) -> None:
        self.world = world
        self.disruptions = disruptions
        self.claims = claims

    # -- a pod's attempt ends ------------------------------------------------------------

    def bind(
        self, item: QueuedPod, node: str, allocations: Mapping[str, Allocation] = NO_ALLOCATIONS
    ) -> bool:
        """Bind a pod; return whether that was still possible."""
        world = self.world
        pod = world.pod(item.key, item.uid)
        if pod is None or pod.spec.node_name:
            world.queue.done(item)
            return False
        if world.node(node) is None:
            self.reject(item, (), f'binding rejected: node "{node}" is gone')
            return False
        fell = world.follower.fallen(pod)
        metrics = world.record.metrics
        metrics.attempts[SCHEDULED] += 1
        started = item.initial_attempt if item.initial_attempt is not None else world.clock.now
        metrics.bound(item.attempts, (world.clock.now - started) / 1e9)
        if world.record.sink is not None:
            world.record.write("Attempt", pod=pod.key, attempt=item.attempts, result=SCHEDULED, node=node)
        if fell:
            world.record.fallbacks += 1
            world.record.write(
                "Fallback",
                pod=pod.key,
                node=node,
                topologyKeys=fell,
                criteria=sorted(world.follower.shapes.held(pod)),
            )
        if (pod.spec.resource_claims or allocations) and world.follower.reserves_claims(pod):
            self.claims.reserve(pod, allocations)
        # It does not come back: what its binding tells the queue need not be kept for it.
        world.queue.done(item)
        world.bind(pod, node, _IS_SCHEDULED)
        return True

    def ask_driver(self, item: QueuedPod, allocations: Mapping[str, Allocation]) -> None:
        """Reserve answers Pending: a driver has to prepare the claims first (KEP-4247's example)."""
        world = self.world
        message = "waiting for the driver to allocate the claims"
        self.reject(item, (), message, pending=(names.DYNAMIC_RESOURCES,))
        for key, allocation in allocations.items():
            world.agenda.after(world.pace.driver, partial(self.claims.prepare, key, allocation))

    def reject(
        self,
        item: QueuedPod,
        plugins: Collection[str],
        message: str,
        *,
        keeps_nomination: bool = False,
        nominated: str | None = None,
        pending: Collection[str] = (),
        error: bool | None = None,
    ) -> None:
        """Give a rejected pod back to the queue: no node takes it now, or one has to be made ready first.

        Without a rejector the attempt was an error, unless `error` says otherwise (the pod's group waits).
        """
        world = self.world
        error = not (plugins or pending) if error is None else error
        result = ERROR if error else UNSCHEDULABLE
        world.record.metrics.attempts[result] += 1
        world.record.wasted += 1
        world.record.write(
            "Attempt",
            pod=item.key,
            attempt=item.attempts,
            result=result,
            plugins=sorted({*plugins, *pending}),
            message=message,
        )
        self._give_back(
            item,
            plugins,
            message,
            nominated,
            keeps_nomination=keeps_nomination,
            pending=pending,
            error=error,
        )

    def nominate(
        self,
        item: QueuedPod,
        node: str,
        victims: Sequence[Pod],
        plugins: Collection[str],
        message: str,
    ) -> None:
        """Nominate a pod to a node and have the victims removed there."""
        world = self.world
        world.record.metrics.attempts[UNSCHEDULABLE] += 1
        world.record.wasted += 1
        world.record.write(
            "Attempt",
            pod=item.key,
            attempt=item.attempts,
            result="nominated",
            node=node,
            victims=[victim.key for victim in victims],
            plugins=sorted(plugins),
        )
        world.record.metrics.victims.observe(len(victims))
        world.queue.preempting.add(item.uid)
        self._clear_lower(node, item.pod)
        self._give_back(item, plugins, message, node)
        uid, key = item.uid, item.key
        world.agenda.after(world.pace.api, lambda: self._carry_out(key, uid, node, victims, {node}))

    def _give_back(
        self,
        item: QueuedPod,
        plugins: Collection[str],
        message: str,
        node: str | None,
        *,
        keeps_nomination: bool = False,
        pending: Collection[str] = (),
        error: bool = False,
    ) -> None:
        world = self.world
        world.queue.fail(item, plugins, pending)
        pod = world.pod(item.key, item.uid)
        if pod is None or pod.spec.node_name:
            return
        reason = "SchedulerError" if error else "Unschedulable"
        condition = Condition(type="PodScheduled", status="False", reason=reason, message=message)
        if keeps_nomination:
            node = pod.status.nominated_node_name
        world.edit(pod, conditions=[condition], nominated_node_name=node)

    # -- room is made ------------------------------------------------------------

    def _clear_lower(self, node: str, preemptor: Pod) -> None:
        """Withdraw the nominations of lower-priority pods to a node."""
        for other in self.world.queue.nominator.pods_on(node):
            if other.priority < preemptor.priority:
                now = self.world.pod(other.key, identity(other))
                if now is not None and now.status.nominated_node_name:
                    self.world.edit(now, nominated_node_name=None)

    def _carry_out(self, key: str, uid: str, node: str, victims: Sequence[Pod], tried: set[str]) -> None:
        """Remove the victims, the last one when the preemptor may be tried again."""
        world = self.world
        preemptor = world.pod(key, uid)
        if preemptor is None or preemptor.spec.node_name:
            world.queue.preempting.discard(uid)
            return
        left = [v for v in victims if (now := world.pod(v.key, v.metadata.uid)) and not now.is_terminating]
        for k, victim in enumerate(left):
            if k == len(left) - 1:
                world.queue.preempting.discard(uid)
            if not self.disruptions.preempt(victim, preemptor, guarded=self.guarded(victim, preemptor)):
                world.queue.preempting.add(uid)
                self._elsewhere(key, uid, tried)
                return
        world.queue.preempting.discard(uid)
        still = any(world.pod(v.key, v.metadata.uid) is not None for v in victims)
        if not still:
            world.queue.activate([preemptor])

    def guarded(self, victim: Pod, preemptor: Pod) -> bool:
        """Whether a preemptor may not break a victim's budgets (KEP-4664)."""
        guard = victim.spec.allow_disruption_by_priority_greater_than_or_equal
        return (
            guard is not None
            and self.world.gates.enabled("DisruptionPolicyInPriorityClass")
            and preemptor.priority < guard
        )

    def _elsewhere(self, key: str, uid: str, tried: set[str]) -> None:
        """Choose another node after the eviction API refused a guarded victim; else the pod backs off."""
        world = self.world
        preemptor = world.pod(key, uid)
        assert preemptor is not None
        cluster, state = world.follower.look()
        i = world.follower.number(key)
        framework = framework_for(cluster, i)
        result = framework.filter_all(state, i, nominated=True)
        for name in tried:
            if name in cluster.node_index:
                result.override(cluster.node_index[name], NOT_HELPFUL)
        found = preempt(framework, state, i, result, self.disruptions.ledger(cluster))
        if found.best is None:
            world.record.write("PreemptionGivenUp", pod=key)
            world.queue.preempting.discard(uid)
            preemptor = world.edit(preemptor, nominated_node_name=None)
            # The next attempt may find the same victims, and the API may refuse them again.
            world.queue.punish(preemptor)
            return
        node = cluster.node_names[found.best.node]
        victims = [cluster.pods[j].pod for j in found.best.victims]
        self._clear_lower(node, preemptor)
        world.edit(preemptor, nominated_node_name=node)
        self._carry_out(key, uid, node, victims, {*tried, node})
