"""The metrics of a run.

Source: kube-scheduler 1.34.1 metrics/metrics.go.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

LATENCY_BUCKETS: Final = tuple(round(0.01 * 2**k, 2) for k in range(20))
"""Of the pod scheduling latency (seconds)."""

ATTEMPT_BUCKETS: Final = (1.0, 2.0, 4.0, 8.0, 16.0)
VICTIM_BUCKETS: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_MOST_ATTEMPTS: Final = 15


@dataclass(slots=True)
class Histogram:
    """Numbers of observations up to some bounds."""

    bounds: Sequence[float]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def observe(self, value: float) -> None:
        """Record a value."""
        if not self.counts:
            self.counts = [0] * (len(self.bounds) + 1)
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @property
    def number(self) -> int:
        """How many observations there were."""
        return sum(self.counts)


@dataclass(slots=True)
class Metrics:
    """Everything that is counted in one run; the queue counts for itself.

    Attributes
    ----------
    attempts : Counter of result
        `scheduled`, `unschedulable` or `error`.
    latency : dict of str to Histogram
        Seconds from a pod's first entry into activeQ to its binding, by its number of attempts.
    tries : Histogram
        Attempts of each bound pod.
    preemption_attempts : int
    victims : Histogram
        Of each successful preemption.
    evictions : Counter of (way, answer)
        Calls that remove pods.
    """

    attempts: Counter[str] = field(default_factory=Counter)
    latency: dict[str, Histogram] = field(default_factory=dict)
    tries: Histogram = field(default_factory=lambda: Histogram(ATTEMPT_BUCKETS))
    preemption_attempts: int = 0
    victims: Histogram = field(default_factory=lambda: Histogram(VICTIM_BUCKETS))
    evictions: Counter[tuple[str, str]] = field(default_factory=Counter)

    def bound(self, attempts: int, seconds: float) -> None:
        """Count a pod that was bound."""
        self.tries.observe(attempts)
        label = str(attempts) if attempts < _MOST_ATTEMPTS else f"{_MOST_ATTEMPTS}+"
        found = self.latency.get(label)
        if found is None:
            found = self.latency[label] = Histogram(LATENCY_BUCKETS)
        found.observe(seconds)
