"""What people who study the queue feed it with: one change and a waiting pod, or a whole script.

Objects are read as they are, without defaults and without the API server's checks: a hint has to cope with a
malformed selector, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from .config import KubeSchedulerConfiguration
from .meta import KubeObject
from .pod import Pod

Operation = Literal["event", "pop", "fail", "bound", "activate", "wait", "tick", "flush", "time"]


@dataclass(frozen=True, slots=True)
class HintCase:
    """The question whether a change wakes a pod.

    Attributes
    ----------
    name : str
        The case's `id`.
    plugin : str
        The only plugin that rejected the pod.
    pod : Pod
        It waits.
    old, new : KubeObject or None
        The object that changes; both are None for a kind that is not read.
    objects : tuple of KubeObject
        The rest of the cluster.
    time : datetime or None
        That nothing happened but that it is this time now.
    configuration : KubeSchedulerConfiguration or None
        Profiles, if `objects` has one.
    """

    name: str
    plugin: str
    pod: Pod
    old: KubeObject | None
    new: KubeObject | None
    objects: tuple[KubeObject, ...] = ()
    time: datetime | None = None
    configuration: KubeSchedulerConfiguration | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a script.

    Attributes
    ----------
    at : float
        Seconds since the start.
    op : str
    raw : mapping
        The entry as written.
    old, new : KubeObject or None
        Of an `event`.
    pod : str
        `namespace/name`, of `fail`, `bound` and `activate`.
    plugins, pending : tuple of str
        Who ended the attempt, of `fail`.
    """

    at: float
    op: Operation
    raw: Mapping[str, Any]
    old: KubeObject | None = None
    new: KubeObject | None = None
    pod: str = ""
    plugins: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()

    @property
    def periodic(self) -> bool:
        """Whether the queue does this by itself."""
        return self.op in ("tick", "flush", "time")


@dataclass(frozen=True, slots=True)
class Timeline:
    """A script for the queue.

    Attributes
    ----------
    file : str
        Where it stands.
    name, what : str
        What it is called, and what it shows.
    objects : tuple of KubeObject
        The cluster at the start.
    start : datetime
        The time of day then.
    configuration : KubeSchedulerConfiguration or None
        Profiles and backoffs, if `objects` has one.
    steps : tuple of Step
    raw : mapping
        The script as written.
    """

    file: str
    name: str
    what: str
    objects: tuple[KubeObject, ...]
    start: datetime
    configuration: KubeSchedulerConfiguration | None
    steps: tuple[Step, ...]
    raw: Mapping[str, Any]

    def pods(self) -> tuple[Pod, ...]:
        """Return every pod that the script knows, as its objects and events have it, in their order."""
        changes = (item for step in self.steps for item in (step.old, step.new))
        return tuple(item for item in (*self.objects, *changes) if isinstance(item, Pod))
