"""How long it will take to put an outcome in words and to replay it, told from a few of its steps.

What the clock shows depends on who else uses the machine. So work is measured in processor time, and
stretched as much as greedy's run was, which is long enough to tell.
"""

from __future__ import annotations

import time
from functools import partial
from math import inf
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...framework.runs.diagnosis import diagnose
from ...framework.state.moves import Bind
from ...framework.state.state import State
from ...models.memory import collection_paused
from .apply import devices_lacking
from .document import left_out, nominate_waiting, steps_of
from .nominations import derive_nominations
from .objective import end_state
from .objects import objects_of
from .outcome import Outcome
from .replay import follow

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...framework.index.cluster import Cluster
    from ...framework.state.moves import Move

# Steps that are rehearsed.
_SAMPLE: Final = 256

# How often the state of the input is set up beyond the rehearsal, and the share of all work to the rehearsed:
# lists are compared besides, domains counted, tiers valued. Measured on racks and on the openb trace.
_ROUNDS: Final = 4
_SHARE: Final = 2.25

# The share of greedy's placed pods that a plan may place besides, at the expense of others: of 30,001 pods
# greedy placed 8,037 and the best plan 8,448; with all that wait taken to be placed, 7.5 s were kept back
# for 2.8.
_EXCHANGED: Final = 0.1

# The share of greedy's processor time after which no other pod that is left out is asked about.
_ASKING: Final = 0.01


class Spent(NamedTuple):
    """What some work took.

    Attributes
    ----------
    clock, processor : float
        Seconds on the clock and of processor time, the thread's own.
    """

    clock: float
    processor: float

    @classmethod
    def now(cls) -> Spent:
        """Read both clocks."""
        return cls(time.monotonic(), time.thread_time())

    def since(self) -> Spent:
        """Return what was spent since these were read."""
        now = Spent.now()
        return Spent(now.clock - self.clock, now.processor - self.processor)

    @property
    def stretch(self) -> float:
        """Seconds on the clock for one of processor time, at least 1."""
        return max(1.0, self.clock / self.processor) if self.processor > 0 else 1.0


def seconds_to_finish(cluster: Cluster, outcome: Outcome, greedy: Spent) -> float:
    """Estimate the seconds on the clock that words and replay of a plan will take.

    Parameters
    ----------
    outcome : Outcome
        Greedy's, whose steps are rehearsed; the plan may place all pods instead.
    greedy : Spent
        What greedy's run took.
    """
    moves = outcome.moves
    # What is looked up for the first time is not there for every step: from cold, words and replay of 2,115
    # pods with devices were told to take 5.9 s; they took 1.05.
    _rehearse(cluster, outcome, moves[:_SAMPLE])
    # A full garbage collection amid the sample would be counted for all the others as well: words and replay
    # of that round were told to take 10 to 18 s, and took 2.
    with collection_paused():
        initial = _processor(lambda: State.initial(cluster))
        some = _processor(lambda: _rehearse(cluster, outcome, moves[:_SAMPLE]))
    steps = some * max(1, len(moves) / _SAMPLE) + _ROUNDS * initial
    return greedy.stretch * (_SHARE * steps + _left_out(cluster, outcome, _SHARE * some / _SAMPLE, greedy))


def _left_out(cluster: Cluster, outcome: Outcome, step: float, greedy: Spent) -> float:
    """Estimate the processor time for the pods that greedy left out, at so much a pod that is placed."""
    if len(outcome.placed) == len(cluster.pending):
        return 0.0
    end = end_state(cluster, outcome)
    # In the plan each is placed or asked why, not both.
    placed = step * _placed_besides(cluster, outcome, end)
    return max(placed, _reasons(cluster, outcome, end, greedy.processor))


def _placed_besides(cluster: Cluster, outcome: Outcome, end: State) -> int:
    """Estimate how many of the pods that greedy left out a plan may place.

    They are as many as would fit on average into what greedy leaves free in all, and a tenth of those that
    it placed, whose places may go to several smaller ones.
    """
    left = [i for i in cluster.pending if i not in outcome.placed]
    asked = cluster.usage[left].astype(float).mean(axis=0)
    free = np.maximum(cluster.allocatable - end.requested, 0).astype(float).sum(axis=1)
    wanted = asked > 0
    fit = min((free[wanted] / asked[wanted]).tolist(), default=inf)
    return int(min(len(left), fit + _EXCHANGED * len(outcome.placed)))


def _reasons(cluster: Cluster, outcome: Outcome, end: State, greedy: float) -> float:
    """Estimate the processor time that it takes to say why pods are left out, from some of their kinds.

    It is no more than greedy took to find that out of as many pods.
    """
    kinds = list({kind: i for i, kind in left_out(cluster, outcome)}.values())
    if not kinds:
        return 0.0
    spent, asked = 0.0, 0
    nominate_waiting(outcome, end)
    for i in Random(0).sample(kinds, len(kinds)):
        spent += _processor(partial(diagnose, cluster, end, i))
        asked += 1
        if spent >= _ASKING * greedy:
            break
    return min(spent / asked * len(kinds), (1 - len(outcome.placed) / max(1, len(cluster.pending))) * greedy)


def _processor(work: Callable[[], object]) -> float:
    begin = time.thread_time()
    work()
    return time.thread_time() - begin


def _rehearse(cluster: Cluster, outcome: Outcome, moves: tuple[Move, ...]) -> None:
    """Do with some moves what is done with all: bring them in order, write them down, replay them."""
    initial = State.initial(cluster)
    binds = [move for move in moves if isinstance(move, Bind)]
    own = {key for move in binds for key in devices_lacking(cluster, initial, move.pod)}
    allocations = {key: outcome.allocations[key] for key in own if key in outcome.allocations}
    part = Outcome(moves, {move.pod: move.node for move in binds}, allocations=allocations)
    steps = steps_of(cluster, part)
    derive_nominations(cluster, initial, moves, allocations)
    follow(cluster, moves, allocations)
    for _ in ("written down", "compared"):
        objects_of(cluster, steps, moves, (), allocations, end_state(cluster, part))
