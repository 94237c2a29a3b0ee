"""The metrics of runs in Prometheus' text format, under upstream's names.

Source: kube-scheduler 1.34.1 metrics/metrics.go. What upstream does not count begins with `kubestow_`.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .engine import Simulation
from .metrics import Histogram


class _Sample(NamedTuple):
    suffix: str
    labels: Mapping[str, str]
    value: float


class _Family(NamedTuple):
    name: str
    kind: str
    text: str
    samples: list[_Sample]


def prometheus(runs: Mapping[str, Simulation]) -> str:
    """Return the text for one run, or for several, told apart by the label `scheduler`.

    Parameters
    ----------
    runs : mapping
        By scheduler.
    """
    found = {name: _families(run) for name, run in runs.items()}
    lines: list[str] = []
    for k, family in enumerate(next(iter(found.values()))):
        lines.append(f"# HELP {family.name} {family.text}")
        lines.append(f"# TYPE {family.name} {family.kind}")
        for scheduler, families in found.items():
            extra = {"scheduler": scheduler} if len(found) > 1 else {}
            lines += (
                _line(family.name + suffix, {**extra, **labels}, value)
                for suffix, labels, value in families[k].samples
            )
    return "\n".join(lines) + "\n"


def _families(run: Simulation) -> list[_Family]:
    metrics, queue, record = run.record.metrics, run.world.queue, run.record
    counts = queue.counts
    hints = [
        _Sample(suffix, {**labels, **more}, value)
        for (plugin, event, hint), number in sorted(counts.hints.items())
        for labels in ({"plugin": plugin, "event": event, "hint": hint},)
        # No time passes in a hint of the simulation.
        for suffix, more, value in (
            ("_bucket", {"le": "+Inf"}, number),
            ("_sum", {}, 0),
            ("_count", {}, number),
        )
    ]
    latency = [
        sample
        for attempts, histogram in sorted(metrics.latency.items())
        for sample in _samples(histogram, {"attempts": attempts})
    ]
    return [
        _Family(
            "scheduler_schedule_attempts_total",
            "counter",
            "Attempts to schedule pods, by result.",
            [_Sample("", {"result": name}, metrics.attempts[name]) for name in _RESULTS],
        ),
        _Family(
            "scheduler_pending_pods",
            "gauge",
            "Pods that wait at the end of the run, by queue.",
            [_Sample("", {"queue": name}, number) for name, number in queue.lengths().items()],
        ),
        _Family(
            "scheduler_inflight_events",
            "gauge",
            "Events kept for pods in flight at the end of the run, by event.",
            [_Sample("", {"event": name}, n) for name, n in sorted(queue.in_flight_events().items())],
        ),
        _Family(
            "scheduler_queue_incoming_pods_total",
            "counter",
            "Pods added to the scheduling queues, by event and queue.",
            [
                _Sample("", {"queue": name, "event": event}, number)
                for (name, event), number in sorted(counts.incoming.items())
            ],
        ),
        _Family(
            "scheduler_queueing_hint_execution_duration_seconds",
            "histogram",
            "Questions to queueing hints, by plugin, event and verdict.",
            hints,
        ),
        _Family(
            "scheduler_preemption_attempts_total",
            "counter",
            "Attempts to preempt pods.",
            [_Sample("", {}, metrics.preemption_attempts)],
        ),
        _Family(
            "scheduler_preemption_victims",
            "histogram",
            "Victims of each preemption.",
            list(_samples(metrics.victims, {})),
        ),
        _Family(
            "scheduler_pod_scheduling_attempts",
            "histogram",
            "Attempts that it took to schedule a pod.",
            list(_samples(metrics.tries, {})),
        ),
        _Family(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "histogram",
            "Time from a pod's first entry into the queue to its binding.",
            latency,
        ),
        _Family(
            "kubestow_pod_removals_total",
            "counter",
            "Calls that remove victims and drained pods, by way and answer.",
            [
                _Sample("", {"by": way, "code": code}, number)
                for (way, code), number in sorted(metrics.evictions.items())
            ],
        ),
        _Family(
            "kubestow_queueing_hint_evaluations_total",
            "counter",
            "Hint functions run: pods that a plugin cannot tell apart are asked about once.",
            [_Sample("", {}, counts.evaluations)],
        ),
        _Family(
            "kubestow_node_hours",
            "gauge",
            "Hours of all nodes together.",
            [_Sample("", {}, round(record.node_hours, 6))],
        ),
    ]


_RESULTS = ("scheduled", "unschedulable", "error")


def _samples(histogram: Histogram, labels: Mapping[str, str]) -> Iterator[_Sample]:
    below = 0
    counts = histogram.counts or [0] * (len(histogram.bounds) + 1)
    for bound, count in zip(histogram.bounds, counts, strict=False):
        below += count
        yield _Sample("_bucket", {**labels, "le": _number(bound)}, below)
    yield _Sample("_bucket", {**labels, "le": "+Inf"}, histogram.number)
    yield _Sample("_sum", labels, round(histogram.total, 9))
    yield _Sample("_count", labels, histogram.number)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {_number(value)}" if inside else f"{name} {_number(value)}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
