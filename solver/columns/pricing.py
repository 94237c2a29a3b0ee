"""Pricing of columns: the pods of one node of a type that are worth most, with patterns on its devices.

    maximise Σ_c gain_c·x_c
    Σ_c request_r(c)·x_c <= room_r              each resource, and pod slots
    Σ_{c of size s} devices_c·x_c <= Σ_p a_ps·λ_p       each size s of shares
    Σ_{p of units u} λ_p <= devices_u           devices with u units left

A device is not a variable of its own: patterns say how many of them look how, so like devices are not tried
in every order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.linear import add_at_most
from .device_patterns import number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..model.sparse_rows import Ints
    from .device_patterns import DevicePattern, Pattern
    from .round import LikeNodes, TypeRound

# Gains are below 2**41 and pods of a node some hundreds: the float of a bound is off by less than this.
ROUNDING = 0.5


class Column(NamedTuple):
    """What stands on one node.

    Attributes
    ----------
    pods : ints, shape (classes,)
        How many of each class.
    devices : tuple of (int, Pattern)
        Units left and pattern of each device that is used, one for each.
    """

    pods: Ints
    devices: tuple[tuple[int, Pattern], ...]


class Pricing:
    """The model of one node of a type."""

    def __init__(
        self,
        round_: TypeRound,
        kind: LikeNodes,
        patterns: Sequence[DevicePattern],
        new_solver: Callable[[float], cp_model.CpSolver],
    ) -> None:
        self._new_solver, self._patterns = new_solver, patterns
        self._model = model = cp_model.CpModel()
        self._most = most = np.minimum(round_.sizes, kind.limits)
        self.classes = np.flatnonzero(most > 0)
        self._pods = {c: model.new_int_var(0, int(most[c]), "") for c in self.classes.tolist()}
        self._taken = [model.new_int_var(0, number_of(kind, p.units), "") for p in patterns]
        for r, room in enumerate(kind.room.tolist()):
            asking = [c for c in self._pods if round_.requests[c, r] > 0]
            amounts = [int(round_.requests[c, r]) for c in asking]
            add_at_most(model, amounts, [self._pods[c] for c in asking], [int(most[c]) for c in asking], room)
        shares: dict[int, tuple[list[cp_model.IntVar], list[int]]] = {}
        for c, variable in self._pods.items():
            if kind.sizes[c]:
                variables, amounts = shares.setdefault(int(kind.sizes[c]), ([], []))
                variables.append(variable)
                amounts.append(int(round_.devices[c]))
        for pattern, often in zip(patterns, self._taken, strict=True):
            for size, number in pattern.shares:
                if size in shares:
                    shares[size][0].append(often)
                    shares[size][1].append(-number)
        for variables, amounts in shares.values():
            model.add(cp_model.LinearExpr.weighted_sum(variables, amounts) <= 0)
        for units, number in kind.devices:
            mine = [v for p, v in zip(patterns, self._taken, strict=True) if p.units == units]
            model.add(cp_model.LinearExpr.sum(mine) <= number)
        self._solver: cp_model.CpSolver | None = None

    def stop(self) -> None:
        """End a search that runs in another thread."""
        if self._solver is not None:
            self._solver.stop_search()

    def best(
        self, gains: Ints, left: Ints, seconds: float, gap: float = 0.0
    ) -> tuple[int | None, list[Column]]:
        """Look for the column that is worth most.

        Parameters
        ----------
        gains : ints, shape (classes,)
            What a pod of each class is worth.
        left : ints, shape (classes,)
            How many pods of each class there are.
        gap : float
            How far the column may be from the best one, as a part of what that is worth.

        Returns
        -------
        int or None
            No column is worth more; None where nothing was found in time.
        list of Column
            The columns met on the way, the last one the best.
        """
        for c, variable in self._pods.items():
            variable.proto.domain[1] = min(int(self._most[c]), int(left[c]) if gains[c] > 0 else 0)
        worth = gains[self.classes].tolist()
        self._model.maximize(cp_model.LinearExpr.weighted_sum(list(self._pods.values()), worth))
        self._solver = solver = self._new_solver(seconds)
        solver.parameters.num_workers = 1
        solver.parameters.relative_gap_limit = gap
        # patterns make its linear relaxation tight: cuts and branching on it prove most, probing costs more
        solver.parameters.linearization_level = 2
        solver.parameters.cp_model_probing_level = 0
        met = _Met()
        status = solver.solve(self._model, met)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None, []
        found = [*met.solutions[:-1], list(solver.response_proto.solution)]
        # a whole number, told as a float that may be a little below it: 1048575.9999999999 for 1048576
        bound = math.floor(solver.best_objective_bound + ROUNDING)
        return bound, [self._read(values) for values in found]

    def _read(self, values: list[int]) -> Column:
        pods = np.zeros(len(self._most), dtype=np.int64)
        pods[self.classes] = values[: len(self.classes)]
        taken = values[len(self.classes) :][: len(self._patterns)]
        devices = ((p.units, p.shares) for p, n in zip(self._patterns, taken, strict=True) for _ in range(n))
        return Column(pods, tuple(devices))


class _Met(cp_model.CpSolverSolutionCallback):
    """Keeps every solution."""

    def __init__(self) -> None:
        super().__init__()
        self.solutions: list[list[int]] = []

    def on_solution_callback(self) -> None:
        """Keep one."""
        self.solutions.append(list(self.response_proto.solution))
