"""DaemonSets put a pod on every node that takes it."""

import pytest
from support.simulating import Run, scenario

AGENT = """
  - apiVersion: apps/v1
    kind: DaemonSet
    metadata: {name: agent, uid: agent-1}
    spec:
      selector: {matchLabels: {app: agent}}
      template:
        metadata: {labels: {app: agent}}
        spec: {%scontainers: [{name: m, resources: {requests: {cpu: "1"}}}]}
"""
WORK = """
  - {apiVersion: v1, kind: Pod, metadata: {name: work}, spec: {containers: [{name: m, resources: {requests: {cpu: "%s"}}}]}}
"""  # noqa: E501


def node(name, extra="", labels=""):
    return (
        f"  - {{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{host: {name}"
        f'{labels}}}}}, {extra}status: {{allocatable: {{cpu: "4", pods: "9"}}}}}}\n'
    )


def run(tmp_path, objects, events="", spec="", more="", duration="2m"):
    text = f"kind: Scenario\nduration: {duration}\n{more}\ncluster:\n  objects:\n{AGENT % spec}{objects}"
    return Run(scenario(tmp_path, text + (f"events:\n{events}" if events else "")))


def places(done):
    """Return the nodes that have an agent at the end."""
    pods = done.simulation.world.objects.pods_on
    nodes = ("n-1", "n-2", "big-0")
    return [name for name in nodes if any("agent" in pod.name for pod in pods(name).values())]


TAINTED = "spec: {taints: [{key: role, value: db, effect: %s}]}, "


@pytest.mark.parametrize(
    "second, spec, expected",
    [
        pytest.param(node("n-2"), "", ["n-1", "n-2"], id="one on each node"),
        pytest.param(
            node("n-2", labels=", disk: ssd"),
            "nodeSelector: {disk: ssd}, ",
            ["n-2"],
            id="its nodeSelector counts",
        ),
        pytest.param(
            node("n-2", labels=", disk: ssd"),
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
            "[{matchExpressions: [{key: disk, operator: Exists}]}]}}}, ",
            ["n-2"],
            id="its node affinity counts",
        ),
        pytest.param(node("n-2", TAINTED % "NoSchedule"), "", ["n-1"], id="a taint keeps it away"),
        pytest.param(
            node("n-2", TAINTED % "NoSchedule"),
            "tolerations: [{key: role, operator: Exists}], ",
            ["n-1", "n-2"],
            id="a taint that it tolerates does not",
        ),
        pytest.param(node("n-2", TAINTED % "PreferNoSchedule"), "", ["n-1", "n-2"], id="nor does a soft one"),
        pytest.param(
            node(
                "n-2",
                "spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, "
                "effect: NoSchedule}]}, ",
            ),
            "",
            ["n-1", "n-2"],
            id="a cordoned node takes it",
        ),
    ],
)
def test_which_nodes_take_it(tmp_path, second, spec, expected):
    assert places(run(tmp_path, node("n-1") + second, spec=spec)) == expected


def test_a_daemon_asks_for_its_node_by_name_and_tolerates_what_all_daemons_do(tmp_path):
    done = run(tmp_path, node("n-1"))
    pod = done.simulation.world.pod("default/agent-0")
    [term] = pod.spec.affinity.node_affinity.required.node_selector_terms
    [field] = term.match_fields
    assert (field.key, field.operator, field.values) == ("metadata.name", "In", ("n-1",))
    assert {
        (t.key.removeprefix("node.kubernetes.io/"), t.operator, t.effect) for t in pod.spec.tolerations
    } == {
        ("not-ready", "Exists", "NoExecute"),
        ("unreachable", "Exists", "NoExecute"),
        ("disk-pressure", "Exists", "NoSchedule"),
        ("memory-pressure", "Exists", "NoSchedule"),
        ("pid-pressure", "Exists", "NoSchedule"),
        ("unschedulable", "Exists", "NoSchedule"),
    }
    assert pod.metadata.controller.uid == "agent-1"


