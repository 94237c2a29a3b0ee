"""Two versions timed in turns; here they are shell scripts."""

import os
import sys

import pytest

from kubestow.models.errors import KubestowError
from kubestow.solver.regress.timing import Installed, in_turns, other_kubestow

BUSY = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"


def installed(script, version):
    return Installed(("sh", "-c", script), version)


def timed(ours, other, *, repeats=1, max_ratio=2.0, calls=("round",)):
    return in_turns(
        installed(ours, "2.0"),
        installed(other, "1.0"),
        {name: () for name in calls},
        repeats=repeats,
        max_ratio=max_ratio,
        watch=lambda row: None,
    )


def test_a_version_that_works_far_more_is_slower_in_each_round_and_in_all():
    timing = timed(BUSY, "exit 0")
    assert timing.slower == ("round", "all together")
    assert not timing.holds


def test_a_version_that_works_far_less_is_not():
    timing = timed("exit 0", BUSY)
    assert timing.slower == ()
    assert timing.holds
    assert timing.instances[0].ratio < 1


def test_without_a_ratio_nothing_is_too_slow():
    assert timed(BUSY, "exit 0", max_ratio=None).slower == ()


def test_the_sum_comes_last_and_has_no_name():
    rows = timed("exit 0", "exit 0", calls=("a", "b")).instances
    assert [row.instance for row in rows] == ["a", "b", None]


def test_they_take_turns_and_who_begins_changes(tmp_path):
    log = tmp_path / "log"
    timed(f"echo ours >> {log}", f"echo other >> {log}", repeats=3)
    assert log.read_text().split() == ["ours", "other", "other", "ours", "ours", "other"]


def test_a_version_that_fails_is_told_with_its_last_line_and_has_no_seconds():
    timing = timed("exit 0", "echo first >&2; echo no such option >&2; exit 2")
    [row] = timing.instances
    assert row.error == "kubestow 1.0 failed: no such option"
    assert (row.seconds, row.other_seconds, row.ratio) == (None, None, None)
    assert not timing.holds


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_an_executable_of_kubestow_is_one(tmp_path):
    path = script(tmp_path / "kubestow", '[ "$1" = --version ] && echo "kubestow, version 0.0.9"')
    assert other_kubestow(path) == Installed((path,), "0.0.9")


def test_an_interpreter_that_has_it_is_one():
    found = other_kubestow(sys.executable)
    assert found.command == (sys.executable, "-P", "-m", "kubestow")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("echo 'other, version 1'", id="another program"),
        pytest.param("exit 1", id="a program that fails"),
        pytest.param("", id="a program that says nothing"),
    ],
)
def test_anything_else_is_refused(text, tmp_path):
    path = script(tmp_path / "other", text)
    with pytest.raises(KubestowError, match=r"--against: .*other is neither a Python"):
        other_kubestow(path)


def test_a_path_to_nothing_is_refused(tmp_path):
    with pytest.raises(KubestowError, match="--against: "):
        other_kubestow(os.fspath(tmp_path / "nowhere"))
