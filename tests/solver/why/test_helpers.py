"""Which others that wait could help a pod to a place, and what is found with them."""

from itertools import chain

import pytest
from support.builders import cluster, group, node, pod
from support.storage import claim as volume_claim

from kubestow.framework.build import build_cluster
from kubestow.solver.plans.replay import follow, inadmissible
from kubestow.solver.why.helpers import helpers
from kubestow.solver.why.witness import after_another, by_themselves

P = pod("p").req(cpu="2").priority(10)
Q = pod("q").req(cpu="1").priority(10)
N = node("n", cpu="2", zone="z")
HELD = pod("v").req(cpu="2").on("n").priority(20)


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param([N, P, Q], set(), id="one that is of no concern"),
        pytest.param([N, P.affinity("zone", {"app": "q"}), Q.label(app="q")], {"q"}, id="one it looks for"),
        pytest.param(
            [
                N,
                P.affinity("zone", {"app": "q"}),
                Q.label(app="q").affinity("zone", {"app": "r"}),
                Q.named("r").label(app="r"),
                Q.named("s"),
            ],
            {"q", "r"},
            id="one that it looks for, and whom that one looks for",
        ),
        pytest.param(
            [N, P.label(app="p").spread("zone"), Q.label(app="p"), Q.named("r")],
            {"q"},
            id="one that its spread constraint counts",
        ),
        pytest.param([N, HELD, P, Q.priority(30)], {"q"}, id="one that may evict whom it may not"),
        pytest.param([N, HELD, P, Q.priority(30).never()], set(), id="one that evicts no pod"),
        pytest.param([N, HELD.priority(5), P, Q.priority(30)], set(), id="whom it may evict itself"),
        pytest.param(
            [N, HELD.priority(5).anti("zone", {"app": "p"}), P.label(app="p"), Q.priority(30)],
            {"q"},
            id="a pod that keeps it from other nodes than its own",
        ),
        pytest.param(
            [N, volume_claim("c"), P.claim("c"), Q.claim("c"), Q.named("r")], {"q"}, id="a claim of both"
        ),
        pytest.param(
            [
                N,
                P.affinity("zone", {"app": "q"}),
                group("g", gang=2),
                Q.label(app="q").member("g"),
                Q.named("r").member("g"),
            ],
            {"q", "r"},
            id="groups come whole",
        ),
    ],
)
def test_who_could_help(objects, expected):
    built = build_cluster(cluster(*objects))
    found = helpers(built, [built.pod_index["default/p"]])
    assert {built.pods[i].pod.name for i in found} == expected


@pytest.mark.parametrize(
    "objects, placed, evicted",
    [
        pytest.param([N, P], {"p"}, set(), id="where it fits"),
        pytest.param([N, HELD.priority(5), P], {"p"}, {"v"}, id="after an eviction"),
        pytest.param(
            [N, P.affinity("zone", {"app": "q"}).req(cpu="1"), Q.label(app="q")],
            {"p", "q"},
            set(),
            id="beside one it looks for",
        ),
        pytest.param(
            [node("n", cpu="3"), HELD.named("w").req(cpu="3"), P, Q.priority(30)],
            {"p", "q"},
            {"w"},
            id="in the room that another makes",
        ),
    ],
)
def test_a_plan_without_a_search(objects, placed, evicted):
    built = build_cluster(cluster(*objects))
    p = built.pod_index["default/p"]
    others = [i for i in built.pending if i != p]
    plan = next(chain(by_themselves(built, [p]), after_another(built, p, others, frozenset())))
    assert {built.pods[i].pod.name for i in plan.placed} == placed
    assert {built.pods[v].pod.name for v in plan.victims} == evicted
    assert not follow(built, plan.moves, plan.allocations).fault
    assert not list(inadmissible(built, plan.moves))


def test_a_gang_goes_to_a_domain_with_room():
    nodes = [node("a", cpu="2").label(rack="r1"), node("b", cpu="4").label(rack="r2")]
    held = pod("v").req(cpu="3").on("b").priority(1)
    built = build_cluster(cluster(*nodes, held, group("g", "rack", gang=2), P.member("g").times(2)))
    plan = next(by_themselves(built, built.pending))
    assert {built.node_names[n] for n in plan.placed.values()} == {"b"}
    assert [built.pods[v].pod.name for v in plan.victims] == ["v"]
