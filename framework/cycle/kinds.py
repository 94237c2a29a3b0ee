"""Pods that fit on the same nodes, though each may have resource claims of its own."""

from collections.abc import Hashable
from typing import TYPE_CHECKING

from ..dra.extended import requested
from ..dra.index import device_index
from ..dra.pod_claims import ClaimProblem

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


def kind_of(cluster: "Cluster", state: "State", i: int) -> Hashable:
    """Return a key that is equal for pods that fit on the same nodes while the state is what it is.

    They are of one class, or differ only in claims of which none has devices: what those ask for counts.
    """
    info = cluster.pods[i]
    asked = _asked(cluster, state, i) if info.pod.spec.resource_claims else None
    return info.cls if asked is None else (info.but_claims, asked)


def _asked(cluster: "Cluster", state: "State", i: int) -> tuple[int, ...] | None:
    """Return the numbers of what the claims of pod i ask for, in their order.

    None where more than that counts: a claim is missing, has devices, is reserved or of a group, or devices
    serve extended resources.
    """
    index = device_index(cluster)
    if index is None or state.claims is None or requested(cluster, i):
        return None
    try:
        claims = index.claims_of(i)
    except ClaimProblem:
        return None
    allocated, reserved = state.claims.allocations, state.claims.reserved
    if any(claim.group or claim.key in allocated or claim.key in reserved for claim in claims):
        return None
    return tuple(index.spec(claim.key).number for claim in claims)
