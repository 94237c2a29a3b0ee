"""Scenarios are read strictly: one line tells what is wrong where."""

import pytest

from kubestow.instances.scenario_loader import load_scenario
from kubestow.models.errors import InputError

GOOD = """
kind: Scenario
duration: 1m
cluster: {nodes: [{count: 2, name: n, allocatable: {cpu: "4"}}]}
"""

CROWD = (
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 1000000000, "
    "selector: {matchLabels: {a: b}}, "
    "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}}"
)


@pytest.mark.parametrize(
    "text, field, words",
    [
        pytest.param("a: 1", "duration", "required", id="no duration"),
        pytest.param(GOOD + "sed: 1", "sed", "unknown field", id="a misspelt field"),
        pytest.param(
            GOOD.replace("count: 2", "count: 1000000000"),
            "cluster.nodes[0].count",
            "at most 150000",
            id="a billion nodes",
        ),
        pytest.param(
            GOOD + "events: [{at: 1s, scale: Job x, replicas: 1000000000}]",
            "events[0].replicas",
            "at most 150000",
            id="a billion replicas on the way",
        ),
        pytest.param(
            GOOD + f"events: [{{at: 1s, add: [{CROWD}]}}]",
            "events[0].add[0]",
            "150000 is the most",
            id="a billion replicas that come",
        ),
        pytest.param(
            GOOD.replace("nodes:", f"objects: [{CROWD}], nodes:"),
            "spec",
            "150000 is the most",
            id="a billion replicas",
        ),
        pytest.param(
            GOOD.replace("nodes:", 'files: [""], nodes:'),
            "cluster.files[0]",
            "no file",
            id="an empty file name",
        ),
        pytest.param(GOOD.replace("1m", "soon"), "duration", "not a duration", id="no time"),
        pytest.param(GOOD.replace("1m", "0s"), "duration", "longer than 0s", id="no time at all"),
        pytest.param("kind: Pod\nduration: 1m", "kind", "must be Scenario", id="another kind"),
        pytest.param("kind: Scenario\nduration: 1m", "cluster", "required", id="no cluster"),
        pytest.param(GOOD + "events: [{at: 1s}]", "events[0]", "one thing", id="an event of nothing"),
        pytest.param(
            GOOD + "events: [{at: 1s, cordon: n-0, drain: n-0}]",
            "events[0]",
            "says 2",
            id="an event of two things",
        ),
        pytest.param(
            GOOD + "events: [{at: 1s, soldOut: big}]",
            "events[0].soldOut",
            "no node group",
            id="an unknown group",
        ),
        pytest.param(
            GOOD + "events: [{at: 1s, scale: Pod x, replicas: 1}]",
            "events[0].scale",
            "is for Deployment, ReplicaSet, StatefulSet, Job, not for a Pod",
            id="scaled pods",
        ),
        pytest.param(
            GOOD + "events: [{at: 1s, scale: DaemonSet x, replicas: 1}]",
            "events[0].scale",
            "not for a DaemonSet",
            id="a scaled DaemonSet",
        ),
        pytest.param(
            GOOD + "events: [{at: 1s, scale: Deploymnt x, replicas: 1}]",
            "events[0].scale",
            "must name an object (such as Deployment default/web)",
            id="a scaled slip of the pen",
        ),
        *(
            pytest.param(
                GOOD + f"events: [{{at: 1s, {field}: no-such-node}}]",
                f"events[0].{field}",
                "there is no node 'no-such-node'",
                id=f"an unknown node in {field}",
            )
            for field in ("drain", "cordon", "uncordon")
        ),
        pytest.param(
            GOOD
            + "autoscaler: {groups: [{name: big, template: {allocatable: {cpu: 1}}}]}\n"
            + "events: [{at: 1s, drain: bigger-1}]",
            "events[0].drain",
            "there is no node 'bigger-1'",
            id="a node of an unknown node group",
        ),
        pytest.param(
            GOOD + "events: [{at: 1s, add: [{kind: Node}]}]",
            "events[0].add[0].apiVersion",
            "required",
            id="no apiVersion",
        ),
        pytest.param(
            GOOD + "autoscaler: {expander: best}",
            "autoscaler.expander",
            "must be one of",
            id="an unknown expander",
        ),
        pytest.param(
            GOOD + "autoscaler: {groups: [{name: g}]}",
            "autoscaler.groups[0].template",
            "required",
            id="no template",
        ),
        pytest.param(
            GOOD + "scheduler: {featureGates: Nope=false}",
            "scheduler.featureGates",
            "unknown gate",
            id="a gate",
        ),
        pytest.param(GOOD + "seed: -1", "seed", "from 0 on", id="a negative seed"),
        pytest.param(
            GOOD + "events: [{at: 0s, arrivals: {for: 1m, rate: 0, pods: [{pod: {metadata: {name: p}, spec: "
            "{containers: [{name: m}]}}}]}}]",
            "events[0].arrivals.rate",
            "more than 0",
            id="nobody arrives",
        ),
        pytest.param(
            GOOD + "events: [{at: 0s, arrivals: {for: 1m, rate: 1e9, pods: [{pod: {metadata: {name: p}, "
            "spec: {containers: [{name: m}]}}}]}}]",
            "events[0].arrivals.rate",
            "would bring 6e+10 pods; 150000 is the most",
            id="more arrive than any cluster takes",
        ),
        *(
            pytest.param(
                GOOD + f"events: [{{at: 1s, {field}: zz}}]",
                f"events[0].{field}",
                "no node has the label topology.kubernetes.io/zone=zz",
                id=f"an unknown zone in {field}",
            )
            for field in ("zoneDown", "zoneUp")
        ),
    ],
)
def test_a_fault_is_told_in_one_line(tmp_path, text, field, words):
    path = tmp_path / "s.yaml"
    path.write_text(text if text.startswith("kind") or text.startswith("\n") else "kind: Scenario\n")
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    assert caught.value.field == field
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "container",
    ["{name: m, resources: {requests: {cpu: -1}}}", "{name: m, ports: [{containerPort: 1, name: P}]}"],
)
def test_objects_are_checked_as_in_any_input(tmp_path, container):
    path = tmp_path / "s.yaml"
    bad = f"{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{containers: [{container}]}}}}"
    path.write_text(GOOD + f"events: [{{at: 1s, add: [{bad}]}}]")
    with pytest.raises(InputError, match="Pod default/p"):
        load_scenario(path)


