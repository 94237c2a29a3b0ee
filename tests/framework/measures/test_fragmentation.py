"""What of the free amounts the workload cannot use."""

import pytest
from support.builders import cluster, node, pod

from kubestow.framework.build import build_cluster
from kubestow.framework.measures.fragmentation import fragmentation
from kubestow.framework.state.state import State


def share(*objects, resource="cpu"):
    built = build_cluster(cluster(*objects))
    return fragmentation(built, State.initial(built)).get(resource)


big, small = pod("big").req(cpu="3", memory="1Gi"), pod("small").req(cpu="1", memory="1Gi")


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param([node("a", cpu="4"), big], 0, id="what fits everywhere leaves nothing unusable"),
        pytest.param([node("a", cpu="2"), big], 1, id="what fits nowhere leaves everything"),
        pytest.param([node("a", cpu="2"), node("b", cpu="6"), big], 1 / 4, id="free on the small node alone"),
        pytest.param([node("a", cpu="2"), node("b", cpu="6"), big, small], 1 / 8, id="for half of the pods"),
        pytest.param(
            [node("a", cpu="4"), node("b", cpu="4"), big.on("a")],
            1 / 5,
            id="what a running pod takes is not free",
        ),
        pytest.param([node("a", cpu="2")], None, id="without pods nothing is said"),
        pytest.param([node("a", cpu="3"), big.on("a")], None, id="nor where nothing is free"),
    ],
)
def test_the_unusable_share(objects, expected):
    found = share(*objects)
    assert found is None if expected is None else found == pytest.approx(expected)


def test_a_resource_is_unusable_where_another_one_is_short():
    assert share(node("a", cpu="8", memory="512Mi"), small) == 1
