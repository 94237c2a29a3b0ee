"""A column for each node: the master's, with more and more of them held in whole numbers.

What the master takes wholly is held, and a tenth of the other nodes with what it takes most of; then columns
are found at the new prices, and so on. It ends where the value rises: what is left is for
`solver.departures.exchange`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from .master import Master

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..bounds.safe_bounds import Floats
    from .columns import Column, Departures
    from .master import MasterSolution

# A column that the master takes less often than this is not taken, and one within this of once is.
NOTHING = 1e-6


def dive(
    departures: Departures, name: str, held: Mapping[str, int], until: float
) -> dict[int, Column] | None:
    """Return a column for each node, as far as time allows; None where the master fails at once."""
    params, free = departures.params, departures.choices.times.copy()
    master = Master(departures.kinds, departures.demand, free, name, held)
    for column in departures.known:
        departures.give(master, column)
    dearest = params.penalty * departures.weight
    master.box(np.zeros_like(dearest), dearest)
    taken: dict[int, int] = {}
    often: Floats | None = None
    first = np.inf
    while (found := _priced(departures, name, held, master, until)) is not None:
        columns, often = list(departures.known), found.often.copy()
        for q, number in taken.items():
            often[q] -= number
        first = min(first, found.value)
        if not free.any() or found.value > first + params.dive_rise:
            break
        most, held_now = max(1, int(params.dive_share * free.sum())), 0
        for q in np.argsort(-often, kind="stable").tolist():
            if often[q] < NOTHING or (often[q] < 1 - NOTHING and held_now >= most):
                break
            kind = columns[q].kind
            if free[kind]:
                taken[q] = taken.get(q, 0) + 1
                free[kind] -= 1
                held_now += 1
                master.hold(q, taken[q])
        if not held_now:  # what the master takes of the free nodes is within its tolerances
            break
    return None if often is None else _rounded(departures, taken, often)


def _priced(
    departures: Departures, name: str, held: Mapping[str, int], master: Master, until: float
) -> MasterSolution | None:
    """Solve the master, with columns that are found at its prices; None out of time."""
    for _ in range(departures.params.dive_rounds):
        found = master.solve(until - time.monotonic())
        if found is None or time.monotonic() >= until:
            return None
        if not departures.find(found, name, held, master):
            return found
    return master.solve(until - time.monotonic())


def _rounded(departures: Departures, taken: Mapping[int, int], often: Floats) -> dict[int, Column]:
    """Give each node the columns held of its type, and to the others what the master takes most of."""
    columns = list(departures.known)[: len(often)]
    of_kind: dict[int, list[int]] = {}
    for q, column in enumerate(columns):
        of_kind.setdefault(column.kind, []).append(q)
    found: dict[int, Column] = {}
    for kind, nodes in enumerate(departures.choices.nodes):
        mine = [q for q in of_kind[kind] for _ in range(taken.get(q, 0))]
        mine += [max(of_kind[kind], key=lambda q: often[q])] * (len(nodes) - len(mine))
        found.update((int(n), columns[q]) for n, q in zip(nodes, mine, strict=True))
    return found
