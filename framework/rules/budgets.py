"""Disruption budgets, resolved to the pods they cover.

Which pods a budget covers is preemption's own rule: same namespace, at least one label, and a selector that
is neither absent nor empty. (The eviction API takes an empty selector for all pods; preemption ignores such
a budget.)

Source: kube-scheduler 1.34.1 plugins/defaultpreemption/default_preemption.go (filterPodsWithPDBViolation).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...models.selectors import CompiledSelector

if TYPE_CHECKING:
    from ..index.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Budget:
    """One PodDisruptionBudget.

    Attributes
    ----------
    index : int
        Its place among the budgets of the input.
    key : str
        `namespace/name`.
    allowed : int
        How many more disruptions its status allows; 0 or more.
    disrupted : frozenset of str
        Names of pods whose disruption is already paid for.
    """

    index: int
    key: str
    namespace: str
    allowed: int
    disrupted: frozenset[str]
    selector: CompiledSelector

    def matches(self, cluster: "Cluster", i: int) -> bool:
        """Whether the budget covers pod i."""
        info = cluster.pods[i]
        return info.namespace == self.namespace and bool(info.labels) and self.selector.matches(info.labels)

    def charges(self, cluster: "Cluster", i: int) -> bool:
        """Whether evicting pod i uses one of the budget: it covers the pod, which is not paid for yet."""
        return self.matches(cluster, i) and cluster.pods[i].pod.name not in self.disrupted


def budgets(cluster: "Cluster") -> tuple[Budget, ...]:
    """Return the budgets that can cover a pod, in input order."""

    def resolve() -> tuple[Budget, ...]:
        found: list[Budget] = []
        for pdb in cluster.snapshot.pod_disruption_budgets:
            selector = pdb.spec.selector
            if selector is None or selector.compiled.is_empty:
                continue
            found.append(
                Budget(
                    index=len(found),
                    key=pdb.key,
                    namespace=pdb.namespace,
                    allowed=max(pdb.status.disruptions_allowed or 0, 0),
                    disrupted=frozenset(pdb.status.disrupted_pods),
                    selector=selector.compiled,
                )
            )
        return tuple(found)

    return cluster.memo("budgets", resolve)


def budgets_of(cluster: "Cluster", i: int) -> tuple[Budget, ...]:
    """Return the budgets that cover pod i, paid for or not, in input order."""
    label_cls = cluster.pods[i].label_cls
    return cluster.memo(
        ("budgets of", label_cls), lambda: tuple(b for b in budgets(cluster) if b.matches(cluster, i))
    )
