"""The cheapest nodes of each cell for pods that are given, by sums over what is alike.

Pods of a cell whose requests have the same proportions are one mixture, which may be divided at will: which
part of it goes to the nodes of each offer is part of the choice, so that nodes rich in memory are bought only
for pods that use it. That a pod stands on one node is what the room left over is for.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.linear import add_at_most
from ...encoders.terms import Goal, Terms
from .climb import climb
from .master import PRICE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...framework.vocabulary.arrays import Ints
    from .cells import Cell, Division
    from .trial import Counts, Market

    Variables = Mapping[tuple[int, int], cp_model.IntVar]
    """Pods by (class, cell), or nodes by (offer, cell)."""

# Room that is left over is counted in these parts of the whole.
PARTS: Final = 1000

# How much more of it stays free on the cluster's own nodes, which are many small rests.
_OWN: Final = 5

# Units in which the largest request of a resource, and all requests of a cell together, are counted at least:
# sums need not be exact here.
_GRAINS: Final = 10_000
_GRAINS_OF_ALL: Final = 100_000

# Into how many parts a mixture can be divided, how finely proportions tell mixtures apart at first, and how
# many there may be.
_DIVISIONS: Final = 1000
_FINEST: Final = 32
_MIXTURES: Final = 12

# How far from the cheapest nodes a search for them may end, as a share of the price.
_GAP: Final = 2e-3

# CP-SAT's deterministic time for the nodes of one cell.
_WORK: Final = 0.7


class NodeChoice:
    """The nodes that can be bought in the cells of a division.

    Parameters
    ----------
    most : tuple of int
        How many nodes of each offer are of use.
    budget : int or None
        The most that they may cost, in millionths.
    """

    def __init__(self, division: Division, market: Market, most: Counts, budget: int | None) -> None:
        self._division, self._market = division, market
        self._most, self._budget = most, budget
        self._asked = division.asked

    def cheapest(self, pods: Mapping[tuple[int, int], int], spare: int, until: float) -> Counts | None:
        """Return the cheapest nodes with room for the pods of each cell, or None.

        Parameters
        ----------
        pods : mapping
            Number of pods by (class, cell).
        spare : int
            Thousandths of the room that stay free.
        """
        counts = [0] * len(self._most)
        cells = sorted({k for (_, k), n in pods.items() if n})
        limits = self._market.catalogue.limits
        tied = self._budget is not None or any(item.least or item.most is not None for item in limits)
        everywhere = range(len(self._division.cells))
        for done, some in enumerate([everywhere] if tied else [[k] for k in cells]):
            left = until - time.monotonic()
            end = time.monotonic() + (left if tied else left / (len(cells) - done))
            found = self._in_cells(some, pods, spare, end)
            if found is None:
                return None
            for offer, n in found.items():
                counts[offer] += n
        return tuple(counts)

    def _in_cells(
        self, cells: Iterable[int], pods: Mapping[tuple[int, int], int], spare: int, until: float
    ) -> dict[int, int] | None:
        model = cp_model.CpModel()
        bought = self.bought(model, cells)
        plain: dict[int, int] = {}
        for k in cells:
            cell = self._division.cells[k]
            here = {c: n for (c, cell_), n in pods.items() if cell_ == k and n}
            plain |= self._mixtures(model, cell, k, here, bought, spare)
            for c, n in here.items():
                terms = self.less(Terms(), bought, k, cell.takes[c])
                add_at_most(model, *row(terms), int(cell.takes_there[c]) - n)
        price, nodes = self.limited(model, bought)
        # of nodes that cost the same few large ones are packed best
        goal = Terms().extend(price, len(self._market.waiting) + 1).extend(nodes)
        goals = [Goal(PRICE, "min", goal, 0, goal.high)]
        start = [plain.get(index, 0) for index in range(len(model.proto.variables))]
        found = climb(model, goals, self._market.options, until, hint=start, gap=_GAP, work=_WORK)
        if found.solution is None:
            return None
        return {offer: found.solution[variable.index] for (offer, _), variable in bought.items()}

    def _mixtures(
        self,
        model: cp_model.CpModel,
        cell: Cell,
        k: int,
        pods: Mapping[int, int],
        bought: Variables,
        spare: int,
    ) -> dict[int, int]:
        """Divide what pods ask for among the cell's own nodes and those of each offer.

        Returns
        -------
        dict of int
            A plain solution to start from, by variable: all pods on nodes of one offer.
        """
        if not pods:
            return {}
        plain: list[tuple[int, dict[int, int]]] = []
        total = np.sum([n * self._asked[c] for c, n in pods.items()], axis=0)
        unit = np.maximum(total // _GRAINS_OF_ALL, 1)
        mixtures = _alike(self._asked / np.maximum(total, 1), list(pods))
        amounts = [-(-np.sum([pods[c] * self._asked[c] for c in part], axis=0) // unit) for part in mixtures]
        places: list[tuple[cp_model.IntVar | None, int, Ints, Ints]] = [
            (None, 1, cell.there * max(0, PARTS - _OWN * spare) // (PARTS * unit), cell.takes_there),
            *(
                (bought[offer, k], self._most[offer], room * (PARTS - spare) // (PARTS * unit), takes)
                for offer, room, takes in zip(cell.offers, cell.room.T, cell.takes.T, strict=True)
            ),
        ]
        shares: list[Terms] = [Terms() for _ in mixtures]
        for nodes, most, room, takes in places:
            parts = {
                m: model.new_int_var(0, _DIVISIONS, "part")
                for m, part in enumerate(mixtures)
                if takes[part].any()
            }
            for m, variable in parts.items():
                shares[m].add(variable, _DIVISIONS, -1)
            asked = np.sum(amounts, axis=0)
            if nodes is not None and takes[list(pods)].all() and (room[asked > 0] > 0).all():
                wanted = [-(-pods[c] // int(takes[c])) for c in pods]
                number = max(*wanted, *(-(-asked[asked > 0] // room[asked > 0])).tolist())
                all_there = {variable.index: _DIVISIONS for variable in parts.values()}
                plain.append((number, {nodes.index: number, **all_there}))
            for r in np.flatnonzero(total).tolist():
                terms = Terms()
                for m, variable in parts.items():
                    terms.add(variable, _DIVISIONS, int(amounts[m][r]))
                limit = _DIVISIONS * int(room[r])
                if nodes is not None:
                    terms.add(nodes, most, -limit)
                add_at_most(model, *row(terms), 0 if nodes is not None else limit)
        for terms in shares:
            add_at_most(model, *row(terms), -_DIVISIONS)
        return min(plain, key=lambda one: one[0], default=(0, {}))[1]

    # -- variables and rows ------------------------------------------------------------

    def bought(self, model: cp_model.CpModel, cells: Iterable[int]) -> Variables:
        """Make variables for the nodes of some cells."""
        return {
            (offer, k): model.new_int_var(0, self._most[offer], f"x[{offer}]")
            for k in cells
            for offer in self._division.cells[k].offers
        }

    def less(self, terms: Terms, bought: Variables, k: int, room: Ints) -> Terms:
        """Take the room of what is bought in a cell off an expression."""
        for offer, amount in zip(self._division.cells[k].offers, room.tolist(), strict=True):
            terms.add(bought[offer, k], self._most[offer], -int(amount))
        return terms

    def room(self, cell: Cell, spare: int) -> Iterator[tuple[list[int], Ints, int]]:
        """Yield for each resource what pods of each class ask for, what offers have, and what is there."""
        for amounts, room, there in zip(self._asked.T.tolist(), cell.room, cell.there, strict=True):
            unit = max(1, max(amounts) // _GRAINS)
            parts = PARTS * unit
            if any(amounts):
                least = [-(-amount // unit) for amount in amounts]
                own = int(there) * max(0, PARTS - _OWN * spare) // parts
                yield least, room * (PARTS - spare) // parts, own

    def limited(self, model: cp_model.CpModel, bought: Variables) -> tuple[Terms, Terms]:
        """Keep to the limits of groups and of the price; return price and number."""
        catalogue = self._market.catalogue
        by_group: dict[str, Terms] = {}
        price, nodes = Terms(), Terms()
        for (offer, _), variable in bought.items():
            most, one = self._most[offer], catalogue.offers[offer]
            by_group.setdefault(one.group, Terms()).add(variable, most)
            price.add(variable, most, one.price)
            nodes.add(variable, most)
        for limits in catalogue.limits:
            total = by_group.get(limits.name, Terms())
            if limits.most is not None and total.high > limits.most:
                model.add(total.expression() <= limits.most)
            if limits.least:
                model.add(total.expression() >= limits.least)
        if self._budget is not None:
            model.add(price.expression() <= self._budget)
        return price, nodes


def _alike(shares: np.ndarray, classes: Sequence[int]) -> list[list[int]]:
    """Gather classes whose requests have about the same proportions, pod slots apart.

    Parameters
    ----------
    shares : float array (C, R+1)
        What a pod asks for, as shares of what all ask for.
    """
    fineness = _FINEST
    while True:
        found: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for c in classes:
            asked = shares[c, :-1]
            whole = asked.sum() or 1.0
            found[tuple(np.rint(fineness * asked / whole).astype(int).tolist())].append(c)
        if len(found) <= _MIXTURES or fineness == 1:
            return list(found.values())
        fineness //= 2


def row(terms: Terms) -> tuple[Sequence[int], Sequence[cp_model.IntVar], Sequence[int]]:
    """Return what `add_at_most` reads of an expression."""
    return terms.coefficients, terms.variables, terms.uppers
