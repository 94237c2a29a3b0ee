"""Column generation over the types of nodes, and the bound that each round of it proves."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .choices import list_choices
from .demand import demand_by_sides, demand_of, scarce_resources
from .groups import Groups
from .kinds import Kinds
from .lagrangian import SCALE, Prices, evaluate
from .master import Master
from .params import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...encoders.problem import Problem, VictimClass
    from ...framework.vocabulary.arrays import Bools, Ints
    from ..bounds.safe_bounds import Floats
    from ..refill.blueprint import Sides
    from .choices import Choices
    from .demand import Demand, Scarce
    from .groups import GroupColumn
    from .lagrangian import Best
    from .master import MasterSolution
    from .params import DepartureParams

# The largest price, in victims: sums of prices of all pods are within 64 bits.
HIGHEST = 1024.0


class Column(NamedTuple):
    """A type of nodes, a choice of who leaves, and the pods that come, by row of the demand."""

    kind: int
    choice: int
    pods: tuple[int, ...]


class Departures:
    """Who leaves each node, for one demand.

    Attributes
    ----------
    kinds : Kinds
    demand : Demand
    choices : Choices
    known : list of Column
        All columns that were found, in the order of the master.
    """

    def __init__(
        self,
        problem: Problem,
        kinds: Kinds,
        scarce: Scarce,
        demand: Demand,
        choices: Choices,
        params: DepartureParams = DEFAULT,
    ) -> None:
        self._problem, self._scarce, self.params = problem, scarce, params
        self.kinds, self.demand, self.choices = kinds, demand, choices
        self.known: dict[Column, None] = {}
        self._groups = Groups(choices, len(kinds.kinds), params.most_groups)
        self._of_groups: list[GroupColumn] = []
        self._best: tuple[Prices, Best] | None = None

    def bound(self, name: str, held: Mapping[str, int], until: float, attained: int) -> int | None:
        """Bound a tier from below, given the tiers held; None where no prices were found.

        Parameters
        ----------
        attained : int
            The value that the best plan has: a bound that reaches it ends the search.
        """
        params, center = self.params, self._first_prices(name, held, until)
        if center is None:
            return None
        master = Master(self.kinds, self.demand, np.ones(self._groups.number, dtype=np.int64), name, held)
        for column in self._of_groups:
            master.add(*column)
        self._best, bound = None, self._add_groups(center, name, held, master)
        least = params.least_box * self.weight
        middle, radius = center.pods, np.maximum(params.box * center.pods, least)
        for _ in range(params.rounds):
            if -(-bound // SCALE) >= attained or time.monotonic() >= until:
                break
            master.box(middle, radius)
            found = master.solve(until - time.monotonic())
            if found is None:
                break
            value = self._add_groups(found, name, held, master)
            if value > bound:
                bound, middle = value, found.pods
                if found.boxed > params.settled:
                    radius = np.maximum.reduce((radius, params.box * middle, least))
            else:
                radius = radius * params.shrinkage
            if found.value - bound / SCALE <= params.settled:
                if found.boxed <= params.settled:
                    break
                radius = radius * params.growth
        return -(-bound // SCALE)

    def by_ladder(self, kind: int, node: int) -> list[list[VictimClass]]:
        """Return the victims of a node by ladder of its type, those that leave first before the others."""
        rows = self._scarce.rows
        alone = len(rows) == 1
        found = []
        for of_kind, freed in self.choices.ladders[kind]:
            mine = []
            for v in self._problem.victims_on.get(node, ()):
                usage = (*v.usage.tolist(), 1)
                given = tuple(int(usage[r]) for r in rows)
                if self.kinds.of_victim[v.index] == of_kind and (given == freed[1] or (alone and any(given))):
                    mine.append(v)
            found.append(sorted(mine, key=lambda v: (-int((*v.usage, 1)[rows[0]]), v.index)))
        return found

    def _first_prices(self, name: str, held: Mapping[str, int], until: float) -> MasterSolution | None:
        """Return the prices of sums over all nodes."""
        scarce, demand = self._scarce, self.demand
        nowhere = np.zeros(0, dtype=np.int64)
        master = Master(self.kinds, demand, nowhere, name, held)
        reached: Bools = np.asarray((demand.limit > 0).any(axis=0))
        # What all nodes have may be beyond 64 bits; first prices need not be exact.
        room = np.maximum(scarce.free[:, reached], 0).sum(axis=1, dtype=np.float64)
        victims = Counter[tuple[int, tuple[float, ...]]]()
        for v in self._problem.victims:
            kind, usage = self.kinds.of_victim[v.index], (*v.usage.tolist(), 1)
            if not reached[v.node]:
                continue
            given = np.array([usage[r] for r in scarce.rows], dtype=np.int64)
            if kind < 0:
                room += v.size * given
            else:
                victims[kind, tuple((given / scarce.units[:, 0]).tolist())] += v.size
        master.pool(demand.need, room / scarce.units[:, 0], victims)
        zeros = np.zeros(len(demand.size))
        master.box(zeros, zeros + HIGHEST)
        return master.solve(until - time.monotonic())

    def find(self, found: MasterSolution, name: str, held: Mapping[str, int], master: Master) -> int:
        """Find columns at the master's prices, and give it those; return how many were unknown."""
        before = len(self.known)
        for column in self._learn(
            evaluate(self.choices, self.kinds, self.demand, held, _priced(found, name))
        ):
            self.give(master, column)
        return len(self.known) - before

    def _add_groups(self, found: MasterSolution, name: str, held: Mapping[str, int], master: Master) -> int:
        """Return the bound at the master's prices, and give it the columns of groups that are best then."""
        prices = _priced(found, name)
        best = evaluate(self.choices, self.kinds, self.demand, held, prices)
        if self._best is None or best.value > self._best[1].value:
            self._best = prices, best
        self._learn(best)
        for column in self._groups.columns(best):
            self._of_groups.append(column)
            master.add(*column)
        return best.value

    def forget(self, excess: float) -> None:
        """Keep only known columns that are near the best one of their type, at the best prices of a bound.

        Parameters
        ----------
        excess : float
            How much dearer they may be, in victims.
        """
        if self._best is None:
            return
        prices, best = self._best
        cost = self.kinds.costs(prices.tiers, prices.budgets)

        def dearness(choice: int, pods: Sequence[int]) -> int:
            leaving = self.choices.leaving(choice, len(cost))
            return int(leaving @ cost) - int(np.array(pods, dtype=np.int64) @ prices.pods)

        least = list(map(dearness, best.choice.tolist(), best.pods.tolist()))
        most = int(excess * SCALE)
        self.known = {q: None for q in self.known if dearness(q.choice, q.pods) <= least[q.kind] + most}

    def _learn(self, best: Best) -> list[Column]:
        """Keep the best columns; return those that were unknown."""
        found = map(Column, range(len(best.choice)), best.choice.tolist(), map(tuple, best.pods.tolist()))
        new = [column for column in found if column not in self.known]
        self.known.update(dict.fromkeys(new))
        return new

    def give(self, master: Master, column: Column) -> None:
        """Give the master a column."""
        leaving = self.choices.leaving(column.choice, len(self.kinds.kinds))
        master.add(column.kind, np.array(column.pods, dtype=np.int64), leaving)

    @property
    def weight(self) -> Floats:
        """Size of a pod of each row of the demand, of which the mean over all that are to be placed is 1."""
        need = self.demand.need[0].astype(float)
        mean: Floats = need * self.demand.size.sum() / max(float(need @ self.demand.size), 1.0)
        return mean

    def with_demand(self, demand: Demand) -> Departures | None:
        """Return the same for another demand; None where its choices are too many."""
        choices = list_choices(self._problem, self.kinds, self._scarce, demand, self.params)
        if choices is None:
            return None
        return Departures(self._problem, self.kinds, self._scarce, demand, choices, self.params)

    def demand_by_sides(self, sides: Sides, standing: Mapping[tuple[int, int], int]) -> Demand:
        """Return the demand of a plan that has as many pods of each class as another one.

        Parameters
        ----------
        standing : mapping
            Newcomers of that one by (class, node).
        """
        return demand_by_sides(self._problem, self._scarce, sides, standing)


