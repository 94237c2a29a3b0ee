"""What is left of the disruption budgets while a round goes on.

Within a pass a budget stays what its status says, except that guarded victims (KEP-4664) draw on it at once:
they are evicted, not deleted, and an eviction is paid for when it is granted.  All other victims are paid for
when the pass is over.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .budgets import budgets, budgets_of

if TYPE_CHECKING:
    from .cluster import Cluster


class Ledger:
    """The budgets of one round.

    Attributes
    ----------
    allowed : list of int
        How many more disruptions each budget takes, by `Budget.index`; never below 0.
    """

    __slots__ = ("_cluster", "_paid", "allowed")

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self.allowed = [budget.allowed for budget in budgets(cluster)]
        self._paid: set[int] = set()

    def charges(self, i: int) -> list[int]:
        """Return the budgets that evicting pod i would use one of; none where it is paid for already."""
        if i in self._paid:
            return []
        name = self._cluster.pods[i].pod.name
        return [b.index for b in budgets_of(self._cluster, i) if name not in b.disrupted]

    def pay(self, victims: Iterable[int]) -> None:
        """Let victims use their budgets, each once."""
        for i in victims:
            for b in self.charges(i):
                self.allowed[b] = max(0, self.allowed[b] - 1)
            self._paid.add(i)
