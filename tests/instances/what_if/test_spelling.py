"""Changes as options and as files: each option says what a file says, and what is written is read again."""

import pytest
from support.paths import ROOT

from kubestow.instances.documents import the_document
from kubestow.instances.what_if.file import load_changes, read_changes
from kubestow.instances.what_if.options import changes_of
from kubestow.models.changes import (
    AddNodes,
    ChangeSet,
    CordonNode,
    DeletePod,
    Patch,
    RemoveNode,
    ScaleWorkload,
    SetField,
    UseProfile,
    ZoneDown,
)
from kubestow.models.errors import KubestowError
from kubestow.reports.document import as_yaml

OPTIONS = (
    *("add-nodes", "remove", "cordon", "uncordon", "delete"),
    *("zone-down", "scale", "set", "profile", "node-groups"),
)


def spelled(**given):
    return changes_of({name: given.get(name.replace("-", "_"), ()) for name in OPTIONS})


@pytest.mark.parametrize(
    "option, text, change",
    [
        ("add_nodes", "big=3", AddNodes("big", 3)),
        ("add_nodes", "like:n1=2", AddNodes("like:n1", 2)),
        ("remove", "n1", RemoveNode("n1")),
        ("remove", "node/n1", RemoveNode("n1")),
        ("cordon", "n1", CordonNode("n1")),
        ("uncordon", "n1", CordonNode("n1", on=False)),
        ("delete", "p", DeletePod("pod/p")),
        ("delete", "pod/shop/p", DeletePod("pod/shop/p")),
        ("zone_down", "a", ZoneDown("a")),
        ("zone_down", "rack=r1", ZoneDown("r1", "rack")),
        ("scale", "deploy/web=20", ScaleWorkload("deploy/web", 20)),
        ("set", "pod/shop/p:spec.priority=20", SetField("pod/shop/p", "spec.priority", 20)),
        ("set", "pod/p:spec.x='20'", SetField("pod/p", "spec.x", "20")),
        ("set", "pod/p:spec.x=null", SetField("pod/p", "spec.x", None)),
        ("set", "pod/p:spec.x=", SetField("pod/p", "spec.x", "")),
        ("set", "pod/p:spec.x={a: [1]}", SetField("pod/p", "spec.x", {"a": [1]})),
        ("set", "pod/p:spec.x=a=b", SetField("pod/p", "spec.x", "a=b")),
    ],
)
def test_an_option_is_a_change(option, text, change):
    assert spelled(**{option: [text]}).changes == (change,)


@pytest.mark.parametrize(
    "option, text",
    [
        ("add_nodes", "big"), ("add_nodes", "=3"), ("add_nodes", "big=x"), ("add_nodes", "big=-1"),
        ("remove", ""), ("zone_down", ""), ("zone_down", "=a"), ("zone_down", "a="),
        ("scale", "deploy/web"), ("scale", "deploy/web=many"),
        ("set", "pod/p"), ("set", "pod/p:spec.x"), ("set", "pod/p:=1"), ("set", "pod/p:a={"),
    ],
)  # fmt: skip
def test_what_is_misspelled_names_its_option(option, text):
    with pytest.raises(KubestowError) as told:
        spelled(**{option: [text]})
    assert str(told.value).startswith(f"--{option.replace('_', '-')}: ")


def test_nothing_is_no_scenario_and_groups_alone_are_a_mistake(tmp_path):
    assert spelled() is None
    file = tmp_path / "groups.yaml"
    file.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: big}\n")
    with pytest.raises(KubestowError, match="--node-groups goes with --add-nodes"):
        spelled(node_groups=[str(file)])
    [group] = spelled(node_groups=[str(file)], add_nodes=["big=1"]).node_groups
    assert group["metadata"] == {"name": "big"}


def test_options_are_made_in_one_order():
    found = spelled(add_nodes=["g=1"], remove=["n"], zone_down=["z"], scale=["a/b=1"], set=["a/b:c=1"])
    assert [type(change) for change in found.changes] == [
        SetField,
        ScaleWorkload,
        ZoneDown,
        RemoveNode,
        AddNodes,
    ]


EVERY = ChangeSet(
    name="all",
    title="Everything at once",
    node_groups=({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "big"}},),
    changes=(
        UseProfile({"kind": "KubeSchedulerConfiguration"}),
        SetField("pod/p", "spec.x", None),
        SetField("pod/p", "spec.y", [1, "1", {"a": True}]),
        Patch("pod/p", {"spec": {"x": None}}),
        ScaleWorkload("deploy/web", 0),
        CordonNode("n1"),
        CordonNode("n2", on=False),
        ZoneDown("a"),
        ZoneDown("r1", "rack"),
        RemoveNode("n3"),
        AddNodes("big", 3),
        AddNodes("like:n1"),
    ),
)


def test_what_is_written_is_read_again(tmp_path):
    file = tmp_path / "kept.yaml"
    file.write_text(as_yaml(EVERY.document()))
    assert load_changes(file) == EVERY


def test_a_file_without_a_name_is_called_as_the_file(tmp_path):
    file = tmp_path / "zone-a.yaml"
    file.write_text("changes: [{zoneDown: a}]")
    assert load_changes(file) == ChangeSet(name="zone-a", changes=(ZoneDown("a"),))


def test_the_file_of_the_page_can_be_read():
    page = (ROOT / "docs" / "what-if.md").read_text(encoding="utf-8")
    text = page.partition("```yaml\n")[2].partition("```")[0]
    found = read_changes("page.yaml", the_document("page.yaml", text.encode(), "changes"))
    assert [next(iter(change.document())) for change in found.changes] == [
        "zoneDown",
        "addNodes",
        "scale",
        "patch",
    ]


@pytest.mark.parametrize(
    "document, words",
    [
        ([], "f.yaml: must be a map"),
        ({}, "f.yaml: changes: required"),
        ({"kind": "Scenario", "changes": []}, "kind: must be WhatIf, not 'Scenario'"),
        ({"changes": [{}]}, "changes[0]: must say one change, of addNodes"),
        ({"changes": [{"remove": "a", "cordon": "b"}]}, "changes[0]: must say one change"),
        ({"changes": [{"remove": "a", "count": 1}]}, "changes[0].count: unknown field; known are remove"),
        ({"changes": [{"scale": "deploy/web"}]}, "changes[0].replicas: required"),
        ({"changes": [{"set": "pod/p"}]}, "changes[0].field: required"),
        ({"chagnes": [], "changes": [{"remove": "a"}]}, "chagnes: unknown field"),
        ({"nodeGroups": ["big"], "changes": [{"remove": "a"}]}, "nodeGroups[0]: is no Kubernetes object"),
    ],
)
def test_a_file_that_is_wrong_is_told_in_a_line(document, words):
    with pytest.raises(KubestowError) as told:
        read_changes("f.yaml", document)
    assert words in str(told.value)
