"""What `--verbose` tells: what was read, where the search is, how large its model was."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from typing import Final

from ..models.meta import KubeObject
from ..models.plan import Plan
from ..models.snapshot import Snapshot
from ..solver.options import Progress
from .progress import Step, describe
from .words import count

_BETWEEN: Final = 1.0
"""Seconds between two lines about the same tier."""


def what_was_read(snapshot: Snapshot) -> str:
    """Return how many objects of each kind an input has, and how many pods are still to be placed."""
    parts = (getattr(snapshot, item.name) for item in fields(snapshot))
    objects = [item for part in parts if isinstance(part, tuple) for item in part]
    kinds = Counter(item.kind for item in objects if isinstance(item, KubeObject))
    told = ", ".join(f"{number} {kind}" for kind, number in kinds.items()) or "nothing"
    waiting = sum(not pod.spec.node_name and not pod.is_terminal for pod in snapshot.pods)
    return f"{snapshot.name}: read {told}; {count(waiting, 'pod')} without a node"


def what_was_solved(plan: Plan) -> str:
    """Return how large the model of a round was, and what was replayed."""
    stats = plan.stats
    model = f"{count(stats.variables, 'variable')}, {count(stats.constraints, 'constraint')}"
    replayed = f"{count(len(plan.steps), 'step')} replayed" if stats.verified else "not replayed"
    proven = f"{sum(tier.proven for tier in plan.tiers)} of {count(len(plan.tiers), 'tier')} proven"
    return f"{plan.instance}: {plan.scheduler}: model of {model}; {proven}; {replayed}"


class Narrator:
    """Tells each step once, and of a search every tier, with its best value and bound while they change.

    Parameters
    ----------
    say : callable
        Takes one line.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._start = time.monotonic()
        self._told: tuple[str, int | None, int | None] | None = None
        self._next = self._start
        self._phase = ""

    def __call__(self, progress: Progress) -> None:
        """Record the progress of the search."""
        now = time.monotonic()
        state = (progress.tier, progress.incumbent, progress.bound)
        same_tier = self._told is not None and self._told[0] == progress.tier
        if state == self._told or (same_tier and now < self._next):
            return
        self._told, self._next = state, now + _BETWEEN
        self._say(describe(progress, now - self._start))

    def watch(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Record that a step has begun."""
        if phase != self._phase:
            self._phase = phase
            self._say(describe(Step(phase), time.monotonic() - self._start))
