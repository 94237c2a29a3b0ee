"""DRATestPlugin: placements from the devices that satisfy the claims that all pods of a group share.

For each node of the parent the allocator is asked for all shared claims that have no devices yet, together;
answers that are equal on several nodes are one placement, on the nodes from which the devices are reached.
Assuming a placement allocates the claims, so that the pods find them allocated.  The proposal has it for
tests only: it is off unless a profile names it.

Source: KEP-5732, "Scheduler Plugins" (DRATestPlugin).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..dra.allocation import Allocation, write
from ..dra.index import DeviceIndex, device_index
from ..dra.pod_claims import ClaimProblem
from ..dra.search import SearchError, SearchTimeout, allocate
from ..vocabulary import names
from ..vocabulary.status import SUCCESS, Code, Status
from .interfaces import PlacementGenerator, PlacementState
from .placement import Placement, PodGroupInfo

if TYPE_CHECKING:
    from ..state.state import State


class DRATestPlugin(PlacementGenerator, PlacementState):
    """See the module's docstring."""

    name: ClassVar[str] = names.DRA_TEST

    def generate_placements(
        self, state: "State", info: PodGroupInfo, parents: Sequence[Placement]
    ) -> Sequence[Placement] | Status:
        """Divide the parents by devices; they stay whole where there is nothing to allocate."""
        index = device_index(self.cluster)
        if index is None or state.claims is None or not all(map(index.needs_devices, info.pods)):
            return parents
        try:
            keys = [key for key in _shared(index, info) if key not in state.claims.allocations]
        except ClaimProblem as problem:
            return Status(Code.UNRESOLVABLE, self.name, (str(problem),))
        if not keys:
            return parents
        found = [part for parent in parents for part in self._divide(state, index, parent, keys)]
        return found or Status(Code.UNSCHEDULABLE, self.name, ("cannot allocate all claims",))

    def _divide(
        self, state: "State", index: DeviceIndex, parent: Placement, keys: Sequence[str]
    ) -> list[Placement]:
        """Return a placement for each set of devices, in the order of the nodes that give it first."""
        assert state.claims is not None
        specs = [index.spec(key) for key in keys]
        answers: dict[tuple[Allocation, ...], None] = {}
        for n in np.flatnonzero(parent.nodes).tolist():
            try:
                picks = allocate(index.inventory.view(n), specs, state.claims, index.inventory.counters)
            except (SearchError, SearchTimeout):
                continue  # upstream logs it and goes on with the next node
            if picks is not None:
                node = self.cluster.node_names[n]
                answers[tuple(write(key, own, node) for key, own in zip(keys, picks, strict=True))] = None
        found: list[Placement] = []
        for allocations in answers:
            nodes = parent.nodes
            for allocation in allocations:
                reach = index.reach(allocation)
                nodes = nodes if reach is None else nodes & reach
            if nodes.any():
                devices = (str(result.id) for allocation in allocations for result in allocation.results)
                name = "/".join(part for part in (parent.name, ",".join(devices)) if part)
                found.append(Placement(name, nodes, dict(zip(keys, allocations, strict=True))))
        return found

    def assume_placement(self, state: "State", info: PodGroupInfo, placement: Placement) -> Status:
        """Allocate the placement's claims."""
        for key, allocation in placement.allocations.items():
            state.allocate(key, allocation)
        return SUCCESS

    def revert_placement(self, state: "State", info: PodGroupInfo, placement: Placement) -> Status:
        """Take the devices back."""
        for key in placement.allocations:
            state.deallocate(key)
        return SUCCESS


def _shared(index: DeviceIndex, info: PodGroupInfo) -> list[str]:
    """Return the claims that every pod of the group has, in the order of the first pod."""
    keys = [[claim.key for claim in index.claims_of(i)] for i in info.pods]
    return [key for key in keys[0] if all(key in others for others in keys)]
