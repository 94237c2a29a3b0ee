"""KEP-3990's event that nothing happened but that time passed."""

from datetime import datetime
from typing import ClassVar, Final

from ...models.base import Timestamp
from ...models.meta import KubeObject
from .changes import Occurrence
from .events import Action, ClusterEvent, Resource

TIME_PASSED: Final = ClusterEvent(Resource.TIME, Action.UPDATE)


class Moment(KubeObject):
    """The time, as the object of a time event."""

    namespaced: ClassVar[bool] = False

    kind: str = "Time"
    now: Timestamp


def time_event(now: datetime) -> Occurrence:
    """Return the event that time has passed."""
    return Occurrence(TIME_PASSED, None, Moment(now=now))
