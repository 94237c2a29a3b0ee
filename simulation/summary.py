"""The sums of one run, as a document."""

from collections.abc import Mapping
from math import ceil
from typing import Any

from ..framework.queue.clock import SECOND
from ..models.scenario import Scenario
from .engine import Simulation


def document_of(scenario: Scenario, runs: Mapping[str, Simulation]) -> dict[str, Any]:
    """Return the document of `kubestow simulate`: what came out of each scheduler's run of a scenario."""
    return {
        "scenario": scenario.name,
        "title": scenario.title,
        "seconds": scenario.duration / SECOND,
        "seed": scenario.seed,
        "runs": {name: summary(run) for name, run in runs.items()},
    }


def summary(run: Simulation) -> dict[str, Any]:
    """Return what came out of a run.

    Returns
    -------
    dict
        `pods` (created unbound, scheduled, waiting at the end, deleted before that), `timeToSchedule`
        (seconds from creation to binding: p50, p99, max; null where nothing was scheduled), `attempts`
        (total, wasted), `evictions`, `violations`, `fallbacks`, `nodeHours`, `rounds` (of an optimal
        scheduler), `hints` (asked, queue, run), `notes` (what is to be known about the run).
    """
    record, counts = run.record, run.world.queue.counts
    waits = sorted(record.waits)
    return {
        "seconds": run.scenario.duration / SECOND,
        "pods": {
            "created": record.created,
            "scheduled": len(waits),
            "waiting": record.waiting,
            "deleted": record.deleted_unbound,
        },
        "timeToSchedule": {
            "p50": _quantile(waits, 0.5),
            "p99": _quantile(waits, 0.99),
            "max": _quantile(waits, 1.0),
        },
        "attempts": {"total": sum(record.metrics.attempts.values()), "wasted": record.wasted},
        "evictions": record.evictions,
        "violations": record.violations,
        "fallbacks": record.fallbacks,
        "nodeHours": round(record.node_hours, 3),
        "rounds": record.rounds,
        "hints": {
            "asked": sum(counts.hints.values()),
            "queue": sum(n for (_, _, verdict), n in counts.hints.items() if verdict != "QueueSkip"),
            "run": counts.evaluations,
        },
        "notes": record.notes,
    }


def _quantile(waits: list[int], share: float) -> float | None:
    """Return the smallest wait that a share of all do not exceed (seconds)."""
    if not waits:
        return None
    return round(waits[max(0, ceil(share * len(waits)) - 1)] / SECOND, 3)
