"""The relaxation of a round by node types: pods of each class, and patterns of the devices, as fractions.

With y[c,t] pods of class c on the nodes of type t, and λ[p,t] devices of them that have pattern p:

    Σ_t y[c,t] <= size_c
    Σ_c request_r(c)·y[c,t] <= nodes_t·room_r(t)                      each resource r, and pod slots
    Σ_{c of size s} devices_c·y[c,t] <= Σ_p a_ps·λ[p,t]               each size s of shares
    Σ_{p of units u} λ[p,t] <= nodes_t·devices_u(t)                   devices with u units left
    Σ over classes of a priority y[c,t] >= what is held               each priority above

Each row is a sum of rows of the model over the nodes of a type, with the shares on every device in place of
their sum: whatever a plan puts on a device is part of a pattern. So it bounds every plan, and knows of a
share what the linear relaxation of the model does not, that it lies on one device. Bounds are evaluated
exactly from the duals (`solver.bounds.lp_relaxation`).

Where all pods fit with room to spare, its duals are zero and tell no node from another. There the least part
f of all nodes is asked for that has room for every pod, in the same rows:

    minimise f:   Σ_t y[c,t] = size_c,   f·nodes_t in place of nodes_t

What more room on the nodes of a type would take off f is what it costs to use one of them.

Source: Gilmore and Gomory, A linear programming approach to the cutting-stock problem.
"""

from __future__ import annotations

from math import ceil, floor, gcd
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...encoders.linear import HIGHEST, LOWEST
from ..bounds.lp_relaxation import safe_bound, solved
from ..model.sparse_rows import Rows, Sparse
from .device_patterns import number_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ortools.util.python.solve_interrupter import SolveInterrupter

    from ..bounds.safe_bounds import Floats
    from ..model.sparse_rows import Ints
    from .device_patterns import DevicePattern
    from .round import LikeNodes, TypeRound


class Worth(NamedTuple):
    """What placing pods is worth, and what using nodes takes off it.

    Attributes
    ----------
    pods : ints, shape (classes,)
        What a placed pod of each class is worth.
    nodes : floats, shape (types,)
        What it costs to put anything on a node of each type.
    """

    pods: Ints
    nodes: Floats


class Relaxed(NamedTuple):
    """A bound of what a plan is worth, and a solution of the relaxation.

    Attributes
    ----------
    worth : Worth
        What is maximised.
    duals : floats, shape (classes,)
        What one more pod of each class would add.
    pods : floats, shape (types, classes)
        How many pods of each class stand on the nodes of each type.
    regrets : list of floats
        By node type, how far each pattern of its devices is from being of use at these duals.
    """

    bound: int
    worth: Worth
    duals: Floats
    pods: Floats
    regrets: list[Floats]


