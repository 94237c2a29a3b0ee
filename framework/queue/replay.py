"""Runs a script through the queue and writes down what is where after every step."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from ...models.errors import InputError
from ...models.features import FeatureGates
from ...models.kube_version import DEFAULT_KUBE_VERSION, KubeVersion
from ...models.pod import Pod
from ...models.recordings import Step, Timeline
from ..events.objects import ObjectStore
from ..vocabulary.releases import RELEASES
from ..vocabulary.workload_cycles import PROPOSAL
from .clock import VirtualClock, from_seconds, to_seconds
from .handlers import EventHandlers
from .periodic import work_until
from .queued_pod import QueuedPod
from .scheduling_queue import SchedulingQueue

_OWN_FIELDS: Final = frozenset(
    {
        "active",
        "backoff",
        "unschedulable",
        "gated",
        "inFlight",
        "backoffExpiration",
        "counts",
        "events",
        "popped",
        "poppedFrom",
        "poppedWith",
    }
)
"""What a step's answer consists of; in the input they are ignored."""


def replay(
    timeline: Timeline, gates: FeatureGates | None = None, version: KubeVersion = DEFAULT_KUBE_VERSION
) -> dict[str, Any]:
    """Run a script.

    Ticks and flushes run on their own, at their times, before the steps of the same time; they are written
    down where they change something or the script lists them.

    Parameters
    ----------
    timeline : Timeline
    gates : FeatureGates, optional
        All on by default.
    version : KubeVersion
        Whose plugins register events.

    Returns
    -------
    dict
        The script with the queue's own state in each entry of `trace`.

    Raises
    ------
    InputError
        If a step asks for something impossible, such as the failure of a pod that is not in flight.
    """
    run = _Replay(timeline, gates or FeatureGates(), version)
    return {**timeline.raw, "trace": list(run.steps())}


class _Replay:
    def __init__(self, timeline: Timeline, gates: FeatureGates, version: KubeVersion) -> None:
        self._timeline = timeline
        self._queue = SchedulingQueue(
            ObjectStore(timeline.objects),
            VirtualClock(),
            configuration=timeline.configuration,
            gates=gates,
            version=version,
            start=timeline.start,
        )
        # The proposal's cycle is for groups with a topology alone, and a script has no cycles.
        cycle = RELEASES[version].workload_cycle
        self._as_one = gates.enabled("GenericWorkload") and cycle is not PROPOSAL
        self._handlers = EventHandlers(self._queue)
        self._popped: dict[str, QueuedPod] = {}
        self._operations: dict[str, Callable[[Step], dict[str, Any]]] = {
            "event": self._event,
            "pop": self._pop,
            "fail": self._fail,
            "bound": self._bound,
            "activate": self._activate,
            "wait": lambda step: {},
        }

    def steps(self) -> Iterator[dict[str, Any]]:
        listed: set[tuple[int, str]] = set()
        for number, step in enumerate(self._timeline.steps, start=1):
            time = from_seconds(step.at)
            before = self._state()
            for when, name in work_until(self._queue, time):
                after = self._state()
                if after != before and (when, name) not in listed:
                    yield {"at": to_seconds(when), "op": name, "auto": True, **after}
                    listed.add((when, name))
                before = after
            if step.periodic:
                if (time, step.op) not in listed:
                    yield {**_kept(step), **self._state()}
                    listed.add((time, step.op))
                continue
            try:
                answer = self._operations[step.op](step)
            except InputError as error:
                place = f"{self._timeline.name}: step {number}"
                raise InputError(self._timeline.file, place, error.field, error.message) from None
            yield {**_kept(step), **answer, **self._state()}

    def _event(self, step: Step) -> dict[str, Any]:
        happened = self._handlers.change(step.old, step.new)
        return {"events": [str(occurrence.event) for occurrence in happened]}

    def _pop(self, step: Step) -> dict[str, Any]:
        popped = self._queue.pop()
        if popped is None:
            return {"poppedFrom": "nothing"}
        together = self._queue.pull_group(popped.item) if self._as_one else []
        self._popped.update((item.key, item) for item in (popped.item, *together))
        answer = {"popped": popped.item.key, "poppedFrom": "backoff" if popped.early else "active"}
        return {**answer, "poppedWith": _keys(together)} if together else answer

    def _take(self, step: Step) -> QueuedPod:
        item = self._popped.pop(step.pod, None)
        if item is None:
            raise InputError("", "", "pod", f"{step.pod} is not in flight")
        return item

    def _fail(self, step: Step) -> dict[str, Any]:
        self._queue.fail(self._take(step), step.plugins, step.pending)
        return {}

    def _bound(self, step: Step) -> dict[str, Any]:
        self._queue.done(self._take(step))
        return {}

    def _activate(self, step: Step) -> dict[str, Any]:
        pod = self._queue.objects.get(Pod, step.pod)
        if pod is not None:
            self._queue.activate([pod])
        return {}

    def _state(self) -> dict[str, Any]:
        queue = self._queue
        active, backoff, unschedulable = queue.active, queue.backoff, queue.unschedulable
        return {
            "active": _keys(active),
            "backoff": _keys(backoff),
            "unschedulable": _keys(unschedulable),
            "gated": sorted(f"{item.key}:{item.gating_plugin}" for item in unschedulable if item.gated),
            "inFlight": _keys(queue.in_flight) if queue.hints_enabled else [],
            "backoffExpiration": {item.key: to_seconds(queue.expiration(item)) for item in backoff},
            "counts": {
                item.key: [item.attempts, item.unschedulable_count, item.consecutive_errors]
                for item in sorted((*active, *backoff, *unschedulable), key=lambda item: item.key)
            },
        }


def _keys(items: list[QueuedPod]) -> list[str]:
    return sorted(item.key for item in items)


def _kept(step: Step) -> dict[str, Any]:
    return {name: value for name, value in step.raw.items() if name not in _OWN_FIELDS}
