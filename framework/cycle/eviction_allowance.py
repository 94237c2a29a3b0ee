"""What the limits on evictions leave for the rest of a round (`models.eviction_limits`).

kube-scheduler knows no such limits: greedy under them is kube-scheduler's algorithm of which a preemption
that would break one is not made. A victim counts as violating where one of its budgets has nothing left after
the victims before it: those that do not count fit every budget, so a plan never has more violating ones.
Source: docs/model.md, "Limits on evictions".
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..rules.budgets import budgets

if TYPE_CHECKING:
    from ..index.cluster import Cluster


@dataclass(slots=True)
class EvictionAllowance:
    """The evictions that may still be made.

    Attributes
    ----------
    cluster : Cluster
    evictions, violations : int or None
        How many more there may be of each; None where that is not limited.
    left : list of int
        What the victims so far leave of each budget, by `Budget.index`.
    gone : set of int
        Who has been counted.
    """

    cluster: "Cluster"
    evictions: int | None
    violations: int | None
    left: list[int]
    gone: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, cluster: "Cluster") -> "EvictionAllowance":
        """Return what a round begins with."""
        limits = cluster.snapshot.limits
        return cls(cluster, limits.evictions, limits.violations, [b.allowed for b in budgets(cluster)])

    def copy(self) -> "EvictionAllowance":
        """Return an independent copy."""
        return replace(self, left=list(self.left), gone=set(self.gone))

    def takes(self, victims: Iterable[int]) -> bool:
        """Whether victims may be evicted beside those before; who terminates in the input may always."""
        later = self.copy()
        later.spend(victims)
        return all(number is None or number >= 0 for number in (later.evictions, later.violations))

    def spend(self, victims: Iterable[int]) -> None:
        """Evict victims, each once."""
        for j in victims:
            if j in self.gone or self.cluster.pods[j].terminating:
                continue
            self.gone.add(j)
            charged = [b.index for b in budgets(self.cluster) if b.charges(self.cluster, j)]
            violates = any(self.left[b] <= 0 for b in charged)
            if self.evictions is not None:
                self.evictions -= 1
            if violates and self.violations is not None:
                self.violations -= 1
            for b in () if violates else charged:
                self.left[b] -= 1
