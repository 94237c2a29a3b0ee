"""Purchases near the bound for large rounds: sums over cells, with a little room left over.

How many pods of each class go to each cell, and how many nodes of each offer are bought there: the linear
relaxation, in which the room of a cell is shared and spread constraints hold between domains. Its pods are
rounded to whole ones within those constraints, then the cheapest nodes with room for them are chosen
(`node_choice`). What is left out (that a pod stands on one node, affinity, groups, devices) is what the room
left over is for; whether it suffices is tried out, so nothing here is a bound.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.linear import add_at_most
from ...encoders.terms import Goal, Terms
from ..bounds.lp_relaxation import point
from ..model.sparse_rows import rows_of
from .climb import climb
from .node_choice import NodeChoice, row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...encoders.topology_spread import SpreadGroup
    from .cells import Division
    from .node_choice import Variables
    from .trial import Counts, Market

# How finely the rounding of the relaxation is weighed, and what it may be off by for being a float.
_FINE: Final = 1000
_ROUNDING: Final = 1e-6


@dataclass(frozen=True)
class Draft:
    """A purchase, and how many pods of each class go to each cell, by (class, cell)."""

    counts: Counts
    pods: Mapping[tuple[int, int], int]


class Blueprint:
    """The sums over the cells of a division.

    Parameters
    ----------
    most : tuple of int
        How many nodes of each offer are of use.
    budget : int or None
        The most that a purchase may cost, in millionths.
    """

    def __init__(self, division: Division, market: Market, most: Counts, budget: int | None) -> None:
        self._division, self._market = division, market
        self._classes, self._cells = division.problem.classes, division.cells
        self._nodes = NodeChoice(division, market, most, budget)

    def propose(self, placed: Counts, spare: int, until: float) -> Draft | None:
        """Return a cheap purchase for at least so many pods of each level, or None.

        Parameters
        ----------
        spare : int
            Thousandths of the room that stay free.
        """
        relaxed = self._relaxed(placed, spare, until)
        pods = None if relaxed is None else self._rounded(relaxed, placed, until)
        if pods is None:
            return None
        counts = self._nodes.cheapest(pods, spare, until)
        return None if counts is None else Draft(counts, pods)

    # -- the steps ------------------------------------------------------------

    def _relaxed(self, placed: Counts, spare: int, until: float) -> dict[tuple[int, int], float] | None:
        """Return how many pods go where in the linear relaxation."""
        model = cp_model.CpModel()
        on = self._pods(model, {})
        bought = self._nodes.bought(model, range(len(self._cells)))
        self._place(model, on, placed)
        for k, cell in enumerate(self._cells):
            classes = [c for c in range(len(self._classes)) if (c, k) in on]
            for amounts, room, there in self._nodes.room(cell, spare):
                terms = self._sum(on, classes, [k]).weighted([int(amounts[c]) for c in classes])
                add_at_most(model, *row(self._nodes.less(terms, bought, k, room)), there)
            for c in classes:
                terms = self._nodes.less(self._sum(on, [c], [k]), bought, k, cell.takes[c])
                add_at_most(model, *row(terms), int(cell.takes_there[c]))
        price = self._nodes.limited(model, bought)[0]
        rows = rows_of(model, 0, 0)
        cost = np.zeros(len(rows.low), dtype=np.int64)
        cost[[variable.index for variable in price.variables]] = price.coefficients
        values = point(rows, cost, until - time.monotonic())
        return None if values is None else {key: values[v.index] for key, v in on.items()}

    def _rounded(
        self, relaxed: Mapping[tuple[int, int], float], placed: Counts, until: float
    ) -> dict[tuple[int, int], int] | None:
        """Return whole pods near the relaxation."""
        model = cp_model.CpModel()
        on = self._pods(model, relaxed)
        self._place(model, on, placed)
        off = Terms()
        for key, variable in on.items():
            part = relaxed[key] - math.floor(relaxed[key])
            off.add(variable, self._classes[key[0]].size, round(_FINE * (1 - 2 * part)))
        found = climb(model, [Goal("off", "min", off, off.low, off.high)], self._market.options, until)
        if found.solution is None:
            return None
        return {key: found.solution[variable.index] for key, variable in on.items()}

    # -- variables and rows ------------------------------------------------------------

    def _pods(self, model: cp_model.CpModel, near: Mapping[tuple[int, int], float]) -> Variables:
        """Make variables for pods; each within one of what it is near to."""
        found = {}
        for k, cell in enumerate(self._cells):
            for c, cls in enumerate(self._classes):
                if not cell.takes_there[c] and not cell.takes[c].any():
                    continue
                low, high = 0, cls.size
                if near:
                    low = math.floor(near[c, k] + _ROUNDING)
                    high = min(high, math.ceil(near[c, k] - _ROUNDING))
                found[c, k] = model.new_int_var(min(low, high), high, f"z[{c},{k}]")
        return found

    def _sum(self, on: Variables, classes: Iterable[int], cells: Iterable[int] | None = None) -> Terms:
        found = Terms()
        for k in range(len(self._cells)) if cells is None else cells:
            for c in classes:
                if (c, k) in on:
                    found.add(on[c, k], self._classes[c].size)
        return found

    def _place(self, model: cp_model.CpModel, on: Variables, placed: Counts) -> None:
        """Place so many pods of each level, as constraints spread them."""
        for c, cls in enumerate(self._classes):
            add_at_most(model, *row(self._sum(on, [c])), cls.size)
        for level, n in zip(self._market.levels, placed, strict=True):
            classes = [c for c, cls in enumerate(self._classes) if cls.priority == level]
            model.add(self._sum(on, classes).expression() >= n)
        for group in self._division.groups:
            self._spread(model, group, on)

    def _spread(self, model: cp_model.CpModel, group: SpreadGroup, on: Variables) -> None:
        """Hold a constraint between the domains in which something is or may be bought."""
        key, skew = group.constraint.topology_key, group.constraint.max_skew
        there = [d for d in group.domains if d in self._division.open[key]]
        carriers = [cls.index for cls in group.counted_carriers]
        matching = [cls.index for cls in group.matching.classes]
        low = Terms()
        if len(there) >= group.constraint.min_domains:
            most = sum(self._classes[c].size for c in matching) + int(group.matching.fixed.sum())
            low.add(model.new_int_var(0, most, "lowest"), most)
        for d in there:
            cells = [k for k, cell in enumerate(self._cells) if cell.domains[key] == d]
            runs = int(group.matching.fixed[group.members(d)].sum())
            add_at_most(model, *row(Terms().extend(low).extend(self._sum(on, matching, cells), -1)), runs)
            if runs <= skew:
                carried = self._sum(on, carriers, cells).extend(low, -1)
                add_at_most(model, *row(carried), skew - runs)
