"""One change and one waiting pod: whether the change wakes it, and which plugins decide so."""

from dataclasses import dataclass
from typing import Any

from ...models.errors import InputError
from ...models.features import FeatureGates
from ...models.kube_version import DEFAULT_KUBE_VERSION, KubeVersion
from ...models.node import Node
from ...models.pod import Pod
from ...models.recordings import HintCase
from ..events.changes import identity, occurrences
from ..events.events import ClusterEvent
from ..events.moment import time_event
from ..events.objects import ObjectStore
from ..vocabulary.profile import Profile, profiles_of
from ..vocabulary.releases import RELEASES
from .base import QueueingHint, ask
from .registry import HintMap


@dataclass(frozen=True, slots=True)
class EventVerdict:
    """What a plugin says of one event of a change.

    Attributes
    ----------
    event : ClusterEvent
    offered : bool
        Whether the queue asks about this pod at all.
    registered : bool
        Whether it does, and the plugin waits for such events.
    automatic : bool
        Whether it does so only since the scheduler registered it.
    answer : QueueingHint
    failed : bool
        Whether the hint could not tell; it then counts as Queue.
    """

    event: ClusterEvent
    offered: bool
    registered: bool
    automatic: bool
    answer: QueueingHint
    failed: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a change means for a waiting pod that one plugin rejected."""

    events: tuple[EventVerdict, ...]

    @property
    def registered(self) -> bool:
        """Whether the plugin waits for any of the events that the pod is asked about."""
        return any(item.registered for item in self.events)

    @property
    def queue(self) -> bool:
        """Whether the pod is to be tried again."""
        return any(item.answer.queue for item in self.events)

    def document(self) -> dict[str, Any]:
        """Return the verdict for programs, in upstream's spelling."""
        return {
            "events": [str(item.event) for item in self.events],
            "registered": self.registered,
            "hint": "Queue" if self.queue else "QueueSkip",
        }


NOT_OFFERED = QueueingHint(False, "the queue does not ask this pod")
NOT_REGISTERED = QueueingHint(False, "the plugin does not wait for this")


def judge(
    case: HintCase, gates: FeatureGates | None = None, version: KubeVersion = DEFAULT_KUBE_VERSION
) -> Verdict:
    """Whether a change wakes a pod.

    Where the change is the pod's own, the new version of the pod is asked about.

    Parameters
    ----------
    case : HintCase
        Its plugin is one of the pod's profile.
    gates : FeatureGates, optional
        All on by default.
    version : KubeVersion
        Whose plugins register events.
    """
    gates = (gates or FeatureGates()).known_to(version)
    pod, old, new = case.pod, case.old, case.new
    store = ObjectStore(case.objects)
    store.apply(old, new)
    if isinstance(new, Pod) and identity(new) == identity(pod):
        pod = new
    hints = HintMap(_profile(case, gates, version), store, gates)
    verdicts = []
    for happened in occurrences(old, new) if case.time is None else (time_event(case.time),):
        waiting = hints.matching(happened.event)
        # For other kinds there is no handler unless some plugin waits for the action.
        heard = bool(waiting) or isinstance(happened.old or happened.new, (Pod, Node))
        offered = heard and happened.offered(pod)
        matched = [
            item
            for name, item in waiting
            if offered and name == case.plugin and (item.concerns is None or item.concerns(pod))
        ]
        answer, failed = NOT_OFFERED if not offered else NOT_REGISTERED, False
        for item in matched:
            answer, failed = ask(item.function, pod, happened.old, happened.new)
            if answer.queue:
                break
        automatic = bool(matched) and all(item.automatic for item in matched)
        verdicts.append(EventVerdict(happened.event, offered, bool(matched), automatic, answer, failed))
    return Verdict(tuple(verdicts))


def _profile(case: HintCase, gates: FeatureGates, version: KubeVersion) -> Profile:
    """Return the profile of the pod that waits: without a configuration there is one for all."""
    profiles = profiles_of(case.configuration, RELEASES[version], gates)
    if case.configuration is None:
        [profile] = profiles.values()
        return profile
    name = case.pod.spec.scheduler_name
    if name not in profiles:
        text = f"no profile is called {name!r}; there are {', '.join(profiles)}"
        raise InputError("", f"case {case.name}", "pod.spec.schedulerName", text)
    return profiles[name]
