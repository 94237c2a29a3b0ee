"""From filled nodes to pods with their devices, where any pod of a class may take any of its places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..ordering.assignment import Assignment

if TYPE_CHECKING:
    from ...framework.dra.allocation import Allocation
    from .slots import Slots


def assigned(slots: Slots) -> Assignment:
    """Name the pods and the devices; the first pods in queue order are placed."""
    placed: dict[int, int] = {}
    allocations: dict[str, Allocation] = {}
    for c, like in enumerate(slots.round.classes):
        nodes = np.repeat(np.arange(slots.open.shape[1]), slots.open[c])
        for pod, node in zip(like.pods, nodes.tolist(), strict=False):
            placed[pod] = node
            allocations.update(slots.take(pod, node))
    return Assignment(placed, frozenset(), allocations)
