"""What the commands print, for people and for programs."""

import io
import json
import re
from dataclasses import replace
from functools import cache

import pytest
import yaml
from click.testing import CliRunner, Result
from rich.console import Group
from rich.text import Text
from support.builders import cluster, manifest, node, pod

from kubestow.cli import main
from kubestow.instances import catalogue
from kubestow.models.plan import Comparison, Plan
from kubestow.reports.layout import section, show

FIRST = catalogue.names()[0]


def run(*arguments: str, code: int = 0, **kwargs) -> Result:
    result = CliRunner().invoke(main, arguments, **kwargs)
    assert result.exit_code == code, result.output
    return result


def masked(text: str) -> str:
    return re.sub(r"\d+\.\d s\b", "0.0 s", text)


def test_solve_without_an_instance_solves_the_first():
    assert masked(run("solve").stdout) == masked(run("solve", FIRST).stdout)
    assert run("solve").stdout.startswith(
        f"{FIRST}: 9 of 9 pods scheduled, 1 eviction, 0 budget violations\n"
    )


def test_a_small_round_has_one_plan_whatever_the_workers():
    alone = masked(run("solve", FIRST, "--workers", "1").stdout)
    assert all(masked(run("solve", FIRST, "--workers", "6").stdout) == alone for _ in range(5))


def test_the_document_has_every_field_of_the_contract():
    document = json.loads(run("solve", "-o", "json").stdout)
    assert {
        "instance", "scheduler", "status", "tiers", "steps", "bindings", "nominations", "evictions",
        "allocations", "placements", "fallbacks", "unschedulable", "stats",
    } <= set(document)  # fmt: skip
    assert {"wallSeconds", "variables", "constraints", "verified", "admissible"} <= set(document["stats"])
    assert document["instance"] == FIRST
    assert document["status"] == "OPTIMAL"
    assert document["stats"]["verified"] is True


def test_yaml_is_the_same_document():
    as_json, as_yaml = (run("solve", "--scheduler", "greedy", "-o", form).stdout for form in ("json", "yaml"))
    documents = [json.loads(as_json), yaml.safe_load(as_yaml)]
    for document in documents:
        document["stats"].pop("wallSeconds")
    assert documents[0] == documents[1]


def test_several_instances_are_one_document_a_line():
    lines = run("solve", "guard-service", "min-domains-upgrade", "-o", "json").stdout.splitlines()
    assert [Plan.model_validate_json(line).instance for line in lines] == [
        "guard-service",
        "min-domains-upgrade",
    ]


def test_a_single_trace_is_one_line_as_well():
    [line] = run("trace", "guard-service", "-o", "json").stdout.splitlines()
    assert json.loads(line)["version"] == 1


def test_standard_input_is_an_instance():
    text = catalogue.path("guard-service").read_text()
    document = json.loads(run("solve", "-", "-o", "json", input=text).stdout)
    assert document["instance"] == "-"


def test_a_gate_switches_a_proposal_off():
    gate = "MinDomainsInPodTopologySpread=false"
    document = json.loads(run("solve", "min-domains-upgrade", "--feature-gates", gate, "-o", "json").stdout)
    assert len(document["bindings"]) == 1


@pytest.mark.parametrize("gates, admissible", [([], False), (["WorkloadAwarePreemption=false"], True)])
def test_part_of_a_group_that_is_evicted_whole_is_no_plan_unless_its_gate_is_off(gates, admissible):
    options = [word for gate in gates for word in ("--feature-gates", gate)]
    result = run("compare", "group-evicted-whole", "--workers", "1", *options, "-o", "json")
    document = json.loads(result.stdout)
    assert document["greedy"]["stats"]["admissible"] is admissible
    assert document["optimal"]["stats"]["admissible"]
    assert document["firstDifference"] is None


