"""Which components are told of a change: each says what it listens to, and is asked about nothing else."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from ..models.meta import KubeObject
from ..models.pod import Pod

Listener = Callable[[KubeObject | None, KubeObject | None], None]
"""Takes the version before a change and the one after it."""


class Whereabouts(IntEnum):
    """Where a pod is after a change."""

    WAITING = 0
    ON_NODE = 1
    GONE = 2


WAITING: Final = Whereabouts.WAITING
ON_NODE: Final = Whereabouts.ON_NODE
GONE: Final = Whereabouts.GONE


@dataclass(slots=True)
class Interest:
    """What a component listens to; see `Listeners.add`."""

    listener: Listener
    kinds: tuple[str, ...]
    owned: bool
    claiming: bool
    only: Whereabouts | None
    asleep: bool


class Listeners:
    """The listeners to changes, in the order in which they came."""

    def __init__(self) -> None:
        self._interests: list[Interest] = []
        self._known: dict[tuple[str, bool], tuple[Listener, ...]] = {}
        self._known_of_pods: dict[tuple[bool, bool, Whereabouts], tuple[Listener, ...]] = {}

    def add(
        self,
        listener: Listener,
        *kinds: str,
        owned: bool = False,
        claiming: bool = False,
        only: Whereabouts | None = None,
        asleep: bool = False,
    ) -> Interest:
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
        asleep : bool
            Not before `wake` is called.

        Returns
        -------
        Interest
        """
        interest = Interest(listener, kinds, owned, claiming, only, asleep)
        self._interests.append(interest)
        self._forget()
        return interest

    def wake(self, interest: Interest) -> None:
        """Have a listener called from now on, in its old place among the others."""
        if interest.asleep:
            interest.asleep = False
            self._forget()

    def _forget(self) -> None:
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
                if not each.asleep and kind in each.kinds and (is_owned or not each.owned)
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
                if not each.asleep
                and pod.kind in each.kinds
                and (is_owned or not each.owned)
                and (claims or not each.claiming)
                and each.only in (None, whereabouts)
            )
        return found
