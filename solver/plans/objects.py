"""The objects that the steps of a plan touch, as an API server wants to know them (docs/apply.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...framework.dra.index import claim_keys, device_index
from ...framework.rules.eviction_budgets import covering
from ...framework.state.moves import Bind, Deallocate, bound_nodes
from ...framework.volumes.storage import storage_of
from ...framework.volumes.uses import uses_of
from ...models.plan import asked
from ...models.plan_objects import PlanObjects, Reservation, TouchedClaim, TouchedPod, TouchedVolumeClaim
from .claim_status import ClaimStatuses, written_spec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ...framework.dra.allocation import Allocation
    from ...framework.index.cluster import Cluster
    from ...framework.state.moves import Move
    from ...framework.state.state import State
    from ...models.plan import Step

EXTENDED = "-extended-resources"
"""How the key of a claim that is made for a pod's extended resources ends."""


def objects_of(
    cluster: Cluster,
    steps: Sequence[Step],
    moves: Sequence[Move],
    violating: Collection[str | None],
    allocations: Mapping[str, Allocation],
    end: State,
) -> PlanObjects:
    """Return what a plan touches.

    Parameters
    ----------
    cluster : Cluster
    steps, moves : sequence
        The plan's steps, and the same in indices.
    violating : collection of str
        The victims that violate budgets.
    allocations : mapping
        The devices of the claims that the plan allocates.
    end : State
        The state in which the moves end; it is only read.
    """
    covered, refused = _asked_for(cluster, asked(steps, violating))
    volumes = _volume_claims(cluster, moves, end)
    pods = []
    for i in dict.fromkeys(m.pod for m in moves if not isinstance(m, Deallocate)):
        info = cluster.pods[i]
        pods.append(
            TouchedPod(
                pod=info.key,
                uid=info.pod.metadata.uid,
                budgets=covered.get(i, ()),
                refused=i in refused,
                reservations=_reservations(cluster, i, allocations) if info.initial_node < 0 else (),
                volume_claims=tuple(volume.claim for volume in volumes.get(i, ())),
            )
        )
    return PlanObjects(
        pods=tuple(pods),
        claims=_claims(cluster, moves, pods, allocations),
        volume_claims=tuple(volume for mine in volumes.values() for volume in mine),
    )


def _asked_for(cluster: Cluster, steps: Iterable[Step]) -> tuple[dict[int, tuple[str, ...]], frozenset[int]]:
    """Return the budgets of each victim as the eviction API sees them, and whom it refuses in this order.

    It takes an empty selector for all pods, where preemption takes it for none, and does not look at pods of
    several budgets at all. Source: registry/core/pod/storage/eviction.go.
    """
    left = {b.key: b.status.disruptions_allowed or 0 for b in cluster.snapshot.pod_disruption_budgets}
    covered: dict[int, tuple[str, ...]] = {}
    refused = set()
    for step in steps:
        if step.mark is None:
            continue
        i = cluster.pod_index[step.mark]
        pod = cluster.pods[i].pod
        mine = [budget.source for budget in covering(cluster, i)]
        covered[i] = tuple(b.key for b in mine)
        if len(mine) != 1 or pod.name in mine[0].status.disrupted_pods:
            continue
        if left[mine[0].key] <= 0:
            refused.add(i)
        else:
            left[mine[0].key] -= 1
    return covered, frozenset(refused)


