"""kubestow as a plugin of kubectl."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.fake_cluster import FakeCluster, kubeconfig, raw_objects, serving

from kubestow.cli import main
from kubestow.commands.plugin import PLUGIN, completions
from kubestow.instances import catalogue

NAME = "zone-spread-dead-end"

needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")


def run(*arguments, code=0):
    result = CliRunner().invoke(main, arguments, prog_name=PLUGIN)
    assert result.exit_code == code, result.output
    return result


@pytest.mark.parametrize("command", [[], *([name] for name in sorted(main.commands))])
def test_usage_and_examples_say_what_one_types(command):
    text = run(*command, "--help").stdout
    assert text.startswith(f"Usage: {' '.join([PLUGIN, *command])} [OPTIONS]")
    assert "\n  kubestow " not in text
    assert "| kubestow " not in text


def test_as_a_command_of_its_own_nothing_changes():
    run("solve", "--help")
    assert PLUGIN not in CliRunner().invoke(main, ["trace", "--help"], prog_name="kubestow").stdout


def test_a_fault_says_where_the_help_is():
    assert "(try 'kubectl kubestow solve --help')" in run("solve", "--bogus", code=2).stderr


@needs_kubectl
def test_without_an_instance_it_works_on_the_cluster(tmp_path, monkeypatch):
    with serving(FakeCluster(raw_objects(catalogue.path(NAME)))) as cluster:
        monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, f"http://127.0.0.1:{cluster.port}"))
        document = json.loads(run("solve", "--scheduler", "greedy", "-o", "json").stdout)
        assert cluster.lists("pods")
    assert document["instance"] == "live:fake"
    assert json.loads(run("trace", NAME, "-o", "json").stdout)


@needs_kubectl
def test_a_study_without_instances_is_of_the_cluster(tmp_path, monkeypatch):
    with serving(FakeCluster(raw_objects(catalogue.path(NAME)))) as cluster:
        config = kubeconfig(tmp_path, f"http://127.0.0.1:{cluster.port}", context="prod")
        monkeypatch.setenv("KUBECONFIG", config)
        result = run("study", "--context", "prod", "--workers", "1", "-o", "json")
    assert [row["instance"] for row in json.loads(result.stdout)["instances"]] == ["live:prod"]
    assert "--context goes with --live only" in run("study", NAME, "--context", "prod", code=2).stderr


@needs_kubectl
@pytest.mark.parametrize("command", ["solve", "compare", "trace", "study"])
def test_without_a_cluster_it_never_works_on_a_demo(tmp_path, monkeypatch, command):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    result = run(command, "--context", "none", code=2)
    assert result.stdout == ""
    assert "kubestow: error: kubectl proxy cannot start" in result.stderr


def test_a_simulation_needs_a_scenario():
    assert "what is needed is a SCENARIO" in run("simulate", code=2).stderr


@pytest.mark.parametrize(
    "words, lines",
    [
        pytest.param(["solve", "guard-t"], ["guard-training-job", "guard-two-needed", ":0"], id="Files, too"),
        pytest.param(["solve", "--prefer", "sp"], ["spread", ":4"], id="Choices, and no file"),
        pytest.param(["instances", "--pa"], ["--path\tPrint where the file is.", ":4"], id="Options"),
    ],
)
def test_what_kubectl_completes(words, lines):
    assert list(completions(main, words)) == lines


@needs_kubectl
def test_kubectl_finds_the_plugin_and_its_completion():
    scripts = Path(sys.executable).parent
    if not (scripts / "kubectl-kubestow").exists():
        pytest.skip("the scripts of the package are not installed beside this Python")
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}

    def kubectl(*words):
        answer = subprocess.run(
            ["kubectl", *words], capture_output=True, text=True, env=environment, check=True
        )
        return answer.stdout

    assert kubectl("kubestow", "instances", NAME, "--path").strip() == str(catalogue.path(NAME))
    assert kubectl("__complete", "kubestow", "solve", "guard-tr").split() == ["guard-training-job", ":0"]
