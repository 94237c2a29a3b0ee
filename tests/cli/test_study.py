"""`kubestow study`: many instances, both schedulers, one table."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.builders import cluster, node, pod
from support.sweeps import few_or_all

from kubestow.cli import main
from kubestow.models.errors import KubestowError
from kubestow.models.study import Study
from kubestow.reports.study import CSV_COLUMNS, conclusion
from kubestow.solver.api import solve_both
from kubestow.solver.options import SolveOptions
from kubestow.solver.study import _solve as solve_instance  # what engines run
from kubestow.solver.study import study

NAMES = ["guard-service", "min-domains-upgrade", "zone-spread-dead-end"]


def run(*arguments):
    result = CliRunner().invoke(main, ["study", *arguments])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def document():
    return json.loads(run(*NAMES, "-o", "json", "--workers", "1").stdout)


def test_every_instance_has_a_row_in_the_order_given(document):
    assert [row["instance"] for row in document["instances"]] == NAMES
    assert all(row["status"] == "OPTIMAL" for row in document["instances"])
    assert document["interrupted"] is False


def test_rows_say_what_both_schedulers_reach(document):
    row = document["instances"][2]
    assert (row["nodes"], row["pending"], row["firstDifference"]) == (6, 9, "scheduled[priority=100]")
    tier = next(t for t in row["tiers"] if t["name"] == row["firstDifference"])
    assert tier == {
        "name": "scheduled[priority=100]",
        "sense": "max",
        "optimal": 7,
        "bound": 7,
        "gap": 0,
        "proven": True,
        "greedy": 5,
    }


def test_csv_has_a_line_for_each_tier(document):
    lines = list(csv.DictReader(io.StringIO(run(*NAMES, "-o", "csv", "--workers", "1").stdout)))
    assert list(lines[0]) == list(CSV_COLUMNS)
    assert len(lines) == sum(len(row["tiers"]) for row in document["instances"])
    told = {(line["instance"], line["tier"]): line["optimal"] for line in lines}
    assert told["zone-spread-dead-end", "scheduled[priority=100]"] == "7"
    assert {line["proven"] for line in lines} == {"true"}


def test_the_table_says_where_greedy_falls_behind():
    answer = run(*NAMES)
    assert "3 instances: 3 proven optimal" in answer.stdout
    assert "scheduled[priority=100]" in answer.stdout
    assert "3 of 3" in answer.stderr


def without_times(result):
    return [row.model_copy(update={"seconds": 0, "greedy_seconds": 0}) for row in result.instances]


@pytest.fixture(scope="module")
def rounds():
    """Three rounds of one node in which one pod more waits each time."""
    return [cluster(node("a", cpu="2"), pod("p").req(cpu="1").times(k), name=f"round-{k}") for k in (1, 2, 3)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "options", [SolveOptions(workers=2), SolveOptions(workers=2, engine="dask")], ids=["processes", "dask"]
)
@pytest.mark.slow
def test_every_engine_gives_the_same_study(rounds, options):
    if options.engine == "dask":
        pytest.importorskip("distributed")
    alone = study(rounds, SolveOptions(workers=1))
    assert without_times(study(rounds, options)) == without_times(alone)
    assert [row.tiers[0].optimal for row in alone.instances] == [1, 2, 2]


def test_a_worker_has_the_solver_before_the_time_of_an_instance_begins(rounds, monkeypatch):
    """A process that comes without it, as on Dask, would count its import as the first instance's."""
    came = []

    def solve_both(*_):
        came.append("solved")
        raise KubestowError("enough is known")

    monkeypatch.setattr("kubestow.solver.study.load_solver", lambda: came.append("loaded"))
    monkeypatch.setattr("kubestow.solver.study.solve_both", solve_both)
    solve_instance(SolveOptions(workers=1), rounds[0], lambda news: None)
    assert came == ["loaded", "solved"]


def test_a_row_is_what_solving_the_instance_gives(rounds):
    [row] = study(rounds[2:], SolveOptions(workers=1)).instances
    optimal, greedy = solve_both(rounds[2], SolveOptions(workers=1))
    assert [(t.name, t.optimal, t.bound, t.greedy) for t in row.tiers] == [
        (o.name, o.value, o.bound, g.value) for o, g in zip(optimal.tiers, greedy.tiers, strict=True)
    ]