def test_an_unknown_gate_is_2_and_names_the_known_ones():
    result = run("solve", "--feature-gates", "MinDomain=false", code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("kubestow: error: --feature-gates: unknown gate 'MinDomain'; known are ")
    assert "MinDomainsInPodTopologySpread" in result.stderr


@pytest.mark.parametrize(
    "option, line",
    [
        (["--time-limit", "0"], "--time-limit: 0.0 is not a positive number of seconds"),
        (["--workers", "0"], "--workers: 0 is not a positive number"),
    ],
)
def test_options_out_of_range_are_one_line(option, line):
    result = run("solve", *option, code=2)
    assert result.stderr == f"kubestow: error: {line}\n"
    assert result.stdout == ""


def test_an_instance_that_is_nowhere_is_one_line():
    result = run("solve", "guard-servise", code=2)
    assert result.stderr == (
        "kubestow: error: guard-servise: no such file or folder, and no bundled instance 'guard-servise'; "
        "did you mean 'guard-service'?\n"
    )


@pytest.mark.parametrize("command", [["solve"], ["compare"], ["explain"]], ids=" ".join)
def test_what_an_input_lacks_is_told_on_stderr_and_in_the_document(command, tmp_path):
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": volumes, "tolerationz": []},
    }
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "status": {"capacity": {"cpu": "1"}},
    }
    file = tmp_path / "f.json"
    file.write_text(json.dumps(node) + json.dumps(pod))
    result = run(*command, str(file), *(["p"] if command == ["explain"] else []), "-o", "json")
    notes = json.loads(result.stdout)["notes"]
    assert ["tolerationz" in notes[0], "PersistentVolumeClaims" in notes[1], len(notes)] == [True, True, 2]
    for note in notes:  # each names the file once
        where = "" if note.startswith(f"{file}: ") else f"{file}: "
        assert f"kubestow: note: {where}{note}\n" in result.stderr


def test_an_answer_about_a_whole_input_has_no_notes():
    assert "notes" not in json.loads(run("solve", "guard-service", "-o", "json").stdout)


def test_an_ignored_kind_is_counted_on_stderr(tmp_path):
    file = tmp_path / "dump.yaml"
    ingress = "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: shop}\n"
    file.write_text(catalogue.path("guard-service").read_text() + ingress)
    result = run("solve", str(file), "-o", "json")
    assert "1 Ingress" in result.stderr
    json.loads(result.stdout)


@pytest.mark.parametrize(
    "arguments, taint",
    [
        pytest.param((), "taint(s)", id="1.36 without a word"),
        pytest.param(("--kube-version", "1.34"), "taint {x: y}", id="a minor release"),
        pytest.param(("--kube-version", "v1.34"), "taint {x: y}", id="with a leading v"),
        pytest.param(("--kube-version", "1.34.7"), "taint {x: y}", id="with a patch number"),
    ],
)
def test_the_release_decides_the_words(tmp_path, arguments, taint):
    file = tmp_path / "cluster.yaml"
    file.write_text(manifest(cluster(node("a").taint("x", "y"), pod("p"))))
    [cycle] = json.loads(run("trace", str(file), *arguments, "-o", "json").stdout)["cycles"]
    assert f"1 node(s) had untolerated {taint}." in cycle["message"]


def test_what_is_bundled_is_yaml_as_well():
    entries = yaml.safe_load(run("instances", "-o", "yaml").stdout)
    assert entries == json.loads(run("instances", "-o", "json").stdout)


def test_two_releases_side_by_side():
    document = json.loads(run("compare", "guard-service", "--against", "1.34", "-o", "json").stdout)
    assert (document["kubeVersion"], document["against"]) == ("1.36", "1.34")
    assert document["before"]["scheduler"] == document["after"]["scheduler"] == "greedy"


def test_no_colours_in_a_pipe_and_none_where_they_are_not_wanted():
    assert "\x1b" not in run("compare").stdout
    assert "\x1b[" not in run("compare", color=True, env={"NO_COLOR": "1"}).stdout


def printed(file, monkeypatch, **environment):
    for name in ("NO_COLOR", "TERM", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    show(Group(Text("title", style="bold red"), *section("rows", ["a"], [["x"]])), file)
    return file.getvalue()


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    "environment",
    [
        {"TERM": "xterm", "NO_COLOR": "1"},
        {"TERM": "dumb"},
        {"TERM": "dumb", "FORCE_COLOR": "1"},
        {"TERM": "unknown"},
    ],
    ids=str,
)
def test_a_terminal_that_wants_plain_text_gets_no_escape_sequence(environment, monkeypatch):
    assert "\x1b" not in printed(Terminal(), monkeypatch, **environment)


@pytest.mark.parametrize("environment", [{"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": ""}], ids=str)
def test_a_terminal_gets_bold_titles(environment, monkeypatch):
    assert "\x1b[1" in printed(Terminal(), monkeypatch, **environment)


