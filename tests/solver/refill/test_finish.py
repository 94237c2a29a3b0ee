"""Pods that are left over make one more victim leave, the cheapest one; who has room again stays."""

import pytest
from support.builders import budget, cluster, node
from support.rows import high, low

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.solver.refill.blueprint import sides_of
from kubestow.solver.refill.finish import Finish

WEB = low.label(app="web").req(cpu="2")
DB = low.label(app="db").req(cpu="2")
KEEP = budget("web", app="web", allowed=0)


def finish_of(*objects, leaving=()):
    problem = build_problem(build_cluster(cluster(*objects)))
    names = [problem.cluster.pods[v.pod].pod.name for v in problem.victims]
    found = Finish(problem, sides_of(problem), {}, {names.index(name): 1 for name in leaving})
    return found, names


def left_by(found, names):
    return sorted(names[v] for v, count in found.leaving.items() if count)


SMALL = low.req(cpu="1")


def pair(one, other, name):
    """Two victims that fill a node of two cpus, neither of the size of the other."""
    return [low.named(one).req(cpu="500m").on(name), low.named(other).req(cpu="1500m").on(name)]


TWO = [node(name, cpu="2") for name in "ab"]

ROWS = [
    pytest.param([*TWO, WEB.named("v").on("a"), high.req(cpu="2")], [], id="a free node is taken"),
    pytest.param(
        [*TWO, WEB.named("v").on("a"), DB.named("w").on("b"), high.req(cpu="2"), KEEP],
        ["w"],
        id="the victim without a budget leaves",
    ),
    pytest.param(
        [*TWO, DB.named("v").priority(10).on("a"), DB.named("w").on("b"), high.req(cpu="2")],
        ["w"],
        id="the victim of the lower priority leaves",
    ),
    pytest.param(
        [*TWO, WEB.named("v").on("a"), DB.named("w").priority(10).on("b"), high.req(cpu="2"), KEEP],
        ["w"],
        id="a budget counts more than a priority",
    ),
    pytest.param(
        [node("a", cpu="2"), *pair("v", "w", "a"), high.req(cpu="2")],
        ["v", "w"],
        id="where one victim is not enough two of the node leave",
    ),
    pytest.param(
        [
            *TWO,
            *(v.label(app="web") for v in pair("v1", "v2", "a")),
            *pair("w1", "w2", "b"),
            high.req(cpu="2"),
            KEEP,
        ],
        ["w1", "w2"],
        id="the two without a budget leave",
    ),
]


@pytest.mark.parametrize("objects, wanted", ROWS)
def test_who_makes_way(objects, wanted):
    found, names = finish_of(*objects)
    assert found.place([(0, 0)])
    assert left_by(found, names) == wanted
    assert sum(found.counts.values()) == 1


def test_a_pod_for_whom_all_victims_are_not_enough_finds_no_place():
    found, names = finish_of(
        node("a", cpu="3"),
        SMALL.named("v").on("a"),
        SMALL.named("w").on("a"),
        high.named("x").req(cpu="1").on("a"),
        high.req(cpu="3"),
    )
    assert not found.place([(0, 0)])
    assert left_by(found, names) == []


def test_the_costliest_of_those_who_have_room_stays():
    found, names = finish_of(
        node("a", cpu="4"),
        WEB.named("v").on("a"),
        DB.named("w").on("a"),
        high.req(cpu="2"),
        KEEP,
        leaving=["v", "w"],
    )
    assert found.place([(0, 0)])
    found.restore()
    assert left_by(found, names) == ["w"]
