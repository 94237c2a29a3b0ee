"""Which components are told of a change: each says what it listens to, and is asked about nothing else."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from ..models.meta import KubeObject
from ..models.pod import Pod

Listener = Callable[[KubeObject | None, KubeObject | None], None]
"""Takes the version before a change and the one after it."""


class Whereabouts(IntEnum):
    """Where a pod is after a change."""

    WAITING = 0
    ON_NODE = 1
    GONE = 2


@dataclass(frozen=True, slots=True)
class _Interest:
    listener: Listener
    kinds: tuple[str, ...]
    owned: bool
    claiming: bool
    only: Whereabouts | None


class Listeners:
    """The listeners to changes, in the order in which they came."""

    def __init__(self) -> None:
        self._interests: list[_Interest] = []
        self._known: dict[tuple[str, bool], tuple[Listener, ...]] = {}
        self._known_of_pods: dict[tuple[bool, bool, Whereabouts], tuple[Listener, ...]] = {}

    def add(
        self,
        listener: Listener,
        *kinds: str,
        owned: bool = False,
        claiming: bool = False,
        only: Whereabouts | None = None,
    ) -> None:
        """Have a callable called with every change of objects of some kinds, after it is made.

        Parameters
        ----------
        listener : callable
        *kinds : str
        owned : bool
            Only of those that another object owns.
        claiming : bool
            Of pods, only those that have resource claims.
        only : Whereabouts or None
            Of pods, only those that are there after the change; None for all.
        """
        self._interests.append(_Interest(listener, kinds, owned, claiming, only))
        self._known.clear()
        self._known_of_pods.clear()

    def of(self, item: KubeObject) -> tuple[Listener, ...]:
        """Return who listens to changes of an object that is no pod."""
        place = item.kind, bool(item.metadata.owner_references)
        found = self._known.get(place)
        if found is None:
            kind, is_owned = place
            found = self._known[place] = tuple(
                each.listener
                for each in self._interests
                if kind in each.kinds and (is_owned or not each.owned)
            )
        return found

    def of_pod(self, pod: Pod, whereabouts: Whereabouts) -> tuple[Listener, ...]:
        """Return who listens to a change of a pod, after which it is there."""
        place = bool(pod.metadata.owner_references), bool(pod.spec.resource_claims), whereabouts
        found = self._known_of_pods.get(place)
        if found is None:
            is_owned, claims, _ = place
            found = self._known_of_pods[place] = tuple(
                each.listener
                for each in self._interests
                if pod.kind in each.kinds
                and (is_owned or not each.owned)
                and (claims or not each.claiming)
                and each.only in (None, whereabouts)
            )
        return found
