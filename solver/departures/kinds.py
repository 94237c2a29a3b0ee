"""What victims cost: those that charge the same budgets and count in the same tiers are one kind.

With N_k victims of a kind that leave within their budgets and W_k that violate one:

    Σ over the kinds k that charge budget b of N_k <= disruptionsAllowed(b)
    tier: Σ_k (within_tk·N_k + breaking_tk·W_k)

A victim may violate only where it charges a budget that all its victims could exceed, and, if it is guarded,
where pods wait that reach its guard (`encoders.eviction`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...encoders.eviction import breakable
from ...models import tiers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...encoders.problem import Problem, VictimClass
    from ...framework.vocabulary.arrays import Bools, Ints


class Kind(NamedTuple):
    """The budgets that a victim charges, of those that can be exceeded, its priority and its guard."""

    budgets: tuple[int, ...]
    priority: int
    guard: int | None


class Kinds:
    """The kinds of victims of a problem that cost something.

    Attributes
    ----------
    kinds : list of Kind
    of_victim : list of int
        By victim class its kind; -1 for those that terminate already.
    budgets : list of int
        Indices of the budgets that count.
    allowed : int array (B,)
        How many disruptions each of them allows.
    charged : bool array (B, K)
    may_break : bool array (K,)
        Whether one of a kind may violate a budget.
    within, breaking : dict
        Tier -> int array (K,), what one counts that leaves within its budgets, or violates one.
    """

    def __init__(self, problem: Problem) -> None:
        binding = {budget.index for budget, _ in breakable(problem)}
        numbers: dict[Kind, int] = {}
        self.of_victim = [
            -1 if v.free else numbers.setdefault(_kind(v, binding), len(numbers)) for v in problem.victims
        ]
        self.kinds = list(numbers)
        self.budgets = sorted({b for kind in self.kinds for b in kind.budgets})
        self.allowed: Ints = np.array([problem.budgets[b].allowed for b in self.budgets], dtype=np.int64)
        self.charged: Bools = np.array(
            [[b in kind.budgets for kind in self.kinds] for b in self.budgets], dtype=bool
        ).reshape(len(self.budgets), len(self.kinds))
        self.may_break: Bools = np.zeros(len(self.kinds), dtype=bool)
        self.within: dict[str, Ints] = {}
        self.breaking: dict[str, Ints] = {}
        for k, kind in enumerate(self.kinds):
            level = problem.belongs_to(kind.priority)
            if level is not None:
                _count(self.within, tiers.evicted(level, kind.priority), k, len(self.kinds))
            broken = problem.belongs_to(kind.priority, kind.guard)
            if kind.budgets and broken is not None:
                self.may_break[k] = True
                _count(self.breaking, tiers.violations(broken), k, len(self.kinds))
                _count(self.breaking, tiers.evicted(broken, kind.priority), k, len(self.kinds))

    @property
    def tiers(self) -> set[str]:
        """The tiers in which some victim counts."""
        return {*self.within, *self.breaking}

    def costs(self, weights: Mapping[str, int], budgets: Ints) -> Ints:
        """Return what a victim of each kind costs at least, given what tiers and budgets cost, (K,)."""
        within = budgets @ self.charged.astype(np.int64)
        breaking = np.zeros(len(self.kinds), dtype=np.int64)
        for name, weight in weights.items():
            if name in self.within:
                within += weight * self.within[name]
            if name in self.breaking:
                breaking += weight * self.breaking[name]
        return np.where(self.may_break, np.minimum(within, breaking), within)


def _kind(v: VictimClass, binding: set[int]) -> Kind:
    return Kind(tuple(b for b in v.charges if b in binding), v.priority, v.guard)


def _count(counted: dict[str, Ints], name: str, kind: int, kinds: int) -> None:
    counted.setdefault(name, np.zeros(kinds, dtype=np.int64))[kind] += 1
