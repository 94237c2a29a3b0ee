"""How far a study is: what each worker does, the rate, the time left."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .plan import Run
    from .rows import Solved


@dataclass
class Pace:
    """A listener of `execute` that counts.

    Attributes
    ----------
    clock : callable
        Seconds.
    total, before, now : int
        Runs of the plan, done before, done since.
    workers : dict
        By the number of a worker, from 1 on: its run, and when it began. A run's worker is the lowest that is
        free.
    """

    clock: Callable[[], float] = time.monotonic
    total: int = 0
    before: int = 0
    now: int = 0
    workers: dict[int, tuple[Run, float]] = field(default_factory=dict)
    _since: float = 0.0

    def begin(self, total: int, before: int) -> None:
        """See `execute.Listener`."""
        self.total, self.before, self.now, self._since = total, before, 0, self.clock()

    def started(self, run: Run) -> None:
        """See `execute.Listener`."""
        free = next(number for number in range(1, len(self.workers) + 2) if number not in self.workers)
        self.workers[free] = run, self.clock()

    def finished(self, run: Run, solved: Solved) -> None:
        """See `execute.Listener`."""
        self.now += 1
        for number, (other, _) in list(self.workers.items()):
            if other.id == run.id:
                del self.workers[number]

    @property
    def done(self) -> int:
        """Runs that are done, before or since."""
        return self.before + self.now

    @property
    def rate(self) -> float | None:
        """Runs a second since this run began; None before the first is done."""
        seconds = self.clock() - self._since
        return self.now / seconds if self.now and seconds > 0 else None

    @property
    def left(self) -> float | None:
        """Seconds to the end at this rate; None where there is no rate yet."""
        return None if self.rate is None else (self.total - self.done) / self.rate
