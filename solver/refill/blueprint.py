"""The blueprint: how many pods of each class go to each side of the cluster, and how many of each kind leave.

Nodes of one side have the same domains of all keys that constraints spread over: moves within a side leave
every row over several nodes as it is, budgets aside, and these count victims of one group alike. Classes that
a spread constraint looks at keep the numbers of pods that the best plan has on each side; all else is decided
by the sums (`solver.bounds.summed`), tier after tier.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from ...encoders import ENCODERS
from ...encoders.topology_spread import spread_groups
from ...framework.rules.groups import groups
from ...framework.rules.spread import hard_constraints
from ...framework.vocabulary import names
from ..bounds.summed import SummedModel
from ..model.interrupts import run_or_leave

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Bools, Ints
    from ..bounds.summed import VictimGroup
    from .params import RefillParams

# Families that moves inside one side leave alone, or that refill search states itself.
UNDERSTOOD = {
    names.PRIORITY_SORT,
    names.NODE_RESOURCES_FIT,
    names.POD_TOPOLOGY_SPREAD,
    names.DEFAULT_PREEMPTION,
    # without groups and devices the tiers of these are constant
    names.GANG_SCHEDULING,
    names.DYNAMIC_RESOURCES,
}

MILLION = 1_000_000


@dataclass(frozen=True)
class Sides:
    """The sides of a round.

    Attributes
    ----------
    nodes : sequence of bool[N]
        Over-committed nodes are on none.
    tied : set of int
        Classes whose numbers by side a spread constraint counts.
    caps : int array (C, N)
        Most pods of each class that may stand on a node.
    """

    nodes: Sequence[Bools]
    tied: frozenset[int]
    caps: Ints


@dataclass(frozen=True)
class Blueprint:
    """Numbers by side: pods of each class that come, victims of each group that leave; values of tiers."""

    coming: Mapping[tuple[int, int], int]
    leaving: Mapping[tuple[VictimGroup, int], int]
    values: Mapping[str, int]


def suits(problem: Problem) -> bool:
    """Whether pods may be evicted, and only room, budgets and spread constraints tie pods together."""
    return bool(problem.victims) and loosely_tied(problem)


def loosely_tied(problem: Problem) -> bool:
    """Whether nothing but room, in amounts of 64 bits, budgets and spread constraints ties pods together."""
    grouped = bool(problem.units) or any(group.pending for group in groups(problem.cluster))
    stated = {family.name for family in ENCODERS if family.applies(problem)}
    plain = problem.fits_in_64_bits and problem.devices is None and not grouped
    return plain and stated <= UNDERSTOOD


def sides_of(problem: Problem) -> Sides:
    """Divide the nodes by the domains that constraints spread over; where each node is one, limit classes."""
    n_nodes = problem.cluster.n_nodes
    asked = np.array([cls.request for cls in problem.classes]).max(axis=0, initial=0) > 0
    sound = (problem.free_now[asked] >= 0).all(axis=0) & (problem.slots_now >= 0)
    caps = np.array([cls.limit for cls in problem.classes], dtype=np.int64).reshape(-1, n_nodes)
    caps[:, ~sound] = 0
    tied: set[int] = set()
    keys: list[Ints] = []
    for group in spread_groups(problem, hard_constraints):
        domains = np.asarray(group.domain_of, dtype=np.int64)
        present = domains[domains >= 0]
        if len(np.unique(present)) == len(present):
            running = group.matching.fixed.copy()
            for v in group.matching.victims:
                running[v.node] += v.size
            most = np.maximum(group.constraint.max_skew - running, 0)
            for cls in group.counted_carriers:
                caps[cls.index] = np.minimum(caps[cls.index], most)
        else:
            tied |= {cls.index for cls in (*group.carriers, *group.matching.classes)}
            keys.append(domains)
    signature = np.stack([np.zeros(n_nodes, dtype=np.int64), *keys])
    _, side = np.unique(signature, axis=1, return_inverse=True)
    side = np.where(sound, side.reshape(-1), -1)
    nodes = [side == s for s in np.unique(side[side >= 0])]
    return Sides(nodes, frozenset(tied), caps)


def blueprint(
    problem: Problem,
    sides: Sides,
    standing: Mapping[tuple[int, int], int],
    held: Sequence[tuple[str, int]],
    better: Mapping[str, int],
    slack: int,
    new_solver: Callable[[float], cp_model.CpSolver],
    params: RefillParams,
) -> Blueprint | None:
    """Decide by sums who comes where and who leaves; None where no solution was found that is better.

    Parameters
    ----------
    standing : mapping
        Newcomers of the best plan by (class, node).
    held : sequence of (str, int)
        Tiers above, and their values.
    better : mapping
        Tiers to be improved, in their order, and values of which the first that differs is to become less.
    slack : int
        Millionths of what a side has of each resource (rounded up) that are to stay free at least. More
        stay free where that costs nothing in any tier.
    """
    sums = SummedModel(problem, sides.nodes)
    amounts = [problem.cluster.allocatable[:, side].sum(axis=1) for side in sides.nodes]
    grain = [[*(-(-amount // MILLION)), 0] for amount in amounts]
    sums.add_room(np.array(grain, dtype=np.int64), slack, MILLION)
    sums.hold(held)
    side_of = {int(n): s for s, side in enumerate(sides.nodes) for n in np.flatnonzero(side)}
    now: Counter[tuple[int, int]] = Counter()
    for (c, n), count in standing.items():
        if n in side_of:
            now[c, side_of[n]] += count
    for (c, s), variable in sums.placed.items():
        if c in sides.tied:
            sums.model.add(variable == now[c, s])
    solver, values = None, dict[str, int]()
    for name in [name for name in better if name in sums.goals]:
        sums.model.minimize(sums.goals[name].terms.expression())
        solver = _limited(new_solver, params)
        status = run_or_leave(partial(solver.solve, sums.model), solver.stop_search)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        values[name] = int(solver.value(sums.goals[name].terms.expression()))
        sums.hold([(name, values[name])])
    if solver is None or list(values.values()) >= [better[name] for name in values]:
        return None
    roomy = _roomiest(sums, solver, new_solver, params)
    solver = solver if roomy is None else roomy
    coming = {key: int(solver.value(variable)) for key, variable in sums.placed.items()}
    leaving = {key: int(solver.value(variable)) for key, variable in sums.leaving.items()}
    return Blueprint(coming, leaving, values)


def _roomiest(
    sums: SummedModel,
    known: cp_model.CpSolver,
    new_solver: Callable[[float], cp_model.CpSolver],
    params: RefillParams,
) -> cp_model.CpSolver | None:
    """Find a solution that leaves most room, from one that is known; None where it takes too long."""
    model = sums.model
    for k in range(len(model.proto.variables)):
        model.add_hint(
            model.get_int_var_from_proto_index(k), known.value(model.get_int_var_from_proto_index(k))
        )
    model.maximize(sums.slack)
    solver = _limited(new_solver, params)
    status = run_or_leave(partial(solver.solve, model), solver.stop_search)
    return solver if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None


def _limited(new_solver: Callable[[float], cp_model.CpSolver], params: RefillParams) -> cp_model.CpSolver:
    """Make a solver with one worker that stops after the same work on every machine."""
    solver = new_solver(params.blueprint_limit)
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = params.blueprint_work
    return solver
