"""Live progress: what is said, and that short runs say nothing."""

import io
import threading

import pytest

from kubestow.models.fetched import Fetched
from kubestow.reports.progress import PLAIN_PACE, TERMINAL_PACE, ProgressReport, describe, describe_fetch
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
    assert describe(None, 4.0) == "4 s  reading the round"


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


FETCHES = [
    (None, "3 s  reading cluster.json"),
    (Fetched("pods", 2, 1000, 6000), "3 s  pods: 2 pages, 1000 objects (6000 in all)"),
    (Fetched("nodes", 1, 1, 1), "3 s  nodes: 1 page, 1 object (1 in all)"),
    (Fetched("other names", 0, 7, 9), "3 s  other names: 7 of 9 objects written"),
]


@pytest.mark.parametrize("news, line", FETCHES)
def test_a_fetch_tells_what_it_lists(news, line):
    assert describe_fetch("reading cluster.json", news, 3.2) == line
