"""What filled nodes have open: places for pods of a class, and for their shares devices with patterns."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from ...framework.dra.allocation import Allocation, Pick, write
from .shared_devices import devices_left

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...encoders.problem import Problem
    from ...framework.dra.devices import Device
    from ...framework.vocabulary.arrays import Ints
    from .dive import Filled
    from .pricing import Column
    from .round import TypeRound


class Slots:
    """The places that filled nodes have; each device has the pattern that it was given.

    Attributes
    ----------
    round : TypeRound
    open : ints, shape (classes, nodes)
        How many pods of each class still come to each node.
    class_of : dict
        Waiting pod -> its place among the classes of the round.
    """

    def __init__(self, problem: Problem, round_: TypeRound, filled: Iterable[Filled]) -> None:
        self.round, self._problem = round_, problem
        self.class_of = {pod: c for c, like in enumerate(round_.classes) for pod in like.pods}
        self._wants = {
            pod: want
            for like in round_.classes
            for cls in like.classes
            if (want := round_.wants.get(cls.index)) is not None
            for pod in cls.pods
        }
        self.open: Ints = np.zeros((len(round_.classes), problem.cluster.n_nodes), dtype=np.int64)
        self._filled: dict[int, tuple[int, Column]] = {}
        self._places: dict[int, dict[int, deque[Device]]] = {}
        nodes = [iter(kind.nodes) for kind in round_.types]
        for kind, column in filled:
            node = next(nodes[kind])
            self._filled[node] = kind, column
            self.open[:, node] = column.pods

    def devices(self, pod: int, node: int) -> dict[str, Allocation]:
        """Return what a pod's claim gets if it takes the next place on a node; nothing without a claim."""
        want = self._wants.get(pod)
        if want is None:
            return {}
        picks = [Pick(want, d, want.taken(d)) for d in list(self._shares(pod, node))[: want.count]]
        assert self._problem.devices is not None
        [key] = self._problem.devices.private_keys(pod, node)
        return {key: write(key, picks, self._problem.cluster.node_names[node])}

    def take(self, pod: int, node: int) -> dict[str, Allocation]:
        """Give a pod the next place on a node; return what its claim gets."""
        found = self.devices(pod, node)
        self.open[self.class_of[pod], node] -= 1
        for _ in range(self._wants[pod].count if pod in self._wants else 0):
            self._shares(pod, node).popleft()
        return found

    def _shares(self, pod: int, node: int) -> deque[Device]:
        """Return the devices of a node with a share for such a pod, one for each share."""
        kind, column = self._filled[node]
        if node not in self._places:
            free: dict[int, list[Device]] = {}
            for device, left in devices_left(self._problem, node, self._wants[pod]):
                free.setdefault(int(left * self.round.scale), []).append(device)
            places: dict[int, deque[Device]] = {}
            for units, pattern in column.devices:
                device = free[units].pop()
                for size, number in pattern:
                    places.setdefault(size, deque()).extend([device] * number)
            self._places[node] = places
        return self._places[node][int(self.round.types[kind].sizes[self.class_of[pod]])]
