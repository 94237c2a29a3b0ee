"""From a solution of the model to a plan of moves, or to the proof that it has no order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ...encoders.moves import leavers_of
from ...framework.state.moves import Leave, Mark, bound_nodes, pods_leaving
from ..model.component import Component
from ..ordering.components import relations_of
from ..ordering.decoding import counted
from ..ordering.dfs_order import Verdict
from ..plans.apply import apply_moves, new_allocations
from ..plans.outcome import Outcome
from .assignment import Relocations, overlaps, relocations
from .exhaustive_order import ExhaustiveOrder
from .order import greedy_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...encoders.problem import Problem
    from ...framework.state.moves import Move
    from ...framework.state.state import State
    from ..model.solution import Solution

# Moves up to which one pod after the other is let go where batches came to no end.
_FEW: Final = 500


@dataclass(frozen=True)
class Decoded:
    """What came of a solution.

    Attributes
    ----------
    outcome, end : Outcome, State
        The plan, or the part of it that has an order by itself.
    whole : bool
        Whether it is all of the solution.
    conflict : (Component, Component) or None
        Where no order exists: who is in conflict, and whose giving way might help.
    """

    outcome: Outcome
    end: State
    whole: bool
    conflict: tuple[Component, Component] | None = None


def decode(problem: Problem, solution: Solution, deadline: float) -> Decoded:
    """Put a solution in an order."""
    wanted = relocations(problem, solution)
    moves, partial, none = _order(problem, wanted, deadline)
    if moves is None and none and overlaps(problem, solution):
        wanted = relocations(problem, solution, cancel=False)
        moves, partial, none = _order(problem, wanted, deadline)
    if moves is not None:
        return Decoded(*outcome_of(problem, moves), whole=True)
    conflict = _conflict(problem, solution) if none else None
    return Decoded(*outcome_of(problem, partial), whole=False, conflict=conflict)


def in_batches(problem: Problem, outcome: Outcome) -> Outcome:
    """Put a plan in an order with fewer batches, where the simple rule finds one: the end is the same."""
    counts, _ = counted(problem, outcome)
    wanted = Relocations(tuple(sorted(outcome.victims)), dict(sorted(counts.items())))
    order = greedy_order(problem, wanted)
    if not order.done or batches(order.moves) >= batches(outcome.moves):
        return outcome
    return outcome_of(problem, order.moves)[0]


def batches(moves: Sequence[Move]) -> int:
    """Count the runs of marks and leaves between binds."""
    leaving = [isinstance(move, Mark | Leave) for move in moves]
    return sum(now and not before for before, now in pairwise([False, *leaving]))


def outcome_of(problem: Problem, moves: Sequence[Move]) -> tuple[Outcome, State]:
    """Return the plan that takes some steps, and the state in which they end."""
    end = problem.state.copy()
    apply_moves(problem.cluster, end, moves)
    gone = dict.fromkeys(sorted(pods_leaving(moves)))
    found = new_allocations(problem.state, end)
    return Outcome(tuple(moves), bound_nodes(moves), {}, gone, found), end


def _order(
    problem: Problem, wanted: Relocations, deadline: float
) -> tuple[Sequence[Move] | None, Sequence[Move], bool]:
    """Return an order, the longest part of one without pods that are away, and whether none exists."""
    partial: Sequence[Move] = ()
    for in_batches in (True, False):
        if not in_batches and len(wanted.leaving) > _FEW:
            break
        order = greedy_order(problem, wanted, in_batches=in_batches)
        if order.done:
            return order.moves, (), False
        if order.clean > len(partial):
            partial = order.moves[: order.clean]
    verdict, moves = ExhaustiveOrder(problem, wanted, deadline).run()
    if verdict is Verdict.FOUND:
        return moves, (), False
    return None, partial, verdict is Verdict.NONE_EXISTS


def _conflict(problem: Problem, solution: Solution) -> tuple[Component, Component]:
    """Return who of a solution without an order hangs together, as small as is sure.

    Classes hang together by what their filters look at, by budgets that all draw on and by nodes where one
    leaves and another comes. What neither moves nor comes in the solution could only help by leaving: it is
    relaxing where it holds room on these nodes.
    """
    used = {index for index, _ in solution.counts} | {
        index
        for index, victims in leavers_of(problem).items()
        if any(solution.leaving.get(v.index) for v in victims)
    }
    classes = frozenset(used)
    relations = relations_of(problem)
    for component in relations.components:
        if not classes.isdisjoint(component.classes):
            classes |= component.classes
    drawn = {b for index in classes for v in leavers_of(problem).get(index, ()) for b in v.charges}
    victims = {
        v.index
        for index, found in leavers_of(problem).items()
        for v in found
        if index in classes or not drawn.isdisjoint(v.charges)
    }
    victims |= {v for c in relations.components if not classes.isdisjoint(c.classes) for v in c.victims}
    nodes = {n for index, n in solution.counts}
    holders = {v.index for n in nodes for v in problem.victims_on.get(n, ())}
    return Component(classes, frozenset(victims)), Component(frozenset(), frozenset(holders - victims))
