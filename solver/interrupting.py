"""Long calls that Ctrl-C can end: they run in a thread, so that the interrupt reaches Python at once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def run_interruptibly(work: Callable[[], T], stop: Callable[[], None]) -> tuple[T, bool]:
    """Do some work and return its result, and whether Ctrl-C came meanwhile.

    Parameters
    ----------
    work : callable
        Must return soon after `stop` was called; what it raises is raised here.
    stop : callable
        Called at every Ctrl-C.
    """
    found: list[T] = []
    failed: list[BaseException] = []
    done = threading.Event()

    def target() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=target)
    interrupted = False
    thread.start()
    # Not thread.join(): interrupted once, it takes the thread for finished while it still runs (Python 3.11).
    while not done.is_set():
        try:
            done.wait()
        except KeyboardInterrupt:
            interrupted = True
            stop()
    thread.join()
    if failed:
        raise failed[0]
    return found[0], interrupted
