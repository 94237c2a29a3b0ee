"""Lazy cuts exclude what has no order, and nothing that other evictions or newcomers would give one."""

import pytest
from support.builders import cluster, node, pod
from support.proof import check_optimal
from support.storage import bound, csi_node


@pytest.mark.parametrize(
    "objects, placed, evicted",
    [
        pytest.param(
            [
                node("a", cpu="2"),
                pod("v").label(app="x").req(cpu="1").priority(-10).on("a"),
                pod("w").req(cpu="500m").priority(-10).on("a"),
                # p must come while v is there, and finds room only when w has left
                pod("p").req(cpu="1").priority(-5).affinity("hostname", {"app": "x"}),
                pod("q").req(cpu="500m").priority(10),
            ],
            {"p", "q"},
            {"v", "w"},
            id="one more eviction gives room in time",
        ),
        pytest.param(
            [
                node("a", cpu="2"),
                csi_node("a", volumes=0),
                bound("x"),
                pod("v").claim("x").req(cpu="1").priority(-10).on("a"),
                pod("w").req(cpu="500m").priority(-10).on("a"),
                # p's volume may come while v has it attached, beyond the limit
                pod("p").claim("x").req(cpu="1").priority(-5),
                pod("q").req(cpu="500m").priority(10),
            ],
            {"p", "q"},
            {"v", "w"},
            id="one more eviction gives room while a volume is attached",
        ),
    ],
)
def test_relief(objects, placed, evicted):
    plan, _ = check_optimal(cluster(objects))
    assert {key.partition("/")[2] for key in plan.placed()} == placed
    assert {eviction.pod.partition("/")[2] for eviction in plan.evictions} == evicted


def test_spread_constraints_that_differ_in_max_skew_need_no_cut(monkeypatch):
    """Whoever comes third sees three pods; with a count for each maxSkew only a cut could tell the model."""

    def add_nogood(*_):
        raise AssertionError("a solution without an order")

    monkeypatch.setattr("kubestow.solver.model.round_model.RoundModel.add_nogood", add_nogood)
    web = pod("one").label(app="web").req(cpu="1")
    nodes = [node("a", zone="z1", cpu="9"), node("b", zone="z2", cpu="0")]
    plan, _ = check_optimal(
        cluster(nodes, web.spread("zone"), web.named("two").spread("zone", max_skew=2).times(2))
    )
    assert len(plan.placed()) == 2
