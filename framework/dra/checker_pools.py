"""The checker's look at pools: which slices a node sees of each, whether all are there and fit together.

Written from what the API says about pools, apart from the allocator's `pools`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...models import resource_api as api

if TYPE_CHECKING:
    from ...models.node import Node
    from ..vocabulary.releases import Release

Sees = Callable[["Node", api.ResourceSlice], bool]
"""Whether a node sees a slice."""


class ServedPool(NamedTuple):
    """A pool as one node sees it.

    Attributes
    ----------
    name : tuple of (str, str)
        Driver and pool.
    slices : list of ResourceSlice
        Those of the newest generation with devices that the node may have.
    complete : bool
        Whether every slice is there.
    """

    name: tuple[str, str]
    slices: list[api.ResourceSlice]
    complete: bool


class ServedPools:
    """The pools of a snapshot.

    Parameters
    ----------
    taking_part : sequence of ResourceSlice
        Without those that need a gate which is off.
    every : sequence of ResourceSlice
    release : Release
    partitions : bool
        Whether devices may share counters.
    """

    def __init__(
        self,
        taking_part: Sequence[api.ResourceSlice],
        every: Sequence[api.ResourceSlice],
        release: "Release",
        *,
        partitions: bool,
    ) -> None:
        self._whole = release.whole_pools
        self._partitions = partitions
        self._pools = _sorted(taking_part)
        self._every = _sorted(every)
        # By name of the node that alone sees them; pools that more may see are under "".
        self._numbered: dict[str, list[tuple[int, tuple[str, str]]]] = {}
        for number, (name, slices) in enumerate(self._pools.items()):
            homes = {_home(item) for item in slices}
            for home in {""} if "" in homes else homes:
                self._numbered.setdefault(home, []).append((number, name))

    def of(self, node: "Node", sees: Sees) -> Iterator[ServedPool]:
        """Iterate over the pools that a node sees."""
        mine = sorted((*self._numbered.get("", ()), *self._numbered.get(node.name, ())))
        for name, slices in ((name, self._pools[name]) for _, name in mine):
            found = self._judged(name, slices, node, sees) if self._whole else _seen(name, slices, node, sees)
            if found is not None:
                yield found

    def _judged(
        self, name: tuple[str, str], slices: list[api.ResourceSlice], node: "Node", sees: Sees
    ) -> ServedPool | None:
        """Judge a pool by all its slices: what is incomplete or does not fit together gives no device."""
        seen = [
            item
            for item in slices
            if (item.spec.node_name in (None, "", node.name) if _counts(item) else sees(node, item))
        ]
        if not seen:
            return None
        newest = max(item.spec.pool.generation for item in seen)
        seen = [item for item in seen if item.spec.pool.generation == newest]
        members = [item for item in self._every[name] if item.spec.pool.generation == newest]
        wanted = seen[0].spec.pool.resource_slice_count
        if len(seen) == wanted:
            members = seen
        elif any(item.spec.pool.generation > newest for item in self._every[name]):
            return None
        complete = len(members) == wanted
        usable = complete and self._fits(seen, members)
        return ServedPool(name, [item for item in seen if usable and item.spec.devices], complete)

    def _fits(self, seen: list[api.ResourceSlice], members: list[api.ResourceSlice]) -> bool:
        names = Counter(device.name for item in seen for device in item.spec.devices)
        if any(number > 1 for number in names.values()):
            return False
        if not self._partitions:
            return True
        sets = Counter(found.name for item in seen if _counts(item) for found in item.spec.shared_counters)
        known = {
            (found.name, counter)
            for item in seen
            if _counts(item)
            for found in item.spec.shared_counters
            for counter in found.counters
        }
        return all(number == 1 for number in sets.values()) and all(
            (taken.counter_set, counter) in (_declared(item) or known)
            for item in members
            for device in item.spec.devices
            for taken in device.consumes_counters
            for counter in taken.counters
        )


def _declared(item: api.ResourceSlice) -> set[tuple[str, str]]:
    return {(found.name, counter) for found in item.spec.shared_counters for counter in found.counters}


def _home(item: api.ResourceSlice) -> str:
    """Return the one node that may see a slice; empty where others may."""
    return "" if item.spec.per_device_node_selection else item.spec.node_name or ""


def _counts(item: api.ResourceSlice) -> bool:
    """Whether a slice has nothing but counters."""
    return bool(item.spec.shared_counters) and not item.spec.devices


def _sorted(slices: Sequence[api.ResourceSlice]) -> dict[tuple[str, str], list[api.ResourceSlice]]:
    found: dict[tuple[str, str], list[api.ResourceSlice]] = {}
    for item in slices:
        found.setdefault((item.spec.driver, item.spec.pool.name), []).append(item)
    return found


def _seen(
    name: tuple[str, str], slices: list[api.ResourceSlice], node: "Node", sees: Sees
) -> ServedPool | None:
    """Judge a pool by what the node sees of it; with counters in slices of their own, by all its slices."""
    apart = [item for item in slices if _counts(item)]
    seen = [item for item in slices if item not in apart and sees(node, item)]
    if not seen:
        return None
    newest = max(item.spec.pool.generation for item in (*seen, *apart))
    everywhere = any(item.spec.pool.generation == newest for item in apart)
    counted = [item for item in (slices if everywhere else seen) if item.spec.pool.generation == newest]
    complete = bool(counted) and len(counted) == counted[0].spec.pool.resource_slice_count
    return ServedPool(name, counted, complete)
