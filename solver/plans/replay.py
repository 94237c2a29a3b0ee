"""Replay: every plan goes step by step through the framework's filters before it is printed.

Nothing here knows how a plan was made: no encoder, no solver. A plan passes when each binding passes every
filter at its own step, the evictions follow the rules, the lists say what the steps do, and every tier has
the value that the one valuation gives. Source: docs/model.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ...framework.cycle.runtime import framework_for
from ...framework.dra.index import claim_keys
from ...framework.measures.group_rules import faults_of_groups, placements_of
from ...framework.rules.composites import Composite
from ...framework.rules.eviction_limits import broken_limits
from ...framework.state.moves import Bind, Deallocate, Leave, Mark, Move, bound_nodes, pods_leaving
from ...framework.state.state import State
from ...models.errors import KubestowError
from ...models.progress import Watch, unwatched
from .apply import apply_moves, devices_lacking, new_allocations, refused_devices
from .device_allocations import chosen_devices, faults_of_devices, written
from .document import fallbacks_of, limits_of
from .nominations import derive_nominations
from .objective import valuate
from .objects import objects_of
from .outcome import Outcome
from .preemptors import preemptors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...framework.dra.allocation import Allocation
    from ...framework.index.cluster import Cluster
    from ...models.plan import Plan


class ReplayFailure(KubestowError):
    """A plan that does not hold: exit code 1, with the step that fails."""

    exit_code: ClassVar[int] = 1


def replay(cluster: Cluster, plan: Plan, prefer: str = "none", watch: Watch = unwatched) -> State:
    """Check a plan against the framework; return the state in which its steps end.

    `watch` hears of the steps replayed.

    Raises
    ------
    ReplayFailure
        Naming the first step, list or tier that does not hold.
    """
    moves = moves_of(cluster, plan)
    chosen = chosen_devices(cluster, plan)
    run = follow(cluster, moves, chosen, watch)
    if run.fault:
        raise ReplayFailure(f"the plan fails its replay: {run.fault}")
    if plan.stats.admissible:
        for fault in inadmissible(cluster, moves):
            raise ReplayFailure(f"the plan is not admissible: {fault}")
    outcome = outcome_of(plan, moves, chosen)
    violations = sum(bool(e.violates) for e in plan.evictions)
    for fault in broken_limits(cluster, outcome.victims, violations):
        raise ReplayFailure(f"the plan breaks a limit: {fault}")
    for fault in (
        *_faults_of_lists(cluster, plan, outcome, run.end),
        *_faults_of_tiers(cluster, plan, outcome, run.end, prefer),
    ):
        raise ReplayFailure(f"the plan contradicts itself: {fault}")
    return run.end


def moves_of(cluster: Cluster, plan: Plan) -> list[Move]:
    """Read a plan's steps back into indices.

    Raises
    ------
    ReplayFailure
        For a step that names a pod or node the cluster does not have.
    """
    claims = claim_keys(cluster)
    moves: list[Move] = []
    for number, step in enumerate(plan.steps):
        if len(step.model_dump()) != 1 + (step.bind is not None):
            raise ReplayFailure(f"the plan fails its replay: step {number} does not say one thing")
        if step.deallocate is not None:
            if step.deallocate not in claims:
                raise ReplayFailure(f"the plan fails its replay: step {number} names an unknown claim")
            moves.append(Deallocate(claims.index(step.deallocate)))
            continue
        pod = cluster.pod_index.get(step.bind or step.mark or step.leave or "")
        node = cluster.node_index.get(step.node or "")
        if pod is None or (step.bind is not None and node is None):
            raise ReplayFailure(f"the plan fails its replay: step {number} names an unknown pod or node")
        if step.bind is not None and node is not None:
            moves.append(Bind(pod, node))
        else:
            moves.append(Mark(pod) if step.mark is not None else Leave(pod))
    return moves


class Run(NamedTuple):
    """A sequence of moves applied step by step.

    Attributes
    ----------
    end : State
        The state after the last step that is possible.
    fault : str
        Why the sequence is not possible with the devices chosen for it; empty where it is.
    """

    end: State
    fault: str


def follow(
    cluster: Cluster, moves: Sequence[Move], chosen: Mapping[str, Allocation], watch: Watch = unwatched
) -> Run:
    """Apply moves one after the other, each only if it is possible at its step."""
    state = State.initial(cluster)
    pending = frozenset(cluster.pending)
    homes: dict[str, int] = {}
    for number, move in enumerate(moves):
        watch("replaying: steps", number, len(moves))
        fault = _fault_of_step(cluster, state, move, chosen, pending)
        if fault:
            return Run(state, f"step {number} {fault}")
        lacking = devices_lacking(cluster, state, move.pod) if isinstance(move, Bind) else ()
        apply_moves(cluster, state, [move], chosen)
        if isinstance(move, Bind) and state.claims is not None:
            allocated = state.claims.allocations
            homes.update((key, move.node) for key in lacking if key in chosen and key in allocated)
    return Run(state, next(faults_of_devices(cluster, state, chosen, homes), ""))


def _fault_of_step(
    cluster: Cluster, state: State, move: Move, chosen: Mapping[str, Allocation], pending: frozenset[int]
) -> str:
    """Return why a step is not possible in a state, empty where it is."""
    match move:
        case Deallocate(claim):
            return _fault_of_deallocation(cluster, state, claim_keys(cluster)[claim])
        case Bind(pod, node):
            if pod not in pending or state.node_of[pod] >= 0:
                return f"binds {cluster.pods[pod].key}, which does not wait"
            return _fault_of_binding(cluster, state, pod, node, chosen)
    key = cluster.pods[move.pod].key
    if state.node_of[move.pod] < 0:
        return f"moves {key}, which does not run"
    if isinstance(move, Mark):
        return f"marks {key}, which terminates already" if state.terminating[move.pod] else ""
    return "" if state.terminating[move.pod] else f"takes {key} away before it is marked"


def _fault_of_binding(
    cluster: Cluster, state: State, pod: int, node: int, chosen: Mapping[str, Allocation]
) -> str:
    key = cluster.pods[pod].key
    status = framework_for(cluster, pod).filter_node(state, pod, node)
    if not status.ok:
        reasons = ", ".join(status.reasons)
        return f"binds {key} to {cluster.node_names[node]}: {status.plugin}: {reasons}"
    refused = refused_devices(cluster, state, pod, node, chosen)
    return f"binds {key} to {cluster.node_names[node]} with {refused}" if refused else ""


def _fault_of_deallocation(cluster: Cluster, state: State, claim: str) -> str:
    """Return why a claim may not be deallocated, empty where it may."""
    if state.claims is None or claim not in state.claims.allocations:
        return f"deallocates {claim}, which is not allocated"
    if not state.claims.idle(claim):
        return f"deallocates {claim}, which is reserved for others"
    return ""


def inadmissible(cluster: Cluster, moves: Sequence[Move]) -> Iterator[str]:
    """Yield why a sequence of possible steps is still no plan, such as a wasted eviction."""
    pods = cluster.pods
    pending = set(cluster.pending)
    marked = {move.pod for move in moves if isinstance(move, Mark)}
    left = pods_leaving(moves)
    for pod in sorted(marked - left):
        yield f"{pods[pod].key} is marked and never leaves"
    for pod, preemptor in preemptors(cluster, moves).items():
        if pod in pending:
            yield f"{pods[pod].key} is bound and evicted in the same round"
        elif preemptor is None:
            yield f"{pods[pod].key} leaves and no preemptor comes to its node"
    placed = {pod: node for pod, node in bound_nodes(moves).items() if pod not in left}
    yield from faults_of_groups(cluster, placed, left)


def outcome_of(plan: Plan, moves: Sequence[Move], chosen: Mapping[str, Allocation]) -> Outcome:
    """Return a plan as an outcome, from its steps alone."""
    placed: dict[int, int] = {}
    victims: dict[int, int | None] = {}
    for move in moves:
        if isinstance(move, Bind):
            placed[move.pod] = move.node
        elif isinstance(move, Leave):
            victims[move.pod] = None
            placed.pop(move.pod, None)
    return Outcome(tuple(moves), placed, {}, victims, chosen, plan.stats.admissible)


def _faults_of_lists(cluster: Cluster, plan: Plan, outcome: Outcome, end: State) -> Iterator[str]:
    keys, names = [p.key for p in cluster.pods], cluster.node_names
    listed = len(plan.bindings) + len(plan.nominations)
    if plan.placed() != {keys[i]: names[n] for i, n in outcome.placed.items()} or listed != len(
        outcome.placed
    ):
        yield "bindings and nominations are not what the steps bind"
    evicted = {keys[v] for v in outcome.victims if not cluster.pods[v].terminating}
    if {e.pod for e in plan.evictions} != evicted or len(plan.evictions) != len(evicted):
        yield "evictions are not who leaves in the steps"
    out = {keys[i] for i in (*cluster.pending, *cluster.gated, *cluster.untried)} - set(plan.placed())
    if {u.pod for u in plan.unschedulable} != out:
        yield "unschedulable is not who was left out"
    domains = {
        (isinstance(d.group, Composite), d.group.key, d.key, d.domain, d.scheduled)
        for d in placements_of(cluster, outcome.placed, outcome.victims)
    }
    stated = [
        *((False, p.pod_group, p.key, p.domain, p.scheduled) for p in plan.placements),
        *((True, p.composite_pod_group, p.key, p.domain, p.scheduled) for p in plan.composite_placements),
    ]
    if sorted(stated) != sorted(domains):
        yield "placements are not the domains of the groups that gained members"
    brought = new_allocations(State.initial(cluster), end)
    if plan.allocations != written(brought):
        yield "allocations are not what the steps allocate"
    if plan.scheduler == "optimal" and plan.stats.admissible:
        yield from _faults_of_roles(cluster, plan, outcome)
    if plan.limits != limits_of(cluster):
        yield "limits are not those of the round"
    if plan.fallbacks != fallbacks_of(cluster, outcome):
        yield "fallbacks are not those of the steps"
    violating = {e.pod for e in plan.evictions if e.violates}
    touched = objects_of(cluster, plan.steps, outcome.moves, violating, outcome.allocations, end)
    if plan.objects not in (None, touched):
        yield "objects are not those that the steps touch"


def _faults_of_roles(cluster: Cluster, plan: Plan, outcome: Outcome) -> Iterator[str]:
    """Yield where nominations and preemptors are not those that follow from the steps."""
    keys, names = [p.key for p in cluster.pods], cluster.node_names
    initial = State.initial(cluster)
    derived = derive_nominations(cluster, initial, outcome.moves, outcome.allocations)
    nominations = {keys[i]: tuple(keys[v] for v in victims) for i, victims in derived.nominations.items()}
    if {n.pod: n.victims for n in plan.nominations} != nominations:
        yield "nominations are not those that the steps make"
    evictions = {
        keys[v]: (names[initial.node_of[v]], None if p is None else keys[p])
        for v, p in derived.victims.items()
        if not cluster.pods[v].terminating
    }
    if {e.pod: (e.node, e.preemptor) for e in plan.evictions} != evictions:
        yield "evictions name another node or preemptor than the steps"


def _faults_of_tiers(
    cluster: Cluster, plan: Plan, outcome: Outcome, end: State, prefer: str
) -> Iterator[str]:
    value = valuate(cluster, outcome, prefer, end=end)
    if plan.stats.admissible and not value.guarded:
        yield "a guarded victim violates its budget, or more victims do than may"
    stated = [(t.name, t.sense, t.value) for t in plan.tiers]
    if stated != [(t.name, t.sense, t.value) for t in value.tiers]:
        yield f"tiers {stated} are not the valuation {[(t.name, t.value) for t in value.tiers]}"
    for tier in plan.tiers:
        if tier.bound is not None and (
            tier.value > tier.bound if tier.sense == "max" else tier.value < tier.bound
        ):
            yield f"{tier.name} has value {tier.value} beyond its bound {tier.bound}"
    broken = {cluster.pods[v].key: budgets for v, budgets in value.violates.items()}
    if {e.pod: e.violates for e in plan.evictions if e.violates} != broken:
        yield "violates does not name the budgets that the violating victims break"
    if any(t.proven != (t.value == t.bound) for t in plan.tiers):
        yield "a tier is called proven, or not, against its value and bound"
    if (plan.status == "OPTIMAL") != all(t.proven for t in plan.tiers):
        yield f"status {plan.status} does not follow from the tiers"
