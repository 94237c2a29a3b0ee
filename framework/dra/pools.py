"""What a node sees of the pools: which devices count, whether slices are missing, and what is wrong.

Of the slices that match a node only those of a pool's highest generation count.  Which slices say whether
the pool is complete, and what a fault means, depends on the release:

- `PoolsSeen` (1.34): those that match the node.  A pool that keeps its counters in slices of their own is
  counted over all nodes, as the releases that know this layout do.
- `WholePools` (from 1.35 on): those of all nodes, where the node sees too few.  A pool that lacks slices, or
  in which devices anywhere take from counters that nobody published, has no devices to give; one that is
  being replaced on other nodes is left out.

Source: k8s.io/dynamic-resource-allocation/structured (pools_stable.go, pools_incubating.go).
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from .counters import counter_fault
from .devices import Pool, PoolId

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...models import resource_api as api
    from .devices import Slice


def by_pool(specs: Iterable[api.ResourceSliceSpec]) -> dict[PoolId, list[api.ResourceSliceSpec]]:
    """Sort slices by pool."""
    found: dict[PoolId, list[api.ResourceSliceSpec]] = {}
    for spec in specs:
        found.setdefault((spec.driver, spec.pool.name), []).append(spec)
    return found


class PoolsSeen:
    """Judges pools by what a node sees of them.

    Parameters
    ----------
    numbers : mapping
        The pools' numbers.
    slices : sequence of Slice
        Those with devices.
    apart : sequence of ResourceSliceSpec
        Those that only have counters.
    partitions : bool
        Whether devices may share counters (gate).
    """

    tolerant = False

    def __init__(
        self,
        numbers: Mapping[PoolId, int],
        slices: Sequence[Slice],
        apart: Sequence[api.ResourceSliceSpec],
        *,
        partitions: bool,
    ) -> None:
        self._numbers = numbers
        self._apart = by_pool(apart)
        self._of_pool = by_pool(item.spec for item in slices)
        self._partitions = partitions

    def own(self, node: str) -> bool:
        """Whether slices without devices make a node see what no other does."""
        return False

    def of(self, slices: Sequence[Slice], node: str) -> tuple[Pool, ...]:
        """Return the pools that a node sees.

        Parameters
        ----------
        slices : sequence of Slice
            Those that match the node, in order.
        node : str
        """
        return tuple(self._pool(pool, list(group)) for pool, group in groupby(slices, key=lambda s: s.pool))

    def _pool(self, pool: PoolId, slices: list[Slice]) -> Pool:
        apart = self._apart.get(pool, [])
        generation = max(*(s.generation for s in slices), *(spec.pool.generation for spec in apart), -1)
        kept = [s for s in slices if s.generation == generation]
        specs = [s.spec for s in kept]
        counting = [spec for spec in apart if spec.pool.generation == generation]
        if counting:
            specs = [s for s in self._of_pool[pool] if s.pool.generation == generation] + counting
        invalid = _duplicate(kept)
        if self._partitions and not invalid:
            invalid = next((f for s in kept if (f := counter_fault(s.scope.sets, s.spec.devices))), "")
        return Pool(
            number=self._numbers[pool],
            driver=pool[0],
            name=pool[1],
            devices=tuple(device for s in kept for device in s.devices),
            incomplete=len(specs) != specs[0].pool.resource_slice_count,
            invalid=invalid,
        )


class WholePools:
    """Judges pools by the slices of all nodes.

    Parameters
    ----------
    numbers : mapping
        The pools' numbers.
    apart : sequence of ResourceSliceSpec
        The slices that only have counters.
    every : sequence of ResourceSliceSpec
        All slices of the cluster.
    partitions : bool
        Whether devices may share counters (gate).
    """

    tolerant = True

    def __init__(
        self,
        numbers: Mapping[PoolId, int],
        apart: Sequence[api.ResourceSliceSpec],
        every: Sequence[api.ResourceSliceSpec],
        *,
        partitions: bool,
    ) -> None:
        self._numbers = numbers
        self._every = by_pool(every)
        self._partitions = partitions
        # Slices with counters count wherever the node selection does not name another node.
        self._apart: dict[str, list[api.ResourceSliceSpec]] = {}
        for spec in apart:
            self._apart.setdefault(spec.node_name or "", []).append(spec)

    def own(self, node: str) -> bool:
        """Whether slices without devices make a node see what no other does."""
        return node in self._apart

    def of(self, slices: Sequence[Slice], node: str) -> tuple[Pool, ...]:
        """Return the pools that a node sees; see `PoolsSeen.of`."""
        matching: dict[PoolId, list[Slice]] = {}
        for item in slices:
            matching.setdefault(item.pool, []).append(item)
        apart = by_pool((*self._apart.get("", ()), *self._apart.get(node, ())))
        found = (
            self._pool(pool, matching.get(pool, []), apart.get(pool, []))
            for pool in sorted({*matching, *apart})
        )
        return tuple(pool for pool in found if pool is not None)

    def _pool(self, pool: PoolId, slices: list[Slice], apart: list[api.ResourceSliceSpec]) -> Pool | None:
        """Return a pool; None for one of which a newer generation is coming up elsewhere."""
        generation = max(spec.pool.generation for spec in (*(s.spec for s in slices), *apart))
        kept = [s for s in slices if s.generation == generation]
        counting = [spec for spec in apart if spec.pool.generation == generation]
        here = [*(s.spec for s in kept), *counting]
        needed = here[0].pool.resource_slice_count
        elsewhere: list[api.ResourceSliceSpec] = []
        complete = len(here) == needed
        if not complete:
            every = self._every[pool]
            if any(spec.pool.generation > generation for spec in every):
                return None
            every = [spec for spec in every if spec.pool.generation == generation]
            complete = len(every) == needed
            elsewhere = [spec for spec in every if all(spec is not other for other in here)]
        invalid = self._fault(kept, counting, elsewhere) if complete else ""
        return Pool(
            number=self._numbers[pool],
            driver=pool[0],
            name=pool[1],
            devices=tuple(d for s in kept for d in s.devices) if complete and not invalid else (),
            incomplete=not complete,
            invalid=invalid,
        )

    def _fault(
        self,
        kept: list[Slice],
        counting: list[api.ResourceSliceSpec],
        elsewhere: list[api.ResourceSliceSpec],
    ) -> str:
        duplicate = _duplicate(kept)
        if duplicate or not self._partitions:
            return duplicate
        sets = [item for spec in counting for item in spec.shared_counters]
        devices = [spec for spec in (*(s.spec for s in kept), *elsewhere) if spec.devices]
        return counter_fault(sets, ()) or next(
            (f for spec in devices if (f := counter_fault(spec.shared_counters or sets, spec.devices))), ""
        )


def _duplicate(slices: Iterable[Slice]) -> str:
    """Return the device name that is there twice; empty for none."""
    names: set[str] = set()
    for device in (device for s in slices for device in s.devices):
        if device.id.device in names:
            return f"duplicate device name {device.id.device}"
        names.add(device.id.device)
    return ""
