"""A bound of the price by sums: nodes kept and bought have the room for all pods that move or wait.

With x_k nodes of each kind k, alike in price and in what they offer to those who may move,

    min Σ price_k·x_k   where   Σ_k room_r(k)·x_k >= Σ over pods of what one takes of r at least

for each resource r and the pod slots; nodes that are kept in any case offer their room and cost their price.
It holds of every plan that places all pods that wait.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.build import build_problem
from ...encoders.linear import add_at_most
from ..bounds.sums import ROUNDING
from ..model.cp_solver import cp_solver
from ..rebalance.sums import MoveSums

if TYPE_CHECKING:
    from ...models.progress import Watch
    from ..provision.trial import Counts
    from .round import Ask

_SECONDS: Final = 5.0


def least_price(ask: Ask, most: Counts, seconds: float, watch: Watch) -> int | None:
    """Return the bound in millionths; None where time was too short.

    Parameters
    ----------
    most : tuple of int
        How many nodes of each offer may be of use.
    """
    bought = ask.market.stripped((1,) * len(most))
    round_ = ask.round_on(bought.snapshot, bought, watch, paid=False)
    mobility = round_.mobility
    assert mobility.prices is not None
    problem = build_problem(round_.cluster, watch, mobility)
    sums = MoveSums(problem)
    index = round_.cluster.node_index
    new = {index[name]: n for [name], n in zip(bought.nodes, most, strict=True)}
    kinds: Counter[tuple[int, ...]] = Counter()
    due = [-int(amount) for amount in sums.room[:, mobility.kept].sum(axis=1)]
    for cls in problem.classes:
        due = [d + cls.size * int(amount) for d, amount in zip(due, sums.least(cls), strict=True)]
    for n in np.flatnonzero(~mobility.kept).tolist():
        kinds[int(mobility.prices[n]), *(int(amount) for amount in sums.room[:, n])] += new.get(n, 1)
    model = cp_model.CpModel()
    numbers = [model.new_int_var(0, number, "x") for number in kinds.values()]
    for r, amount in enumerate(due, 1):
        if amount > 0:
            add_at_most(model, [-kind[r] for kind in kinds], numbers, list(kinds.values()), -amount)
    model.minimize(sum(kind[0] * number for kind, number in zip(kinds, numbers, strict=True)))
    solver = cp_solver()
    solver.parameters.max_time_in_seconds = max(min(seconds, _SECONDS), 0.1)
    solver.parameters.num_workers = 1
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    kept = int(mobility.prices[mobility.kept].sum())
    return kept + math.ceil(solver.best_objective_bound - ROUNDING)
