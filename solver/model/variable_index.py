"""Index of a model's variables: counts by class and node, evictions by node, and those that depend on them.

Arrays in place of the dictionaries of `encoders.Context`: a large model has a million pairs of a class and a
node, and large-neighbourhood search reads a few of them many times a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...encoders.devices.variables import device_variables
from .device_solution import read_devices
from .solution import Solution
from .sparse_rows import entries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ortools.sat.python import cp_model

    from ...encoders.context import Context
    from ...encoders.terms import Terms
    from .sparse_rows import Ints


class VariableIndex:
    """Count and eviction variables of a model, by node.

    Attributes
    ----------
    counts, cls, node : ints
        Each count's variable, its class and its node.
    evictions, victim, victim_node : ints
        Each eviction's variable, its victim class and its node.
    decisive : ints
        All counts and evictions: what a plan says; the other variables follow from it.
    nodes : ints
        Nodes where pods may newly stand.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.problem = context.problem
        pairs = np.array(list(context.counts), dtype=np.int64).reshape(-1, 2)
        self.cls, self.node = pairs[:, 0], pairs[:, 1]
        self.counts = _indices(context.counts)
        self.victim = np.array(list(context.evictions), dtype=np.int64)
        victims = self.problem.victims
        self.victim_node = np.array([victims[v].node for v in self.victim.tolist()], dtype=np.int64)
        self.evictions = _indices(context.evictions)
        units = [victims[v].unit for v in self.victim.tolist()]
        self._in_unit = np.array([k for k, unit in enumerate(units) if unit is not None], dtype=np.int64)
        self._unit = np.array([unit for unit in units if unit is not None], dtype=np.int64)
        self.decisive = np.concatenate((self.counts, self.evictions))
        where = np.concatenate((self.node, self.victim_node))
        order = np.argsort(where, kind="stable")
        self._start = np.searchsorted(where[order], np.arange(self.problem.cluster.n_nodes + 1))
        self._by_node = self.decisive[order]
        self.nodes = np.unique(self.node)
        size = len(context.model.proto.variables)
        self._node_of, self._row_of = np.full(size, -1), np.full(size, -1)
        self._node_of[self.decisive] = where
        self._row_of[self.decisive] = np.concatenate((self.cls, len(self.problem.classes) + self.victim))
        # pairs are made class by class
        self._first = np.searchsorted(self.cls, np.arange(len(self.problem.classes) + 1))
        self._goals = {
            goal.name: (
                np.array([v.index for v in goal.terms.variables], dtype=np.int64),
                np.array(goal.terms.coefficients, dtype=np.int64),
                goal.terms.constant,
            )
            for goal in context.goals
        }

    def on(self, nodes: Ints) -> Ints:
        """Counts and evictions on some nodes."""
        return self._by_node[entries(self._start, nodes)[0]]

    def leaving_with(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Evictions of the groups that are evicted whole and have members on some nodes, and their nodes."""
        units = self._unit[np.isin(self.victim_node[self._in_unit], nodes)]
        mine = self._in_unit[np.isin(self._unit, units)]
        return self.evictions[mine], self.victim_node[mine]

    def standing(self, cls: int, x: Ints) -> Ints:
        """Nodes where pods of a class newly stand."""
        mine = slice(self._first[cls], self._first[cls + 1])
        return self.node[mine][x[self.counts[mine]] > 0]

    def node_of(self, variables: Ints) -> Ints:
        """Nodes of some variables: of counts and evictions where they are, -1 of the others."""
        known = np.append(self._node_of, -1)
        return known[np.minimum(variables, len(self._node_of))]

    def row_of(self, variables: Ints) -> Ints:
        """Classes of some counts; for evictions, the number of classes plus the victim class."""
        return self._row_of[variables]

    def values(self, counts: Mapping[tuple[int, int], int], leaving: Mapping[int, int], size: int) -> Ints:
        """Return the vector of all variables in which a plan's are set and the others are 0."""
        x = np.zeros(size, dtype=np.int64)
        for key, count in counts.items():
            x[self._context.counts[key].index] = count
        for victim, count in leaving.items():
            x[self._context.evictions[victim].index] = count
        return x

    def solution(self, x: Ints) -> Solution:
        """Read a solution from the values of all variables."""
        placed, gone = np.flatnonzero(x[self.counts]), np.flatnonzero(x[self.evictions])
        keys = zip(self.cls[placed].tolist(), self.node[placed].tolist(), strict=True)
        counts = dict(zip(keys, x[self.counts[placed]].tolist(), strict=True))

        def value(terms: Terms) -> int:
            found = zip(terms.variables, terms.coefficients, strict=True)
            return sum(int(x[variable.index]) * c for variable, c in found) + terms.constant

        devices = device_variables(self._context)
        return Solution(
            counts=counts,
            leaving=dict(zip(self.victim[gone].tolist(), x[self.evictions[gone]].tolist(), strict=True)),
            goals={
                name: int(x[columns] @ coefficients) + constant
                for name, (columns, coefficients, constant) in self._goals.items()
            },
            devices=None if devices is None else read_devices(devices, value, counts),
        )


def _indices(variables: Mapping[Any, cp_model.IntVar]) -> Ints:
    return np.fromiter((v.index for v in variables.values()), dtype=np.int64, count=len(variables))
