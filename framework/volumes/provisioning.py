"""Where a volume can be made for a claim: the class's topology and the driver's free storage.

A report on free storage is not used up by a claim; the driver renews it. So this depends on nothing that a
round changes.

Source: kube-scheduler 1.34.1 plugins/volumebinding/binder.go (checkVolumeProvisions, hasEnoughCapacity).
"""

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...models.quantity import unit_ceil
from ...models.selectors import (
    CompiledNodeSelector,
    CompiledSelector,
    CompiledTerm,
    compile_requirements,
    requirement,
)
from ...models.storage import StorageClass
from ..index.node_selection import requirement_mask, selector_mask
from ..vocabulary.arrays import Bools
from .offers import Wish
from .storage import NO_PROVISIONER, Storage, storage_of

if TYPE_CHECKING:
    from ..index.cluster import Cluster

NOWHERE: Final = 2
"""No volume can be made for the claim on the node."""
NO_SPACE: Final = 4
"""The driver has too little free storage for the node."""


def provisioning(cluster: "Cluster", wish: Wish) -> NDArray[np.uint8]:
    """Return on which nodes a volume can be provisioned for a claim.

    Returns
    -------
    uint8[N], shared
        0 where it can, else `NOWHERE` or `NO_SPACE`.
    """
    return cluster.memo(("provisioning", wish), lambda: _judge(cluster, wish))


def _judge(cluster: "Cluster", wish: Wish) -> NDArray[np.uint8]:
    storage = storage_of(cluster)
    found = storage.classes.get(wish.storage_class)
    if found is None or found.provisioner in ("", NO_PROVISIONER):
        return np.full(cluster.n_nodes, NOWHERE, dtype=np.uint8)
    allowed = _allowed(cluster, found)
    enough = _enough(cluster, storage, found, wish)
    return np.where(allowed, np.where(enough, 0, NO_SPACE), NOWHERE).astype(np.uint8)


def _allowed(cluster: "Cluster", found: StorageClass) -> Bools:
    """Return which nodes the class's allowed topologies take: any term holds; no term at all takes all."""
    if not found.allowed_topologies:
        return np.ones(cluster.n_nodes, dtype=np.bool_)
    terms = tuple(
        CompiledTerm(
            labels=compile_requirements(
                tuple(requirement(item.key, "In", item.values) for item in term.match_label_expressions)
            ).requirements
        )
        for term in found.allowed_topologies
    )
    return selector_mask(cluster, CompiledNodeSelector(terms))


def _enough(cluster: "Cluster", storage: Storage, found: StorageClass, wish: Wish) -> Bools:
    """Return which nodes have access to enough free storage, where the driver reports it."""
    if not wish.sized or not storage.drivers.get(found.provisioner, False):
        return np.ones(cluster.n_nodes, dtype=np.bool_)
    mask = np.zeros(cluster.n_nodes, dtype=np.bool_)
    size = unit_ceil(wish.size)
    for item in storage.capacities.get(found.name, ()):
        limit = item.capacity if item.maximum_volume_size is None else item.maximum_volume_size
        if limit is not None and unit_ceil(limit) >= size and item.node_topology is not None:
            mask |= _selected(cluster, item.node_topology.compiled)
    return mask


def _selected(cluster: "Cluster", selector: CompiledSelector) -> Bools:
    mask = np.ones(cluster.n_nodes, dtype=np.bool_)
    for item in selector.requirements:
        mask &= requirement_mask(cluster, item)
    return mask
