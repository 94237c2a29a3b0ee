"""kubestow simulate: documents, files, exit codes."""

import json
from pathlib import Path

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


FULL = pytest.param("/dev/full", marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="not here"))
SMALL = "{kind: Scenario, duration: 1m, cluster: {nodes: [{allocatable: {cpu: 1}}]}}"


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return str(path)


@pytest.mark.parametrize("option", ["--log", "--metrics"])
@pytest.mark.parametrize("place", ["", "no/such/folder/x", "small.yaml/x", FULL])
def test_a_file_that_cannot_be_written_is_one_line(option, place, scenario, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke(scenario, option, place)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"kubestow: error: {place}: cannot be written: ")
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["small.yaml"]


def test_a_run_that_fails_leaves_the_earlier_files_alone(tmp_path, monkeypatch):
    log, metrics = tmp_path / "log.jsonl", tmp_path / "metrics.prom"
    log.write_text("earlier\n")

    def fail(runs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kubestow.simulation.prometheus.prometheus", fail)
    result = invoke("--log", str(log), "--metrics", str(metrics))
    assert result.exit_code == 2
    assert log.read_text() == "earlier\n"
    assert list(tmp_path.iterdir()) == [log]


def test_a_link_keeps_its_place_and_a_file_its_mode(scenario, tmp_path):
    target, link = tmp_path / "metrics.prom", tmp_path / "link"
    target.write_text("earlier\n")
    target.chmod(0o640)
    link.symlink_to(target)
    assert invoke(scenario, "--metrics", str(link)).exit_code == 0
    assert link.is_symlink()
    assert "scheduler_pending_pods" in target.read_text()
    assert target.stat().st_mode & 0o777 == 0o640


def test_the_log_may_go_to_standard_output():
    lines = invoke("--log", "-", "-o", "json").stdout.splitlines()
    assert json.loads(lines[0])["t"] == 0


def test_log_and_metrics_are_two_files(scenario, tmp_path):
    result = invoke(scenario, "--log", str(tmp_path / "x"), "--metrics", str(tmp_path / "." / "x"))
    assert result.exit_code == 2
    assert "--log and --metrics cannot be one file" in result.stderr


def test_a_folder_of_scenarios_is_one_line(tmp_path):
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(SMALL)
    result = invoke(str(tmp_path))
    assert result.exit_code == 2
    complaint = "is a folder of 2 files; what is needed is one scenario"
    assert result.stderr == f"kubestow: error: {tmp_path}: {complaint}\n"


@pytest.mark.parametrize(
    "content, words",
    [
        pytest.param(None, "no such file", id="a file that is not there"),
        pytest.param("kind: Scenario", "duration: required", id="half a scenario"),
        pytest.param("[", "YAML", id="no YAML"),
        pytest.param(
            "{kind: Scenario, duration: 1m, cluster: {objects: [{apiVersion: v1, kind: Pod, "
            "metadata: {name: p}, spec: {workloadRef: {name: w, podGroup: g}, containers: [{name: m}]}}]}}",
            "spec.workloadRef: groups of v1alpha1 are not simulated",
            id="a group of v1alpha1",
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


WITHOUT_NODES = """
kind: Scenario
duration: 30s
cluster: {}
events:
- at: 0s
  add: [{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: main}]}}]
"""


@pytest.mark.parametrize("scheduler", ["greedy", "optimal"])
def test_a_cluster_without_nodes_runs_to_its_end(scheduler, tmp_path):
    path = tmp_path / "empty.yaml"
    path.write_text(WITHOUT_NODES)
    result = invoke(str(path), "--scheduler", scheduler, "-o", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["runs"][scheduler]["pods"]["waiting"] == 1


def test_pods_whose_workloads_the_cluster_lacks_are_told(tmp_path):
    owner = "ownerReferences: [{kind: ReplicaSet, name: web, controller: true}]"
    pod = (
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: p, {owner}}}, spec: {{containers: [{{name: c}}]}}}}"
    )
    nodes = "nodes: [{allocatable: {cpu: 1}}]"
    file = tmp_path / "s.yaml"
    file.write_text(f"kind: Scenario\nname: s\nduration: 1s\ncluster: {{{nodes}, objects: [{pod}]}}\n")
    result = CliRunner().invoke(main, ["simulate", str(file), "-o", "json"])
    assert result.exit_code == 0
    (note,) = (line for line in result.stderr.splitlines() if "note" in line)
    assert note.startswith(
        "kubestow: note: s: 1 pod depends on ReplicaSets, of which the input has none, so nothing"
    )
