"""What is left of the disruption budgets while a round goes on.

Within a pass a budget stays what its status says, except that guarded victims (KEP-4664) draw on it at once:
they are evicted, not deleted, and an eviction is paid for when it is granted. All other victims are paid for
when the pass is over.
"""

from collections.abc import Iterable
from copy import copy
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

from ..rules.budgets import budgets, budgets_of
from ..vocabulary.arrays import Ints
from .eviction_allowance import EvictionAllowance

if TYPE_CHECKING:
    from ..index.cluster import Cluster


_series = count(1)

NONE: Final = -1
SEVERAL: Final = -2


class Ledger:
    """The budgets of one round.

    Attributes
    ----------
    allowed : list of int
        How many more disruptions each budget takes, by `Budget.index`; never below 0.
    allowance : EvictionAllowance or None
        What the limits on evictions leave; None where there are none.
    """

    __slots__ = ("_budget_of", "_cluster", "_paid", "_series", "allowance", "allowed")

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._series = next(_series)
        self.allowed = [budget.allowed for budget in budgets(cluster)]
        self._paid: set[int] = set()
        self._budget_of: Ints | None = None
        self.allowance = EvictionAllowance.of(cluster) if cluster.snapshot.limits else None

    @property
    def moment(self) -> tuple[int, int]:
        """What changes with each payment, and is another one for another round's ledger."""
        return self._series, len(self._paid)

    def charges(self, i: int) -> list[int]:
        """Return the budgets that evicting pod i would use one of; none where it is paid for already."""
        if i in self._paid:
            return []
        name = self._cluster.pods[i].pod.name
        return [b.index for b in budgets_of(self._cluster, i) if name not in b.disrupted]

    @property
    def budget_of(self) -> Ints:
        """The one budget that evicting each pod would use, `NONE` or `SEVERAL`; int64[P]."""
        if self._budget_of is None:
            cluster = self._cluster
            self._budget_of = cluster.memo("budget of", self._unpaid).copy()
            self._budget_of[list(self._paid)] = NONE
        return self._budget_of

    def _unpaid(self) -> Ints:
        numbers = np.full(len(self._cluster.pods), NONE, dtype=np.int64)
        if self.allowed:
            for i, info in enumerate(self._cluster.pods):
                charged = [b.index for b in budgets_of(self._cluster, i) if info.pod.name not in b.disrupted]
                if charged:
                    numbers[i] = charged[0] if len(charged) == 1 else SEVERAL
        return numbers

    def pay(self, victims: Iterable[int]) -> None:
        """Charge the budgets of victims, each once."""
        for i in victims:
            for b in self.charges(i):
                self.allowed[b] = max(0, self.allowed[b] - 1)
            self._paid.add(i)
            self._budget_of = None

    def within_limits(self, victims: Iterable[int]) -> bool:
        """Whether the limits on evictions leave room for victims beside those before."""
        return self.allowance is None or self.allowance.takes(victims)

    def count(self, victims: Iterable[int]) -> None:
        """Count victims against the limits on evictions, each once."""
        if self.allowance is not None:
            self.allowance.spend(victims)

    def trial(self) -> "Ledger":
        """Return the same budgets for a trial whose victims count against the limits only there."""
        if self.allowance is None:
            return self
        other = copy(self)
        other.allowance = self.allowance.copy()
        return other
