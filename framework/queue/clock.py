"""Time in the queue: whole nanoseconds on a clock that is moved explicitly."""

from dataclasses import dataclass
from typing import Final

SECOND: Final = 1_000_000_000


def from_seconds(seconds: float) -> int:
    """Return nanoseconds, rounded to the nearest."""
    return round(seconds * SECOND)


def to_seconds(time: int) -> int | float:
    """Return seconds, as a whole number where they are one."""
    whole, rest = divmod(time, SECOND)
    return whole if rest == 0 else time / SECOND


def floor_to_second(time: int) -> int:
    """Return the whole second that a time lies in."""
    return time - time % SECOND


@dataclass(slots=True)
class VirtualClock:
    """A clock that stands still at `now` (nanoseconds) until it is moved."""

    now: int = 0
