"""The best plan so far and what is known to bound every tier: the one place where either changes.

No plan attains more than a bound. A known plan that does is a bug, and raises BoundContradiction where the
two first meet: when a bound is told, and when a plan is offered (docs/model.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import le
from typing import TYPE_CHECKING

from ...models.errors import BoundContradiction
from ..plans.outcome import Outcome, dump

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...framework.index.cluster import Cluster
    from ..plans.objective import ObjectiveVector
    from ..record import Record


@dataclass(frozen=True)
class _Bound:
    """A least cost of a tier.

    `given` are costs of the first tiers: the bound holds of every plan that exceeds none of them, and of
    every plan at all where there are none.
    """

    cost: int
    given: tuple[int, ...]

    def covers(self, costs: Sequence[int]) -> bool:
        """Whether it holds of every plan that exceeds none of these costs of the first tiers."""
        given = self.given
        return len(given) <= len(costs) and all(map(le, costs, given))


class Incumbent:
    """The best plan of a round that is known, and the bounds of its tiers.

    Attributes
    ----------
    best : Outcome
    valuation : ObjectiveVector
        Of `best`.
    """

    def __init__(self, cluster: Cluster, best: Outcome, valuation: ObjectiveVector) -> None:
        self._cluster = cluster
        self.best, self.valuation = best, valuation
        self._place = {tier.name: k for k, tier in enumerate(valuation.tiers)}
        self._bounds: list[list[_Bound]] = [[] for _ in valuation.tiers]
        # for each tier the known plan that is best in it, regardless of the tiers above
        self._least = [(cost, best) for cost in valuation.costs]
        self._record: Record | None = None

    def follow(self, record: Record) -> None:
        """Let a record have what is known of every tier now, and each time that it changes."""
        self._record = record
        self._note(*self._place)

    def _note(self, *names: str) -> None:
        if self._record is not None:
            costs = self.valuation.costs
            self._record.note({name: (self.value(name), self.bound(name, costs)) for name in names})

    def offer(self, outcome: Outcome, valuation: ObjectiveVector) -> None:
        """Record a plan, and keep it if it is better; an outcome that breaks a guard is no plan.

        Raises
        ------
        BoundContradiction
            Where a bound says that there is no such plan.
        """
        if not valuation.guarded:
            return
        costs = valuation.costs
        for k, bounds in enumerate(self._bounds):
            for bound in bounds:
                if costs[k] < bound.cost and bound.covers(costs):
                    raise self._contradiction(k, bound, costs[k], outcome)
            if costs[k] < self._least[k][0]:
                self._least[k] = costs[k], outcome
        if costs < self.valuation.costs:
            self.best, self.valuation = outcome, valuation
            self._note(*self._place)

    def tell(self, name: str, bound: int, given: tuple[int, ...] = ()) -> None:
        """Record a bound.

        Parameters
        ----------
        given : tuple of int
            Costs of the first tiers that a plan must not exceed for the bound to hold of it; none where it
            holds of every plan.

        Raises
        ------
        BoundContradiction
            Where a known plan attains more.
        """
        k = self._place[name]
        new = _Bound(self._signed(k, bound), given)
        mine = self.valuation.costs
        if mine[k] < new.cost and new.covers(mine):
            raise self._contradiction(k, new, mine[k], self.best)
        least, outcome = self._least[k]
        if not given and least < new.cost:
            raise self._contradiction(k, new, least, outcome)
        if new not in self._bounds[k]:
            self._bounds[k].append(new)
            self._note(name)

    def bound(self, name: str, given: Sequence[int] | None = None) -> int | None:
        """Return the tightest bound of a tier, given the tiers above; None where there is none.

        Parameters
        ----------
        given : sequence of int, optional
            Costs of the first tiers; those of the best plan by default.
        """
        k = self._place[name]
        costs = self.valuation.costs if given is None else given
        tight = max((bound.cost for bound in self._bounds[k] if bound.covers(costs)), default=None)
        return None if tight is None else self._signed(k, tight)

    def bounds(self) -> dict[str, int]:
        """Return the bound of every tier that has one."""
        return {name: bound for name in self._place if (bound := self.bound(name)) is not None}

    def value(self, name: str) -> int:
        """Return the best plan's value of a tier."""
        return self.valuation.tiers[self._place[name]].value

    def cost(self, name: str, value: int) -> int:
        """Return a value of a tier as a cost: smaller is better."""
        return self._signed(self._place[name], value)

    def contradiction(self, message: str, outcome: Outcome | None = None) -> BoundContradiction:
        """Return the error that a bound and a plan contradict each other, with all that is known."""
        known = {"tiers": self.valuation.by_name(), "bounds": self.bounds()}
        return BoundContradiction(message, {**known, **dump(self._cluster, outcome or self.best)})

    def _contradiction(self, k: int, bound: _Bound, cost: int, outcome: Outcome) -> BoundContradiction:
        value, limit = self._signed(k, cost), self._signed(k, bound.cost)
        name = self.valuation.tiers[k].name
        return self.contradiction(f"{name}: the plan attains {value}, the bound is {limit}", outcome)

    def _signed(self, k: int, value: int) -> int:
        """Turn a tier's value into its cost, or a cost into the value."""
        return -value if self.valuation.tiers[k].sense == "max" else value
