"""Disruption budgets as the controller keeps them, and the ways in which pods are removed.

Every budget is counted from its pods, from the start: pods that go and come back move it.

Sources: kubernetes pkg/controller/disruption; registry/core/pod/storage/eviction.go.
"""

from enum import IntEnum

from ..framework.index.cluster import Cluster
from ..framework.rules.budgets import budgets
from ..models.budgets import DELETION_TIMEOUT, Scales, fill_status
from ..models.controllers import Deployment, ReplicaSet, ReplicationController, StatefulSet
from ..models.meta import Condition, KubeObject
from ..models.pod import Pod
from ..models.policy import PodDisruptionBudget
from .live_cluster import LiveLedger
from .world import World

_SCALED = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")


class EvictionResponse(IntEnum):
    """The response of the eviction API, by its HTTP status."""

    OK = 200
    TOO_MANY_REQUESTS = 429
    """A budget does not allow it now."""
    SEVERAL_BUDGETS = 500
    """More than one budget covers the pod."""


class Disruptions:
    """The budgets and the API.

    Parameters
    ----------
    world : World
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._covered: dict[str, dict[str, None]] = {}
        self._by_namespace: dict[str, list[str]] = {}
        self._dirty: dict[str, None] = {}
        self._scales: Scales | None = None
        self._of_pods = world.listeners.add(self._pod_changed, "Pod", asleep=True)
        world.listeners.add(self._changed, "PodDisruptionBudget", *_SCALED)

    # -- counting ------------------------------------------------------------

    def _pod_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        item = new if new is not None else old
        assert isinstance(item, Pod)
        for key in self._by_namespace.get(item.namespace, ()):
            self._cover(key, item.key, new if isinstance(new, Pod) else None)

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        item = new if new is not None else old
        if isinstance(item, PodDisruptionBudget):
            self._budget_changed(old, new)
        elif item is not None and item.kind in _SCALED:
            self._scales = None
            self._dirty.update(dict.fromkeys(self._by_namespace.get(item.namespace, ())))

    def _budget_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if isinstance(new, PodDisruptionBudget):
            if isinstance(old, PodDisruptionBudget) and old.spec == new.spec:
                return
            self._world.listeners.wake(self._of_pods)
            if old is None:
                self._by_namespace.setdefault(new.namespace, []).append(new.key)
            self._covered[new.key] = {}
            self._dirty[new.key] = None
            for pod in self._world.objects.all(Pod):
                if pod.namespace == new.namespace:
                    self._cover(new.key, pod.key, pod)
        elif old is not None:
            self._by_namespace[old.namespace].remove(old.key)
            self._covered.pop(old.key, None)
            self._dirty.pop(old.key, None)

    def _cover(self, key: str, pod_key: str, pod: Pod | None) -> None:
        budget = self._world.objects.get(PodDisruptionBudget, key)
        covered = self._covered[key]
        selector = budget.spec.selector if budget is not None else None
        if pod is not None and selector is not None and selector.matches(pod.metadata.labels):
            covered[pod_key] = None
            self._dirty[key] = None
        elif pod_key in covered:
            del covered[pod_key]
            self._dirty[key] = None

    def budget(self, key: str) -> PodDisruptionBudget:
        """Return a budget with the status of this moment."""
        world = self._world
        found = world.objects.get(PodDisruptionBudget, key)
        assert found is not None
        if key not in self._dirty:
            return found
        del self._dirty[key]
        if self._scales is None:
            objects = world.objects
            self._scales = Scales(
                deployments=objects.all(Deployment),
                replica_sets=objects.all(ReplicaSet),
                stateful_sets=objects.all(StatefulSet),
                replication_controllers=objects.all(ReplicationController),
            )
        pods = [pod for each in self._covered[key] if (pod := world.pod(each)) is not None]
        names = {pod.name for pod in pods}
        disrupted = {
            name: when
            for name, when in found.status.disrupted_pods.items()
            if name in names and world.now - when < DELETION_TIMEOUT
        }
        status = found.status.model_copy(update={"disruptions_allowed": None, "disrupted_pods": disrupted})
        [counted] = fill_status([found.model_copy(update={"status": status})], pods, self._scales, world.now)
        world.objects.put(counted)
        return counted

    def allowed(self, cluster: Cluster) -> tuple[int, ...]:
        """Return what is left of each budget, by `Budget.index`."""
        every = budgets(cluster)
        if not every:
            return ()
        found = (self.budget(item.key) for item in every)
        return tuple(max(budget.status.disruptions_allowed or 0, 0) for budget in found)

    def ledger(self, cluster: Cluster) -> LiveLedger:
        """Return what is left of the budgets, for preemption.

        A pod whose disruption is paid for may have ended since, or lost its node: it is no victim any more.
        """
        allowed = list(self.allowed(cluster))
        paid: list[int] = []
        for item in budgets(cluster):
            budget = self.budget(item.key)
            for name in budget.status.disrupted_pods:
                key = f"{budget.namespace}/{name}"
                if self._world.follower.plays(key):
                    paid.append(self._world.follower.number(key))
        return LiveLedger(cluster, allowed, paid)

    # -- removing ------------------------------------------------------------

    def evict(self, pod: Pod) -> EvictionResponse:
        """Ask the eviction API to remove a pod.

        Returns
        -------
        EvictionResponse
            Where it is OK the pod terminates now.
        """
        answer = self._ask(pod)
        self._world.record.metrics.evictions["evict", str(answer.value)] += 1
        if answer is EvictionResponse.OK:
            self.delete(pod)
        return answer

    def _ask(self, pod: Pod) -> EvictionResponse:
        if pod.is_terminal or pod.is_terminating or not pod.spec.node_name:
            return EvictionResponse.OK
        covering = self._covering(pod)
        if len(covering) > 1:
            return EvictionResponse.SEVERAL_BUDGETS
        if not covering:
            return EvictionResponse.OK
        budget = self.budget(covering[0])
        status = budget.status
        ready = pod.status.phase in (None, "Running")
        if not ready:
            always = budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow"
            if always or status.current_healthy >= status.desired_healthy > 0:
                return EvictionResponse.OK
        allowed = status.disruptions_allowed or 0
        if allowed <= 0:
            return EvictionResponse.TOO_MANY_REQUESTS
        disrupted = {**status.disrupted_pods, pod.name: self._world.now}
        update = {"disruptions_allowed": allowed - 1, "disrupted_pods": disrupted}
        self._world.objects.put(budget.model_copy(update={"status": status.model_copy(update=update)}))
        return EvictionResponse.OK

    def _covering(self, pod: Pod) -> list[str]:
        return [key for key in self._by_namespace.get(pod.namespace, ()) if pod.key in self._covered[key]]

    def breaks(self, pod: Pod) -> bool:
        """Whether removing a pod now goes beyond what one of its budgets allows."""
        for key in self._covering(pod):
            status = self.budget(key).status
            if pod.name not in status.disrupted_pods and (status.disruptions_allowed or 0) <= 0:
                return True
        return False

    def delete(self, pod: Pod) -> None:
        """Delete a pod: one that is on a node terminates gracefully, any other goes at once."""
        now = self._world.pod(pod.key, pod.metadata.uid)
        if now is None or now.is_terminating:
            return
        if not now.spec.node_name or now.is_terminal:
            self._world.remove_pod(now)
        else:
            self._world.edit(now, meta={"deletion_timestamp": self._world.now})

    def preempt(self, pod: Pod, preemptor: Pod, *, guarded: bool) -> bool:
        """Remove a victim for a preemptor, as KEP-4664 has it where its gate is on.

        Parameters
        ----------
        pod, preemptor : Pod
        guarded : bool
            Whether the preemptor may not break the victim's budgets.

        Returns
        -------
        bool
            False where the eviction API refused and the victim may not be deleted.
        """
        world = self._world
        now = world.pod(pod.key, pod.metadata.uid)
        if now is None or now.is_terminating:
            return True
        if not now.spec.node_name:
            # It only expected room: that is all it loses.
            world.edit(now, nominated_node_name=None)
            return True
        breaks = self.breaks(now)
        by_eviction = world.gates.enabled("DisruptionPolicyInPriorityClass")
        answer: EvictionResponse | None = None
        if by_eviction:
            answer = self._ask(now)
            world.record.metrics.evictions["evict", str(answer.value)] += 1
            if answer is not EvictionResponse.OK and guarded:
                world.record.write("EvictionRefused", pod=now.key, preemptor=preemptor.key, code=answer.value)
                return False
        if answer is not EvictionResponse.OK:
            world.record.metrics.evictions["delete", "200"] += 1
        world.record.evictions += 1
        world.record.violations += breaks
        world.record.write(
            "PodEvicted",
            pod=now.key,
            node=now.spec.node_name,
            preemptor=preemptor.key,
            by="eviction" if answer is EvictionResponse.OK else "deletion",
            violates=breaks,
        )
        target = Condition(
            type="DisruptionTarget",
            status="True",
            reason="PreemptionByScheduler",
            message=f"{preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod",
        )
        self.delete(world.edit(now, conditions=[target]))
        return True
