"""Long calls that Ctrl-C ends."""

import signal
import threading

import pytest

from kubestow.solver.interrupting import run_interruptibly


def test_the_result_comes_back():
    assert run_interruptibly(lambda: 7, lambda: None) == (7, False)


def test_an_error_is_raised_where_it_was_called():
    def fail():
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing"):
        run_interruptibly(fail, lambda: None)


def test_an_interrupt_stops_the_work_and_keeps_its_result():
    asked = threading.Event()

    def work():
        while not asked.wait(0.1):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return "best so far"

    assert run_interruptibly(work, asked.set) == ("best so far", True)
