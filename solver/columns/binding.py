"""From filled nodes to bound pods, where more than room and devices ties pods together.

Nodes are filled without a look at spread constraints, affinity, ports, volumes or groups. Which pods of a
class take its places is free: pods are bound one by one to places where all filters pass.

Source: docs/model.md.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from ...framework.cycle.runtime import framework_for
from ...framework.measures.group_rules import nodes_for_member
from ...framework.state.moves import Bind
from ..plans.apply import apply_moves, refused_devices

if TYPE_CHECKING:
    from ...encoders.problem import Problem
    from ...framework.dra.allocation import Allocation
    from ...framework.state.state import State
    from ...framework.vocabulary.arrays import Bools
    from .quotas import Quotas
    from .slots import Slots


class Bound(NamedTuple):
    """Pods bound one by one, in an order in which each passes, and the devices of their claims."""

    moves: list[Bind]
    allocations: dict[str, Allocation]


def bind_pods(problem: Problem, slots: Slots, until: float, quotas: Quotas | None = None) -> Bound:
    """Bind pods to places as far as all filters pass, until time is out.

    Who was refused is tried again as long as somebody is bound: others may let them in (spread, affinity).

    Parameters
    ----------
    quotas : Quotas, optional
        Where pods of each class may go beside that; they are used up.
    """
    state = problem.state.copy()
    found = Bound([], {})
    class_of = {pod: cls.index for cls in problem.classes for pod in cls.pods}
    order = sorted(slots.round.classes, key=lambda like: -like.priority)
    waiting = [pod for like in order for pod in like.pods]
    before = -1
    while len(found.moves) > before:
        before = len(found.moves)
        refused: set[int] = set()
        left: list[int] = []
        for pod in waiting:
            if time.monotonic() >= until:
                return found
            cls = class_of[pod]
            within = slots.open[slots.class_of[pod]] > 0
            if quotas is not None:
                within &= quotas.nodes(cls)
            node = None if cls in refused else _passing(problem, state, slots, pod, within)
            if node is None:
                refused.add(cls)
                left.append(pod)
                continue
            chosen = slots.take(pod, node)
            if quotas is not None:
                quotas.take(cls, node)
            found.moves.append(Bind(pod, node))
            found.allocations.update(chosen)
            apply_moves(problem.cluster, state, found.moves[-1:], chosen)
        waiting = left
    return found


def _passing(problem: Problem, state: State, slots: Slots, pod: int, within: Bools) -> int | None:
    """Return a node among some with a place for a pod where all filters pass."""
    cluster, framework = problem.cluster, framework_for(problem.cluster, pod)
    if not within.any() or framework.binding_error(state, pod) is not None:
        return None
    within = within & nodes_for_member(cluster, state, pod)
    feasible = framework.filter_all(state, pod, within=within).feasible
    for node in feasible[within[feasible]].tolist():
        if not refused_devices(cluster, state, pod, node, slots.devices(pod, node)):
            return int(node)
    return None
