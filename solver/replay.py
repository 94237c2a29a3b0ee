"""Replay: every plan goes step by step through the framework's filters before it is printed.

Nothing here knows how a plan was made: no encoder, no solver.  A plan passes when each binding passes every
filter at its own step, the evictions follow the rules, the lists say what the steps do, and every tier has
the value that the one valuation gives.  Source: design, "Admissible" and the three promises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..framework.group_rules import faults_of_groups, placements_of
from ..framework.runtime import framework_for
from ..framework.state import State
from ..models.errors import KubestowError
from .outcome import BIND, LEAVE, MARK, Move, Outcome
from .preemptors import preemptors
from .vector import valuate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..framework.cluster import Cluster
    from ..models.plan import Plan


class ReplayFailure(KubestowError):
    """A plan that does not hold: exit code 1, with the step that fails."""

    exit_code: ClassVar[int] = 1


def replay(cluster: Cluster, plan: Plan, prefer: str = "none") -> None:
    """Check a plan against the framework.

    Raises
    ------
    ReplayFailure
        Naming the first step, list or tier that does not hold.
    """
    moves = moves_of(cluster, plan)
    for fault in _faults_of_steps(cluster, moves):
        raise ReplayFailure(f"the plan fails its replay: {fault}")
    if plan.stats.admissible:
        for fault in inadmissible(cluster, moves):
            raise ReplayFailure(f"the plan is not admissible: {fault}")
    for fault in (*_faults_of_lists(cluster, plan, moves), *_faults_of_tiers(cluster, plan, moves, prefer)):
        raise ReplayFailure(f"the plan contradicts itself: {fault}")


def moves_of(cluster: Cluster, plan: Plan) -> list[Move]:
    """Read a plan's steps back into indices.

    Raises
    ------
    ReplayFailure
        For a step that names a pod or node the cluster does not have.
    """
    moves: list[Move] = []
    for number, step in enumerate(plan.steps):
        for kind, key in ((BIND, step.bind), (MARK, step.mark), (LEAVE, step.leave)):
            if key is None:
                continue
            pod = cluster.pod_index.get(key, -1)
            node = cluster.node_index.get(step.node or "", -1)
            if pod < 0 or (kind == BIND and node < 0):
                raise ReplayFailure(f"the plan fails its replay: step {number} names an unknown pod or node")
            moves.append((kind, pod, node))
    return moves


def _faults_of_steps(cluster: Cluster, moves: Sequence[Move]) -> Iterator[str]:
    state = State.initial(cluster)
    pending = set(cluster.pending)
    for number, (kind, pod, node) in enumerate(moves):
        key = cluster.pods[pod].key
        if kind == BIND:
            if pod not in pending or state.node_of[pod] >= 0:
                yield f"step {number} binds {key}, which does not wait"
                return
            status = framework_for(cluster, pod).filter_node(state, pod, node)
            if not status.ok:
                reasons = ", ".join(status.reasons)
                yield f"step {number} binds {key} to {cluster.node_names[node]}: {status.plugin}: {reasons}"
                return
            state.place(pod, node)
        elif state.node_of[pod] < 0:
            yield f"step {number} moves {key}, which does not run"
            return
        elif kind == MARK:
            if state.terminating[pod]:
                yield f"step {number} marks {key}, which terminates already"
                return
            state.mark(pod)
        else:
            if not state.terminating[pod]:
                yield f"step {number} takes {key} away before it is marked"
                return
            state.remove(pod)


def inadmissible(cluster: Cluster, moves: Sequence[Move]) -> Iterator[str]:
    """Why a sequence whose bindings all pass is still no plan: a wasted eviction, or a newcomer evicted."""
    pods = cluster.pods
    initial = State.initial(cluster).node_of
    pending = set(cluster.pending)
    marked = {pod for kind, pod, _ in moves if kind == MARK}
    left = {pod for kind, pod, _ in moves if kind == LEAVE}
    for pod in sorted(marked - left):
        yield f"{pods[pod].key} is marked and never leaves"
    for pod, preemptor in preemptors(cluster, initial, moves).items():
        if pod in pending:
            yield f"{pods[pod].key} is bound and evicted in the same round"
        elif preemptor is None:
            yield f"{pods[pod].key} leaves and no preemptor comes to its node"
    placed = {pod: node for kind, pod, node in moves if kind == BIND and pod not in left}
    yield from faults_of_groups(cluster, placed, left)


def outcome_of(cluster: Cluster, plan: Plan, moves: Sequence[Move]) -> Outcome:
    """Give a plan as an outcome, from its steps alone."""
    placed: dict[int, int] = {}
    victims: dict[int, int | None] = {}
    for kind, pod, node in moves:
        if kind == BIND:
            placed[pod] = node
        elif kind == LEAVE:
            victims[pod] = None
            placed.pop(pod, None)
    return Outcome(tuple(moves), placed, {}, victims, plan.stats.admissible)


def _faults_of_lists(cluster: Cluster, plan: Plan, moves: Sequence[Move]) -> Iterator[str]:
    keys, names = [p.key for p in cluster.pods], cluster.node_names
    outcome = outcome_of(cluster, plan, moves)
    if plan.placed() != {keys[i]: names[n] for i, n in outcome.placed.items()}:
        yield "bindings and nominations are not what the steps bind"
    evicted = {keys[v] for v in outcome.victims if not cluster.pods[v].terminating}
    if {e.pod for e in plan.evictions} != evicted or len(plan.evictions) != len(evicted):
        yield "evictions are not who leaves in the steps"
    out = {keys[i] for i in (*cluster.pending, *cluster.gated, *cluster.untried)} - set(plan.placed())
    if {u.pod for u in plan.unschedulable} != out:
        yield "unschedulable is not who was left out"
    domains = {
        (d.group.key, d.key, d.domain, d.scheduled)
        for d in placements_of(cluster, outcome.placed, outcome.victims)
    }
    if {(p.pod_group, p.key, p.domain, p.scheduled) for p in plan.placements} != domains:
        yield "placements are not the domains of the groups that gained members"


def _faults_of_tiers(cluster: Cluster, plan: Plan, moves: Sequence[Move], prefer: str) -> Iterator[str]:
    value = valuate(cluster, outcome_of(cluster, plan, moves), prefer)
    if plan.stats.admissible and not value.guarded:
        yield "a guarded victim violates its budget"
    stated = [(t.name, t.sense, t.value) for t in plan.tiers]
    if stated != [(t.name, t.sense, t.value) for t in value.tiers]:
        yield f"tiers {stated} are not the valuation {[(t.name, t.value) for t in value.tiers]}"
    for tier in plan.tiers:
        if tier.bound is not None and (
            tier.value > tier.bound if tier.sense == "max" else tier.value < tier.bound
        ):
            yield f"{tier.name} has value {tier.value} beyond its bound {tier.bound}"
