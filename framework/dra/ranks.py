"""The tier `firstAvailable`: how far down their lists of alternatives requests had to go (KEP-4816)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .index import device_index

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from .allocation import Allocation


def first_available_ranks(cluster: "Cluster", allocations: Mapping[str, "Allocation"]) -> int:
    """Sum over the requests of new allocations of the rank of the alternative taken, 0 for the first.

    Claims made up for extended resources have no alternatives.
    """
    index = device_index(cluster)
    if index is None:
        return 0
    total = 0
    for key, allocation in allocations.items():
        if key not in index.claims:
            continue
        taken = {result.request for result in allocation.results}
        for request in index.spec(key).requests:
            ranks = [rank for rank, want in enumerate(request.wants) if want.result in taken]
            total += max(ranks, default=0)
    return total
