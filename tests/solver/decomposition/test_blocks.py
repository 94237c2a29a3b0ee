"""Pieces of one search side by side: the same results as one after the other."""

import multiprocessing
import os
import signal
import threading
import time

import pytest

from kubestow.models.errors import InternalError
from kubestow.solver.decomposition.blocks import in_processes, side_by_side_for
from kubestow.solver.options import SolveOptions
from kubestow.solver.refill.search import one_by_one


def square(number):
    return number * number


def die(number):
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt_parent(number):
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(60)


def wait(number):
    time.sleep(60)


def slots_here(queue):
    queue.put(side_by_side_for(SolveOptions(workers=2))[0])


def test_processes_give_the_results_of_one_after_the_other():
    assert dict(in_processes(2)(square, 5, range(5))) == dict(one_by_one(square, 5, range(5)))


def test_a_process_that_is_killed_ends_the_run():
    with pytest.raises(InternalError):
        list(in_processes(2)(die, 2, range(2)))


def test_ctrl_c_reaches_who_waits_for_the_pieces():
    with pytest.raises(KeyboardInterrupt):
        list(in_processes(1)(interrupt_parent, 1, range(1)))


def test_ctrl_c_that_another_thread_hears_reaches_a_process_that_is_just_starting(monkeypatch):
    """The signal goes to any thread that does not hold it back, and Python's handler runs at once."""
    context = multiprocessing.get_context("fork")
    start = context.Process.start
    heard, ended = threading.Event(), threading.Event()
    listener = threading.Thread(target=ended.wait, daemon=True)
    listener.start()

    def interrupted(process):
        start(process)
        pass_on = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, lambda *given: (pass_on(*given), heard.set()))
        os.kill(os.getpid(), signal.SIGINT)
        while not heard.is_set():  # the handler runs here, whichever thread the signal came to
            time.sleep(0.001)

    monkeypatch.setattr(context.Process, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(in_processes(1)(wait, 1, range(1)))
    ended.set()
    listener.join()


@pytest.mark.parametrize("workers, slots", [(1, 1), (2, 2)])
def test_a_piece_for_each_worker_runs_at_once(workers, slots):
    found, run = side_by_side_for(SolveOptions(workers=workers))
    assert found == slots
    assert (run is one_by_one) == (slots == 1)


def test_a_process_for_a_piece_starts_none():
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=slots_here, args=(queue,), daemon=True)
    process.start()
    assert queue.get(timeout=600) == 1
    process.join()