def test_a_bundled_instance_can_be_the_cluster(tmp_path):
    from kubestow.instances import catalogue

    path = tmp_path / "s.yaml"
    path.write_text("kind: Scenario\nduration: 1m\ncluster: {instance: zone-spread-dead-end}\n")
    assert len(load_scenario(path, catalogue.locate).snapshot.nodes) > 1


POD_OF_MARCH = (
    "{apiVersion: v1, kind: Pod, metadata: {name: p, creationTimestamp: 2026-03-01T08:00:00Z}, "
    "spec: {containers: [{name: c, image: i}]}}"
)
STARTS = {
    "the newest timestamp of its files": ("cluster: {files: [pod.yaml]}", "2026-03-01T08:00:00"),
    "the newest timestamp of its instance": ("cluster: {instance: pod.yaml}", "2026-03-01T08:00:00"),
    "the newest timestamp of objects in place": (
        f"cluster: {{objects: [{POD_OF_MARCH}]}}",
        "2026-03-01T08:00:00",
    ),
    "a time of ours where no object has one": ("cluster: {instance: node.yaml}", "2026-01-01T00:00:00"),
    "what it says itself": (
        "start: 2026-05-01T00:00:00Z\ncluster: {files: [pod.yaml]}",
        "2026-05-01T00:00:00",
    ),
}


@pytest.mark.parametrize("text, start", STARTS.values(), ids=STARTS)
def test_a_scenario_starts_at(tmp_path, text, start):
    (tmp_path / "pod.yaml").write_text(POD_OF_MARCH)
    (tmp_path / "node.yaml").write_text(
        "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {cpu: 1}}}"
    )
    path = tmp_path / "s.yaml"
    path.write_text(f"duration: 1m\n{text}")
    found = load_scenario(path, lambda name: str(tmp_path / name))
    assert found.snapshot.now.isoformat() == f"{start}+00:00"


NODE = "{apiVersion: v1, kind: Node, metadata: {name: %s}, status: {allocatable: {cpu: 1, pods: 9}}}"
FAULTY = NODE.replace("cpu: 1", "cpu: -1") % "faulty"
BIG = "autoscaler: {groups: [{name: big, template: {allocatable: {cpu: 1}}}]}\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("events: [{at: 1s, drain: n-0}]", id="a node of the cluster"),
        pytest.param(
            f"events: [{{at: 1s, drain: late}}, {{at: 2s, add: [{NODE % 'late'}]}}]",
            id="a node that an event adds, if only later",
        ),
        pytest.param(BIG + "events: [{at: 1s, drain: big-3}]", id="a node that an autoscaler may order"),
    ],
)
def test_an_event_may_name_a_node_that_can_exist(tmp_path, text):
    path = tmp_path / "s.yaml"
    path.write_text(GOOD + text)
    assert load_scenario(path).events


def test_a_fault_in_a_manifest_of_the_cluster_names_the_manifest(tmp_path):
    (tmp_path / "dump.yaml").write_text(FAULTY)
    path = tmp_path / "s.yaml"
    path.write_text("kind: Scenario\nduration: 1m\ncluster: {files: [dump.yaml]}\n")
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    assert caught.value.file == str(tmp_path / "dump.yaml")


def test_a_fault_in_an_object_of_the_scenario_names_the_scenario(tmp_path):
    (tmp_path / "dump.yaml").write_text(NODE % "n")
    path = tmp_path / "s.yaml"
    path.write_text(f"kind: Scenario\nduration: 1m\ncluster: {{files: [dump.yaml], objects: [{FAULTY}]}}\n")
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    assert caught.value.file == str(path)
