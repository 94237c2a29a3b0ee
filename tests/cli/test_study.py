"""`kubestow study`: many instances, both schedulers, one table."""

import csv
import io
import json

import pytest
from click.testing import CliRunner
from support.builders import cluster, node, pod

from kubestow.cli import main
from kubestow.models.study import Study
from kubestow.reports.study import CSV_COLUMNS, conclusion
from kubestow.solver.api import solve_both
from kubestow.solver.options import SolveOptions
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


def test_no_instance_is_bad_usage():
    assert CliRunner().invoke(main, ["study"]).exit_code == 2


def test_an_empty_study_has_a_conclusion_too():
    assert conclusion(Study(instances=(), interrupted=True)).startswith("0 instances: 0 proven optimal")
