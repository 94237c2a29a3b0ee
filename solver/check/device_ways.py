"""Every way in which the claims of a pod could get devices on a node, for the search of a tiny round.

Devices are read from the objects as served, and an allocation counts where `framework.dra.checker` finds no
fault in it: which of them the allocator would choose plays no part. Looked at are claims of one pod each that
ask for exact numbers of whole devices, while no claim can be freed.
"""

from __future__ import annotations

from itertools import combinations, islice, product
from typing import TYPE_CHECKING

from ...framework.dra.allocation import Allocation, reread
from ...framework.dra.checker import Checker, NewAllocation
from ...framework.dra.index import device_index
from ...framework.dra.pod_claims import ClaimProblem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ...framework.index.cluster import Cluster
    from ...framework.state.state import State
    from ...models import resource_api as api

MOST_WAYS = 2_000
"""Devices for the claims of one pod on one node beyond this number are not tried."""


class TooManyWays(Exception):
    """More ways than are looked at."""


class DeviceWays:
    """The devices that claims of a cluster's pending pods could have."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._index = device_index(cluster)
        self._checker = Checker(cluster.snapshot)

    def covers(self, state: State, victims: Collection[int]) -> bool:
        """Whether all claims of the round are of the kind that is looked at.

        Parameters
        ----------
        victims : collection of int
            The running pods that may leave.
        """
        pods, claims = self._cluster.pods, state.claims
        asking = [i for i in self._cluster.pending if pods[i].pod.spec.resource_claims]
        if not asking:
            return True
        if self._index is None or claims is None:
            return False
        for key in claims.allocations:
            stay = (c for c in claims.reserved.get(key, ()) if isinstance(c, int) and c not in victims)
            if not any(state.node_of[c] >= 0 for c in stay):
                return False
        served = (device for item in self._checker.devices.slices for device in item.spec.devices)
        if any(device.allow_multiple_allocations for device in served):
            return False
        named: list[str] = []
        for i in asking:
            try:
                found = self._index.claims_of(i)
            except ClaimProblem:  # no filter lets such a pod pass
                continue
            if any(claim.group for claim in found):
                return False
            named += (claim.key for claim in found)
        free = all(not claims.reserved.get(key) and key not in claims.allocations for key in named)
        return free and len(named) == len(set(named)) and all(self._is_exact(key) for key in named)

    def of(self, state: State, pod: int, node: int) -> Iterator[dict[str, Allocation]]:
        """Yield what the claims of a pod could get on a node now; nothing, once, for a pod without any.

        Raises
        ------
        TooManyWays
            After `MOST_WAYS` combinations.
        """
        index, claims = self._index, state.claims
        if index is None or claims is None or not index.needs_devices(pod):
            yield {}
            return
        name = self._cluster.node_names[node]
        wanted = {claim.key: index.claims[claim.key].spec.devices for claim in index.claims_of(pod)}
        options = [list(islice(self._of_claim(claim, node), MOST_WAYS + 1)) for claim in wanted.values()]
        for number, chosen in enumerate(product(*options)):
            if number == MOST_WAYS:
                raise TooManyWays
            brought = dict(zip(wanted, chosen, strict=True))
            new = [NewAllocation(key, wanted[key], given, name) for key, given in brought.items()]
            if not any(True for _ in self._checker.faults(new, claims.allocations)):
                yield brought

    def _is_exact(self, key: str) -> bool:
        assert self._index is not None
        requests = self._index.claims[key].spec.devices.requests
        return all(
            (want := item.exactly) is not None
            and want.allocation_mode == "ExactCount"
            and not want.admin_access
            for item in requests
        )

    def _of_claim(self, claim: api.DeviceClaim, node: int) -> Iterator[Allocation]:
        """Yield what a claim could have of the devices that its selectors take, whoever else has them."""
        assert self._index is not None
        device_of = {device.id: device for device in self._index.inventory.devices}
        there = self._checker.devices.reached(self._cluster.snapshot.nodes[node])
        choices = []
        for item in claim.requests:
            want = item.exactly
            assert want is not None
            may = [id_ for id_, served in there.items() if self._checker.devices.matches(want, served)]
            choices.append([[(item.name, *id_) for id_ in ids] for ids in combinations(may, want.count)])
        for chosen in product(*choices):
            rows = [
                {"request": request, "driver": driver, "pool": pool, "device": device}
                for each in chosen
                for request, driver, pool, device in each
            ]
            yield reread(rows, device_of.__getitem__, self._cluster.node_names[node])
