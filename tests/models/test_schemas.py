"""Schemas of documents: what commands print is what the schemas say, and nothing beyond."""

import json

import jsonschema
import pytest
from click.testing import CliRunner

from kubestow.cli import main
from kubestow.models.schemas import DOCUMENTS, schema

CASE = {
    "id": "a-node-comes",
    "plugin": "NodeName",
    "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "me"}},
    "old": None,
    "new": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
}
SCRIPT = {
    "name": "a pod comes and is popped",
    "trace": [
        {"at": 0, "op": "event", "new": CASE["pod"]},
        {"at": 0.5, "op": "pop"},
        {"at": 1, "op": "fail", "pod": "default/me", "plugins": ["NodeName"]},
    ],
}
PRINTED = [
    ("a plan with evictions and a pod that waits", "plan", "solve guard-service"),
    ("a plan with devices and volumes", "plan", "solve why-four-wait"),
    ("a plan with groups and their domains", "plan", "solve rack-linked-cards"),
    ("a plan with a tree of groups", "plan", "solve tree-two-blocks --kube-version 1.37"),
    ("a plan with fallbacks", "plan", "solve fallback-both-criteria"),
    ("a plan within limits", "plan", "solve zone-spread-dead-end --max-evictions 1 --never-evict shop:"),
    ("greedy's plan", "plan", "solve zone-spread-dead-end --scheduler greedy"),
    ("a comparison", "comparison", "compare zone-spread-dead-end"),
    (
        "a comparison without evictions",
        "comparison",
        "compare guard-service --without-evictions",
    ),
    ("an upgrade", "upgrade", "compare zone-spread-dead-end --against 1.34"),
    ("a pod that waits, with preemption", "explanation", "explain guard-service promo-0"),
    ("a pod that is placed", "explanation", "explain zone-spread-dead-end gateway"),
    ("a member of a group", "explanation", "explain rack-gang-dead-end train-leader"),
    ("a pod that cannot run, by counting", "why", "explain why-four-wait render --why"),
    ("a pod that cannot run, by search", "why", "explain why-four-wait lens --why --cores 2"),
    ("a group that cannot run", "why", "explain why-four-wait train --why"),
    ("a pod that the best round places", "why", "explain zone-spread-dead-end web-5 --why"),
    ("a pod that others would pay for", "why", "explain min-domains-three-nodes kiosk-6 --why"),
    ("a drain that is possible", "drain", "drain drain-one-order --all-nodes --rolling 1"),
    ("moves and their front", "rebalance", "rebalance rebalance-half-used --goal free-nodes --frontier"),
    ("nodes to buy", "provision", "provision provision-third-zone --node-groups three-sizes"),
    (
        "nodes to buy and to return",
        "consolidation",
        "provision provision-consolidate --node-groups three-sizes --consolidate --group-label pool",
    ),
    ("the least change", "suggest", "suggest suggest-cordon web-1"),
    ("copies that fit", "fit", "fit zone-spread-dead-end --pod gateway"),
    ("changes of a cluster", "what-if", "what-if what-if-web --zone-down a"),
    ("a study of two", "study", "study guard-service rack-two-replicas"),
    ("rounds beside the best known", "regression", "regress run catalogue --only guard-service"),
    ("both schedulers through time", "simulation", "simulate stockout-falls-back --scheduler both"),
    ("a trace with scores and victims", "trace", "trace zone-spread-dead-end"),
    ("a trace with groups", "trace", "trace rack-gang-dead-end"),
    ("a trace with a group that makes room", "trace", "trace group-evicted-whole"),
    ("a trace with devices", "trace", "trace rack-linked-cards"),
]


def strict(node):
    """Return the schema with no field taken beyond those it names."""
    if isinstance(node, dict):
        closed = {name: strict(value) for name, value in node.items()}
        if "properties" in closed and "additionalProperties" not in closed:
            closed["additionalProperties"] = False
        return closed
    return [strict(item) for item in node] if isinstance(node, list) else node


def printed(line):
    result = CliRunner().invoke(main, [*line.split(), "-o", "json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("name, command", [row[1:] for row in PRINTED], ids=[row[0] for row in PRINTED])
def test_a_document_is_as_its_schema_says(name, command):
    jsonschema.validate(printed(command), strict(schema(name)))


def test_answers_of_the_queue_are_as_their_schemas_say(tmp_path):
    (tmp_path / "case.jsonl").write_text(json.dumps(CASE) + "\n")
    jsonschema.validate(printed(f"hints {tmp_path / 'case.jsonl'}"), strict(schema("hint")))
    (tmp_path / "script.json").write_text(json.dumps([SCRIPT]))
    for replayed in printed(f"queue {tmp_path / 'script.json'}"):
        jsonschema.validate(replayed, schema("queue"))  # a script's own fields are its author's


def test_a_study_into_a_folder_and_its_statistics_are_as_their_schemas_say(tmp_path):
    (tmp_path / "study.yaml").write_text("{instances: [guard-service], variants: [{name: a}, {name: b}]}")
    session = f"study {tmp_path / 'study.yaml'} --into {tmp_path / 'out'} --rows csv -q"
    jsonschema.validate(printed(session), strict(schema("study-session")))
    jsonschema.validate(printed(f"study-report {tmp_path / 'out'}"), strict(schema("study-report")))


def test_what_a_check_finds_is_as_its_schema_says(tmp_path):
    (tmp_path / "why.json").write_text(json.dumps(printed("explain why-four-wait render --why")))
    found = printed(f"check {tmp_path / 'why.json'} why-four-wait")
    jsonschema.validate(found, strict(schema("check")))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_schema_has_a_row(name):
    apart = {"check", "hint", "queue", "study-session", "study-report"}
    assert name in {row[1] for row in PRINTED} | apart


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_schema_is_one(name):
    jsonschema.Draft202012Validator.check_schema(schema(name))
