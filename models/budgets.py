"""The status of disruption budgets, where an input lacks it.

The disruption controller's sums:

    allowed = max(0, healthy - desired),  0 where no pod is expected
    desired = minAvailable, or expected - maxUnavailable (at least 0); percentages are of expected, rounded up
    expected = sum of the scales of the controllers of the matching pods

A controller that the input does not hold, and a pod without one, count for the matching pods that are there:
upstream would refuse to allow any disruption of them, but an input without the status was not made by
upstream.

Source: kubernetes pkg/controller/disruption/disruption.go.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from .controllers import Deployment, ReplicaSet, ReplicationController, StatefulSet
from .meta import KubeObject
from .pod import Pod
from .policy import PodDisruptionBudget

DELETION_TIMEOUT = timedelta(minutes=2)
"""How long a pod in `disruptedPods` is taken for one that is about to go."""


class Scales:
    """How many replicas the controllers of an input want, by (kind, namespace, name).

    Parameters
    ----------
    deployments, replica_sets, stateful_sets, replication_controllers : iterable
        The controllers of the input. A ReplicaSet stands for its Deployment where that is known.
    """

    def __init__(
        self,
        *,
        deployments: Iterable[Deployment] = (),
        replica_sets: Iterable[ReplicaSet] = (),
        stateful_sets: Iterable[StatefulSet] = (),
        replication_controllers: Iterable[ReplicationController] = (),
    ) -> None:
        self._replicas: dict[tuple[str, str, str], int] = {}
        self._parents: dict[tuple[str, str, str], tuple[str, str, str]] = {}
        for group in (deployments, replica_sets, stateful_sets, replication_controllers):
            for item in group:
                self._replicas[item.kind, item.namespace, item.name] = item.spec.replicas
                parent = _controller_key(item)
                if parent is not None:
                    self._parents[item.kind, item.namespace, item.name] = parent

    def scale_of(self, pod: Pod) -> tuple[tuple[str, str, str], int] | None:
        """Return the scaled controller of a pod and its number of replicas, or None where there is none."""
        key = _controller_key(pod)
        if key is None:
            return None
        parent = self._parents.get(key)
        if parent in self._replicas:
            key = parent
        return (key, self._replicas[key]) if key in self._replicas else None


def _controller_key(item: KubeObject) -> tuple[str, str, str] | None:
    owner = item.metadata.controller
    return None if owner is None else (owner.kind, item.namespace, owner.name)


def fill_status(
    budgets: Sequence[PodDisruptionBudget], pods: Iterable[Pod], scales: Scales, now: datetime
) -> tuple[PodDisruptionBudget, ...]:
    """Return the budgets, those without `status.disruptionsAllowed` with a computed status.

    Parameters
    ----------
    budgets : sequence of PodDisruptionBudget
        The budgets of the input.
    pods : iterable of Pod
        All pods of the input.
    scales : Scales
        What the controllers of the input want.
    now : datetime
        The time of the round, for pods whose eviction is under way.
    """
    if all(_has_status(budget) for budget in budgets):
        return tuple(budgets)
    by_namespace: dict[str, list[Pod]] = {}
    for pod in pods:
        by_namespace.setdefault(pod.namespace, []).append(pod)
    return tuple(
        budget
        if _has_status(budget)
        else _with_status(budget, by_namespace.get(budget.namespace, ()), scales, now)
        for budget in budgets
    )


def _has_status(budget: PodDisruptionBudget) -> bool:
    """Whether a budget has a status that the API server keeps: not a negative one of a manifest."""
    return budget.status.disruptions_allowed is not None and budget.status.disruptions_allowed >= 0


def _with_status(
    budget: PodDisruptionBudget, pods: Iterable[Pod], scales: Scales, now: datetime
) -> PodDisruptionBudget:
    selector = budget.spec.selector
    matching = [
        pod
        for pod in pods
        if selector is not None and not pod.is_terminal and selector.matches(pod.metadata.labels)
    ]
    healthy = sum(is_healthy(pod, budget.status.disrupted_pods, now) for pod in matching)
    expected, desired = _expectation(budget, matching, scales)
    allowed = max(0, healthy - desired) if expected > 0 else 0
    status = budget.status.model_copy(
        update={
            "disruptions_allowed": allowed,
            "current_healthy": healthy,
            "desired_healthy": desired,
            "expected_pods": expected,
        }
    )
    return budget.model_copy(update={"status": status})


def is_healthy(pod: Pod, disrupted: Mapping[str, datetime], now: datetime) -> bool:
    """Whether a pod counts as healthy for a budget.

    It has the condition Ready, is not being deleted and is not about to be evicted. An input that was
    written by hand may lack the condition: there a bound pod counts whose phase is Running or is left
    out.
    """
    if pod.is_terminating:
        return False
    evicted_at = disrupted.get(pod.name)
    if evicted_at is not None and now - evicted_at < DELETION_TIMEOUT:
        return False
    ready = pod.condition("Ready")
    if ready is None:
        return bool(pod.spec.node_name) and pod.status.phase in (None, "Running")
    return ready.status == "True"


def _expectation(budget: PodDisruptionBudget, matching: Sequence[Pod], scales: Scales) -> tuple[int, int]:
    """Return how many pods there should be, and how many of them must stay healthy."""
    spec = budget.spec
    if spec.max_unavailable is not None:
        expected = _expected(matching, scales)
        return expected, max(0, expected - _share(spec.max_unavailable, expected))
    if isinstance(spec.min_available, int):
        return len(matching), spec.min_available
    if spec.min_available is not None:
        expected = _expected(matching, scales)
        return expected, _share(spec.min_available, expected)
    return 0, 0


def _expected(matching: Sequence[Pod], scales: Scales) -> int:
    wanted: dict[tuple[str, str, str], int] = {}
    alone = 0
    for pod in matching:
        scale = scales.scale_of(pod)
        if scale is None:
            alone += 1
        else:
            wanted[scale[0]] = scale[1]
    return sum(wanted.values()) + alone


def _share(value: int | str, whole: int) -> int:
    """Return a number, or a percentage of the whole rounded up."""
    return value if isinstance(value, int) else -(-int(value.rstrip("%")) * whole // 100)
