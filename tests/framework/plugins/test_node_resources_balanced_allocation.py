import pytest
from support.builders import node, pod
from support.filtering import Look, profile

GPU = "example.com/gpu"
THREE = profile(
    args={
        "NodeResourcesBalancedAllocation": {
            "resources": [{"name": name, "weight": 1} for name in ("cpu", "memory", GPU)]
        }
    }
)


NAME = "NodeResourcesBalancedAllocation"


@pytest.mark.parametrize(
    "configuration, running, p, old, new",
    [
        pytest.param(
            None,
            [],
            pod("p").req(cpu="1", memory="1Gi"),
            93,
            71,
            id="shares of 1/4 and 1/8 deviate by 1/16",
        ),
        pytest.param(
            None, [], pod("p").req(cpu="1", memory="2Gi"), 100, 75, id="equal shares on an empty node"
        ),
        pytest.param(
            None,
            [],
            pod("p").req(cpu="4"),
            50,
            50,
            id="all of one and nothing of the other gets half",
        ),
        pytest.param(
            None,
            [pod("v").req(cpu="4")],
            pod("p").req(memory="8Gi"),
            100,
            100,
            id="the pod evens out what was uneven",
        ),
        pytest.param(
            None,
            [pod("v").req(cpu="2")],
            pod("p").req(cpu="1", memory="2Gi"),
            75,
            75,
            id="a node that stays as uneven as it was",
        ),
        pytest.param(None, [], pod("p"), None, None, id="a pod without requests is skipped"),
        pytest.param(
            None,
            [],
            pod("p").req({GPU: "1"}),
            None,
            None,
            id="and so is one that requests only what does not count",
        ),
        pytest.param(
            None,
            [pod("v").req(cpu="3")],
            pod("p").req(cpu="3", memory="8Gi"),
            100,
            94,
            id="a share ends at 1",
        ),
        pytest.param(
            None,
            [pod("v")],
            pod("p").req(cpu="1", memory="2Gi"),
            100,
            75,
            id="defaults for missing requests do not count here",
        ),
        pytest.param(
            THREE,
            [],
            pod("p").req({"cpu": "1", "memory": "2Gi", GPU: "2"}),
            64,
            57,
            id="three shares: standard deviation",
        ),
        pytest.param(
            THREE,
            [],
            pod("p").req({"cpu": "1", "memory": "1Gi"}),
            93,
            71,
            id="an extended resource counts only if asked for",
        ),
    ],
)
def test_score(configuration, running, p, old, new):
    """1.34 scores the shares, 1.36 their change."""
    one = node("a", cpu="4", memory="8Gi").offer({GPU: "2"})
    for release, score in (("1.34", old), ("1.36", new)):
        found = Look(
            one, *(v.on("a") for v in running), p, configuration=configuration, release=release
        ).scores(NAME)
        assert found == (None if score is None else {"a": score})


def test_a_node_without_one_of_the_resources_is_judged_by_the_others():
    p = pod("p").req({"cpu": "1", "memory": "1Gi", GPU: "1"})
    assert Look(node("a"), p, configuration=THREE, release="1.34").scores(NAME) == {"a": 93}


def test_a_node_with_one_resource_only_has_no_deviation():
    p = pod("p").req(cpu="1")
    assert Look(node("a", memory="0"), p, release="1.34").scores(NAME) == {"a": 100}
