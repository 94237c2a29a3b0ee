"""What the searches for an order share: the problem by pods, and steps applied to a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.rules.eviction_units import preemptor_nodes
from ...framework.state.moves import Leave, Mark
from ..plans.apply import apply_moves, deallocate, fits
from ..plans.preemptors import serves
from .components import relations_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from ...encoders.problem import Problem
    from ...framework.state.moves import Move
    from ...framework.state.state import State
    from .assignment import Assignment


class OrderContext:
    """One problem as seen by the searches for an order of its assignments.

    Attributes
    ----------
    relations : Relations
        Which classes and victims matter to the filters of which others.
    class_of, victim_class : dict
        The class of each pending pod, and of each possible victim.
    rank : dict
        The place of each pending pod in the queue.
    nodes_of_preemptors : dict
        The nodes where a pod may be the preemptor of each possible victim.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.cluster = problem.cluster
        self.relations = relations_of(problem)
        self.class_of = {i: c for c in problem.classes for i in c.pods}
        self.victim_class = {i: v for v in problem.victims for i in v.pods}
        self.rank = {i: k for k, i in enumerate(problem.cluster.pending)}
        self.nodes_of_preemptors = {i: preemptor_nodes(self.cluster, i) for i in self.victim_class}

    def fits(self, state: State, pod: int, node: int, assignment: Assignment) -> bool:
        """Whether a pod passes every filter on a node now, with its devices."""
        return fits(self.cluster, state, pod, node, assignment.allocations)

    def apply(self, state: State, moves: Iterable[Move], assignment: Assignment) -> None:
        """Apply moves that are known to be possible."""
        apply_moves(self.cluster, state, moves, assignment.allocations)

    def start(self, assignment: Assignment) -> tuple[State, list[Move]]:
        """Return the state in which an order begins, after the deallocations that are possible at once.

        They are free of cost; where no order is found after them, they may come later.
        """
        state = self.problem.state.copy()
        return state, deallocate(self.cluster, state, assignment.deallocated)

    def leave(self, state: State, moves: list[Move], victim: int, assignment: Assignment) -> None:
        """Mark and remove a victim, and deallocate the claims that only it kept reserved."""
        if not state.terminating[victim]:
            state.mark(victim)
            moves.append(Mark(victim))
        state.remove(victim)
        moves.append(Leave(victim))
        moves += deallocate(self.cluster, state, assignment.deallocated)

    def devices_of(self, pod: int, assignment: Assignment) -> Hashable:
        """Return a key that is equal for pods of a class to which the same devices are given."""
        devices = self.problem.devices
        keys = () if devices is None else devices.private_keys(pod, assignment.placed[pod])
        given = (assignment.allocations[key].results for key in keys if key in assignment.allocations)
        return tuple(tuple((r.request, r.id) for r in results) for results in given)

    def serves(self, pod: int, victim: int) -> bool:
        """Whether a pod on one of the victim's `nodes_of_preemptors` may be its preemptor."""
        return serves(self.cluster, pod, victim)
