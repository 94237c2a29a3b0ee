"""What opens a budget that allows no disruption: the least change of each field that does.

Each is tried with the disruption controller's own sums (`models.budgets`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...models.budgets import Scales, fill_status
from ...models.drain import Remedy
from ...models.policy import PodDisruptionBudgetStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models.policy import PodDisruptionBudget
    from ...models.snapshot import Snapshot


def remedies(snapshot: Snapshot, budget: PodDisruptionBudget) -> tuple[Remedy, ...]:
    """Return single changes after which a budget allows one disruption, as far as there are any."""
    scales = Scales(
        deployments=snapshot.deployments,
        replica_sets=snapshot.replica_sets,
        stateful_sets=snapshot.stateful_sets,
        replication_controllers=snapshot.replication_controllers,
    )
    pods = [pod for pod in snapshot.pods if pod.namespace == budget.namespace]

    def counted(**spec: object) -> PodDisruptionBudgetStatus:
        changed = budget.model_copy(
            update={
                "spec": budget.spec.model_copy(update=spec),
                "status": PodDisruptionBudgetStatus(disrupted_pods=budget.status.disrupted_pods),
            }
        )
        return fill_status([changed], pods, scales, snapshot.now)[0].status

    found = []
    for remedy in _candidates(budget, counted()):
        changed = (
            counted(max_unavailable=remedy.value, min_available=None)
            if remedy.field == "maxUnavailable"
            else counted(min_available=remedy.value, max_unavailable=None)
            if remedy.field == "minAvailable"
            else None
        )
        if changed is None or changed.disruptions_allowed:
            found.append(remedy)
    return tuple(found)


def _candidates(budget: PodDisruptionBudget, now: PodDisruptionBudgetStatus) -> Iterator[Remedy]:
    healthy, expected, desired = now.current_healthy, now.expected_pods, now.desired_healthy
    lacking = desired + 1 - healthy
    if lacking <= 0:
        return  # its pods allow a disruption: the status is that of another moment
    if lacking <= expected - healthy:
        words = f"{_pods(lacking)} healthy again"
        yield Remedy(field="healthy", value=lacking, words=words)
    if budget.spec.max_unavailable is not None:
        value = expected - healthy + 1
        yield Remedy(field="maxUnavailable", value=value, words=f"maxUnavailable {value}")
    elif budget.spec.min_available is not None and healthy:
        yield Remedy(field="minAvailable", value=healthy - 1, words=f"minAvailable {healthy - 1}")
        if isinstance(budget.spec.min_available, int) and healthy == expected and lacking > 0:
            value = expected + lacking
            yield Remedy(field="replicas", value=value, words=f"{value} replicas")


def _pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number} pods"