def test_a_new_node_gets_one_and_a_node_that_goes_takes_it_along(tmp_path):
    events = f"- at: 10s\n  add:\n{node('n-2')}- {{at: 20s, delete: Node n-1}}\n"
    done = run(tmp_path, node("n-1"), events)
    assert done.bound("agent-1") == (10.001, "n-2")
    assert done.times("PodGone", pod="default/agent-0") == [20.0]
    assert places(done) == ["n-2"]


def test_one_that_waits_for_a_node_that_goes_is_deleted(tmp_path):
    objects = node("n-1") + WORK.replace("name: work}, spec: {", "name: work}, spec: {nodeName: n-1, ") % 4
    done = run(tmp_path, objects, "- {at: 20s, delete: Node n-1}\n")
    assert done.of("PodBound") == []
    assert done.times("PodGone", pod="default/agent-0") == [20.0]


def test_a_taint_that_comes_later_evicts_by_its_effect(tmp_path):
    later = f"- at: 10s\n  add:\n{node('n-1', TAINTED)}"
    assert places(run(tmp_path, node("n-1"), later % "NoSchedule")) == ["n-1"]
    assert places(run(tmp_path, node("n-1"), later % "NoExecute")) == []


def test_one_that_is_deleted_comes_again_and_a_set_that_is_deleted_takes_all_along(tmp_path):
    events = "- {at: 10s, delete: Pod default/agent-0}\n- {at: 1m, delete: DaemonSet default/agent}\n"
    done = run(tmp_path, node("n-1"), events)
    assert done.bound("agent-1") == (40.001, "n-1")
    assert places(done) == []


@pytest.mark.parametrize(
    "cls, bound",
    [
        pytest.param(
            "priorityClassName: system-node-critical, ", ["agent-0"], id="a critical daemon preempts"
        ),
        pytest.param("", ["work"], id="one of no priority waits"),
    ],
)
def test_priority_decides_who_has_the_room(tmp_path, cls, bound):
    events = f"- at: 10s\n  add:\n{AGENT % cls}"
    text = f"kind: Scenario\nduration: 2m\ncluster:\n  objects:\n{node('n-1')}{WORK % 4}events:\n{events}"
    done = Run(scenario(tmp_path, text))
    assert [pod.name for pod in done.simulation.world.objects.pods_on("n-1").values()] == bound


def test_a_drain_leaves_it(tmp_path):
    done = run(tmp_path, node("n-1") + WORK % 1, "- {at: 10s, drain: n-1}\n")
    assert [e["pod"] for e in done.of("PodEvicted")] == ["default/work"]
    assert places(done) == ["n-1"]


GROUP = """
autoscaler:
  scanInterval: 10s
  unneeded: 1m
  groups:
  - {name: big, template: {allocatable: {cpu: "4", pods: "9"}}, max: 3, provisioning: 5s}
"""


@pytest.mark.parametrize(
    "cpu, ordered",
    [
        pytest.param("3", 1, id="what is left beside the daemon is enough"),
        pytest.param("4", 0, id="a node that is full of daemons helps nobody"),
    ],
)
def test_the_autoscaler_reckons_with_daemons(tmp_path, cpu, ordered):
    done = run(tmp_path, node("n-1", TAINTED % "NoSchedule") + WORK % cpu, more=GROUP)
    assert sum(e["nodes"] for e in done.of("ScaleUp")) == ordered
    assert places(done) == ["big-0"][:ordered]


def test_no_node_is_kept_or_ordered_for_daemons(tmp_path):
    blocker = WORK.replace("name: work}, spec: {", "name: work}, spec: {nodeName: n-1, ") % 4
    assert run(tmp_path, node("n-1") + blocker, more=GROUP).of("ScaleUp") == []
    events = "- {at: 30s, delete: Pod default/work}\n"
    objects = node("n-1", TAINTED % "NoSchedule") + WORK % 3
    done = run(tmp_path, objects, events, more=GROUP, duration="5m")
    assert [e["node"] for e in done.of("ScaleDown")] == ["big-0"]