def _volume_claims(
    cluster: Cluster, moves: Sequence[Move], end: State
) -> dict[int, tuple[TouchedVolumeClaim, ...]]:
    """Return the claims to volumes that are bound with each pod: with the first one that uses them."""
    if end.volumes is None:
        return {}
    assumed, storage, uses = end.volumes.assumed, storage_of(cluster), uses_of(cluster)
    found: dict[int, tuple[TouchedVolumeClaim, ...]] = {}
    told: set[str] = set()
    for move in moves:
        if not isinstance(move, Bind):
            continue
        mine = []
        for key in dict.fromkeys(use.key for use in uses.of(move.pod).claims):
            if key in told or not (key in assumed.volume_of or key in assumed.node_of):
                continue
            told.add(key)
            uid = storage.claims[key].metadata.uid
            if key in assumed.volume_of:
                volume = storage.volumes[assumed.volume_of[key]]
                mine.append(
                    TouchedVolumeClaim(
                        claim=key,
                        uid=uid,
                        volume=volume.name,
                        volume_uid=volume.metadata.uid,
                        reserved=volume.spec.claim_ref is not None,
                    )
                )
            else:
                node = cluster.node_names[assumed.node_of[key]]
                mine.append(TouchedVolumeClaim(claim=key, uid=uid, node=node))
        if mine:
            found[move.pod] = tuple(mine)
    return found


def _reservations(cluster: Cluster, i: int, allocations: Mapping[str, Allocation]) -> tuple[Reservation, ...]:
    """Return what a pod that is bound reserves, each claim for itself or for its group."""
    index = device_index(cluster)
    if index is None:
        return ()
    pod = cluster.pods[i].pod
    own = [key for key in (f"{pod.key}{EXTENDED}",) if key in allocations]
    groups = cluster.memo("pod groups by key", lambda: {g.key: g for g in cluster.snapshot.pod_groups})
    found = []
    for key, consumer in index.consumers_of(i, own):
        if isinstance(consumer, int):
            reference = {"resource": "pods", "name": pod.name, "uid": pod.metadata.uid}
        else:
            group = groups[consumer.removeprefix("podgroups ")]
            name, uid = group.name, group.metadata.uid
            reference = {
                "apiGroup": "scheduling.k8s.io",
                "resource": "podgroups",
                "name": name,
                "uid": uid,
            }
        found.append(Reservation(claim=key, consumer=reference))
    return tuple(found)


def _claims(
    cluster: Cluster,
    moves: Sequence[Move],
    pods: Sequence[TouchedPod],
    allocations: Mapping[str, Allocation],
) -> tuple[TouchedClaim, ...]:
    index = device_index(cluster)
    if index is None:
        return ()
    places, numbers = bound_nodes(moves), cluster.pod_index
    touched = {key: -1 for key in allocations}
    touched |= {claim_keys(cluster)[m.claim]: -1 for m in moves if isinstance(m, Deallocate)}
    touched |= {r.claim: numbers[pod.pod] for pod in pods for r in pod.reservations}
    going = {numbers[pod.pod] for pod in pods} - places.keys()
    for key, claim in index.claims.items():
        consumers = (index.consumer(claim.namespace, reference) for reference in claim.status.reserved_for)
        if key not in touched and any(consumer in going for consumer in consumers):
            touched[key] = -1
    statuses = ClaimStatuses(cluster) if allocations else None
    found = []
    for key in sorted(touched):
        held, written = index.claims.get(key), None
        if held is not None:
            if key in allocations and statuses is not None:
                written = statuses.allocation(held.spec.devices, allocations[key])
            found.append(
                TouchedClaim(
                    claim=key,
                    api_version=held.api_version,
                    uid=held.metadata.uid,
                    consumers=tuple(
                        reference.model_dump(by_alias=True, mode="json", exclude_defaults=True)
                        for reference in held.status.reserved_for
                    ),
                    allocated=held.status.allocation is not None,
                    allocation=written,
                )
            )
        elif statuses is not None and (pod := touched[key]) >= 0:
            asked_for, mappings = statuses.made_up(pod, places[pod])
            found.append(
                TouchedClaim(
                    claim=key,
                    api_version=_served_version(cluster),
                    uid="",
                    allocation=statuses.allocation(asked_for, allocations[key]),
                    spec=written_spec(asked_for),
                    request_mappings=mappings,
                )
            )
    return tuple(found)


def _served_version(cluster: Cluster) -> Any:
    """Return the version in which the cluster's slices are served."""
    return next(iter(cluster.snapshot.resource_slices)).api_version
