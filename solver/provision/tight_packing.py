"""Where a tight packing begins and ends: pods put on nodes as the linear relaxation says, and taken off.

What the relaxation leaves in parts is put where nodes become overfull by little; `swaps` goes on from there.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.linear import add_at_most
from ...encoders.terms import Goal, Terms
from ..bounds.lp_relaxation import point
from ..model.sparse_rows import rows_of
from .climb import climb
from .node_choice import row

if TYPE_CHECKING:
    from ...framework.vocabulary.arrays import Ints
    from ..options import SolveOptions

# In how many units the largest request of a resource is counted in the relaxation.
_GRAINS: Final = 10_000

# In which parts pods that are left out are weighed.
_WEIGHTS: Final = 100

# CP-SAT's deterministic time for the packing of a cell.
_WORK: Final = 2.0

# Parts by which a whole number may be off for being a float.
_ROUNDING: Final = 1e-6


def crammed(asked: Ints, free: Ints, most: Ints, wanted: Ints, until: float) -> Ints:
    """Return how many pods of each class are on each node, (C, N), where nodes are overfull by little.

    Parameters
    ----------
    asked : int array (C, R)
    free : int array (R, N)
    most : int array (C, N)
        Most pods of each class that a node takes.
    wanted : int array (C,)
        Pods of each class.
    """
    whole = _whole_part(asked, free, most, wanted, until)
    return _with_all(wanted - whole.sum(axis=1), asked, free, most, whole)


def _whole_part(asked: Ints, free: Ints, most: Ints, wanted: Ints, until: float) -> Ints:
    """Return the whole pods of the relaxation that is least overfull, resources as shares of their room."""
    units = np.maximum(asked.max(axis=0) // _GRAINS, 1)
    asked, free = -(-asked // units), free // units[:, None]
    model, upper = cp_model.CpModel(), np.minimum(wanted[:, None], most)
    on = {
        (c, n): model.new_int_var(0, int(upper[c, n]), "")
        for c, n in zip(*(axis.tolist() for axis in np.nonzero(upper)), strict=True)
    }
    by_class, by_node = [Terms() for _ in wanted], [Terms() for _ in range(free.size)]
    for (c, n), variable in on.items():
        by_class[c].add(variable, int(upper[c, n]), -1)
        for r, amount in enumerate(asked[c].tolist()):
            by_node[n * len(free) + r].add(variable, int(upper[c, n]), amount)
    for terms, number in zip(by_class, np.minimum(wanted, upper.sum(axis=1)).tolist(), strict=True):
        add_at_most(model, *row(terms), -number)
    total = asked.T @ wanted
    over: list[tuple[cp_model.IntVar, int]] = []
    for place, terms in enumerate(by_node):
        n, r = divmod(place, len(free))
        excess = model.new_int_var(0, max(int(total[r]), 0), "")
        over.append((excess, _GRAINS * _GRAINS // max(1, int(free[r].sum()))))
        add_at_most(model, *row(terms.add(excess, int(total[r]), -1)), int(free[r, n]))
    rows = rows_of(model, 0, 0)
    cost = np.zeros(len(rows.low), dtype=np.int64)
    for variable, weight in over:
        cost[variable.index] = weight
    values = point(rows, cost, until - time.monotonic())
    counts = np.zeros_like(most)
    if values is not None:
        for key, variable in on.items():
            counts[key] = int(values[variable.index] + _ROUNDING)
    return counts


def _with_all(left: Ints, asked: Ints, free: Ints, most: Ints, counts: Ints) -> Ints:
    """Put pods without room where nodes become overfull by little."""
    counts = counts.copy()
    scale = np.maximum(free.sum(axis=1), 1).astype(float)[:, None]
    over = asked.T @ counts - free
    for c in np.repeat(np.arange(len(left)), left).tolist():
        nodes = np.flatnonzero(counts[c] < most[c])
        if len(nodes):
            excess = np.maximum((over[:, nodes] + asked[c][:, None]) / scale, 0).sum(axis=0)
            n = int(nodes[excess.argmin()])
            counts[c, n] += 1
            over[:, n] += asked[c]
    return counts


def eased(asked: Ints, free: Ints, counts: Ints) -> Ints:
    """Take pods off overfull nodes, each time the one with which least has to go."""
    counts = counts.copy()
    scale = np.maximum(free.sum(axis=1), 1).astype(float)
    sizes = (asked / scale).sum(axis=1)
    for n in range(free.shape[1]):
        over = asked.T @ counts[:, n] - free[:, n]
        while (over > 0).any():
            here = np.flatnonzero(counts[:, n])
            rest = np.maximum((over - asked[here]) / scale, 0).sum(axis=1)
            c = int(here[(sizes[here] + rest).argmin()])
            counts[c, n] -= 1
            over -= asked[c]
    return counts


def searched(
    options: SolveOptions, asked: Ints, free: Ints, most: Ints, wanted: Ints, start: Ints, until: float
) -> Ints:
    """Put pods on nodes by CP-SAT so that what is left out asks for little."""
    units = np.maximum(asked.max(axis=0) // _GRAINS, 1)
    asked, free = -(-asked // units), free // units[:, None]
    shares = (asked / np.maximum(free.sum(axis=1), 1)).max(axis=1)
    weights = 1 + np.floor(_WEIGHTS * shares / max(float(shares.max()), 1e-9)).astype(np.int64)
    model, upper = cp_model.CpModel(), np.minimum(wanted[:, None], most)
    on = {
        (c, n): model.new_int_var(0, int(upper[c, n]), "")
        for c, n in zip(*(axis.tolist() for axis in np.nonzero(upper)), strict=True)
    }
    for c in range(len(wanted)):
        mine = [n for n in range(free.shape[1]) if upper[c, n]]
        add_at_most(model, [1] * len(mine), [on[c, n] for n in mine], upper[c, mine].tolist(), int(wanted[c]))
    for n in range(free.shape[1]):
        here = [c for c in range(len(wanted)) if upper[c, n]]
        for amounts, room in zip(asked[here].T.tolist(), free[:, n].tolist(), strict=True):
            add_at_most(model, amounts, [on[c, n] for c in here], upper[here, n].tolist(), max(0, room))
    placed = Terms()
    for (c, n), variable in on.items():
        placed.add(variable, int(upper[c, n]), int(weights[c]))
    goal = Goal("placed", "max", placed, 0, int(weights @ wanted))
    found = climb(model, [goal], options, until, hint=[int(start[key]) for key in on], work=_WORK)
    if found.solution is None:
        return start
    counts = np.zeros_like(most)
    for key, variable in on.items():
        counts[key] = found.solution[variable.index]
    return counts
