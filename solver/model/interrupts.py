"""Long calls that Ctrl-C can end: they run in a thread, so that the interrupt reaches Python at once."""

from __future__ import annotations

import _thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# Seconds after which a Ctrl-C is heard at the latest.
LOOK_UP = 0.1


def run_interruptibly(work: Callable[[], T], stop: Callable[[], None]) -> tuple[T, bool]:
    """Do some work and return its result, and whether Ctrl-C came meanwhile.

    Parameters
    ----------
    work : callable
        Must return soon after `stop` was called; what it raises is raised here.
    stop : callable
        Called at every Ctrl-C; what it raises is raised here, and leaves the work alone.
    """
    found: list[T] = []
    failed: list[BaseException] = []
    done = _thread.allocate_lock()

    def target() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)
        finally:
            done.release()

    # A bare thread and a bare lock: what `threading` offers takes locks of its own in Python code, and an
    # interrupt in there leaves them taken or, in `join`, takes a running thread for finished (Python 3.11).
    interrupted = False
    done.acquire()
    _thread.start_new_thread(target, ())
    while True:
        try:
            while not (found or failed):
                # a signal that another thread takes does not wake this one: look up now and then
                done.acquire(timeout=LOOK_UP)
            break
        except KeyboardInterrupt:
            interrupted = True
            stop()
    if failed:
        raise failed[0]
    return found[0], interrupted


def run_to_the_end(work: Callable[[], T]) -> tuple[T, bool]:
    """Do some short work and return its result, and whether Ctrl-C came meanwhile.

    Raises
    ------
    KeyboardInterrupt
        At the second Ctrl-C.
    """
    asked = False

    def insist() -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    return run_interruptibly(work, insist)


def run_or_leave(work: Callable[[], T], stop: Callable[[], None]) -> T:
    """Do some work whose result is worth nothing once Ctrl-C came; otherwise as `run_interruptibly`.

    Raises
    ------
    KeyboardInterrupt
        When the work has ended, if it was to.
    """
    result, interrupted = run_interruptibly(work, stop)
    if interrupted:
        raise KeyboardInterrupt
    return result