@pytest.mark.parametrize("file", [io.StringIO, Terminal], ids=["a file", "a terminal"])
def test_a_name_that_would_move_a_cursor_is_shown(file, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    written = file()
    show(Text("web\x1b[2Jé\n  x"), written)
    assert written.getvalue().rstrip() == "web\\x1b[2Jé\n  x"


@pytest.mark.parametrize(
    "environment", [{}, {"TTY_COMPATIBLE": "1"}, {"FORCE_COLOR": "1", "NO_COLOR": "1"}], ids=str
)
def test_a_file_gets_no_escape_sequence(environment, monkeypatch):
    assert "\x1b" not in printed(io.StringIO(), monkeypatch, TERM="xterm", **environment)


def test_colours_are_forced_into_a_pipe(monkeypatch):
    assert "\x1b[1" in printed(io.StringIO(), monkeypatch, TERM="xterm", FORCE_COLOR="1")


LONG = "a-name-that-is-as-long-as-names-of-pods-are-when-a-controller-of-controllers-makes-them"


@pytest.mark.parametrize("columns", ["", "40"], ids=["a pipe", "a narrow terminal"])
def test_a_name_is_never_folded(columns, monkeypatch):
    environment = {"TERM": "xterm"} | ({"COLUMNS": columns} if columns else {})
    monkeypatch.delenv("COLUMNS")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    file = io.StringIO()
    show(Group(*section("rows", ["pod", "why"], [[LONG, "because " * 5 + "it is so"]])), file)
    assert LONG in file.getvalue()
    assert ("because because because because because it is so" in file.getvalue()) == (not columns)


def test_words_are_not_folded_in_a_pipe(monkeypatch):
    monkeypatch.delenv("COLUMNS")
    file = io.StringIO()
    show(Text("word " * 100), file)
    assert file.getvalue().count("\n") == 1


def test_a_comparison_names_the_difference():
    text = run("compare").stdout
    assert "Greedy strands 2 pods of priority 100 that can run: shop/web-5, shop/web-6." in text
    assert "<- first difference" in text


@cache
def compared() -> Comparison:
    return Comparison.model_validate_json(run("compare", "-o", "json").stdout)


def test_the_same_comparison_again_is_no_regression(tmp_path):
    file = tmp_path / "before.json"
    file.write_text(compared().model_dump_json(by_alias=True))
    run("compare", "--fail-on-regression", str(file))


def test_the_comparison_of_another_instance_is_bad_usage(tmp_path):
    file = tmp_path / "before.json"
    file.write_text(compared().model_dump_json(by_alias=True))
    result = run("compare", "guard-service", "--fail-on-regression", str(file), code=2)
    other = compared().optimal.instance
    assert f"--fail-on-regression: {file} compares {other}, not guard-service (try " in result.stderr
    assert result.stdout == ""


def test_one_pod_more_in_the_past_is_a_regression(tmp_path):
    file, before, name = tmp_path / "before.json", compared(), "scheduled[priority=100]"
    tiers = [t.model_copy(update={"value": 8}) if t.name == name else t for t in before.optimal.tiers]
    optimal = before.optimal.model_copy(update={"tiers": tuple(tiers)})
    file.write_text(before.model_copy(update={"optimal": optimal}).model_dump_json(by_alias=True))
    result = run("compare", "--fail-on-regression", str(file), code=1)
    assert f"kubestow: regression: optimal: {name} was 8 and is 7" in result.stderr
    assert "<- first difference" in result.stdout


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"optimal": 3}', "cluster: yaml"])
def test_an_earlier_file_that_is_no_comparison_is_one_line(tmp_path, text):
    file = tmp_path / "before.json"
    file.write_text(text)
    result = run("compare", "--fail-on-regression", str(file), code=2)
    assert result.stderr.startswith(f"kubestow: error: {file}: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_an_interrupted_solve_prints_the_best_plan_and_is_130(monkeypatch):
    from kubestow.solver import api

    def solve(snapshot, *_, **__):
        solved = api.solve_greedy_round(snapshot)
        stats = solved.plan.stats.model_copy(update={"interrupted": True})
        return replace(solved, plan=solved.plan.model_copy(update={"stats": stats}))

    monkeypatch.setattr(api, "solve_round", solve)
    result = run("solve", "-o", "json", code=130)
    assert result.stderr == "kubestow: interrupted; this was the best plan so far\n"
    assert len(json.loads(result.stdout)["bindings"]) == 6


def test_a_release_that_knows_no_trees_overlooks_parents_and_says_so():
    done = run("solve", "tree-resource-stealing", "-o", "json")
    note = "kube-scheduler 1.36 knows no CompositePodGroups: 2 PodGroups are scheduled without the parent"
    assert note in done.stderr
    assert note in json.loads(done.stdout)["notes"][0]
    done = run("solve", "tree-resource-stealing", "-o", "json", "--kube-version", "1.37")
    assert not done.stderr
    assert len(json.loads(done.stdout)["bindings"]) == 6