def test_an_interrupted_study_says_so(rounds, monkeypatch):
    def interrupt(row):
        raise KeyboardInterrupt

    result = study(rounds, SolveOptions(workers=1), interrupt)
    assert result.interrupted
    assert [row.instance for row in result.instances] == ["round-1"]
    monkeypatch.setattr("kubestow.solver.study.study", lambda *_: result)
    answer = CliRunner().invoke(main, ["study", *NAMES, "-o", "json"])
    assert answer.exit_code == 130
    assert json.loads(answer.stdout)["interrupted"] is True


BROKEN = "apiVersion: v1\nkind: Node\nmetadata: {}\n"


@pytest.fixture
def broken(tmp_path):
    file = tmp_path / "broken.yaml"
    file.write_text(BROKEN)
    return str(file)


def test_an_instance_that_cannot_be_read_has_a_row_and_the_others_theirs(broken):
    result = CliRunner().invoke(main, ["study", NAMES[0], broken, NAMES[1], "-o", "json"])
    assert result.exit_code == 1
    rows = json.loads(result.stdout)["instances"]
    assert [row["status"] for row in rows] == ["OPTIMAL", "ERROR", "OPTIMAL"]
    assert rows[1]["instance"] == broken
    assert rows[1]["error"].startswith(f"{broken}: Node")
    assert result.stderr.endswith("1 of 3 instances could not be solved\n")


def test_a_row_that_failed_is_in_the_table_and_in_csv(broken):
    table = CliRunner().invoke(main, ["study", NAMES[0], broken]).stdout
    assert "2 instances: 1 proven optimal, 0 where greedy falls behind, 1 failed" in " ".join(table.split())
    answer = CliRunner().invoke(main, ["study", NAMES[0], broken, "-o", "csv"]).stdout
    [line] = [line for line in csv.DictReader(io.StringIO(answer)) if line["status"] == "ERROR"]
    assert (line["instance"], line["tier"]) == (broken, "")
    assert line["error"].startswith(f"{broken}: Node")


def test_nothing_that_can_be_read_is_bad_input(broken):
    result = CliRunner().invoke(main, ["study", broken, broken])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"kubestow: error: {broken}: Node")


def test_an_instance_that_is_refused_or_meets_a_bug_has_a_row(rounds, monkeypatch):
    real = solve_both

    def solve(snapshot, options):
        if snapshot.name == "round-1":
            raise KubestowError("round-1: is not solved")
        if snapshot.name == "round-2":
            raise ZeroDivisionError("by zero")
        return real(snapshot, options)

    monkeypatch.setattr("kubestow.solver.study.solve_both", solve)
    result = study(rounds, SolveOptions(workers=1))
    assert [(row.status, row.error) for row in result.instances] == [
        ("ERROR", "round-1: is not solved"),
        ("ERROR", "a bug in kubestow: ZeroDivisionError: by zero"),
        ("OPTIMAL", None),
    ]
    assert not result.interrupted


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.slow
def test_progress_that_is_not_heard_costs_no_row():
    command = [sys.executable, "-m", "kubestow", "study", *NAMES[:2], "--workers", "1", "-o", "json"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            command, check=False, stdout=subprocess.PIPE, stderr=full, text=True, timeout=120
        )
    assert ended.returncode == 0
    assert [row["status"] for row in json.loads(ended.stdout)["instances"]] == ["OPTIMAL"] * 2


ENDS = {"a worker is killed": signal.SIGKILL, "a worker is terminated": signal.SIGTERM}


def children_of(process):
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
@pytest.mark.slow
@pytest.mark.parametrize("after", range(1, few_or_all(2, 6)))
@pytest.mark.parametrize(
    "whom",
    ["the study is interrupted", "a worker is killed", "a worker is terminated", "a worker is interrupted"],
)
def test_no_row_that_was_done_is_lost(whom, after):
    command = [sys.executable, "-m", "kubestow", "study", *NAMES * 2, "--workers", "2", "-o", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith(f"kubestow: {after} of 6"):
                break
        if whom == "the study is interrupted":
            process.send_signal(signal.SIGINT)
        else:
            number = ENDS.get(whom, signal.SIGINT)
            for pid in children_of(process.pid)[:1]:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
        document = json.loads(process.stdout.read())
        code = process.wait()
    rows = document["instances"]
    assert len(rows) >= after
    if whom in ENDS:
        assert len(rows) == 6
        assert code == any(row["status"] == "ERROR" for row in rows)
    else:
        assert all(row["status"] != "ERROR" for row in rows)
        assert code == (130 if document["interrupted"] else 0)


def test_no_instance_is_bad_usage():
    assert CliRunner().invoke(main, ["study"]).exit_code == 2


def test_an_empty_study_has_a_conclusion_too():
    assert conclusion(Study(instances=(), interrupted=True)).startswith("0 instances: 0 proven optimal")
