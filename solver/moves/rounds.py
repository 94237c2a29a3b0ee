"""The placing of all pods that leave as one round: who stands elsewhere stays, and nothing is evicted.

The solver's best plan says whether all replacements have a place in the end. What a filter makes of pods that
are there for a while, an order of moves has to show; so a proof that no places exist leaves aside the rules
that such pods may help to keep.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, cast

from ...framework.vocabulary import names
from ...models.eviction_limits import EvictionLimits
from ...models.leaving import without_pods
from ...models.tiers import scheduled
from ..api import solve_round

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ...framework.index.cluster import Cluster
    from ...framework.state.state import State
    from ...models.config import PodTopologySpreadArgs
    from ...models.node import Node
    from ...models.plan import Plan
    from ...models.pod import Pod
    from ...models.snapshot import Snapshot
    from ..options import ProgressCallback, SolveOptions
    from .moving import Moving

_NO_EVICTIONS: Final = EvictionLimits(evictions=0)

# The one priority of all replacements where only their number is asked for.
_LEVEL: Final = 0


def places(
    moving: Moving,
    state: State,
    pods: Collection[int],
    closed: Collection[int],
    options: SolveOptions,
    progress: ProgressCallback | None = None,
) -> dict[int, int]:
    """Find places for the replacements of running pods on nodes that are not closed.

    Returns
    -------
    dict
        Running pod to the node of its replacement, in the plan's order, for as many as have one.
    """
    cluster = moving.cluster
    # What all replacements have to have is a place: the tiers below that say nothing here.
    levels = len({cluster.pods[i].priority for i in pods})
    options = replace(options, tiers=levels)
    plan = _solved(moving, round_of(moving, state, pods, closed), options, progress)
    where = plan.placed()
    old = {cluster.pods[moving.replaced_by(i)].key: i for i in pods}
    order = [step.bind for step in plan.steps if step.bind is not None]
    return {old[key]: cluster.node_index[where[key]] for key in order if key in old and key in where}


def most_places(
    moving: Moving,
    state: State,
    pods: Collection[int],
    closed: Collection[int],
    options: SolveOptions,
    progress: ProgressCallback | None = None,
    *,
    others_stand: bool = True,
) -> int:
    """Return a proven limit on how many replacements have a place at once, whoever is on the way.

    Parameters
    ----------
    others_stand : bool
        Whether all other pods stand where they are until these are placed.
    """
    if _has_hard_defaults(moving.cluster):
        return len(pods)
    snapshot = round_of(moving, state, pods, closed)
    bound_claims = {item.key for item in snapshot.persistent_volume_claims if item.spec.volume_name}
    keys = {moving.cluster.pods[moving.replaced_by(i)].key for i in pods}
    easier = [
        _without_transient_rules(pod, bound_claims) if pod.key in keys else pod for pod in snapshot.pods
    ]
    if not others_stand:
        easier = list(map(_apart_from_none, easier))
    plan = _solved(moving, replace(snapshot, pods=tuple(easier)), options, progress)
    limits = [tier.bound for tier in plan.tiers if tier.name == scheduled(_LEVEL)]
    return min([len(pods), *(limit for limit in limits if limit is not None)])


def _solved(
    moving: Moving, snapshot: Snapshot, options: SolveOptions, progress: ProgressCallback | None
) -> Plan:
    """Solve a round; Ctrl-C ends all of it, since a part of a drain is none."""
    plan = solve_round(snapshot, options, progress, like=moving.cluster).plan
    if plan.stats.interrupted:
        raise KeyboardInterrupt
    return plan


def _has_hard_defaults(cluster: Cluster) -> bool:
    """Whether a profile has hard spread constraints for pods that have none of their own."""
    return any(
        constraint.is_hard
        for profile in cluster.profiles.values()
        for constraint in cast(
            "PodTopologySpreadArgs", profile.args(names.POD_TOPOLOGY_SPREAD)
        ).default_constraints
    )


def round_of(moving: Moving, state: State, pods: Iterable[int], closed: Collection[int]) -> Snapshot:
    """Return the round: pods that stand in a state, without those that leave, and what replaces these."""
    cluster = moving.cluster
    leaving = frozenset(pods)
    node_names = cluster.node_names
    wanted = {moving.replaced_by(i) for i in leaving}
    found: list[Pod] = []
    gone: set[str] = set()
    for pod in cluster.snapshot.pods:
        i = cluster.pod_index.get(pod.key)
        if i is None:
            continue
        node = int(state.node_of[i])
        if i in wanted:
            found.append(pod)
        elif i in leaving or node < 0:
            gone.add(pod.key)
            found.append(pod)
        elif pod.spec.node_name:
            found.append(pod)
        else:
            spec = pod.spec.model_copy(update={"node_name": node_names[node]})
            found.append(pod.model_copy(update={"spec": spec}))
    shut = {node_names[n] for n in closed}
    snapshot = replace(
        cluster.snapshot,
        pods=tuple(found),
        nodes=tuple(_without_places(node) if node.name in shut else node for node in cluster.snapshot.nodes),
        limits=_NO_EVICTIONS,
        asked=(),
    )
    return without_pods(snapshot, gone, ())


def _without_places(node: Node) -> Node:
    """Return a node that is still a domain and has what stands there, and takes no more pods."""
    offered = {**node.status.allocatable, "pods": Fraction(0)}
    return node.model_copy(update={"status": node.status.model_copy(update={"allocatable": offered})})


def _without_transient_rules(pod: Pod, bound_claims: Collection[str]) -> Pod:
    """Return a pod with no more rules than those that more pods elsewhere never help to keep."""
    spec, affinity = pod.spec, pod.spec.affinity
    if affinity is not None:
        affinity = affinity.model_copy(update={"pod_affinity": None})
    settled = tuple(
        volume
        for volume in spec.volumes
        if volume.ephemeral is None
        and (
            (claim := volume.persistent_volume_claim) is None
            or f"{pod.namespace}/{claim.claim_name}" in bound_claims
        )
    )
    return pod.model_copy(
        update={
            "spec": spec.model_copy(
                update={
                    "affinity": affinity,
                    "topology_spread_constraints": (),
                    "scheduling_group": None,
                    "workload_ref": None,
                    "resource_claims": (),
                    "volumes": settled,
                    "priority": _LEVEL,
                }
            )
        }
    )


def _apart_from_none(pod: Pod) -> Pod:
    affinity = pod.spec.affinity
    if affinity is None or affinity.pod_anti_affinity is None:
        return pod
    affinity = affinity.model_copy(update={"pod_anti_affinity": None})
    return pod.model_copy(update={"spec": pod.spec.model_copy(update={"affinity": affinity})})
