"""The cheapest set of steps that nothing known rules out: one Boolean for each step of the menu.

What a trial shows of one set of steps rules out others with it. A set is ruled out by a trial of another one
if it takes no rule further than that did, and of some series (`exact`) takes the same step. The row of a
trial is that some step of the set goes further, or that some of those series is at another level.

Of sets that cost the same the one with fewer steps comes first, then the one whose steps go less far.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from ..model.cp_solver import cp_solver

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .step import Menu, Profile, Step


class Master:
    """The model of all sets of steps.

    Parameters
    ----------
    menu : Menu
    seed : int
    """

    def __init__(self, menu: Menu, seed: int) -> None:
        self._menu = menu
        self._model = cp_model.CpModel()
        self._taken = {step: self._model.new_bool_var(step.text) for step in menu.steps}
        self._solver = cp_solver(seed=seed)
        for series in menu.series:
            self._model.add_at_most_one(self._of(series))
        count = len(menu.steps) + 1
        highest = max((step.level for step in menu.steps), default=0)
        weights = {step: (step.cost * count + 1) * (count * highest + 1) + step.level for step in menu.steps}
        self._model.minimize(sum(weights[step] * taken for step, taken in self._taken.items()))

    def _of(self, series: str) -> list[cp_model.IntVar]:
        return [taken for step, taken in self._taken.items() if step.series == series]

    def cheapest(self) -> tuple[Step, ...] | None:
        """Return the cheapest set that is left, in the order of the menu; None where none is."""
        status = self._solver.solve(self._model)
        if status == cp_model.INFEASIBLE:
            return None
        assert status == cp_model.OPTIMAL
        return tuple(step for step, taken in self._taken.items() if self._solver.boolean_value(taken))

    def rule_out(self, tried: Profile, exact: Collection[str]) -> None:
        """Rule out the sets that go no further than a trial did, and of some series just as far."""
        row: list[cp_model.LiteralT] = []
        for step, taken in self._taken.items():
            level = tried.level(step.series)
            if step.level > level:
                row.append(taken)
            elif step.series in exact and step.level == level:
                row.append(taken.negated())
        self._model.add_bool_or(row)

    def demand_better(self, found: Sequence[Step]) -> None:
        """Rule out the sets that are no cheaper than a known one in any kind of step that it takes."""
        row: list[cp_model.LiteralT] = []
        for kind, cost in costs_by_kind(found).items():
            cheaper = self._model.new_bool_var("")
            spent = sum(step.cost * taken for step, taken in self._taken.items() if step.kind == kind)
            self._model.add(spent <= cost - 1).only_enforce_if(cheaper)
            row.append(cheaper)
        self._model.add_bool_or(row)


def costs_by_kind(steps: Sequence[Step]) -> Counter[str]:
    """Return what a set of steps costs, by kind."""
    costs: Counter[str] = Counter()
    for step in steps:
        costs[step.kind] += step.cost
    return costs
