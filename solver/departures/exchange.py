"""Columns exchanged on a few nodes at a time: the others hold theirs, and CP-SAT chooses among those known.

    Σ over the columns q of a free node of x[n,q] = 1
    Σ pods_qd·x[n,q] + pods held + u_d >= z_d            each row of the demand, as in the master
    N_k + W_k >= Σ leaving_qk·x[n,q] + leaving held      each kind of victims
    Σ N_k <= allowed_b, tiers held + e_t

A pod that is left out, and a victim beyond a tier held, cost more than one victim. Nothing here is a proof.
"""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from ..model.interrupts import run_or_leave

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...framework.vocabulary.arrays import Ints
    from .columns import Column, Departures

# More victims than a tier can count.
MOST = 2**31


class Exchange:
    """The search, from a column for each node.

    Attributes
    ----------
    columns : dict
        By node its column.
    cost : int or None
        The tier's value, and what is paid for pods left out and tiers that are worse; None before a step.
    """

    def __init__(
        self,
        departures: Departures,
        columns: Mapping[int, Column],
        name: str,
        held: Mapping[str, int],
        new_solver: Callable[[], cp_model.CpSolver],
    ) -> None:
        self._departures, self._name, self._held, self._new_solver = departures, name, held, new_solver
        self.columns = dict(columns)
        self.cost: int | None = None
        self._known: dict[int, list[Column]] = {}
        for column in departures.known:
            self._known.setdefault(column.kind, []).append(column)
        self._leaving: dict[int, Ints] = {}

    def run(self, seed: int, bound: int, until: float) -> None:
        """Exchange columns until the bound is attained, little is gained, or time is out."""
        params, random = self._departures.params, Random(seed)
        nodes, stalled = sorted(self.columns), 0
        while stalled < params.exchange_stall and time.monotonic() < until:
            before = self.cost
            self._step(random.sample(nodes, min(params.exchanged, len(nodes))))
            if self.cost is not None and self.cost <= bound:
                return
            stalled = 0 if self.cost != before else stalled + 1

    def _leave(self, column: Column) -> Ints:
        if column.choice not in self._leaving:
            kinds = len(self._departures.kinds.kinds)
            self._leaving[column.choice] = self._departures.choices.leaving(column.choice, kinds)
        return self._leaving[column.choice]

    def _step(self, free: Sequence[int]) -> None:
        """Choose the columns of some nodes anew."""
        model, some = cp_model.CpModel(), set(free)
        fixed = [column for n, column in self.columns.items() if n not in some]
        taken: list[tuple[int, Column, cp_model.IntVar]] = []
        for n in free:
            mine = [(n, column, model.new_bool_var("")) for column in self._known[self.columns[n].kind]]
            model.add_exactly_one([x for _, _, x in mine])
            for _, column, x in mine:
                model.add_hint(x, column == self.columns[n])
            taken += mine
        left = self._place(model, fixed, taken)
        value, excess = self._cost(model, fixed, taken)
        dear = np.ceil(self._departures.params.penalty * self._departures.weight).astype(int).tolist()
        model.minimize(
            value
            + cp_model.LinearExpr.weighted_sum(left, [max(2, price) for price in dear])
            + int(self._departures.params.penalty) * cp_model.LinearExpr.sum(excess)
        )
        solver = self._new_solver()
        status = run_or_leave(lambda: solver.solve(model), solver.stop_search)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return
        cost = round(solver.objective_value)
        if self.cost is None or cost <= self.cost:
            self.cost = cost
            self.columns.update((n, column) for n, column, x in taken if solver.boolean_value(x))

    def _place(
        self,
        model: cp_model.CpModel,
        fixed: Sequence[Column],
        taken: Sequence[tuple[int, Column, cp_model.IntVar]],
    ) -> list[cp_model.IntVar]:
        """Add the rows of the demand; return how many pods of each are left out."""
        demand = self._departures.demand
        placed = np.array([column.pods for column in fixed], dtype=np.int64).reshape(-1, len(demand.size))
        wanted = [
            model.new_int_var(low, most, "")
            for low, most in zip(demand.low.tolist(), demand.size.tolist(), strict=True)
        ]
        for level, least in enumerate(demand.least.tolist()):
            mine = [wanted[d] for d in np.flatnonzero(demand.level == level).tolist()]
            model.add(cp_model.LinearExpr.sum(mine) >= least)
        left = []
        for d, (there, most) in enumerate(
            zip(placed.sum(axis=0).tolist(), demand.size.tolist(), strict=True)
        ):
            here = [(x, column.pods[d]) for _, column, x in taken if column.pods[d]]
            left.append(model.new_int_var(0, most, ""))
            coming = cp_model.LinearExpr.weighted_sum([x for x, _ in here], [number for _, number in here])
            model.add(coming + there + left[d] >= wanted[d])
        return left

    def _cost(
        self,
        model: cp_model.CpModel,
        fixed: Sequence[Column],
        taken: Sequence[tuple[int, Column, cp_model.IntVar]],
    ) -> tuple[cp_model.LinearExpr, list[cp_model.IntVar]]:
        """Add the rows of kinds and budgets; return what the tier counts, and the excess of tiers held."""
        kinds = self._departures.kinds
        number = len(kinds.kinds)
        gone = sum((self._leave(column) for column in fixed), np.zeros(number, dtype=np.int64)).tolist()
        within, breaking = [], []
        for k, there in enumerate(gone):
            here = [(x, int(self._leave(column)[k])) for _, column, x in taken if self._leave(column)[k]]
            most = there + sum(often for _, often in here)
            within.append(model.new_int_var(0, most, ""))
            breaking.append(model.new_int_var(0, most if kinds.may_break[k] else 0, ""))
            leaving = cp_model.LinearExpr.weighted_sum([x for x, _ in here], [often for _, often in here])
            model.add(leaving + there <= within[k] + breaking[k])
        for charged, allowed in zip(kinds.charged, kinds.allowed.tolist(), strict=True):
            mine = [within[k] for k in np.flatnonzero(charged).tolist()]
            model.add(cp_model.LinearExpr.sum(mine) <= allowed)

        def counted(tier: str) -> cp_model.LinearExpr:
            found = model.new_int_var(0, 2 * sum(gone) + MOST, "")
            both = ((kinds.within, within), (kinds.breaking, breaking))
            variables = [x for how, mine in both if tier in how for x in mine]
            weights = [weight for how, _ in both if tier in how for weight in how[tier].tolist()]
            model.add(found == cp_model.LinearExpr.weighted_sum(variables, weights))
            return found

        excess = []
        for tier, most in self._held.items():
            if tier in kinds.tiers:
                excess.append(model.new_int_var(0, MOST, ""))
                model.add(counted(tier) <= most + excess[-1])
        return counted(self._name), excess
