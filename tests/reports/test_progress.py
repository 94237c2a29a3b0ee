"""Live progress: what is said, and that short runs say nothing."""

import io
import threading

import pytest

from kubestow.reports.progress import PLAIN_PACE, TERMINAL_PACE, ProgressReport, Step, describe
from kubestow.solver.options import Progress

NEWS = Progress(tier="scheduled[priority=0]", sense="max", incumbent=12, bound=15, seconds=3.0)


class Ear(io.StringIO):
    """A stream that tells when something was written."""

    def __init__(self, terminal: bool = False) -> None:
        super().__init__()
        self.heard = threading.Event()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        written = super().write(text)
        if "gap 3" in self.getvalue():
            self.heard.set()
        return written


def test_a_line_tells_tier_incumbent_bound_and_gap():
    assert describe(NEWS, 3.2) == "3 s  scheduled[priority=0]: best 12, bound 15, gap 3"


def test_what_is_not_known_yet_is_left_out():
    assert describe(Progress("fallback", "min", None, 0, 1.0), 1.0) == "1 s  fallback: bound 0"
    assert describe(Progress("fallback", "min", None, None, 1.0), 1.0) == "1 s  fallback"
    assert describe(None, 4.0) == "4 s  starting"


@pytest.mark.parametrize(
    "step, words",
    [
        pytest.param(
            Step("greedy, pass 1: pods", 1200, 8152), "greedy, pass 1: 1,200 of 8,152 pods", id="pods"
        ),
        pytest.param(Step("greedy, pass 1: pods", 0, 8152), "greedy, pass 1: 0 of 8,152 pods", id="none yet"),
        pytest.param(Step("validating: objects", 512), "validating: 512 objects", id="of a number unknown"),
        pytest.param(Step("finding classes: pods"), "finding classes", id="nothing is counted"),
        pytest.param(
            Step("asking the cluster what it serves"),
            "asking the cluster what it serves",
            id="nothing can be counted",
        ),
        pytest.param(
            Step("reading a: b.yaml: bytes", 3 << 20, 9 << 20), "reading a: b.yaml: 3 of 9 MiB", id="bytes"
        ),
    ],
)
def test_a_step_tells_how_much_of_what_is_done(step, words):
    assert describe(step, 12.0) == f"12 s  {words}"


def test_a_watched_step_is_written():
    file = Ear()
    with ProgressReport(file, pace=(0.0, 0.001)) as progress:
        progress.watch("greedy, pass 1: pods", 1, 2)
        progress(NEWS)
        assert file.heard.wait(10)


def test_a_short_run_says_nothing():
    file = Ear()
    with ProgressReport(file) as progress:
        progress(NEWS)
    assert file.getvalue() == ""


def test_a_long_run_writes_plain_lines():
    file = Ear()
    with ProgressReport(file, pace=(0.0, 0.001)) as progress:
        progress(NEWS)
        assert file.heard.wait(10)
    assert "0 s  scheduled[priority=0]: best 12, bound 15, gap 3\n" in file.getvalue()


def test_a_terminal_renews_one_line(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    file = Ear(terminal=True)
    with ProgressReport(file, pace=(0.0, 0.001)) as progress:
        progress(NEWS)
        assert file.heard.wait(10)


def test_a_terminal_is_told_sooner_than_a_log():
    assert TERMINAL_PACE < PLAIN_PACE
