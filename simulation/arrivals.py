"""Pods that arrive at random: a Poisson process, a choice among templates, exponential run times."""

import random
from bisect import bisect
from itertools import accumulate

from ..models.annotations import RUNS_FOR
from ..models.scenario import Arrivals
from .world import World


def start_arrivals(world: World, arrivals: Arrivals, chance: random.Random) -> None:
    """Start the arrivals; each one draws the next, so that none is known before its time."""
    _Process(world, arrivals, chance).next()


class _Process:
    def __init__(self, world: World, arrivals: Arrivals, chance: random.Random) -> None:
        self._world = world
        self._arrivals = arrivals
        self._chance = chance
        self._end = world.clock.now + arrivals.lasts
        self._weights = list(accumulate(kind.weight for kind in arrivals.kinds))
        self._number = 0

    def next(self) -> None:
        """Draw when the next pod comes."""
        gap = round(self._chance.expovariate(self._arrivals.rate) * 1e9)
        if self._world.clock.now + gap <= self._end:
            self._world.agenda.after(gap, self._arrive)

    def _arrive(self) -> None:
        kinds, weights = self._arrivals.kinds, self._weights
        kind = kinds[bisect(weights, self._chance.random() * weights[-1], 0, len(kinds) - 1)]
        meta = kind.pod.metadata
        annotations = meta.annotations
        if kind.runs_for:
            time = round(self._chance.expovariate(1 / kind.runs_for))
            annotations = {**annotations, RUNS_FOR: str(time)}
        name = f"{meta.name}-{self._number}"
        self._number += 1
        self._world.create(kind.pod, name, annotations)
        self.next()
