"""Write an outcome down as a plan: the contract's words, with the reason for each pod left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ...framework.dra.index import claim_keys
from ...framework.measures.group_rules import placements_of
from ...framework.measures.skew import domain_counts
from ...framework.rules.composites import Composite
from ...framework.rules.spread import fallen_back_constraints
from ...framework.runs.diagnosis import Diagnosis, diagnose
from ...framework.state.moves import Bind, Deallocate, Leave, Mark, Move, bound_nodes
from ...framework.state.state import State
from ...models.plan import (
    Binding,
    CompositePlacement,
    Eviction,
    Fallback,
    Limits,
    Nomination,
    Placement,
    Plan,
    Stats,
    Step,
    Tier,
    Unschedulable,
)
from .apply import apply_moves
from .device_allocations import written
from .objective import ObjectiveVector, end_state
from .objects import objects_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ...framework.index.cluster import Cluster
    from .outcome import Outcome


def build_plan(
    cluster: Cluster,
    outcome: Outcome,
    valuation: ObjectiveVector,
    bounds: Mapping[str, tuple[int, bool]] | None,
    scheduler: Literal["optimal", "greedy"],
    stats: Stats,
) -> Plan:
    """Turn indices into names.

    Parameters
    ----------
    bounds : mapping or None
        Tier -> (bound, proven); None where nothing was proven (greedy).
    """
    keys, names = [p.key for p in cluster.pods], cluster.node_names
    tiers = tuple(
        Tier(
            name=t.name,
            sense=t.sense,
            value=t.value,
            bound=None if bounds is None else bounds[t.name][0],
            proven=bounds is not None and bounds[t.name][1],
        )
        for t in valuation.tiers
    )
    initial = State.initial(cluster).node_of
    bound_at = bound_nodes(outcome.moves)
    evictions = tuple(
        Eviction(
            pod=keys[v],
            node=names[int(initial[v]) if initial[v] >= 0 else bound_at[v]],
            preemptor=None if p is None else keys[p],
            violates=valuation.violates.get(v, ()),
        )
        for v, p in outcome.victims.items()
        if not cluster.pods[v].terminating
    )
    domains = placements_of(cluster, outcome.placed, outcome.victims)
    steps = steps_of(cluster, outcome)
    end = end_state(cluster, outcome)
    violating = {e.pod for e in evictions if e.violates}
    return Plan(
        instance=cluster.snapshot.name,
        scheduler=scheduler,
        status="OPTIMAL" if all(t.proven for t in tiers) else "FEASIBLE",
        tiers=tiers,
        steps=steps,
        bindings=tuple(
            Binding(pod=keys[i], node=names[n])
            for i, n in outcome.placed.items()
            if i not in outcome.nominations
        ),
        nominations=tuple(
            Nomination(pod=keys[i], node=names[outcome.placed[i]], victims=tuple(keys[v] for v in victims))
            for i, victims in outcome.nominations.items()
            if i in outcome.placed
        ),
        evictions=evictions,
        placements=tuple(
            Placement(pod_group=d.group.key, key=d.key, domain=d.domain, scheduled=d.scheduled)
            for d in domains
            if not isinstance(d.group, Composite)
        ),
        composite_placements=tuple(
            CompositePlacement(
                composite_pod_group=d.group.key, key=d.key, domain=d.domain, scheduled=d.scheduled
            )
            for d in domains
            if isinstance(d.group, Composite)
        ),
        allocations=written(outcome.allocations),
        fallbacks=fallbacks_of(cluster, outcome),
        # before the end state is nominated on
        objects=objects_of(cluster, steps, outcome.moves, violating, outcome.allocations, end),
        unschedulable=_left_out(cluster, outcome, end),
        limits=limits_of(cluster),
        stats=stats,
    )


def steps_of(cluster: Cluster, outcome: Outcome) -> tuple[Step, ...]:
    """Return the moves of an outcome as the steps of a plan."""
    return tuple(_step(cluster, move) for move in outcome.moves)


def limits_of(cluster: Cluster) -> Limits | None:
    """Write the limits on evictions; None where there are none."""
    return cluster.snapshot.limits.words()


def _step(cluster: Cluster, move: Move) -> Step:
    pods = cluster.pods
    match move:
        case Bind(pod, node):
            return Step(bind=pods[pod].key, node=cluster.node_names[node])
        case Mark(pod):
            return Step(mark=pods[pod].key)
        case Leave(pod):
            return Step(leave=pods[pod].key)
        case Deallocate(claim):
            return Step(deallocate=claim_keys(cluster)[claim])


def _left_out(cluster: Cluster, outcome: Outcome, end: State) -> tuple[Unschedulable, ...]:
    """Diagnose one pod of each kind; `end` is the state in which the moves end, without nominations."""
    nominate_waiting(outcome, end)
    told: dict[Hashable, Diagnosis] = {}
    found = []
    for i, kind in left_out(cluster, outcome):
        if kind not in told:
            told[kind] = diagnose(cluster, end, i)
        found.append(
            Unschedulable(
                pod=cluster.pods[i].key, message=told[kind].message, blocked_by=told[kind].blocked_by
            )
        )
    return tuple(found)


def left_out(cluster: Cluster, outcome: Outcome) -> Iterator[tuple[int, Hashable]]:
    """Yield each pod that an outcome leaves out, and its kind: those of one kind hear the same reason.

    A pod that waits for its nominated node gets a message of its own.
    """
    for i in (*cluster.pending, *cluster.gated, *cluster.untried):
        if i not in outcome.placed:
            info = cluster.pods[i]
            yield i, (info.cls, outcome.waiting.get(i), info.pod.spec.scheduling_gates)


def nominate_waiting(outcome: Outcome, end: State) -> None:
    """Nominate the pods that wait for their node, in the state in which an outcome's moves end."""
    for i, node in outcome.waiting.items():
        end.nominate(i, node)


def fallbacks_of(cluster: Cluster, outcome: Outcome) -> tuple[Fallback, ...]:
    """Every fallen-back constraint of the round's pods, judged at the pod's own step (KEP-3990)."""
    carriers = {i for i in cluster.pending if fallen_back_constraints(cluster, i)}
    if not carriers:
        return ()
    skews: dict[tuple[int, int], int | None] = {}
    state = State.initial(cluster)
    for move in outcome.moves:
        if isinstance(move, Bind) and move.pod in carriers:
            for k, constraint in enumerate(fallen_back_constraints(cluster, move.pod)):
                counts = domain_counts(cluster, state, move.pod, constraint)
                skews[move.pod, k] = counts.skew(move.node, int(constraint.self_match))
        apply_moves(cluster, state, [move], outcome.allocations)
    return tuple(
        Fallback(
            pod=cluster.pods[i].key,
            topology_key=constraint.topology_key,
            criteria=constraint.criteria,
            applied=i in outcome.placed and ((skew := skews[i, k]) is None or skew > constraint.max_skew),
            skew=skews[i, k] if i in outcome.placed else None,
            max_skew=constraint.max_skew,
        )
        for i in cluster.pending
        if i in carriers
        for k, constraint in enumerate(fallen_back_constraints(cluster, i))
    )