def departures_of(
    problem: Problem, held: Mapping[str, int], params: DepartureParams = DEFAULT
) -> Departures | None:
    """Return who may leave each node; None where that says no more than sums do, or is too much to list."""
    if problem.mobility is not None or problem.optional or not problem.fits_in_64_bits:
        return None
    if not problem.victims or not problem.classes:
        return None
    scarce = scarce_resources(problem, params)
    if scarce is None:
        return None
    demand = demand_of(problem, scarce, held)
    if not len(demand.size):
        return None
    reached = int((demand.limit > 0).any(axis=0).sum())
    if demand.least.sum() > params.most_pods * reached:
        return None
    kinds = Kinds(problem)
    choices = list_choices(problem, kinds, scarce, demand, params) if kinds.kinds else None
    return None if choices is None else Departures(problem, kinds, scarce, demand, choices, params)


def _priced(found: MasterSolution, name: str) -> Prices:
    """Return the master's prices in whole numbers; the tier that is minimised counts as it is."""
    tiers = {tier: int(_whole(np.array(price))) for tier, price in found.tiers.items()}
    return Prices(_whole(found.pods), _whole(found.budgets), {name: SCALE, **tiers})


def _whole(prices: Floats) -> Ints:
    """Return prices in multiples of 1 / `SCALE`, rounded down and held to what sums can bear."""
    found: Ints = np.floor(np.clip(prices, 0.0, HIGHEST) * SCALE).astype(np.int64)
    return found
