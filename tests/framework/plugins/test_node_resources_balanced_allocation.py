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


@pytest.mark.parametrize(
    "configuration, running, p, score",
    [
        pytest.param(
            None, [], pod("p").req(cpu="1", memory="1Gi"), 93, id="shares of 1/4 and 1/8 deviate by 1/16"
        ),
        pytest.param(None, [], pod("p").req(cpu="1", memory="2Gi"), 100, id="equal shares get all points"),
        pytest.param(None, [], pod("p").req(cpu="4"), 50, id="all of one and nothing of the other gets half"),
        pytest.param(None, [], pod("p"), None, id="a pod without requests is skipped"),
        pytest.param(
            None,
            [],
            pod("p").req({GPU: "1"}),
            None,
            id="and so is one that requests only what does not count",
        ),
        pytest.param(
            None, [pod("v").req(cpu="3")], pod("p").req(cpu="3", memory="8Gi"), 100, id="a share ends at 1"
        ),
        pytest.param(
            None,
            [pod("v")],
            pod("p").req(cpu="1", memory="2Gi"),
            100,
            id="defaults for missing requests do not count here",
        ),
        pytest.param(
            THREE,
            [],
            pod("p").req({"cpu": "1", "memory": "2Gi", GPU: "2"}),
            64,
            id="three shares: standard deviation",
        ),
        pytest.param(
            THREE,
            [],
            pod("p").req({"cpu": "1", "memory": "1Gi"}),
            93,
            id="an extended resource counts only if asked for",
        ),
    ],
)
def test_score(configuration, running, p, score):
    one = node("a", cpu="4", memory="8Gi").offer({GPU: "2"})
    found = Look(one, *(v.on("a") for v in running), p, configuration=configuration).scores(
        "NodeResourcesBalancedAllocation"
    )
    assert found == (None if score is None else {"a": score})


def test_a_node_without_one_of_the_resources_is_judged_by_the_others():
    p = pod("p").req({"cpu": "1", "memory": "1Gi", GPU: "1"})
    assert Look(node("a"), p, configuration=THREE).scores("NodeResourcesBalancedAllocation") == {"a": 93}


def test_a_node_with_one_resource_only_has_no_deviation():
    p = pod("p").req(cpu="1")
    assert Look(node("a", memory="0"), p).scores("NodeResourcesBalancedAllocation") == {"a": 100}