class TypeRelaxation:
    """The rows of one round; `patterns` are those of the devices of each node type."""

    def __init__(self, round_: TypeRound, patterns: Sequence[list[DevicePattern]]) -> None:
        self._round, self.patterns = round_, patterns
        self._high: list[int] = []
        self._pod: list[int] = []
        self._rows: list[tuple[list[int], list[int], int]] = []
        self._rooms: list[tuple[int, int]] = []
        self._place: dict[tuple[int, int], int] = {}
        self._taken: list[list[int]] = []
        of_class: dict[int, list[int]] = {}
        for t, (kind, mine) in enumerate(zip(round_.types, patterns, strict=True)):
            for index, variable in self._type(t, kind, mine).items():
                self._place[t, index] = variable
                of_class.setdefault(index, []).append(variable)
        self._size_row: dict[int, int] = {}
        for index, variables in of_class.items():
            self._size_row[index] = len(self._rows)
            self._rows.append((variables, [1] * len(variables), round_.classes[index].size))

    def solve(
        self,
        weights: Ints,
        held: Mapping[int, int],
        seconds: float,
        interrupter: SolveInterrupter | None = None,
    ) -> Relaxed | None:
        """Solve it; None where the solver has no duals or no values.

        Parameters
        ----------
        weights : ints, shape (classes,)
            What a placed pod of each class is worth.
        held : mapping
            Priorities -> how many pods of them are placed at least.
        """
        pod = np.array(self._pod, dtype=np.int64)
        counted = pod >= 0
        priorities = np.array([cls.priority for cls in self._round.classes], dtype=np.int64)
        floors = [(np.flatnonzero(counted & (priorities[pod] == p)), least) for p, least in held.items()]
        rows = self._stated(floors)
        cost = np.where(counted, -weights[pod], 0)
        found = solved(rows, cost, seconds, interrupter)
        if found is None or found.values is None:
            return None
        duals = np.zeros(len(weights))
        for index, row in self._size_row.items():
            duals[index] = max(-found.duals[row], 0.0)
        return Relaxed(
            bound=-safe_bound(rows, cost, found.duals),
            worth=Worth(weights, np.zeros(len(self._round.types))),
            duals=duals,
            pods=self._pods(found.values),
            regrets=self._regrets(rows, cost, found.duals),
        )

    def spare(
        self, weights: Ints, seconds: float, interrupter: SolveInterrupter | None = None
    ) -> Relaxed | None:
        """Place every pod on the least part of all nodes; None where they do not fit or the solver fails.

        Pods are worth more here than what they take of nodes, in the proportions of `weights`.
        """
        sizes, numbers = self._round.sizes, np.array([len(kind.nodes) for kind in self._round.types])
        if len(self._size_row) < len(sizes):
            return None
        part = len(self._high)
        stated = list(self._rows)
        for row, _ in self._rooms:
            variables, amounts, ceiling = stated[row]
            stated[row] = ([*variables, part], [*amounts, -ceiling], 0)
        rows = _rows([*self._high, 1], stated)
        rows.floor[list(self._size_row.values())] = sizes[list(self._size_row)]
        cost = np.zeros(part + 1, dtype=np.int64)
        cost[part] = nodes = int(numbers.sum())
        found = solved(rows, cost, seconds, interrupter)
        if found is None or found.values is None:
            return None
        nodes_cost, takes = np.zeros(len(numbers)), np.zeros(len(sizes))
        for row, t in self._rooms:
            nodes_cost[t] += max(-found.duals[row], 0.0) * self._rows[row][2] / numbers[t]
        for index, row in self._size_row.items():
            takes[index] = max(found.duals[row], 0.0)
        worth = Worth(weights * (1 + ceil((takes / weights).max(initial=0.0))), nodes_cost)
        return Relaxed(
            bound=floor(worth.pods @ sizes - nodes * (1 + found.values[part]) / 2),
            worth=worth,
            duals=worth.pods - takes,
            pods=self._pods(found.values),
            regrets=self._regrets(rows, cost, found.duals),
        )

    def _pods(self, values: Floats) -> Floats:
        """Return how many pods of each class stand on the nodes of each type."""
        pods = np.zeros((len(self._round.types), len(self._round.classes)))
        for (t, index), variable in self._place.items():
            pods[t, index] = values[variable]
        return pods

    def _regrets(self, rows: Rows, cost: Ints, duals: Floats) -> list[Floats]:
        reduced = _reduced(rows, cost, duals)
        return [reduced[taken] for taken in self._taken]

    def _stated(self, floors: Sequence[tuple[Ints, int]]) -> Rows:
        """Write all rows, those of what is held last."""
        held = [(variables.tolist(), [1] * len(variables), HIGHEST) for variables, _ in floors]
        rows = _rows(self._high, [*self._rows, *held])
        rows.floor[len(self._rows) :] = [least for _, least in floors]
        return rows

    def _new(self, most: int, cls: int = -1) -> int:
        self._high.append(most)
        self._pod.append(cls)
        return len(self._high) - 1

    def _type(self, t: int, kind: LikeNodes, patterns: Sequence[DevicePattern]) -> dict[int, int]:
        """Add the variables and rows of a type; return the variable of each class."""
        round_, number = self._round, len(kind.nodes)
        most = np.minimum(round_.sizes, kind.limits * number)
        pods = {c: self._new(int(most[c]), c) for c in np.flatnonzero(most > 0).tolist()}
        for r, room in enumerate(kind.room.tolist()):
            asking = {c: int(round_.requests[c, r]) for c in pods if round_.requests[c, r] > 0}
            if asking:
                unit = gcd(*asking.values())
                amounts = [amount // unit for amount in asking.values()]
                # all that is asked for is within 64 bits; what many nodes have together may not be
                every = sum(int(most[c]) * amount for c, amount in zip(asking, amounts, strict=True))
                if number * room // unit <= every:
                    self._rooms.append((len(self._rows), t))
                self._rows.append(([pods[c] for c in asking], amounts, min(number * room // unit, every)))
        shares: dict[int, tuple[list[int], list[int]]] = {}
        for c, variable in pods.items():
            if kind.sizes[c]:
                variables, amounts = shares.setdefault(int(kind.sizes[c]), ([], []))
                variables.append(variable)
                amounts.append(int(round_.devices[c]))
        devices: dict[int, list[int]] = {}
        self._taken.append([self._new(number * number_of(kind, pattern.units)) for pattern in patterns])
        for pattern, variable in zip(patterns, self._taken[-1], strict=True):
            devices.setdefault(pattern.units, []).append(variable)
            for size, often in pattern.shares:
                if size in shares:
                    shares[size][0].append(variable)
                    shares[size][1].append(-often)
        self._rows += [(variables, amounts, 0) for variables, amounts in shares.values()]
        for units, found in devices.items():
            self._rooms.append((len(self._rows), t))
            self._rows.append((found, [1] * len(found), number * number_of(kind, units)))
        return pods


def _rows(high: Sequence[int], stated: Sequence[tuple[Sequence[int], Sequence[int], int]]) -> Rows:
    """Write rows of variables, amounts and a ceiling, without floors."""
    start = np.concatenate(([0], np.cumsum([len(variables) for variables, _, _ in stated]))).astype(np.int64)
    none = np.zeros(len(stated) + 1, dtype=np.int64)
    return Rows(
        low=np.zeros(len(high), dtype=np.int64),
        high=np.array(high, dtype=np.int64),
        terms=Sparse(
            start,
            np.array([v for variables, _, _ in stated for v in variables], dtype=np.int64),
            np.array([a for _, amounts, _ in stated for a in amounts], dtype=np.int64),
        ),
        floor=np.full(len(stated), LOWEST, dtype=np.int64),
        ceiling=np.array([ceiling for _, _, ceiling in stated], dtype=np.int64),
        literals=Sparse(none, none[:0], none[:0]),
    )


def _reduced(rows: Rows, cost: Ints, duals: Floats) -> Floats:
    """Return what one more of each variable adds to the cost beyond what the rows pay for it."""
    terms = rows.terms
    number = np.diff(terms.start)
    paid = np.repeat(duals, number) * terms.value
    reduced: Floats = cost.astype(float)
    np.subtract.at(reduced, terms.column, paid)
    return reduced
