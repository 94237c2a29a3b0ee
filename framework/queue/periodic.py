"""What the queue does by itself as time passes: ticks at whole seconds, flushes and time events every 30."""

from collections.abc import Iterator
from typing import Final

from .scheduling_queue import SchedulingQueue

TICK: Final = "tick"
FLUSH: Final = "flush"
TIME: Final = "time"


def next_work(queue: SchedulingQueue) -> tuple[int, str] | None:
    """Return when the queue next has something to do by itself, and what; None if nothing waits for time.

    At one time the tick comes before the flush, and the flush before the time event.
    """
    if not queue.has_waiting:
        return None
    times = ((queue.next_tick(), 0, TICK), (queue.next_flush(), 1, FLUSH), (queue.next_time(), 2, TIME))
    due = [(time, rank, name) for time, rank, name in times if time is not None]
    if not due:
        return None
    time, _, name = min(due)
    return time, name


def do(queue: SchedulingQueue, name: str) -> None:
    """Do some periodic work."""
    if name == TICK:
        queue.tick()
    elif name == FLUSH:
        queue.flush()
    else:
        queue.pass_time()


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
        do(queue, name)
        yield due
    queue.clock.now = time
