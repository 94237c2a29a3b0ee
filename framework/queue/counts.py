"""What the queue counts, under upstream's names for it.

Source: kube-scheduler 1.34.1 metrics/metrics.go.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

ACTIVE: Final = "active"
BACKOFF: Final = "backoff"
UNSCHEDULABLE: Final = "unschedulable"

SCHEDULE_ATTEMPT_FAILURE: Final = "ScheduleAttemptFailure"
BACKOFF_COMPLETE: Final = "BackoffComplete"
POP_FROM_BACKOFF: Final = "PopFromBackoffQ"
FORCE_ACTIVATE: Final = "ForceActivate"


@dataclass(slots=True)
class QueueCounts:
    """Counters that only grow.

    Attributes
    ----------
    incoming : Counter of (queue, event)
        `scheduler_queue_incoming_pods_total`.
    hints : Counter of (plugin, event, verdict)
        Questions that hint functions were asked, as upstream counts them in
        `scheduler_queueing_hint_execution_duration_seconds`: one for each waiting pod, with the verdict
        `Queue`, `QueueSkip` or `Error`. The profile's plugins are asked in their order until one says Queue
        (upstream leaves the order to chance).
    evaluations : int
        How often a function really ran: once for all pods that it cannot tell apart.
    """

    incoming: Counter[tuple[str, str]] = field(default_factory=Counter)
    hints: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    evaluations: int = 0
