"""A pod in the queue, with all that the queue remembers of it.

Source: kube-scheduler 1.34.1 framework/types.go (QueuedPodInfo).
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

from ...models.pod import Pod
from ..events.changes import identity


@dataclass(slots=True, eq=False)
class QueuedPod:
    """A pod that waits to be scheduled, or is being scheduled.

    Attributes
    ----------
    pod : Pod
        Its newest version.
    timestamp : int
        When it last came back into the queue (nanoseconds).
    sequence : int
        Grows with every such return: the order among equal timestamps.
    attempts : int
    unschedulable_count : int
        Attempts that a plugin ended.
    consecutive_errors : int
        Attempts in a row that ended in an internal error.
    initial_attempt : int or None
        When it first could be tried.
    unschedulable_plugins, pending_plugins : set of str
        The plugins that rejected the last attempt; those that answered Pending are in the second.
    gating_plugin : str
        Whose PreEnqueue keeps it out; empty if none does.
    expiration : int or None
        When its backoff ends, once that was asked.
    traits : dict
        What each plugin's hints read of `traits_of`, once that was asked.
    traits_of : Pod or None
        The version of the pod that `traits` describe.
    key : str
        `namespace/name`; no other version of the pod has another one, nor the next two.
    uid : str
        What tells it from a later pod of the same name.
    scheduler : str
        The profile that it asks for.
    """

    pod: Pod
    timestamp: int
    sequence: int
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors: int = 0
    initial_attempt: int | None = None
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    gating_plugin: str = ""
    expiration: int | None = None
    traits: dict[str, Hashable] = field(default_factory=dict)
    traits_of: Pod | None = None
    key: str = field(init=False)
    uid: str = field(init=False)
    scheduler: str = field(init=False)

    def __post_init__(self) -> None:
        self.key = self.pod.key
        self.uid = identity(self.pod)
        self.scheduler = self.pod.spec.scheduler_name

    @property
    def gated(self) -> bool:
        """Whether a PreEnqueue plugin keeps it out."""
        return bool(self.gating_plugin)

    @property
    def rejectors(self) -> set[str]:
        """All plugins that rejected it, by whatever status."""
        return self.unschedulable_plugins | self.pending_plugins

    @property
    def rank(self) -> tuple[int, int, int]:
        """Its place in the order of the queue: priority descending, then the time of its return."""
        return (-self.pod.priority, self.timestamp, self.sequence)
