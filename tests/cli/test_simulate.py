"""kubestow simulate: documents, files, exit codes."""

import json

import pytest
from click.testing import CliRunner

from kubestow.cli import main


def invoke(*arguments):
    return CliRunner().invoke(main, ["simulate", *arguments])


def test_without_a_scenario_the_first_bundled_one_runs():
    result = invoke()
    assert result.exit_code == 0
    assert "stockout-falls-back" in result.stdout
    assert "50.001 s" in result.stdout


def test_both_schedulers_side_by_side(tmp_path):
    log, metrics = tmp_path / "log.jsonl", tmp_path / "metrics.prom"
    result = invoke("--scheduler", "both", "-o", "json", "--log", str(log), "--metrics", str(metrics))
    assert result.exit_code == 0
    runs = json.loads(result.stdout)["runs"]
    assert [runs[name]["pods"]["scheduled"] for name in ("greedy", "optimal")] == [1, 1]
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert {entry["scheduler"] for entry in entries} == {"greedy", "optimal"}
    text = metrics.read_text()
    assert 'scheduler_schedule_attempts_total{scheduler="greedy",result="scheduled"} 1' in text
    assert text.count("# TYPE scheduler_pending_pods gauge") == 1


def test_yaml_is_one_document():
    assert invoke("-o", "yaml").stdout.startswith("---\nscenario: stockout-falls-back\n")


@pytest.mark.parametrize(
    "content, words",
    [
        pytest.param(None, "no such file", id="a file that is not there"),
        pytest.param("kind: Scenario", "duration: required", id="half a scenario"),
        pytest.param("[", "YAML", id="no YAML"),
        pytest.param(
            "{kind: Scenario, duration: 1m, cluster: {objects: [{apiVersion: v1, kind: Pod, "
            "metadata: {name: p}, spec: {schedulingGroup: {podGroupName: g}, containers: [{name: m}]}}]}}",
            "pod groups are not simulated",
            id="a pod group",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_2(tmp_path, content, words):
    path = tmp_path / "x.yaml"
    if content is not None:
        path.write_text(content)
    result = invoke(str(path))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert words.lower() in result.stderr.lower()
    assert len(result.stderr.splitlines()) == 1
