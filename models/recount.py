"""The status of disruption budgets after a cluster has changed.

A budget whose pods or workloads count as before keeps its status, computed or as the API server had it; one
whose status was set by hand keeps that. Every other one is counted anew, as the disruption controller does.
"""

from __future__ import annotations

from dataclasses import replace

from .budgets import Scales, fill_status
from .policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from .snapshot import Snapshot


def counted_anew(before: Snapshot, after: Snapshot) -> Snapshot:
    """Return the later snapshot with budgets that the change between the two touches counted anew."""
    known = {budget.key: budget for budget in before.pod_disruption_budgets}
    was = {budget.key: budget.status for budget in _counted(before)}
    budgets = []
    for budget, counted in zip(after.pod_disruption_budgets, _counted(after), strict=True):
        old = known.get(budget.key)
        touched = old is None or (budget.status == old.status and counted.status != was[budget.key])
        budgets.append(counted if touched else budget)
    return replace(after, pod_disruption_budgets=tuple(budgets))


def _counted(snapshot: Snapshot) -> tuple[PodDisruptionBudget, ...]:
    bare = [
        budget.model_copy(
            update={"status": PodDisruptionBudgetStatus(disrupted_pods=budget.status.disrupted_pods)}
        )
        for budget in snapshot.pod_disruption_budgets
    ]
    scales = Scales(
        deployments=snapshot.deployments,
        replica_sets=snapshot.replica_sets,
        stateful_sets=snapshot.stateful_sets,
        replication_controllers=snapshot.replication_controllers,
    )
    return fill_status(bare, snapshot.pods, scales, snapshot.now)
