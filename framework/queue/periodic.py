"""What the queue does by itself as time passes: ticks at whole seconds, flushes every 30 seconds."""

from collections.abc import Iterator
from typing import Final

from .scheduling_queue import SchedulingQueue

TICK: Final = "tick"
FLUSH: Final = "flush"


def next_work(queue: SchedulingQueue) -> tuple[int, str] | None:
    """Return when the queue next has something to do by itself, and what; None if nothing waits for time.

    At one time the tick comes before the flush.
    """
    times = ((queue.next_tick(), 0, TICK), (queue.next_flush(), 1, FLUSH))
    due = [(time, rank, name) for time, rank, name in times if time is not None]
    if not due:
        return None
    time, _, name = min(due)
    return time, name


def work_until(queue: SchedulingQueue, time: int) -> Iterator[tuple[int, str]]:
    """Move the clock forward and do all periodic work on the way.

    Parameters
    ----------
    queue : SchedulingQueue
    time : int
        Where the clock stops (nanoseconds); work that is due right then is done.

    Yields
    ------
    (int, str)
        When something was done, and what, after it was done.
    """
    while (due := next_work(queue)) is not None and due[0] <= time:
        when, name = due
        queue.clock.now = when
        if name == TICK:
            queue.tick()
        else:
            queue.flush()
        yield due
    queue.clock.now = time
