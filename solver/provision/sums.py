"""A bound of the price from sums: nodes that are alike are one kind, and share what they have.

With whole numbers x_k of nodes of a kind k and z_ck of pods of class c on them:

    Σ_c request_r(c)·z_ck <= free_r(k)·x_k        for each kind and resource, and pod slots
    z_ck <= most(c, k)·x_k

The nodes of the cluster that take the same classes are one node together. Each row is a sum of rows
of the model node by node, so what is proven here holds of every plan, whatever else its pods ask for. Spread,
affinity, groups and devices are left out, and which offer of a kind is bought.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.linear import add_at_most
from ...encoders.terms import Goal, Terms
from ...framework.vocabulary import names
from ...models import tiers
from ..bounds.lp_relaxation import relaxed
from ..model.sparse_rows import rows_of
from .climb import climb
from .master import NODES, PRICE

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ...framework.vocabulary.arrays import Ints
    from .climb import Climbed
    from .sample import Sample
    from .trial import Counts, Market


@dataclass
class Kind:
    """Nodes that are alike for all pods that wait, or nodes of the cluster taken together.

    Attributes
    ----------
    offers : list of int
        Which they are; empty for the cluster's.
    room, takes : int array
        Free amount of each resource; most pods of each class.
    most : int
        How many can be bought.
    """

    offers: list[int]
    price: int
    room: Ints
    slots: int
    takes: Ints
    most: int


def kinds_of(sample: Sample, market: Market, most: Counts) -> list[Kind]:
    """Gather nodes of offers by what they have, cost and take; the cluster's by which classes they take."""
    problem = sample.problem
    found: dict[Hashable, Kind] = {}
    takes = sample.takes(sample.nodes)
    for k, (node, n, offer) in enumerate(zip(sample.nodes, most, market.catalogue.offers, strict=True)):
        room, slots = np.maximum(problem.free_now[:, node], 0), max(0, int(problem.slots_now[node]))
        if n and takes[:, k].any():
            key = (offer.price, tuple(room.tolist()), slots, takes[:, k].tobytes())
            kind = found.setdefault(key, Kind([], offer.price, room, slots, takes[:, k], 0))
            kind.most += n
            kind.offers.append(k)
    takes = sample.takes(sample.here)
    for k, node in enumerate(sample.here):
        room, slots = np.maximum(problem.most_free[:, node], 0), max(0, int(problem.most_slots[node]))
        kind = found.setdefault((takes[:, k] > 0).tobytes(), Kind([], 0, 0 * room, 0, 0 * takes[:, k], 1))
        kind.room, kind.slots, kind.takes = kind.room + room, kind.slots + slots, kind.takes + takes[:, k]
    return list(found.values())


def without_dominated(kinds: Sequence[Kind], sizes: Ints) -> list[Kind]:
    """Leave out what is to be bought and is no better in anything than another kind that costs no more.

    Only a kind of which there can be one for each pod makes another one useless.

    Parameters
    ----------
    sizes : int array (C,)
        Pods of each class.
    """
    kept: list[Kind] = []
    for kind in sorted(kinds, key=lambda kind: (kind.price, -int(kind.takes.sum()), -kind.slots)):
        better = (
            other.offers
            and other.most >= sizes[other.takes > 0].sum()
            and other.slots >= kind.slots
            and bool((other.takes >= kind.takes).all())
            and bool((other.room >= kind.room).all())
            for other in kept
        )
        if not kind.offers or not any(better):
            kept.append(kind)
    return kept


class Sums:
    """The model of kinds."""

    def __init__(self, sample: Sample, market: Market, kinds: Sequence[Kind], budget: int | None) -> None:
        self._market, self._kinds = market, kinds
        self._classes = sample.problem.classes
        self.model = cp_model.CpModel()
        self.bought = [self.model.new_int_var(0, kind.most, f"x[{k}]") for k, kind in enumerate(kinds)]
        self._on = {
            (c, k): self.model.new_int_var(0, self._most(c, k), f"z[{c},{k}]")
            for k, kind in enumerate(kinds)
            for c in range(len(self._classes))
            if kind.takes[c]
        }
        self._bounded = {cls.index for cls in sample.problem.asking(names.NODE_RESOURCES_FIT, self._classes)}
        for k, kind in enumerate(kinds):
            self._room(k, kind)
        placed = [self._placed(c) for c in range(len(self._classes))]
        for cls, terms in zip(self._classes, placed, strict=True):
            self.model.add(terms.expression() <= cls.size)
        price = Terms()
        for variable, kind in zip(self.bought, kinds, strict=True):
            price.add(variable, kind.most, kind.price)
        if budget is not None:
            self.model.add(price.expression() <= budget)
        self.price = Goal(PRICE, "min", price, 0, price.high)
        number = Terms()
        for variable, kind in zip(self.bought, kinds, strict=True):
            if kind.offers:
                number.add(variable, kind.most)
        self.nodes = Goal(NODES, "min", number, 0, number.high)
        self.levels = []
        for level in market.levels:
            total = Terms()
            for cls, terms in zip(self._classes, placed, strict=True):
                if cls.priority == level:
                    total.extend(terms)
            most = sum(cls.size for cls in self._classes if cls.priority == level)
            self.levels.append(Goal(tiers.scheduled(level), "max", total, 0, min(most, total.high)))

    def _most(self, c: int, k: int) -> int:
        return min(self._classes[c].size, int(self._kinds[k].takes[c]) * self._kinds[k].most)

    def _placed(self, c: int) -> Terms:
        found = Terms()
        for k in range(len(self._kinds)):
            if (c, k) in self._on:
                found.add(self._on[c, k], self._most(c, k))
        return found

    def _room(self, k: int, kind: Kind) -> None:
        x = self.bought[k]
        here = [(c, cls) for c, cls in enumerate(self._classes) if (c, k) in self._on]
        bounded = [(c, cls) for c, cls in here if cls.index in self._bounded]
        columns = [*(self._on[c, k] for c, _ in bounded), x]
        uppers = [*(self._most(c, k) for c, _ in bounded), kind.most]
        for r, free in enumerate(kind.room.tolist()):
            asked = [0 if r in cls.served else int(cls.request[r]) for _, cls in bounded]
            if any(asked):
                add_at_most(self.model, [*asked, -int(free)], columns, uppers, 0, name=f"room[{k},{r}]")
        add_at_most(self.model, [1] * len(bounded) + [-kind.slots], columns, uppers, 0)
        for c, _ in here:
            self.model.add(self._on[c, k] <= int(kind.takes[c]) * x)

    def bounds(self, placed: Counts, until: float) -> Climbed:
        """Bound what is placed, level by level, and the price of placing at least so much.

        A level of which all is placed needs no search. The price has a bound where all levels before it have
        been found to allow no more.
        """
        goals = []
        for goal, n, most in zip(self.levels, placed, self._market.most, strict=True):
            if n == most:
                self.model.add(goal.terms.expression() >= n)
            else:
                goals.append(goal)
        floor = None if goals else self._relaxed(until)
        found = climb(self.model, [*goals, self.price, self.nodes], self._market.options, until)
        if floor is not None:
            found.bounds[PRICE] = max(0, floor, found.bounds.get(PRICE, 0))
        return found

    def _relaxed(self, until: float) -> int | None:
        """Return the bound of the price by the linear relaxation."""
        rows = rows_of(self.model)
        cost = np.zeros(len(rows.low), dtype=np.int64)
        terms = self.price.terms
        cost[[variable.index for variable in terms.variables]] = terms.coefficients
        return relaxed(rows, cost, until - time.monotonic())
