"""The status of disruption budgets after a cluster has changed.

A budget whose pods or workloads count as before keeps its status, computed or as the API server had it; one
whose status was set by hand keeps that. Every other one is counted anew, as the disruption controller does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .budgets import Scales, fill_status
from .pod import Pod
from .policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from .snapshot import Snapshot


def counted_anew(before: Snapshot, after: Snapshot) -> Snapshot:
    """Return the later snapshot with budgets that the change between the two touches counted anew."""
    if _counts_alike(before, after):
        return after
    known = {budget.key: budget for budget in before.pod_disruption_budgets}
    was = {budget.key: budget.status for budget in _counted(before)}
    budgets = []
    for budget, counted in zip(after.pod_disruption_budgets, _counted(after), strict=True):
        old = known.get(budget.key)
        touched = old is None or (budget.status == old.status and counted.status != was[budget.key])
        budgets.append(counted if touched else budget)
    return replace(after, pod_disruption_budgets=tuple(budgets))


def _counts_alike(before: Snapshot, after: Snapshot) -> bool:
    """Whether nothing differs that a budget counts: no pod of it, no workload, no budget's own rule."""
    return (
        all(getattr(before, name) is getattr(after, name) for name in _WORKLOADS)
        and len(before.pods) == len(after.pods)
        and all(
            one is other or _counts_as(one, other) for one, other in zip(before.pods, after.pods, strict=True)
        )
        and [(item.key, item.spec) for item in before.pod_disruption_budgets]
        == [(item.key, item.spec) for item in after.pod_disruption_budgets]
    )


_WORKLOADS: Final = ("deployments", "replica_sets", "stateful_sets", "replication_controllers")


def _counts_as(one: Pod, other: Pod) -> bool:
    """Whether a pod counts as another one does: what it asks for is of no matter."""
    return one is other or (
        one.metadata == other.metadata
        and one.status == other.status
        and one.spec.node_name == other.spec.node_name
    )


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
