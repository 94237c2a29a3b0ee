"""Options of the solver, and the progress that it reports."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from ..models.errors import KubestowError
from ..models.eviction_limits import EvictionLimits
from ..models.tiers import PREFERENCES

#: Values of ``--engine``.
ENGINES = ("local", "dask")


# CP-SAT refuses more threads than this.
MOST_WORKERS = 10_000


@dataclass(frozen=True, kw_only=True)
class SolveOptions:
    """How to search.

    Attributes
    ----------
    time_limit : float
        Seconds for the whole round but for reading it: index, greedy, all tiers, replay. Greedy is not cut.
    workers : int
        Threads of CP-SAT; one worker with a seed makes a repeatable run.
    seed : int
        Random seed of CP-SAT.
    prefer : str
        Last tier: none, scores, pack or spread.
    engine : str
        Where independent parts of a round run: `local` (processes of this machine) or `dask`.
    tiers : int or None
        How many tiers are searched, from the first on; the others get what the plan has and what holds of
        every plan. None for all.
    dask : str or None
        Address of a Dask scheduler; None starts a cluster on this machine.
    limits : EvictionLimits
        Limits on evictions, in place of the snapshot's own where there are any here.
    """

    time_limit: float = 60.0
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    seed: int = 0
    prefer: str = "none"
    engine: str = "local"
    dask: str | None = None
    tiers: int | None = None
    limits: EvictionLimits = field(default_factory=EvictionLimits)

    def __post_init__(self) -> None:
        if not self.time_limit > 0:
            raise KubestowError(f"--time-limit: {self.time_limit} is not a positive number of seconds")
        if self.workers < 1:
            raise KubestowError(f"--workers: {self.workers} is not a positive number")
        if self.workers > MOST_WORKERS:
            raise KubestowError(f"--workers: {self.workers} is more than {MOST_WORKERS}")
        if not 0 <= self.seed < 2**31:
            raise KubestowError(f"--seed: {self.seed} is not between 0 and {2**31 - 1}")
        if self.prefer not in PREFERENCES:
            raise KubestowError(f"--prefer: '{self.prefer}' is not one of {', '.join(PREFERENCES)}")
        if self.engine not in ENGINES:
            raise KubestowError(f"--engine: '{self.engine}' is not one of {', '.join(ENGINES)}")
        if self.dask is not None and self.engine != "dask":
            raise KubestowError("--dask goes with --engine dask only")


@dataclass(frozen=True)
class Progress:
    """Where the search is: the tier in work, its best value so far and its bound (None: not known yet)."""

    tier: str
    sense: str
    incumbent: int | None
    bound: int | None
    seconds: float

    @property
    def gap(self) -> int | None:
        """How far the incumbent is from the bound."""
        if self.incumbent is None or self.bound is None:
            return None
        return abs(self.bound - self.incumbent)


ProgressCallback = Callable[[Progress], None]
