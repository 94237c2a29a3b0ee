"""How many devices a group takes at least, and how many there are: bounds for the prefilter.

Counted are devices that a claim has to itself.  Where any device may be shared there is no bound.
"""

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ..dra.claims import ClaimSpec, Request
from ..dra.index import DeviceIndex, device_index
from ..dra.pod_claims import ClaimProblem
from ..vocabulary.arrays import Ints
from .placement import PodGroupInfo

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


def devices_needed(cluster: "Cluster", state: "State", info: PodGroupInfo) -> int:
    """Return how many devices every member takes at least: of claims that are its own and not allocated."""
    index = device_index(cluster)
    if index is None or state.claims is None or not any(index.needs_devices(i) for i in info.pods):
        return 0
    try:
        claims = [
            [claim.key for claim in index.claims_of(i) if not claim.group] if index.needs_devices(i) else []
            for i in info.pods
        ]
    except ClaimProblem:
        return 0
    users = Counter(key for keys in claims for key in keys)
    taken = state.claims.allocations
    return min(
        sum(_least(index.spec(key)) for key in keys if users[key] == 1 and key not in taken)
        for keys in claims
    )


def _least(spec: ClaimSpec) -> int:
    return sum(map(_least_of, spec.requests))


def _least_of(request: Request) -> int:
    return min((0 if w.admin else 1 if w.all_devices else w.count for w in request.wants), default=0)


def free_devices(cluster: "Cluster", state: "State") -> Ints | None:
    """Return how many devices each node could take from, those of its own and all that several nodes reach.

    Returns
    -------
    int64[N] or None
        None where a device may serve more than one claim.
    """
    index = device_index(cluster)
    claims = state.claims
    if index is None or claims is None or any(device.shared for device in index.inventory.devices):
        return None
    homes = cluster.memo("homes of devices", lambda: _homes(cluster, index))
    free = np.zeros(cluster.n_nodes + 1, dtype=np.int64)
    for identity, home in homes.items():
        if not claims.in_use(identity):
            free[home] += 1
    found: Ints = free[:-1] + free[-1]
    return found


def _homes(cluster: "Cluster", index: DeviceIndex) -> dict[int, int]:
    """Return the node of each device, -1 where several nodes may reach it."""
    homes: dict[int, int] = {}
    for device in index.inventory.devices:
        name = device.slice.spec.node_name
        home = cluster.node_index.get(name, -1) if name else -1
        homes[device.identity] = home if homes.get(device.identity, home) == home else -1
    return homes
