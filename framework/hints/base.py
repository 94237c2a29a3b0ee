"""What a plugin tells the scheduling queue: the events it waits for, and a function that judges each of them.

Source: KEP-4247; kube-scheduler 1.34.1 framework/interface.go (EnqueueExtensions).
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

from ...models.config import PluginArgs
from ...models.features import FeatureGates
from ...models.pod import Pod
from ..events.events import ClusterEvent
from ..events.objects import ObjectStore


class QueueingHint(NamedTuple):
    """The result of a hint function: whether an event makes a new attempt worth it, and why."""

    queue: bool
    why: str

    @property
    def text(self) -> str:
        """Upstream's spelling."""
        return "Queue" if self.queue else "QueueSkip"


class HintError(Exception):
    """A hint function cannot tell; the queue then retries the pod."""


HintFunction = Callable[[Pod, Any, Any], QueueingHint]
"""(waiting pod, old object or None, new object or None) to an answer; may raise `HintError`."""


@dataclass(frozen=True, slots=True)
class Registration:
    """An event that a plugin waits for.

    Attributes
    ----------
    event : ClusterEvent
        One resource; its action may combine several.
    function : HintFunction or None
        Judges the event; None retries the pod whenever the event happens.
    automatic : bool
        Whether the scheduler added it by itself.
    concerns : callable or None
        Which pods can wait for it at all; None for every one. The function answers the others QueueSkip.
    """

    event: ClusterEvent
    function: HintFunction | None = None
    automatic: bool = False
    concerns: Callable[[Pod], bool] | None = None


class HintPlugin:
    """The queue's side of a plugin.

    Parameters
    ----------
    objects : ObjectStore
        What the plugin's listers see; it changes as time passes.
    gates : FeatureGates
    args : PluginArgs
        The plugin's arguments in the profile.
    """

    name: ClassVar[str]

    def __init__(self, objects: ObjectStore, gates: FeatureGates, args: PluginArgs) -> None:
        self.objects = objects
        self.gates = gates
        self.args = args

    def events_to_register(self) -> tuple[Registration, ...]:
        """Return the events that may end a rejection by this plugin."""
        raise NotImplementedError

    def traits(self, pod: Pod) -> Hashable:
        """Return all that the functions read of a waiting pod: equal traits, equal answers.

        The queue asks once for all waiting pods of equal traits. What a function says of an update of the
        waiting pod itself need not follow from them.
        """
        return ()


ALWAYS: Final = QueueingHint(True, "any such event counts")


def ask(function: HintFunction | None, pod: Pod, old: Any, new: Any) -> tuple[QueueingHint, bool]:
    """Ask a hint function about an event.

    Returns
    -------
    QueueingHint
        No function always answers Queue, and so does one that cannot tell.
    bool
        Whether it could not tell.
    """
    if function is None:
        return ALWAYS, False
    try:
        return function(pod, old, new), False
    except HintError as error:
        return QueueingHint(True, f"cannot tell: {error}"), True


def queue(why: str) -> QueueingHint:
    """Return the hint that a new attempt may succeed."""
    return QueueingHint(True, why)


def skip(why: str) -> QueueingHint:
    """Return the hint that the event changes nothing for the pod."""
    return QueueingHint(False, why)
