"""From a solution of the model to an outcome, and back to a hint.

Members of a class are interchangeable: the first in queue order are placed first, the least important victims
leave first. Source: docs/model.md.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ...framework.cycle.kinds import kind_of
from ...framework.cycle.runtime import framework_for
from ...framework.measures.group_rules import broken_groups, nodes_for_member, partly_evicted
from ...framework.state.moves import Bind, Deallocate, bound_nodes, pods_leaving
from ...framework.state.state import NO_ALLOCATIONS
from ..model.device_solution import hand_out
from ..plans.apply import apply_moves, fits, new_allocations
from ..plans.nominations import derive_nominations
from ..plans.preemptors import preemptors
from .assignment import Assignment

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from ...encoders.problem import Problem
    from ...framework.dra.allocation import Allocation
    from ...framework.state.moves import Move
    from ...framework.state.state import State
    from ...framework.vocabulary.arrays import Ints
    from ..model.solution import Solution
    from ..plans.outcome import Outcome
    from .sequencer import Sequencer


class Completed(NamedTuple):
    """An outcome, and the state in which its moves end."""

    outcome: Outcome
    end: State


def assign(problem: Problem, solution: Solution) -> Assignment:
    """Name the pods of a solution."""
    placed: dict[int, int] = {}
    members = [iter(cls.pods) for cls in problem.classes]
    for (index, node), count in sorted(solution.counts.items()):
        placed.update((next(members[index]), node) for _ in range(count))
    victims = frozenset(pod for v in problem.victims for pod in v.pods[: solution.leaving.get(v.index, 0)])
    if problem.devices is None or solution.devices is None:
        return Assignment(placed, victims)
    allocations, deallocated = hand_out(problem, problem.devices, solution.devices, placed, victims)
    return Assignment(placed, victims, allocations, deallocated)


def counted(problem: Problem, outcome: Outcome) -> tuple[dict[tuple[int, int], int], dict[int, int]]:
    """Return an outcome as the model counts it: newcomers by (class, node), leavers by victim class."""
    class_of = {i: c.index for c in problem.classes for i in c.pods}
    victim_class = {i: v.index for v in problem.victims for i in v.pods}
    counts = Counter((class_of[i], node) for i, node in outcome.placed.items())
    return dict(counts), dict(Counter(victim_class[v] for v in outcome.victims))


def complete(
    problem: Problem,
    moves: Sequence[Move],
    chosen: Mapping[str, Allocation] = NO_ALLOCATIONS,
    *,
    order: Iterable[int] | None = None,
    choose: Callable[[State, int, Ints], int] | None = None,
    until: float | None = None,
) -> Completed:
    """Follow valid moves, then bind one after the other whatever still passes somewhere.

    Parameters
    ----------
    order : iterable of int, optional
        The pending pods; in queue order by default.
    choose : callable, optional
        From the state, a pod and the nodes where it passes, the node that it goes to; by default the first.
    until : float, optional
        When to stop, on the monotonic clock.
    """
    cluster = problem.cluster
    state = problem.state.copy()
    apply_moves(cluster, state, moves, chosen)
    done = bound_nodes(moves)
    extra: list[Move] = []
    hopeless: set[Hashable] = set()
    for i in cluster.pending if order is None else order:
        if i in done:
            continue
        kind = kind_of(cluster, state, i)
        if kind in hopeless:
            continue
        if until is not None and time.monotonic() > until:
            break
        joining = nodes_for_member(cluster, state, i)
        if not joining.any():
            hopeless.add(kind)
            continue
        feasible = framework_for(cluster, i).bindable(state, i)
        feasible = feasible[joining[feasible]]
        if len(feasible) == 0:
            hopeless.add(kind)
            continue
        node = int(feasible[0]) if choose is None else choose(state, i, feasible)
        # with devices that are free now: those chosen for it may have been given to others
        move = Bind(i, node)
        apply_moves(cluster, state, [move])
        extra.append(move)
    allocations = new_allocations(problem.state, state)
    return Completed(derive_nominations(cluster, problem.state, [*moves, *extra], allocations), state)


def ordered(problem: Problem, sequencer: Sequencer, assignment: Assignment, until: float) -> Completed:
    """Put an assignment in an order; if none is found in time, keep the part that is admissible by itself."""
    result = sequencer.order(assignment, until)
    moves = result.moves
    if moves is None:
        moves = tuple(salvage(problem, result.partial, assignment.allocations))
    return complete(problem, moves, assignment.allocations)


def salvage(problem: Problem, moves: Sequence[Move], chosen: Mapping[str, Allocation]) -> list[Move]:
    """Return the part of a stuck sequence without wasted evictions and broken groups.

    Of a group that is evicted whole no member leaves where not all do.
    """
    cluster = problem.cluster
    dropped: set[int] = set()
    while True:
        state = problem.state.copy()
        kept: list[Move] = []
        for move in moves:
            if not isinstance(move, Deallocate) and move.pod in dropped:
                continue
            if isinstance(move, Bind) and not fits(cluster, state, move.pod, move.node, chosen):
                continue
            apply_moves(cluster, state, [move], chosen)
            kept.append(move)
        left = pods_leaving(kept)
        wasted = {v for v, p in preemptors(cluster, kept).items() if p is None}
        wasted.update(i for group in partly_evicted(cluster, left) for i in group.unit if i in left)
        broken = broken_groups(cluster, bound_nodes(kept), left)
        wasted.update(i for group in broken for i in group.pending)
        if not wasted:
            return kept
        dropped |= wasted
