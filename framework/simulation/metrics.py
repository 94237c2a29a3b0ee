"""What is counted while time passes, under upstream's names, and the Prometheus text of it.

Source: kube-scheduler 1.34.1 metrics/metrics.go.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

LATENCY_BUCKETS: Final = tuple(0.01 * 2**k for k in range(20))
"""Of the pod scheduling latency (seconds)."""

ATTEMPT_BUCKETS: Final = (1.0, 2.0, 4.0, 8.0, 16.0)
VICTIM_BUCKETS: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


@dataclass(slots=True)
class Histogram:
    """Numbers of observations below some bounds."""

    bounds: Sequence[float]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0
    number: int = 0

    def observe(self, value: float) -> None:
        """Take a value in."""
        if not self.counts:
            self.counts = [0] * (len(self.bounds) + 1)
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value
        self.number += 1

    def lines(self, name: str, labels: Mapping[str, str]) -> Iterator[str]:
        """Write it down."""
        below = 0
        for bound, count in zip(self.bounds, self.counts or [0] * len(self.bounds), strict=False):
            below += count
            yield line(f"{name}_bucket", {**labels, "le": number(bound)}, below)
        yield line(f"{name}_bucket", {**labels, "le": "+Inf"}, self.number)
        yield line(f"{name}_sum", labels, round(self.total, 9))
        yield line(f"{name}_count", labels, self.number)


@dataclass(slots=True)
class Metrics:
    """Everything that is counted in one run; the queue counts for itself.

    Attributes
    ----------
    attempts : Counter of result
        `scheduled`, `unschedulable` or `error`.
    latency : Histogram
        Seconds from a pod's first entry into activeQ to its binding.
    tries : Histogram
        Attempts of each bound pod.
    preemption_attempts : int
    victims : Histogram
        Of each successful preemption.
    evictions : Counter of (way, answer)
        Calls that remove pods.
    """

    attempts: Counter[str] = field(default_factory=Counter)
    latency: Histogram = field(default_factory=lambda: Histogram(LATENCY_BUCKETS))
    tries: Histogram = field(default_factory=lambda: Histogram(ATTEMPT_BUCKETS))
    preemption_attempts: int = 0
    victims: Histogram = field(default_factory=lambda: Histogram(VICTIM_BUCKETS))
    evictions: Counter[tuple[str, str]] = field(default_factory=Counter)


def number(value: float) -> str:
    """Write a number as short as it can be."""
    return str(int(value)) if value == int(value) else repr(value)


def line(name: str, labels: Mapping[str, str], value: float) -> str:
    """Write one sample."""
    inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {number(value)}" if inside else f"{name} {number(value)}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def family(name: str, kind: str, text: str, lines: Iterable[str]) -> Iterator[str]:
    """Write one metric with its help."""
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"
    yield from lines
