"""What an upgrade of kube-scheduler changes for a cluster."""

import pytest
from support.builders import cluster, node, pod

from kubestow.models.kube_version import KubeVersion
from kubestow.solver.upgrade import upgrade

# 1.34 scores how even a node is with the pod, 1.36 how much evener the pod makes it.
EVEN = [
    node("a", cpu="10", memory="10Gi"),
    node("b", cpu="10", memory="10Gi"),
    pod("r").req(cpu="2", memory="2Gi").on("a"),
    pod("s").req(cpu="1", memory="3Gi").on("b"),
]
P = pod("p").req(cpu="2", memory="1Gi").priority(10)
FILLS_B = pod("q").req(cpu="9", memory="1Gi")


def changes(*objects, before=KubeVersion.V1_34, after=KubeVersion.V1_36):
    found = upgrade(cluster(*objects, release=before), after)
    return {item.pod.partition("/")[2]: (item.change, item.before, item.after) for item in found.pods}


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param(EVEN, {}, id="nothing waits: nothing changes"),
        pytest.param([*EVEN, P], {"p": ("moves", "a", "b")}, id="another score sends a pod elsewhere"),
        pytest.param(
            [*EVEN, P, FILLS_B],
            {"p": ("moves", "a", "b"), "q": ("waits", "b", None)},
            id="and takes the room of a later one",
        ),
    ],
)
def test_pods(objects, expected):
    assert changes(*objects) == expected


def test_the_way_back_is_the_opposite():
    found = changes(*EVEN, P, FILLS_B, before=KubeVersion.V1_36, after=KubeVersion.V1_34)
    assert found == {"p": ("moves", "b", "a"), "q": ("starts", None, "b")}


def test_a_pod_that_is_evicted_under_one_release_only():
    q = pod("q").req(cpu="8").priority(5).select({"kubernetes.io/hostname": "b"})
    assert changes(*EVEN, P, q) == {"p": ("moves", "a", "b"), "s": ("evicted", None, None)}


def test_tiers_are_those_of_both_plans():
    found = upgrade(cluster(*EVEN, P, FILLS_B, release="1.34"), KubeVersion.V1_36)
    assert [(t.name, t.before, t.after) for t in found.tiers if t.sense == "max"] == [
        ("scheduled[priority=10]", 1, 1),
        ("scheduled[priority=0]", 1, 0),
    ]
    assert found.first_difference == "scheduled[priority=0]"
    assert (found.kube_version, found.against) == ("1.34", "1.36")
