"""`kubestow what-if` on the command line: files, scenarios, what is printed, faults in one line."""

import json

import pytest
import yaml
from click.testing import CliRunner

from kubestow.cli import main

WEB = "what-if-web"


def run(*arguments, code=0, text=None):
    result = CliRunner().invoke(main, ["what-if", *arguments], input=text)
    assert result.exit_code == code, result.output
    return result


def test_what_is_saved_is_the_same_scenario(tmp_path):
    file = tmp_path / "kept.yaml"
    options = ("--zone-down", "a", "--add-nodes", "like:b-1=1", "--set", "pod/shop/report:spec.priority=200")
    first = json.loads(run(WEB, *options, "--save", str(file), "-o", "json").stdout)
    again = json.loads(run(WEB, "--scenario", str(file), "-o", "json").stdout)
    assert yaml.safe_load(file.read_text())["kind"] == "WhatIf"
    assert [item["changes"] for item in first["scenarios"]] == [
        item["changes"] for item in again["scenarios"]
    ]
    assert [item["tiers"] for item in first["scenarios"]] == [item["tiers"] for item in again["scenarios"]]


def test_scenarios_stand_in_one_table_files_first_each_on_the_cluster_as_it_is(tmp_path):
    for name, change in (("one", "{zoneDown: a}"), ("two", "{cordon: a-1}")):
        (tmp_path / f"{name}.yaml").write_text(f"changes: [{change}]")
    files = [word for name in ("one", "two") for word in ("--scenario", str(tmp_path / f"{name}.yaml"))]
    found = json.loads(run(WEB, *files, "--remove", "b-1", "-o", "json").stdout)
    assert [(item["name"], item["lostNodes"]) for item in found["scenarios"]] == [
        ("one", ["a-1"]),
        ("two", []),
        ("options", ["b-1"]),
    ]
    table = run(WEB, *files, "--remove", "b-1").stdout
    head = table.partition("\n\none\n")[0]
    assert [line.split()[0] for line in head.splitlines()[5:]] == ["before", "one", "two", "options"]


def test_a_scenario_may_come_from_standard_input():
    found = run(WEB, "--scenario", "-", "-o", "name", text="changes: [{zoneDown: a}]")
    assert sorted(found.stdout.splitlines()) == sorted(
        ["pod/web-7d4-0", "pod/crunch-0", "pod/debug", "pod/agent-0"]
    )


def test_node_groups_come_from_a_file(tmp_path):
    file = tmp_path / "groups.yaml"
    node = "{apiVersion: v1, kind: Node, metadata: {name: big}, status: {allocatable: {cpu: 64, pods: 10}}}"
    file.write_text(node)
    options = (WEB, "--node-groups", str(file), "--add-nodes", "big=2", "-o", "json")
    [found] = json.loads(run(*options).stdout)["scenarios"]
    assert found["newNodes"] == ["big-new-1", "big-new-2"]
    assert found["daemons"] == ["shop/agent-big-new-1", "shop/agent-big-new-2"]


def test_a_profile_comes_from_a_file(tmp_path):
    file = tmp_path / "profile.yaml"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{plugins: {filter: {disabled: [{name: NodeAffinity}]}}}]\n"
    )
    [found] = json.loads(run(WEB, "--profile", str(file), "-o", "json").stdout)["scenarios"]
    assert found["changes"]["changes"][0]["profile"]["kind"] == "KubeSchedulerConfiguration"
    assert found["after"]["optimal"]["stats"]["verified"]


def test_rows_are_filtered_and_wide():
    text = run(WEB, "--zone-down", "a", "-l", "app=web", "-o", "wide").stdout
    assert "(rows of pods with app=web; counts are of all)" in text
    row = next(line for line in text.splitlines() if line.startswith("  shop/web-7d4-0"))
    assert row.split()[1:3] == ["100", "web"]
    assert "shop/crunch-0  " not in text


@pytest.mark.parametrize(
    "options, words",
    [
        pytest.param([], "what is needed is a change, such as --cordon NODE", id="no change"),
        pytest.param(["--scenario", "-", "--profile", "-"], "(-) can be read only once", id="twice"),
        pytest.param([WEB, "--cordon", "a-1"], "what-if takes one INSTANCE", id="two instances"),
        pytest.param(["--cordon", "n9"], "changes[0]: cordon: there is no Node n9", id="no such node"),
        pytest.param(["--scale", "web=3"], "'web' names no object", id="no kind"),
        pytest.param(["--add-nodes", "big=1"], "there is no node group 'big'", id="no group"),
        pytest.param(["--scenario", "nowhere.yaml"], "nowhere.yaml: no such file", id="no file"),
        pytest.param(["--save", "x.yaml"], "--save writes what the other options change", id="nothing"),
        pytest.param(["--set", "pod/shop/report:spec.x=1"], "spec.x: an unknown field", id="no such field"),
    ],
)
def test_a_fault_is_one_line(options, words):
    told = run(WEB, *options, code=2).stderr
    assert words in told
    assert told.count("\n") == 1


def test_a_note_is_told():
    result = run(WEB, "--set", "deploy/shop/web:spec.template.spec.priority=1", "-q")
    assert result.stderr == ""
    assert "note: Deployment shop/web: the template holds for pods to come" in result.stdout
    assert "Nothing changes for any pod." in result.stdout
