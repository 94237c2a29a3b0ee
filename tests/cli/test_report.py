"""kubestow report: documents in, pages and figures out, exit codes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.builders import cluster, manifest, node, pod
from support.paths import DATA

from kubestow.cli import main
from kubestow.reports.document import as_yaml
from kubestow.solver.plans.reopen import reopen


def invoke(*arguments, text=None, code=0):
    result = CliRunner().invoke(main, arguments, input=text)
    assert result.exit_code == code, result.output
    return result


OBJECTS = cluster(node("n", zone="east"), pod("fits").req(cpu="1"), pod("waits").req(cpu="9"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    (folder / "cluster.yaml").write_text(manifest(OBJECTS))
    (folder / "other.yaml").write_text(manifest(cluster(node("m"))))
    plan = invoke("solve", str(folder / "cluster.yaml"), "--scheduler", "greedy", "-o", "json").stdout
    (folder / "plan.json").write_text(plan)
    comparison = invoke("compare", str(folder / "cluster.yaml"), "-o", "json").stdout
    (folder / "comparison.json").write_text(comparison)
    log = str(folder / "log.jsonl")
    (folder / "simulation.json").write_text(invoke("simulate", "--log", log, "-o", "json").stdout)
    versions = ["--kube-version", "1.34", "--against", "1.36"]
    upgrade = invoke("compare", str(folder / "cluster.yaml"), *versions, "-o", "json").stdout
    (folder / "upgrade.json").write_text(upgrade)
    study = invoke("study", str(folder / "cluster.yaml"), "--workers", "1", "-o", "json").stdout
    (folder / "study.json").write_text(study)
    return folder


@pytest.mark.parametrize("name", ["plan", "comparison", "upgrade", "study", "simulation"])
def test_a_document_of_yaml_makes_the_same_page(name, folder):
    text = (folder / f"{name}.json").read_text()
    (folder / f"{name}.yaml").write_text(as_yaml(json.loads(text)))
    pages = [invoke("report", str(folder / f"{name}.{end}"), "-o", "-").stdout for end in ("json", "yaml")]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("name", ["plan.json", "comparison.json", "upgrade.json"])
def test_the_instance_that_a_plan_names_is_found(name, folder):
    page = folder / "page.html"
    result = invoke("report", str(folder / name), "-o", str(page))
    assert (result.stdout, result.stderr) == ("", "")
    assert "What is requested of the cluster" in page.read_text()


def test_each_plan_of_an_upgrade_is_replayed_by_the_rules_of_its_release(folder, monkeypatch):
    seen = []

    def replayed(cluster, plan, watch):
        seen.append((cluster.snapshot.kube_version, plan.unschedulable[0].pod))
        return reopen(cluster, plan, watch)

    monkeypatch.setattr("kubestow.solver.plans.reopen.reopen", replayed)
    page = invoke("report", str(folder / "upgrade.json"), "-o", "-").stdout
    assert seen == [("1.34", "default/waits"), ("1.36", "default/waits")]
    assert "The upgrade changes nothing here" in page


def test_a_page_goes_to_standard_output(folder):
    text = (folder / "plan.json").read_text()
    assert invoke("report", "-", "-o", "-", text=text).stdout.startswith("<!doctype html>")


def test_a_page_can_do_without_the_instance(folder):
    result = invoke("report", str(folder / "plan.json"), "--instance", "none", "-o", "-")
    assert "This report was made without the instance" in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize(
    "name, words",
    [
        pytest.param("/no/such/file.yaml", "the instance /no/such/file.yaml is not here", id="a file"),
        pytest.param(
            "live:prod", "the cluster live:prod has moved on since; a snapshot", id="a live cluster"
        ),
    ],
)
def test_an_instance_that_is_gone_is_a_note(folder, name, words):
    plan = {**json.loads((folder / "plan.json").read_text()), "instance": name}
    result = invoke("report", "-", "-o", "-", text=json.dumps(plan))
    assert f"note: {words}" in result.stderr
    assert "This report was made without the instance" in result.stdout


def test_a_plan_that_does_not_hold_makes_no_page(folder):
    page = folder / "none.html"
    arguments = [str(folder / "plan.json"), "--instance", str(folder / "other.yaml"), "-o", str(page)]
    result = invoke("report", *arguments, code=1)
    assert "other.yaml: the plan fails its replay" in result.stderr
    assert "a report needs the plan's own instance" in result.stderr
    assert not page.exists()


def test_a_trace_of_two_files_is_an_instance():
    files = [str(DATA / "openb" / name) for name in ("nodes.csv", "pods.csv")]
    plan = invoke("solve", "--format", "openb", *files, "--scheduler", "greedy", "-o", "json").stdout
    named = [word for file in files for word in ("--instance", file)]
    for arguments in (named, []):
        page = invoke("report", "-", "--format", "openb", *arguments, "-o", "-", text=plan)
        assert "What is requested of the cluster" in page.stdout


def test_a_simulation_has_charts_with_its_log(folder):
    document, log = str(folder / "simulation.json"), str(folder / "log.jsonl")
    assert "uPlot" in invoke("report", document, "--log", log, "-o", "-").stdout
    assert "sums only" in invoke("report", document, "-o", "-").stdout


def test_the_racks_are_those_of_the_label_that_is_asked_for(folder):
    key = "topology.kubernetes.io/zone"
    arguments = ["report", str(folder / "plan.json"), "--topology-key"]
    assert "east" in invoke(*arguments, key, "-o", "-").stdout
    result = invoke(*arguments, "rack", "-o", "-", code=2)
    assert "no node has the label rack" in result.stderr


def test_a_figure_is_drawn_without_a_page(folder):
    figure = folder / "figure.png"
    invoke("report", str(folder / "comparison.json"), "--plot", str(figure))
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "arguments, told",
    [
        pytest.param(["plan.json"], "what is needed is -o FILE", id="nothing asked for"),
        pytest.param(["missing.json", "-o", "-"], "no such file", id="no such document"),
        pytest.param(["cluster.yaml", "-o", "-"], "cluster.yaml: must hold one document", id="no document"),
        pytest.param(["plan.json", "-o", "-", "--figure", "tiers"], "goes with --plot only", id="no plot"),
        pytest.param(["plan.json", "-o", "-", "--log", "log.jsonl"], "--log goes with", id="no simulation"),
        pytest.param(
            ["simulation.json", "-o", "-", "--instance", "none"],
            "--instance and --topology-key",
            id="no plan",
        ),
        pytest.param(
            ["plan.json", "-o", "-", "--instance", "cluster.yaml", "--instance", "other.yaml"],
            "--instance names one instance",
            id="two instances",
        ),
        pytest.param(["-", "-o", "-", "--instance", "-"], "can be read only once", id="one input for two"),
        pytest.param(["simulation.json", "-o", "-", "--log", "missing"], "no such file", id="no such log"),
        pytest.param(["simulation.json", "--plot", "f.svg"], "needs a simulation and its --log", id="no log"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(arguments, told, folder, monkeypatch):
    monkeypatch.chdir(folder)
    result = invoke("report", *arguments, code=2)
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert not Path("f.svg").exists()


@pytest.mark.parametrize(
    "text, told",
    [
        pytest.param("", "-: is empty; what is needed is a document that solve, compare", id="nothing"),
        pytest.param("{", "-: line 2: is not YAML", id="neither JSON nor YAML"),
        pytest.param('{"a": 1}\n{"a": 2}\n', "-: must hold one document", id="two documents"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_line(text, told):
    result = invoke("report", "-", "-o", "-", text=text, code=2)
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("output", [["-o", "page.html"], ["--plot", "f.svg"]])
def test_libraries_that_are_missing_are_named(output, folder, monkeypatch):
    monkeypatch.chdir(folder)
    for name in ("jinja2", "matplotlib"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    monkeypatch.delitem(__import__("sys").modules, "kubestow.reports.html.page", raising=False)
    result = invoke("report", "plan.json", *output, code=2)
    assert "pip install 'kubestow[report]'" in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_answer_stands_beside_the_reason_and_one_of_another_round_is_refused(folder):
    plan, page = str(folder / "plan.json"), folder / "why.html"
    answer = invoke("explain", str(folder / "cluster.yaml"), "waits", "--why", "-o", "json").stdout
    invoke("report", plan, "--why", "-", "-o", str(page), text=answer)
    assert "default/waits cannot run by any plan: 9 cpu wanted" in page.read_text()
    document = json.loads(answer)
    for change, words in (
        ({"instance": "other"}, "-: instance: is 'other', and the plan is of "),
        ({"limits": {"maxEvictions": 0}}, "-: limits: are other limits on evictions than those of the plan"),
        ({"pods": 3}, "-: no document of `kubestow explain --why -o json`: "),
        ({"answer": "never"}, "-: no document of `kubestow explain --why -o json`: "),
    ):
        text = json.dumps({**document, **change})
        result = invoke("report", plan, "--why", "-", "-o", str(page), text=text, code=2)
        assert result.stderr.startswith(f"kubestow: error: {words}")
        assert result.stderr.count("\n") == 1
    result = invoke("report", plan, "--why", plan, "-o", str(page), code=2)
    assert "what is needed is `explain --why -o json`" in result.stderr
    result = invoke("report", str(folder / "study.json"), "--why", plan, "-o", str(page), code=2)
    assert "--why goes with a plan or a comparison only" in result.stderr
