"""Whose pods are whose: by group, kind, name and uid; pods of unknown owners stay."""

import pytest
from support.simulating import Run, scenario

NODE = (
    "  - {apiVersion: v1, kind: Node, metadata: {name: n-1}, status: {allocatable: {cpu: '9', pods: '9'}}}\n"
)


def owned(name, owner):
    return (
        f"  - {{apiVersion: v1, kind: Pod, metadata: {{name: {name}, labels: {{app: web}}, ownerReferences: "
        f"[{{{owner}, controller: true}}]}}, spec: {{nodeName: n-1, containers: [{{name: m}}]}}, "
        "status: {phase: Running}}\n"
    )


def workload(kind, replicas, uid="u-1"):
    return (
        f"  - apiVersion: apps/v1\n    kind: {kind}\n    metadata: {{name: web, uid: {uid}}}\n    spec: "
        f"{{replicas: {replicas}, selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: "
        "{app: web}}, spec: {containers: [{name: m}]}}}\n"
    )


def run(tmp_path, objects, events=""):
    text = f"kind: Scenario\nduration: 2m\ncluster:\n  objects:\n{NODE}{objects}"
    return Run(scenario(tmp_path, text + (f"events:\n{events}" if events else "")))


def pods(done):
    return sorted(pod.name for pod in done.simulation.world.objects.pods_on("n-1").values())


OF_SET = "apiVersion: apps/v1, kind: StatefulSet, name: web, uid: %s"


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param(
            owned("web-0", OF_SET % "u-1"), ["web-0"], id="of a workload that the input lacks: it stays"
        ),
        pytest.param(
            owned("web-5", OF_SET % "u-1") + workload("StatefulSet", 0),
            [],
            id="of one that has too many: it goes",
        ),
        pytest.param(
            owned("web-5", OF_SET % "u-2") + workload("StatefulSet", 0),
            ["web-5"],
            id="of another uid: it stays",
        ),
        pytest.param(
            owned("web-5", "kind: StatefulSet, name: web") + workload("StatefulSet", 0),
            [],
            id="a reference written by hand names no uid and no group",
        ),
        pytest.param(
            owned("web-5", "apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: web, uid: u-1")
            + workload("StatefulSet", 0),
            ["web-5"],
            id="of another group: it stays",
        ),
        pytest.param(
            owned("web-5", "apiVersion: apps/v1beta2, kind: StatefulSet, name: web, uid: u-1")
            + workload("StatefulSet", 0),
            [],
            id="the version does not matter",
        ),
        pytest.param(
            owned("x", "apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u-2")
            + workload("ReplicaSet", 1),
            ["web-0", "x"],
            id="a stranger's pod does not count as a replica",
        ),
    ],
)
def test_which_pods_stay(tmp_path, objects, expected):
    assert pods(run(tmp_path, objects)) == expected


def test_a_workload_that_is_not_in_the_input_is_told_of_once(tmp_path):
    done = run(tmp_path, owned("a", OF_SET % "u-1") + owned("b", OF_SET % "u-1"))
    text = "StatefulSet default/web is not in the input: its pods stay, none takes their place"
    assert done.record.notes == [text]
    assert [e["what"] for e in done.of("Note")] == [text]


def test_a_workload_that_is_deleted_takes_its_pods_along(tmp_path):
    objects = owned("web-0", OF_SET % "u-1") + workload("StatefulSet", 1)
    done = run(tmp_path, objects, "- {at: 10s, delete: StatefulSet default/web}\n")
    assert pods(done) == []
    assert done.record.notes == []
