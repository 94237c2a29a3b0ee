"""Bounds from rows summed over the nodes: how many must leave for what is placed, and of which kind.

Victims that the sums cannot tell apart (budgets that bind, usage, priority, guard) are one group g. With
whole numbers Y_c of pods placed of class c, E_g of pods that leave and W_g <= E_g of those that violate:

    Σ_c request_r(c)·Y_c − Σ_g usage_r(g)·E_g <= Σ_n max(free_r(n), 0)   for each resource r, and pod slots
    Σ over the groups g that budget b covers of (E_g − W_g) <= disruptionsAllowed(b)

n runs over the nodes where a pod may stand that is held to their room. Each row is a sum of rows of the
model node by node (`encoders.capacity`, `encoders.eviction`): where a node is over-committed, either its row
holds or nothing lands that asks, and that victims leave only helps. What devices serve on some node counts
as not asked for. So what is proven here holds of every plan. There are a few hundred variables, however many
nodes.

The nodes may be divided into sides, each with rows and variables of its own; W_g spans them all.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.eviction import Leaving, breakable, eviction_tiers
from ...encoders.linear import add_at_most
from ...encoders.terms import Goal, Terms
from ...framework.vocabulary import names
from ...models import tiers
from .sums import Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Bools, Ints


class VictimGroup(NamedTuple):
    """What victims of all nodes have in common that the sums cannot tell apart.

    Attributes
    ----------
    budgets : tuple of int
        Those of the budgets charged that all their victims together could exceed.
    usage : tuple of int
        What one gives back of each resource.
    """

    budgets: tuple[int, ...]
    usage: tuple[int, ...]
    priority: int
    guard: int | None
    free: bool


def victim_groups(problem: Problem) -> list[VictimGroup]:
    """Return the group of each class of victims."""
    binding = {budget.index for budget, _ in breakable(problem)}
    return [
        VictimGroup(
            tuple(b for b in v.charges if b in binding),
            tuple(v.usage.tolist()),
            v.priority,
            v.guard,
            v.free,
        )
        for v in problem.victims
    ]


class SummedModel(Sums):
    """The sums of one problem.

    Parameters
    ----------
    sides : sequence of bool[N], optional
        Sets of nodes without a common one; one set of all nodes by default. Where they are not all nodes,
        what is proven is only about plans that leave the others alone.

    Attributes
    ----------
    placed : dict
        (class, side) -> Y.
    leaving : dict
        (group, side) -> E.
    violating : dict
        Group -> W; groups that no budget limits have none.
    goals : dict
        The tiers of placed pods, violations and evictions.
    slack : variable
        What is to stay free, in grains; there once `add_room` has been called.
    """

    slack: cp_model.IntVar

    def __init__(self, problem: Problem, sides: Sequence[Bools] = ()) -> None:
        self._problem = problem
        self.model = cp_model.CpModel()
        self._sides = list(sides) or [np.ones(problem.cluster.n_nodes, dtype=bool)]
        self._most: dict[int, int] = {}
        self.placed = self._placed()
        self.leaving, self.violating = self._leaving()
        self._budget_rows()
        self.goals = self._goals()

    def _new(self, most: int, name: str) -> cp_model.IntVar:
        variable = self.model.new_int_var(0, most, name)
        self._most[variable.index] = most
        return variable

    def _sum(self, variables: Sequence[cp_model.IntVar]) -> Terms:
        return Terms(list(variables), [1] * len(variables), [self._most[x.index] for x in variables])

    def _placed(self) -> dict[tuple[int, int], cp_model.IntVar]:
        found = {}
        for cls in self._problem.classes:
            here = []
            for s, side in enumerate(self._sides):
                variable = self._new(min(cls.size, int(cls.limit[side].sum())), f"Y[{cls.index},{s}]")
                found[cls.index, s] = variable
                here.append(variable)
            self.model.add(cp_model.LinearExpr.sum(here) <= cls.size)
        return found

    def _leaving(
        self,
    ) -> tuple[dict[tuple[VictimGroup, int], cp_model.IntVar], dict[VictimGroup, cp_model.IntVar]]:
        problem = self._problem
        side_of = np.full(problem.cluster.n_nodes, -1)
        for s, side in enumerate(self._sides):
            side_of[side] = s
        sizes: Counter[tuple[VictimGroup, int]] = Counter()
        for v, group in zip(problem.victims, victim_groups(problem), strict=True):
            if side_of[v.node] >= 0:
                sizes[group, int(side_of[v.node])] += v.size
        leaving = {key: self._new(size, f"E[{k}]") for k, (key, size) in enumerate(sizes.items())}
        total: Counter[VictimGroup] = Counter()
        for (group, _), size in sizes.items():
            total[group] += size
        violating = {g: self._new(size, f"W[{k}]") for k, (g, size) in enumerate(total.items()) if g.budgets}
        self._parts = {
            g: [leaving[g, s] for s in range(len(self._sides)) if (g, s) in leaving] for g in total
        }
        for g, variable in violating.items():
            self.model.add(variable <= cp_model.LinearExpr.sum(self._parts[g]))
        return leaving, violating

    def _budget_rows(self) -> None:
        for b in sorted({b for g in self.violating for b in g.budgets}):
            paid = Terms()
            for g, variable in self.violating.items():
                if b in g.budgets:
                    paid.extend(self._sum(self._parts[g])).extend(self._sum([variable]), -1)
            self.model.add(paid.expression() <= self._problem.budgets[b].allowed)

    def _goals(self) -> dict[str, Goal]:
        problem = self._problem
        found = {
            tiers.scheduled(level): self._sum(
                [y for (c, _), y in self.placed.items() if problem.classes[c].priority == level]
            )
            for level in problem.levels
        }
        goals = {name: Goal(name, "max", terms, 0, terms.high) for name, terms in found.items()}
        leaving: list[Leaving] = []
        for g, parts in self._parts.items():
            if not g.free:
                whole = self._new(sum(self._most[x.index] for x in parts), f"all[{len(leaving)}]")
                self.model.add(whole == cp_model.LinearExpr.sum(parts))
                leaving.append(
                    Leaving(g.priority, g.guard, whole, self._most[whole.index], self.violating.get(g))
                )
        for name, terms in eviction_tiers(problem, leaving).items():
            goals[name] = Goal(name, "min", terms, 0, terms.high)
        return goals

    def add_room(self, grain: Ints | None = None, least: int = 0, most: int = 0) -> None:
        """Add the rows of resources and pod slots.

        Parameters
        ----------
        grain : int array (sides, R + 1), optional
            Of each resource, then of the slots, how much is to stay free in sum for each unit of `slack`.
        least, most : int
            Limits of the slack; it is 0 by default.
        """
        self.slack = self._new(most, "slack")
        self.model.add(self.slack >= least)
        problem = self._problem
        asking = problem.asking(names.NODE_RESOURCES_FIT, problem.classes)
        reached = np.zeros(problem.cluster.n_nodes, dtype=bool)
        for cls in asking:
            reached |= cls.mask
        rows: list[tuple[list[int], int | None, Ints]] = [
            ([0 if _served(cls.served, r) else int(cls.request[r]) for cls in asking], r, free)
            for r, free in enumerate(problem.free_now)
        ]
        rows.append(([1] * len(asking), None, problem.slots_now))
        for s, side in enumerate(self._sides):
            groups = [g for g, at in self.leaving if at == s]
            variables = [
                *(self.placed[cls.index, s] for cls in asking),
                *(self.leaving[g, s] for g in groups),
            ]
            uppers = [self._most[x.index] for x in variables]
            for k, (asked, r, free) in enumerate(rows):
                given = [-1 if r is None else -g.usage[r] for g in groups]
                room = sum(np.maximum(free[side & reached], 0).tolist())
                kept = 0 if grain is None else int(grain[s, k])
                add_at_most(
                    self.model,
                    [*asked, *given, kept],
                    [*variables, self.slack],
                    [*uppers, most],
                    room,
                )


def _served(served: dict[int, Bools], r: int) -> bool:
    """Whether devices serve a resource on some node."""
    return r in served and bool(served[r].any())
