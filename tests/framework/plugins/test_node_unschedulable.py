import pytest
from support.builders import node, pod
from support.filtering import Look, profile

CORDONED = "UAU NodeUnschedulable: node(s) were unschedulable"


@pytest.mark.parametrize(
    "p, rejected",
    [
        pytest.param(pod("p"), {"a": CORDONED}, id="a cordoned node takes nobody"),
        pytest.param(
            pod("p").tolerate("node.kubernetes.io/unschedulable"),
            {},
            id="a toleration of its taint lets a pod in",
        ),
        pytest.param(
            pod("p").tolerate("node.kubernetes.io/unschedulable", effect="NoExecute"),
            {"a": CORDONED},
            id="the toleration must be of NoSchedule",
        ),
        pytest.param(pod("p").tolerate(), {}, id="who tolerates everything gets in"),
    ],
)
def test_cordoned_nodes(p, rejected):
    assert Look(node("a").cordoned(), node("b"), p).rejected == rejected


def test_a_profile_may_do_without_the_plugin():
    off = profile(filter={"disabled": [{"name": "NodeUnschedulable"}]})
    assert Look(node("a").cordoned(), pod("p"), configuration=off).rejected == {}
