"""Bounds from sums over nodes, without a variable for every class and node.

Free nodes. Whoever may move stands in the end on a node that is not free, so for each resource r, the pod
slots, and each set S of nodes that some class cannot leave:

    Σ_{n in S} room_r(n)·(1 − free[n]) >= Σ over the pods that cannot leave S of what one takes at least

room_r(n) being what is free on n once all that may move have left; a node that is over-committed offers what
they take there now. With a limit on moves, Σ pods that may move on n·free[n] <= most.

Admitted pods. What moves keeps what it takes, at least, so with A_c pods admitted of class c:

    Σ_c request_r(c)·A_c <= Σ_n max(free_r(n), 0) + Σ over the pods that may move of what one may gain by it

and more pods than have room now need moves (`_moves_of_admission`).

Nodes in use (`pack`). The same with used[n] in place of 1 − free[n], over the nodes without a pod that stays.

Even loads (`spread`). Not by rows: `evenness`.

Every row is a sum of rows of the model node by node (`encoders.capacity`, `encoders.moves`), so what is
proven here holds of every plan.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.linear import add_at_most
from ...encoders.moves import leavers_of, waiting
from ...encoders.terms import Goal, Terms
from ...framework.vocabulary import names
from ...models import tiers
from ..bounds.sums import Sums
from .evenness import least_squares

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...encoders.problem import PodClass, Problem
    from ...framework.vocabulary.arrays import Bools, Ints
    from .patterns import NodeType, Prices

#: Sets of nodes that classes cannot leave, at most: all nodes, and those of most pods.
_MOST_SETS: Final = 40


class MoveSums(Sums):
    """The sums of one problem.

    Attributes
    ----------
    goals : dict
        The tiers that they speak of.
    free : dict
        Node -> whether it is free; for goals of nodes.
    """

    def __init__(self, problem: Problem) -> None:
        assert problem.mobility is not None
        self._problem, self._mobility = problem, problem.mobility
        self.model = cp_model.CpModel()
        self.goals: dict[str, Goal] = {}
        self.free: dict[int, cp_model.IntVar] = {}
        self._admitted: dict[int, tuple[cp_model.IntVar, int]] = {}
        asking = problem.asking(names.NODE_RESOURCES_FIT, problem.classes)
        self._asking = {c.index for c in asking if c.bounded}
        if self._mobility.goal == "admit":
            self._admit()
        elif self._mobility.goal in ("free-nodes", "cheapest"):
            self._free_nodes(self._mobility.kept)
        elif self._mobility.goal == "pack":
            self._nodes_in_use()

    def bound(self, name: str, held: Iterable[tuple[str, int]], solver: cp_model.CpSolver) -> int | None:
        """See `Sums`."""
        if self._mobility.goal != "spread" or self._mobility.waiting:
            return super().bound(name, held, solver)
        if name == "spread":
            return self._least_squares[-1]
        if name == tiers.MOVES:
            wanted = dict(held)["spread"]
            return next((m for m, least in enumerate(self._least_squares) if least <= wanted), None)
        return None

    @cached_property
    def _least_squares(self) -> list[int]:
        return least_squares(self._problem, self._mobility.limit)

    def least(self, cls: PodClass) -> Ints:
        """What one pod of a class takes at least, staying or moved: resources, then its slot; (R + 1,)."""
        found = self._least(cls, cls.request)
        for v in leavers_of(self._problem).get(cls.index, ()):
            found = np.minimum(found, self._least(cls, v.usage))
        return found

    def add_prices(self, types: Sequence[NodeType], prices: Prices, due: Ints) -> None:
        """Add the row that what is placed is worth no more than what the nodes may hold."""
        worth = sum(p * int(d) for p, d in zip(prices.of_class, due, strict=True))
        amounts: list[int] = []
        variables: list[cp_model.IntVar] = []
        uppers: list[int] = []
        total = 0
        for kind, most in zip(types, prices.most, strict=True):
            total += most * len(kind.nodes)
            for node in kind.nodes:
                if node in self.free:
                    amounts.append(most)
                    variables.append(self.free[node])
                    uppers.append(1)
        for index, (variable, most) in self._admitted.items():
            if prices.of_class[index]:
                amounts.append(prices.of_class[index])
                variables.append(variable)
                uppers.append(most)
        add_at_most(self.model, amounts, variables, uppers, total - worth)

    def freest(self, held: Sequence[tuple[str, int]], solver: cp_model.CpSolver) -> list[int]:
        """Return the nodes that are free where the first tier is best by the sums; none out of time."""
        goal = self.goals.get(tiers.PRICE) or self.goals[tiers.FREE_NODES]
        model = self.model.clone()
        self.hold(held, model)
        model.minimize((1 if goal.sense == "min" else -1) * goal.terms.expression())
        if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return []
        return [node for node, literal in self.free.items() if solver.boolean_value(literal)]

    # -- free nodes --

    def _nodes_in_use(self) -> None:
        problem = self._problem
        fixed = np.bincount(
            problem.state.node_of[list(problem.fixed_pods)], minlength=problem.cluster.n_nodes
        )
        self._free_nodes(fixed > 0)
        del self.goals[tiers.FREE_NODES]
        used = Terms(constant=problem.cluster.n_nodes)
        for literal in self.free.values():
            used.add(literal, 1, -1)
        self.goals["pack"] = Goal("pack", "min", used, used.low, used.high)

    def _free_nodes(self, kept: Bools) -> None:
        problem, mobility = self._problem, self._mobility
        here = np.zeros(problem.cluster.n_nodes, dtype=np.int64)
        for v in problem.victims:
            here[v.node] += v.size
        for node in np.flatnonzero(~kept).tolist():
            self.free[node] = self.model.new_bool_var(f"free[{node}]")
        room = self.room
        for inside, load in self._sets():
            for free, taken in zip(room, load, strict=True):
                self._row(inside, free, taken)
        gone, count, paid = Terms(), Terms(), Terms()
        for node, literal in self.free.items():
            gone.add(literal, 1, int(here[node]))
            count.add(literal, 1)
            if mobility.prices is not None:
                paid.add(literal, 1, -int(mobility.prices[node]))
        if mobility.most is not None:
            self.model.add(gone.expression() <= mobility.most)
        if mobility.prices is not None:
            paid.constant = int(mobility.prices.sum())
            self.goals[tiers.PRICE] = Goal(tiers.PRICE, "min", paid, paid.low, paid.high)
        self.goals[tiers.FREE_NODES] = Goal(tiers.FREE_NODES, "max", count, 0, count.high)
        self.goals[tiers.MOVES] = Goal(tiers.MOVES, "min", gone, 0, gone.high)

    @cached_property
    def room(self) -> Ints:
        """What each node offers those who may move, resource by resource, then in slots; (R + 1, N)."""
        problem = self._problem
        free = np.vstack((problem.free_now, problem.slots_now[np.newaxis])).astype(object)
        room: Ints = np.maximum(free, 0)
        for v in problem.victims:
            room[:-1, v.node] += v.usage * v.size
            room[-1, v.node] += v.size
        return room

    def _sets(self) -> list[tuple[Bools, Ints]]:
        """Sets of nodes with what the pods that cannot leave them take at least; (R + 1,) each."""
        problem = self._problem
        n_nodes = problem.cluster.n_nodes
        reach: dict[bytes, Bools] = {}
        loads: dict[bytes, Ints] = {}
        nothing: Ints = np.zeros(len(problem.cluster.resources) + 1, dtype=object)
        for index, victims in leavers_of(problem).items():
            cls = problem.classes[index]
            inside = cls.mask.copy()
            inside[[v.node for v in victims]] = True
            key = np.packbits(inside).tobytes()
            reach[key] = inside
            taken = sum((self._least(cls, v.usage) * v.size for v in victims), nothing)
            loads[key] = loads.get(key, nothing) + taken
        every = np.ones(n_nodes, dtype=np.bool_)
        reach.setdefault(np.packbits(every).tobytes(), every)
        chosen = sorted(reach, key=lambda key: (not reach[key].all(), -int(loads.get(key, nothing)[-1])))
        found = []
        for inside in (reach[key] for key in chosen[:_MOST_SETS]):
            within = [loads[key] for key in loads if not (reach[key] & ~inside).any()]
            found.append((inside, sum(within, nothing)))
        return found

    def _least(self, cls: PodClass, usage: Ints) -> Ints:
        """What one pod takes at least, staying or moved; (R + 1,)."""
        held = cls.index in self._asking
        asked = cls.request if held else np.zeros_like(cls.request)
        if cls.served:
            asked = asked.copy()
            asked[list(cls.served)] = 0
        return np.append(np.minimum(asked, usage).astype(object), int(held))

    def _row(self, inside: Bools, room: Ints, taken: int) -> None:
        """Add the row of one resource: what is not free holds what cannot leave."""
        literals = [self.free[n] for n in np.flatnonzero(inside).tolist() if n in self.free]
        amounts = [int(room[n]) for n in np.flatnonzero(inside).tolist() if n in self.free]
        spare = int(room[inside].sum()) - int(taken)
        add_at_most(self.model, amounts, literals, [1] * len(literals), spare)

    # -- admitted pods --

    def _admit(self) -> None:
        problem = self._problem
        admitted = self._admitted
        for cls in problem.classes:
            most = min(waiting(problem, cls), int(cls.limit.sum()))
            if most > 0:
                admitted[cls.index] = self.model.new_int_var(0, most, f"A[{cls.index}]"), most
        room = np.maximum(np.vstack((problem.free_now, problem.slots_now[np.newaxis])), 0)
        total = room.astype(object).sum(axis=1)
        for index, victims in leavers_of(problem).items():
            for v in victims:
                whole = np.append(v.usage.astype(object), 1)
                total = total + (whole - self._least(problem.classes[index], v.usage)) * v.size
        for r, most_free in enumerate(total):
            pairs = [
                (*admitted[i], self._asked(problem.classes[i], r)) for i in admitted if i in self._asking
            ]
            add_at_most(
                self.model,
                [asked for _, _, asked in pairs],
                [variable for variable, _, _ in pairs],
                [most for _, most, _ in pairs],
                int(most_free),
            )
        self._moves_of_admission()
        for level in problem.levels:
            came = Terms()
            for index, (variable, most) in admitted.items():
                if problem.classes[index].priority == level:
                    came.add(variable, most)
            self.goals[tiers.scheduled(level)] = Goal(tiers.scheduled(level), "max", came, 0, came.high)

    def _moves_of_admission(self) -> None:
        """Bound the moves: more pods come than have room now only where others move away.

        On a node where at most P pods of the least request have room now, by its scarcest resource r, a pod
        that moves away makes room for no more than its usage of r over that request, rounded up.
        """
        problem = self._problem
        coming = [problem.classes[index] for index in self._admitted]
        if not coming or any(cls.index not in self._asking for cls in coming):
            return
        least = np.min([[*(self._asked(c, r) for r in range(len(c.request))), 1] for c in coming], axis=0)
        reached = np.logical_or.reduce([cls.mask for cls in coming])
        free = np.maximum(np.vstack((problem.free_now, problem.slots_now[np.newaxis])), 0)
        asked = np.flatnonzero(least > 0)
        rooms = (free[asked] // least[asked, np.newaxis]).astype(np.int64)
        total, movers = 0, Counter[int]()
        for node in np.flatnonzero(reached).tolist():
            scarcest = int(rooms[:, node].argmin())
            total += int(rooms[scarcest, node])
            r = int(asked[scarcest])
            for v in problem.victims_on.get(node, ()):
                used = 1 if r == len(v.usage) else int(v.usage[r])
                movers[-(-used // int(least[r]))] += v.size
        gone, came = Terms(), Terms()
        for more, number in sorted(movers.items()):
            variable = self.model.new_int_var(0, number, f"M[{more}]")
            gone.add(variable, number)
            came.add(variable, number, -more)
        for variable, most in self._admitted.values():
            came.add(variable, most)
        add_at_most(self.model, came.coefficients, came.variables, came.uppers, total)
        if self._mobility.most is not None:
            self.model.add(gone.expression() <= self._mobility.most)
        self.goals[tiers.MOVES] = Goal(tiers.MOVES, "min", gone, 0, gone.high)

    def _asked(self, cls: PodClass, r: int) -> int:
        if r == len(cls.request):
            return 1
        return 0 if r in cls.served else int(cls.request[r])
