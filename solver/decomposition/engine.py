"""Where independent pieces of work run: here, in processes of this machine, or on a Dask cluster.

What an engine is: `solver.decomposition.base`.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from ...models.errors import InternalError, KubestowError, is_interrupt
from .base import Lost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.connection import Connection
    from types import FrameType

    from ..options import SolveOptions
    from .base import Engine, Watch, Work


def require_engine(options: SolveOptions) -> None:
    """Require that the engine is available, even for a round that turns out not to need it.

    Raises
    ------
    KubestowError
        Where it is not.
    """
    if options.engine == "dask":
        from .dask_engine import require_dask

        require_dask(options.dask)


@contextmanager
def engine_for(options: SolveOptions, pieces: int, *, apart: bool = False) -> Iterator[Engine]:
    """Open the engine that the options name, for so many pieces of work.

    `apart` asks for a process of its own for each piece even where only one runs at a time.
    """
    if options.engine == "dask":
        from .dask_engine import open_dask

        with open_dask(options.dask, min(options.workers, pieces)) as engine:
            yield engine
    else:
        slots = min(options.workers, pieces)
        yield Processes(max(slots, 1)) if apart or slots > 1 else Here()


class Here:
    """One piece after the other, in this process."""

    slots = 1

    def run(self, work: Work, shared: Any, pieces: Iterable[Any], watch: Watch) -> Iterator[tuple[int, Any]]:
        """See `Engine`."""
        for number, piece in enumerate(pieces):
            yield number, work(shared, piece, partial(watch, number))


class Processes:
    """Each piece in a process of its own.

    On Linux a process starts as a copy of this one and shares what is in memory; elsewhere `shared` is
    pickled for it.
    """

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        self._running: dict[Connection, tuple[int, Any]] = {}
        self._interrupted = False
        self._told: set[Connection] = set()

    def run(self, work: Work, shared: Any, pieces: Iterable[Any], watch: Watch) -> Iterator[tuple[int, Any]]:
        """See `Engine`."""
        waiting = enumerate(pieces)
        with self._passing_on_interrupts():
            while True:
                while not self._interrupted and len(self._running) < self.slots:
                    following = next(waiting, None)
                    if following is None:
                        break
                    self._start(work, shared, *following)
                if not self._running:
                    return
                ready = set(wait(list(self._running)))
                for connection in [c for c in self._running if c in ready]:
                    yield from self._hear(connection, watch)

    @contextmanager
    def _passing_on_interrupts(self) -> Iterator[None]:
        """Pass Ctrl-C on to the processes at a safe point, and leave none behind."""
        self._interrupted = False
        self._told.clear()
        in_charge = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, self._pass_on) if in_charge else None
        try:
            yield
        finally:
            if in_charge:
                signal.signal(signal.SIGINT, before)
            for connection, (_, process) in self._running.items():
                process.kill()
                process.join()
                connection.close()
            self._running.clear()

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        self._interrupted = True
        for connection, (_, process) in list(self._running.items()):
            self._told.add(connection)
            if process.is_alive():
                os.kill(process.pid, signal.SIGINT)

    def _start(self, work: Work, shared: Any, number: int, piece: Any) -> None:
        ours, theirs = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_serve, args=(theirs, work, shared, piece), daemon=True)
        # A process that has no handler of its own yet would take Ctrl-C for its parent.
        with _interrupts_held_back():
            process.start()
            theirs.close()
            self._running[ours] = number, process
        # Only this thread holds it back: another one may have heard it before the process was known.
        if self._interrupted and ours not in self._told and process.is_alive():
            os.kill(process.pid, signal.SIGINT)

    def _hear(self, connection: Connection, watch: Watch) -> Iterator[tuple[int, Any]]:
        number, process = self._running[connection]
        try:
            kind, content = connection.recv()
        except EOFError:
            process.join()
            kind = "interrupted" if self._interrupted else "result"
            content = Lost(InternalError(f"a process of the search ended with code {process.exitcode}"))
        if kind == "news":
            watch(number, content)
            return
        del self._running[connection]
        connection.close()
        process.join()
        if kind == "error":
            raise content
        if kind == "result":
            yield number, content


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let Ctrl-C wait, here and in processes that start meanwhile; these let it through when they hear."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


class _Speaker:
    """A process's connection to its parent; Ctrl-C never cuts a message in two."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._speaking = False
        self._told = False
        signal.signal(signal.SIGINT, self._interrupt)
        # To be ended is no Ctrl-C; the parent, which takes it for one, sees that a piece is lost.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def listen(self) -> None:
        """Let the interrupts through that were held back while the process started."""
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._speaking:
            self._told = True
        else:
            raise KeyboardInterrupt

    def news(self, item: Any) -> None:
        """Send news; an interruption meanwhile comes afterwards."""
        self._speaking = True
        self._connection.send(("news", item))
        self._speaking = False
        if self._told:
            self._told = False
            raise KeyboardInterrupt

    def last(self, kind: str, content: Any = None) -> None:
        """Send the last message; interruptions no longer matter."""
        self._speaking = True
        self._connection.send((kind, content))
        self._connection.close()


def _serve(connection: Connection, work: Work, shared: Any, piece: Any) -> None:
    """Do a piece of work in a process of its own and send the result or the error."""
    speaker = _Speaker(connection)
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # Ctrl-C in a terminal reaches the parent only, which passes it on once
    try:
        speaker.listen()
        result = work(shared, piece, speaker.news)
    except KeyboardInterrupt:
        speaker.last("interrupted")
    except (KubestowError, InternalError) as error:
        speaker.last("error", error)
    except Exception as error:
        import traceback

        if is_interrupt(error):
            speaker.last("interrupted")
        else:
            speaker.last("error", InternalError(f"in a process of the search:\n{traceback.format_exc()}"))
    else:
        speaker.last("result", result)
