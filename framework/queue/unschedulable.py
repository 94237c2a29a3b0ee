"""Pods that wait for something to happen, by what would have to happen.

An event is only of interest to the pods that certain plugins rejected, and pods that a plugin's hints cannot
tell apart are asked about once. So the pods are kept in groups: those of one profile, rejected by one plugin,
gated by the same plugin, of one priority and of equal traits.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field

from ..hints.registry import HintMap
from .queued_pod import QueuedPod


@dataclass(slots=True, eq=False)
class Group:
    """Pods that an event concerns alike, by key."""

    gating_plugin: str
    priority: int
    pods: dict[str, QueuedPod] = field(default_factory=dict)


class UnschedulablePods:
    """The waiting pods and their groups.

    Parameters
    ----------
    hints : mapping
        The hints of each profile by schedulerName.

    Attributes
    ----------
    by_key : dict
        The pods; not to be changed.
    """

    def __init__(self, hints: Mapping[str, HintMap]) -> None:
        self._hints = hints
        self.by_key: dict[str, QueuedPod] = {}
        self._ungated: dict[str, QueuedPod] = {}
        self._groups: dict[tuple[str, str], dict[Hashable, Group]] = {}
        self._places: dict[str, list[tuple[tuple[str, str], Hashable]]] = {}

    def __len__(self) -> int:
        return len(self.by_key)

    def __contains__(self, key: object) -> bool:
        return key in self.by_key

    @property
    def n_gated(self) -> int:
        """How many of them a PreEnqueue plugin keeps out."""
        return len(self.by_key) - len(self._ungated)

    def get(self, key: str) -> QueuedPod | None:
        """Return a pod by its key, or None."""
        return self.by_key.get(key)

    def put(self, item: QueuedPod) -> None:
        """Add a pod, or note that its version, its rejectors or its gate changed."""
        key = item.key
        kept = self.by_key.get(key) is item and not item.gated and key in self._ungated
        self._leave_groups(key)
        self.by_key[key] = item
        if not kept:
            self._ungated.pop(key, None)
            if not item.gated:
                self._ungated[key] = item
        hints = self._hints[item.scheduler]
        places: list[tuple[tuple[str, str], Hashable]] = []
        for plugin in sorted(item.rejectors):
            traits = _traits(item, plugin, hints)
            place = (item.scheduler, plugin)
            kind = (item.gating_plugin, item.pod.priority, traits)
            group = self._groups.setdefault(place, {}).get(kind)
            if group is None:
                group = self._groups[place][kind] = Group(item.gating_plugin, item.pod.priority)
            group.pods[key] = item
            places.append((place, kind))
        self._places[key] = places

    def remove(self, key: str) -> QueuedPod | None:
        """Take a pod by its key; None if it is not here."""
        item = self.by_key.pop(key, None)
        if item is not None:
            self._leave_groups(key)
            self._ungated.pop(key, None)
        return item

    def _leave_groups(self, key: str) -> None:
        for place, kind in self._places.pop(key, ()):
            groups = self._groups[place]
            group = groups[kind]
            del group.pods[key]
            if not group.pods:
                del groups[kind]

    def groups(self, scheduler: str, plugin: str) -> list[Group]:
        """Return the groups of a profile's pods that a plugin rejected."""
        return list(self._groups.get((scheduler, plugin), {}).values())

    def groups_of(self, item: QueuedPod) -> Iterator[Group]:
        """Yield the groups that a pod is in, one for each rejector."""
        for place, kind in self._places[item.key]:
            yield self._groups[place][kind]

    def older_than(self, time: int) -> list[QueuedPod]:
        """Return the pods that no gate keeps out and that came before a time (nanoseconds), oldest first."""
        old: list[QueuedPod] = []
        for item in self._ungated.values():
            if item.timestamp >= time:
                break
            old.append(item)
        return old

    def oldest(self) -> int | None:
        """Return the earliest return of a pod that no gate keeps out (nanoseconds), or None."""
        # They come here only when an attempt fails, so they are in the order of their timestamps.
        first = next(iter(self._ungated.values()), None)
        return None if first is None else first.timestamp

    def pods(self) -> list[QueuedPod]:
        """Return all pods, gated ones included, in the order in which they came."""
        return list(self.by_key.values())


def _traits(item: QueuedPod, plugin: str, hints: HintMap) -> Hashable:
    """Return what a plugin's hints read of a pod; a version is only looked at once."""
    if item.traits_of is not item.pod:
        item.traits, item.traits_of = {}, item.pod
    if plugin not in item.traits:
        asked = hints.plugin(plugin)
        item.traits[plugin] = () if asked is None else asked.traits(item.pod)
    return item.traits[plugin]
