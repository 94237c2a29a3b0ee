"""Rounds as Prometheus metrics, and the server that hands them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prometheus_client import Metric

    from ..solver.round_measures import RoundMeasures

Values = float | dict[str, float]
"""A number, or one for each value of the label."""


class _Kind(NamedTuple):
    """A gauge: what it says, and its label, if it has one."""

    words: str
    label: str = ""


GAUGES: Final[Mapping[str, _Kind]] = {
    "kubestow_pods_pending": _Kind("Pods that wait in the active queue"),
    "kubestow_pods_placed": _Kind("Pending pods that the round places", "scheduler"),
    "kubestow_evictions": _Kind("Pods that the round evicts", "scheduler"),
    "kubestow_budget_violations": _Kind("Evicted pods that violate a disruption budget", "scheduler"),
    "kubestow_needless_evictions": _Kind("Evictions of the greedy round beyond those of the best one"),
    "kubestow_needless_budget_violations": _Kind(
        "Budget violations of the greedy round beyond those of the best one"
    ),
    "kubestow_round_proven": _Kind("Whether every tier of the best round is proven"),
    "kubestow_tier_gap": _Kind("Distance of a tier's bound from its value, 0 where it is proven", "tier"),
    "kubestow_fragmentation_ratio": _Kind(
        "Share of what is free that pods of the workload cannot use", "resource"
    ),
    "kubestow_nodes_free": _Kind("Nodes without pods, but for terminating ones, DaemonSets' and mirrors"),
    "kubestow_nodes_freeable_by_greedy": _Kind(
        "Further nodes that moving pods by first fit empties, within filters and disruption budgets; "
        "more may be possible"
    ),
    "kubestow_nodes_freeable_at_most": _Kind(
        "Further nodes that moving pods can empty at most, by sums of requests"
    ),
    "kubestow_round_duration_seconds": _Kind("How long reading and solving the last round took"),
    "kubestow_last_success_timestamp_seconds": _Kind("When a round was last solved"),
}
COUNTERS: Final[Mapping[str, str]] = {
    "kubestow_rounds_total": "Rounds that were begun",
    "kubestow_round_errors_total": "Rounds that could not be read or solved",
}


class Metrics(Collector):
    """The metrics of an exporter: those of the last round that was solved, and of the rounds themselves.

    Gauges are there once a round was solved: no number stands for one that nobody has computed.
    """

    def __init__(self) -> None:
        self._counts = dict.fromkeys(COUNTERS, 0)
        self._values: Mapping[str, Values] = {}
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def begun(self) -> None:
        """Count a round."""
        self._counts["kubestow_rounds_total"] += 1

    def failed(self) -> None:
        """Count an error; the metrics of the last round that was solved stay, with their time."""
        self._counts["kubestow_round_errors_total"] += 1

    def solved(self, measures: RoundMeasures, seconds: float, moment: float) -> None:
        """Take over the numbers of a round.

        Parameters
        ----------
        measures : RoundMeasures
        seconds : float
            How long reading and solving it took.
        moment : float
            When it was done, in seconds since the epoch.
        """
        schedulers = measures.schedulers
        optimal, greedy = schedulers["optimal"], schedulers["greedy"]
        # one assignment, so that a scrape never sees two rounds
        self._values = {
            "kubestow_pods_pending": measures.pending,
            "kubestow_pods_placed": {name: s.placed for name, s in schedulers.items()},
            "kubestow_evictions": {name: s.evictions for name, s in schedulers.items()},
            "kubestow_budget_violations": {name: s.violations for name, s in schedulers.items()},
            "kubestow_needless_evictions": max(0, greedy.evictions - optimal.evictions),
            "kubestow_needless_budget_violations": max(0, greedy.violations - optimal.violations),
            "kubestow_round_proven": int(measures.proven),
            "kubestow_tier_gap": dict(measures.gaps),
            "kubestow_fragmentation_ratio": dict(measures.fragmentation),
            "kubestow_nodes_free": measures.nodes.free,
            "kubestow_nodes_freeable_by_greedy": measures.nodes.emptied,
            "kubestow_nodes_freeable_at_most": measures.nodes.at_most,
            "kubestow_round_duration_seconds": seconds,
            "kubestow_last_success_timestamp_seconds": moment,
        }

    def collect(self) -> Iterator[Metric]:
        """Yield what a scrape gets."""
        for name, value in self._values.items():
            words, label = GAUGES[name]
            gauge = GaugeMetricFamily(name, words, labels=[label] if label else [])
            for key, number in value.items() if isinstance(value, dict) else [("", value)]:
                gauge.add_metric([key] if label else [], number)
            yield gauge
        for name, words in COUNTERS.items():
            yield CounterMetricFamily(name, words, value=self._counts[name])

    def text(self) -> str:
        """Return everything in the text format of Prometheus."""
        return generate_latest(self._registry).decode()

    def serve(self, address: str, port: int) -> int:
        """Serve `/metrics` until the process ends; return the port, which 0 leaves to the system.

        Raises
        ------
        OSError
            If the address cannot be used.
        """
        server, _ = start_http_server(port, address, self._registry)
        return int(server.server_port)
