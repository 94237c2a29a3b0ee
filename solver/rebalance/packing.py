"""Whole pods in whole nodes: what may stand on a node together, and how often each pattern is taken.

Nodes of one type have the same room for those who may move or come, and the same classes may stand on them.
A master program chooses how often each pattern of a type is taken; where the prices π of the classes at its
optimum let no pattern of a type be worth more than z_t, every plan keeps, for what it places of each class,

    Σ_c π_c·placed_c <= Σ_n z_t(n)·(1 − free[n])

since what stands on a node in the end is a pattern. That is one more row of the sums
(`solver.rebalance.sums`). The bound on z_t is CP-SAT's own, so the row holds whatever the master's
tolerances.

Source: Gilmore and Gomory, A linear programming approach to the cutting-stock problem.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.moves import leavers_of
from ..bounds.lp import attempted
from ..bounds.sums import ROUNDING
from .patterns import NodeType, Pattern, Prices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Bools, Ints
    from .sums import MoveSums

#: Types of nodes beyond which those of one size are taken for one type, with the most room of any.
_MOST_TYPES: Final = 24

# Prices are whole numbers: this many units for the largest.
_SCALE: Final = 10_000

# Seconds for the best pattern of one type, at most.
_PRICING_LIMIT: Final = 1.0


@dataclass
class Packing:
    """The patterns of one problem, and the master that chooses among them.

    Attributes
    ----------
    due : ints
        Of each class, how many stand somewhere in the end in any case.
    more : ints
        Of each class, how many may come besides.
    """

    problem: Problem
    sums: MoveSums
    types: list[NodeType] = field(init=False)
    patterns: list[dict[Pattern, None]] = field(init=False)

    def __post_init__(self) -> None:
        problem = self.problem
        n = len(problem.classes)
        self.due = np.zeros(n, dtype=np.int64)
        for index, victims in leavers_of(problem).items():
            self.due[index] = sum(v.size for v in victims)
        self.more = np.array([c.size for c in problem.classes], dtype=np.int64) - self.due
        self._sizes = [self.sums.least(c) for c in problem.classes]
        self.types = self._types()
        self.patterns = [{(): None} for _ in self.types]

    def _types(self) -> list[NodeType]:
        problem, mobility = self.problem, self.problem.mobility
        assert mobility is not None
        n_nodes = problem.cluster.n_nodes
        allowed = np.array([c.mask for c in problem.classes]).reshape(len(problem.classes), n_nodes).copy()
        for index, victims in leavers_of(problem).items():
            allowed[index, [v.node for v in victims]] = True
        room = self.sums.room
        groups: dict[tuple[object, ...], list[int]] = {}
        for node in range(n_nodes):
            key = (
                *room[:, node].tolist(),
                allowed[:, node].tobytes(),
                bool(mobility.kept[node]),
                self._price(node),
            )
            groups.setdefault(key, []).append(node)
        if len(groups) > _MOST_TYPES:
            groups = {}
            for node in range(n_nodes):
                size = problem.cluster.allocatable[:2, node].tolist()
                groups.setdefault((*size, bool(mobility.kept[node]), self._price(node)), []).append(node)
        found = []
        for nodes in groups.values():
            most = room[:, nodes].max(axis=1)
            some: Bools = np.any(allowed[:, nodes], axis=1)
            limits = [self._limit(c, most) if some[c] else 0 for c in range(len(problem.classes))]
            kept = bool(mobility.kept[nodes[0]])
            found.append(NodeType(tuple(nodes), tuple(int(x) for x in most), tuple(limits), kept))
        return found

    def _price(self, node: int) -> int:
        prices = None if self.problem.mobility is None else self.problem.mobility.prices
        return 1 if prices is None else int(prices[node])

    def _limit(self, cls: int, room: Ints) -> int:
        fits = [int(r) // int(a) for r, a in zip(room, self._sizes[cls], strict=True) if a > 0]
        return int(min([self.due[cls] + self.more[cls], *fits]))

    # -- patterns --

    def see(self, node_of: Sequence[int]) -> None:
        """Take note of the patterns of a plan, by the node of each pod in its end."""
        mobility = self.problem.mobility
        assert mobility is not None
        class_of = {i: c.index for c in self.problem.classes for i in c.pods}
        there: dict[int, dict[int, int]] = {}
        for pod, cls in (*class_of.items(), *((v, class_of[i]) for v, i in mobility.successors.items())):
            node = node_of[pod]
            if node >= 0:
                of = there.setdefault(node, {})
                of[cls] = of.get(cls, 0) + 1
        for k, kind in enumerate(self.types):
            for node in kind.nodes:
                self.patterns[k][tuple(sorted(there.get(node, {}).items()))] = None

    def tighten(self, until: float) -> bool:
        """Look for patterns until none helps or the time is up; return whether none helps any more.

        Each round's prices become a row of the sums where they bound more than those before.
        """
        while time.monotonic() < until:
            prices = self._prices(until - time.monotonic())
            if prices is None:
                return False
            whole = [max(0, round(p * _SCALE / max(prices.max(), 1e-12))) for p in prices.tolist()]
            most, new = [], False
            for k in range(len(self.types)):
                worth, pattern = self._best(k, whole, until)
                most.append(worth)
                if pattern is not None and pattern not in self.patterns[k]:
                    self.patterns[k][pattern] = None
                    new = True
            self.sums.add_prices(self.types, Prices(tuple(whole), tuple(most)), self.due)
            if not new:
                return True
        return False

    def _best(self, k: int, prices: Sequence[int], until: float) -> tuple[int, Pattern | None]:
        """Return the most that a pattern of a type may be worth, and the best one that was found."""
        kind, model = self.types[k], cp_model.CpModel()
        used = [c for c, p in enumerate(prices) if p > 0 and kind.limits[c] > 0]
        x = {c: model.new_int_var(0, kind.limits[c], f"x{c}") for c in used}
        for r, room in enumerate(kind.room):
            amounts = [int(self._sizes[c][r]) for c in used]
            divisor = math.gcd(*amounts) or 1
            model.add(
                sum((a // divisor) * x[c] for a, c in zip(amounts, used, strict=True)) <= room // divisor
            )
        model.maximize(sum(prices[c] * x[c] for c in used))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.catch_sigint_signal = False
        solver.parameters.max_time_in_seconds = max(min(_PRICING_LIMIT, until - time.monotonic()), 0.05)
        status = solver.solve(model)
        ceiling = sum(prices[c] * kind.limits[c] for c in used)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return ceiling, None
        worth = math.floor(solver.best_objective_bound + ROUNDING)
        return worth, tuple((c, n) for c in used if (n := solver.value(x[c])))

    def _prices(self, seconds: float) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
        """Solve the master; return the prices of the classes, None where that fails."""
        from ortools.math_opt.python import mathopt

        model = mathopt.Model()
        cover = [model.add_linear_constraint(lb=float(d)) for d in self.due.tolist()]
        for k, kind in enumerate(self.types):
            limit = model.add_linear_constraint(ub=float(len(kind.nodes)))
            cost = self._cost(kind)
            for pattern in self.patterns[k]:
                taken = model.add_variable(lb=0.0)
                limit.set_coefficient(taken, 1.0)
                for c, number in pattern:
                    cover[c].set_coefficient(taken, float(number))
                if cost:
                    model.objective.set_linear_coefficient(taken, cost)
        self._admit(model, cover)
        limits = mathopt.SolveParameters(time_limit=timedelta(seconds=max(seconds, 0.05)), threads=1)
        result = attempted(lambda: mathopt.solve(model, mathopt.SolverType.GLOP, params=limits))
        if result is None or not result.has_dual_feasible_solution():
            return None
        return np.array([max(0.0, result.dual_values(row)) for row in cover])

    def _cost(self, kind: NodeType) -> float:
        mobility = self.problem.mobility
        if mobility is None or mobility.goal == "admit" or kind.kept:
            return 0.0
        return float(self._price(kind.nodes[0]))

    def _admit(self, model: object, cover: Sequence[object]) -> None:
        """Let pods come that wait, the more important the more they count, where that is the goal."""
        mobility = self.problem.mobility
        if mobility is None or mobility.goal != "admit":
            return
        levels = sorted({c.priority for c in self.problem.classes})
        for cls in self.problem.classes:
            most = int(self.more[cls.index])
            if most:
                came = model.add_variable(lb=0.0, ub=float(most))  # type: ignore[attr-defined]
                cover[cls.index].set_coefficient(came, -1.0)  # type: ignore[attr-defined]
                weight = -float(10 ** levels.index(cls.priority))
                model.objective.set_linear_coefficient(came, weight)  # type: ignore[attr-defined]

    # -- whole numbers --

    def chosen(self, solver: cp_model.CpSolver) -> list[dict[Pattern, int]] | None:
        """Choose how often each pattern is taken, in whole numbers, for the fewest or cheapest nodes.

        For goals of nodes; None where no choice is found in time.
        """
        model = cp_model.CpModel()
        cover: list[list[cp_model.LinearExprT]] = [[] for _ in self.due]
        cost: list[cp_model.LinearExprT] = []
        taken: list[dict[Pattern, cp_model.IntVar]] = []
        for k, kind in enumerate(self.types):
            often = {
                p: model.new_int_var(0, len(kind.nodes), f"{k}.{j}") for j, p in enumerate(self.patterns[k])
            }
            model.add(sum(often.values()) <= len(kind.nodes))
            for pattern, variable in often.items():
                for c, number in pattern:
                    cover[c].append(number * variable)
                if pattern and not kind.kept:
                    cost.append(self._price(kind.nodes[0]) * variable)
            taken.append(often)
        for c, due in enumerate(self.due.tolist()):
            if due:
                model.add(sum(cover[c]) >= due)
        model.minimize(sum(cost))
        if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        return [{p: n for p, v in often.items() if (n := solver.value(v))} for often in taken]
