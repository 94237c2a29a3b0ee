"""A round in which pods share devices, as types of nodes and classes of pods that stand on them.

Nodes that have the same room, the same devices and the same limits are one type; classes of pods that ask
for the same on every node are one class here. Families that tie pods together are left out: they only
forbid, so a bound of this round is one of the whole.

Source: docs/model.md; KEP-5075.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...encoders.problem import PodClass
    from ...framework.dra.claims import Want
    from ...framework.vocabulary.arrays import Ints


@dataclass(frozen=True, eq=False)
class LikePods:
    """Classes of pods that ask for the same on every node.

    Attributes
    ----------
    classes : tuple of PodClass
    pods : tuple of int
        Members of all of them, in queue order.
    """

    classes: tuple[PodClass, ...]
    pods: tuple[int, ...]

    @property
    def priority(self) -> int:
        """The priority that all have."""
        return self.classes[0].priority

    @property
    def size(self) -> int:
        """How many wait."""
        return len(self.pods)


@dataclass(frozen=True, eq=False)
class LikeNodes:
    """Nodes that nothing tells apart.

    Attributes
    ----------
    nodes : tuple of int
    room : ints, shape (resources + 1,)
        What one has free of each resource, and its free pod slots.
    limits : ints, shape (classes,)
        Most pods of each class on one.
    sizes : ints, shape (classes,)
        What a pod of each class takes of every device that it gets; 0 where it gets none.
    devices : tuple of (int, int)
        Units that a device has left, and how many have so much; the largest first.
    """

    nodes: tuple[int, ...]
    room: Ints
    limits: Ints
    sizes: Ints
    devices: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class TypeRound:
    """A round as types of nodes.

    Attributes
    ----------
    classes : tuple of LikePods
        Each is a class wherever the search by shares speaks of one.
    requests : ints, shape (classes, resources + 1)
        What a pod asks for of each resource, and 1 for its slot.
    devices : ints, shape (classes,)
        How many devices a pod's claim is for.
    types : tuple of LikeNodes
    wants : dict
        Pod class, by its index in the problem -> what its claim wants, where it has one.
    scale : int
        Units of a device's capacity in one whole.
    loose : bool
        Whether nothing but room and devices ties the pods together.
    """

    classes: tuple[LikePods, ...]
    requests: Ints
    devices: Ints
    types: tuple[LikeNodes, ...]
    wants: dict[int, Want]
    scale: int
    loose: bool

    @cached_property
    def sizes(self) -> Ints:
        """How many pods wait of each class; int64[classes]."""
        return np.array([cls.size for cls in self.classes], dtype=np.int64)

    def demand(self, kind: LikeNodes) -> dict[int, int]:
        """Return how many shares of each size pods could ask for on nodes of a type."""
        found: Counter[int] = Counter()
        most = np.minimum(self.sizes, kind.limits * len(kind.nodes)) * self.devices
        for size, number in zip(kind.sizes.tolist(), most.tolist(), strict=True):
            if size and number:
                found[size] += number
        return dict(found)
