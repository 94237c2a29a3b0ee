"""`kubestow suggest` on the command line: what is printed, what is kept, faults in one line."""

import json

import pytest
import yaml
from click.testing import CliRunner

from kubestow.cli import main


def run(*arguments, code=0, command="suggest"):
    result = CliRunner().invoke(main, [command, *arguments])
    assert result.exit_code == code, result.output
    return result


def test_the_first_suggestion_is_a_scenario_of_what_if(tmp_path):
    file = tmp_path / "least.yaml"
    run("suggest-cordon", "web-1", "--save", str(file))
    assert yaml.safe_load(file.read_text())["changes"] == [{"uncordon": "n-2"}]
    found = json.loads(run("suggest-cordon", "--scenario", str(file), "-o", "json", command="what-if").stdout)
    [scenario] = found["scenarios"]
    assert {row["pod"]: row["change"] for row in scenario["pods"]} == {"shop/web-1": "starts"}


def test_the_document_has_all_that_the_table_has():
    found = json.loads(run("suggest-cordon", "web-1", "-o", "json").stdout)
    assert (found["instance"], found["status"], found["othersMayWait"]) == (
        "suggest-cordon",
        "OPTIMAL",
        False,
    )
    [answer] = found["answers"]
    first, second = answer["suggestions"][:2]
    assert (answer["subject"], answer["answer"], answer["complete"]) == (
        "Pod shop/web-1",
        "suggestions",
        False,
    )
    assert (first["cost"], first["cheapest"], first["proven"]) == (1, True, True)
    assert first["kubectl"] == ["kubectl uncordon n-2"]
    assert sorted(step["kind"] for step in second["steps"]) == ["request", "terminating"]


def test_names_are_those_of_the_objects_that_change():
    assert run("suggest-cordon", "web-1", "-o", "name").stdout == "node/n-2\n"


def test_a_namespace_is_where_the_pod_is():
    assert run("suggest-cordon", "web-1", "-n", "shop", "-o", "name").stdout == "node/n-2\n"
    assert "there is no pod" in run("suggest-cordon", "web-1", "-n", "other", code=2).stderr


def test_where_no_pod_is_left_out_there_is_nothing_to_ask():
    assert run("zone-spread-dead-end", "--all-pending").stdout == "zone-spread-dead-end: no pod is left out\n"


def test_a_pod_that_the_best_round_places_needs_no_change():
    text = run("zone-spread-dead-end", "web-5").stdout
    assert text == "zone-spread-dead-end: shop/web-5 runs in a best round as it is (priority 100)\n"


def test_other_costs_are_another_first_suggestion(tmp_path):
    file = tmp_path / "costs.yaml"
    file.write_text("{costs: {uncordon: never, addNode: 1}}")
    found = json.loads(run("suggest-cordon", "web-1", "--costs", str(file), "-o", "json").stdout)
    assert found["answers"][0]["suggestions"][0]["steps"][0]["kind"] == "addNode"


def test_a_node_of_a_group_is_added(tmp_path):
    file = tmp_path / "groups.yaml"
    room = "{allocatable: {cpu: 8, memory: 8Gi, pods: 9}}"
    file.write_text(f"{{apiVersion: v1, kind: Node, metadata: {{name: spot}}, status: {room}}}")
    costs = tmp_path / "costs.yaml"
    costs.write_text("costs: {uncordon: never, request: never}")
    options = ("--node-groups", str(file), "--costs", str(costs), "-o", "json")
    [answer] = json.loads(run("suggest-cordon", "web-1", *options).stdout)["answers"]
    [suggestion] = answer["suggestions"]
    assert suggestion["kubectl"] == ["# add 1 node of group spot"]
    assert suggestion["placed"] == {"shop/web-1": "spot-new-1"}
    assert suggestion["changes"]["nodeGroups"][0]["metadata"]["name"] == "spot"


@pytest.mark.parametrize(
    "arguments, message",
    [
        pytest.param(["suggest-cordon"], "one POD or GROUP or --all-pending", id="no pod"),
        pytest.param([], "one POD or GROUP or --all-pending", id="nothing at all"),
        pytest.param(["a", "b", "c"], "what is needed is one INSTANCE", id="two instances"),
        pytest.param(["suggest-cordon", "web-9"], "there is no pod 'web-9'", id="a pod that is not there"),
        pytest.param(["suggest-cordon", "web-0"], "is on node n-1 already", id="a pod that runs"),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line(arguments, message):
    result = run(*arguments, code=2)
    assert message in result.stderr
    assert "Traceback" not in result.output
