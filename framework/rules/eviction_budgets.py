"""Disruption budgets as the eviction API applies them: what a pod that moves takes of them.

Other than for preemption (`budgets`), an empty selector covers every pod of the namespace, and a pod that
several budgets cover is refused. A pod that is not healthy is granted without charge where the budget's
`unhealthyPodEvictionPolicy` says so, or where its healthy pods are enough as they are.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ...models.budgets import is_healthy

if TYPE_CHECKING:
    from ...models.policy import PodDisruptionBudget
    from ..index.cluster import Cluster


@dataclass(frozen=True, slots=True)
class EvictionBudget:
    """One PodDisruptionBudget.

    Attributes
    ----------
    index : int
        Its place among those that select pods at all, in input order.
    key : str
        `namespace/name`.
    allowed : int
        How many more disruptions its status allows; 0 or more.
    source : PodDisruptionBudget
    """

    index: int
    key: str
    allowed: int
    source: PodDisruptionBudget

    def covers(self, cluster: Cluster, i: int) -> bool:
        """Whether the budget covers pod i."""
        info, selector = cluster.pods[i], self.source.spec.selector
        return (
            info.namespace == self.source.namespace and selector is not None and selector.matches(info.labels)
        )

    def charges(self, cluster: Cluster, i: int) -> bool:
        """Whether evicting pod i, which the budget covers, takes one of it."""
        pod, status = cluster.pods[i].pod, self.source.status
        if pod.name in status.disrupted_pods:
            return False
        if not pod.spec.node_name or is_healthy(pod, status.disrupted_pods, cluster.snapshot.now):
            return True
        always = self.source.spec.unhealthy_pod_eviction_policy == "AlwaysAllow"
        return not (always or status.current_healthy >= status.desired_healthy > 0)


def eviction_budgets(cluster: Cluster) -> tuple[EvictionBudget, ...]:
    """Return the budgets of a cluster that select pods, in input order."""
    return cluster.memo("eviction budgets", partial(_budgets, cluster))


def _budgets(cluster: Cluster) -> tuple[EvictionBudget, ...]:
    selecting = [item for item in cluster.snapshot.pod_disruption_budgets if item.spec.selector is not None]
    return tuple(
        EvictionBudget(index, item.key, max(item.status.disruptions_allowed or 0, 0), item)
        for index, item in enumerate(selecting)
    )


def covering(cluster: Cluster, i: int) -> tuple[EvictionBudget, ...]:
    """Return the budgets that cover pod i, in input order."""
    label_cls = cluster.pods[i].label_cls
    return cluster.memo(
        ("eviction budgets of", label_cls),
        lambda: tuple(budget for budget in eviction_budgets(cluster) if budget.covers(cluster, i)),
    )


def charged(cluster: Cluster, i: int) -> tuple[EvictionBudget, ...]:
    """Return the budgets of which the eviction of pod i takes one."""
    return tuple(budget for budget in covering(cluster, i) if budget.charges(cluster, i))
