"""Long calls that Ctrl-C ends."""

import subprocess
import sys

import pytest

from kubestow.solver.model.interrupts import run_interruptibly


def test_the_result_comes_back():
    assert run_interruptibly(lambda: 7, lambda: None) == (7, False)


def test_an_error_is_raised_where_it_was_called():
    def fail():
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing"):
        run_interruptibly(fail, lambda: None)


# A process of its own: the signals must reach nobody else who runs tests.
SCRIPT = """
import signal, threading
from kubestow.solver.model.interrupts import run_interruptibly, run_or_leave

asked = threading.Event()

def work():
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    return asked.wait(60)

print(run_interruptibly(work, asked.set))
"""


def test_an_interrupt_that_another_thread_takes_stops_the_work_and_keeps_its_result():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "(True, True)"


def test_work_that_is_worth_nothing_once_interrupted_ends_in_an_interrupt():
    script = SCRIPT.replace("print(run_interruptibly(work, asked.set))", LEAVING)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["7", "left"]


LEAVING = """
print(run_or_leave(lambda: 7, asked.set))
try:
    run_or_leave(work, asked.set)
except KeyboardInterrupt:
    print("left")
"""


TWICE = """
import os, signal, time
from kubestow.solver.model.interrupts import run_to_the_end

heard = []

def note(number, frame):
    heard.append(number)
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, note)

def work(times):
    for time_ in range(1, times + 1):
        os.kill(os.getpid(), signal.SIGINT)
        while len(heard) < time_:
            time.sleep(0.001)
    return "done"

print(run_to_the_end(lambda: work(1)))
heard.clear()
try:
    run_to_the_end(lambda: work(2))
except KeyboardInterrupt:
    print("left")
"""


def test_short_work_is_done_after_one_interrupt_and_left_at_the_second():
    run = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, check=True)
    assert run.stdout == "('done', True)\nleft\n"
