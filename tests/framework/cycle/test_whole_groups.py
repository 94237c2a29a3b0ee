"""Groups that are evicted whole, where a single pod preempts by the rules of 1.37."""

import pytest
from support.builders import budget, cluster, composite, group, node, pod

from kubestow.solver.api import solve_greedy

A, B, C = (node(name, cpu="2") for name in "abc")
WHOLE = group("g", disruptionMode="PodGroup")
MEMBERS = [pod(f"m{n}").req(cpu="2").label(app="m").member("g").on(n) for n in "ab"]
SMALL = [pod(f"m{n}").req(cpu="1").member("g").on(n) for n in "ab"]
P = pod("p").req(cpu="2").priority(10)
PARTS = [pod(f"m{n}").req(cpu="2").priority(0).member(f"g{n}").on(n) for n in "ab"]


def tree(top="single", middle="single", parts="single", **spec):
    """A group for each of two members, below a group of groups that is below another, with their modes."""
    return [
        composite("top", gang=1, disruptionMode=top, **spec),
        composite("middle", gang=1, parent="top", disruptionMode=middle),
        *(group(f"g{n}", gang=1, parent="middle", disruptionMode=parts) for n in "ab"),
    ]


def evicted(*objects, release="1.37", gates=""):
    """The names of the pods that leave, and whether the outcome is admissible."""
    plan = solve_greedy(cluster(*objects, release=release, gates=gates))
    return {item.pod.partition("/")[2] for item in plan.evictions}, plan.stats.admissible


@pytest.mark.parametrize(
    "objects, gone",
    [
        pytest.param([A, B, WHOLE, *MEMBERS, P], {"ma", "mb"}, id="members elsewhere leave as well"),
        pytest.param(
            [
                A,
                WHOLE,
                pod("m1").req(cpu="1").member("g").on("a"),
                pod("m2").req(cpu="1").member("g").on("a"),
                P,
            ],
            {"m1", "m2"},
            id="all are on the node",
        ),
        pytest.param(
            [A, B, WHOLE, *SMALL, pod("v").req(cpu="1").on("a"), P.req(cpu="1")],
            set(),
            id="there is room beside them",
        ),
        pytest.param(
            [
                A,
                B,
                WHOLE,
                *SMALL,
                pod("v").req(cpu="1").on("a"),
                pod("w").req(cpu="1").on("b"),
                P.req(cpu="1"),
            ],
            {"v"},
            id="a pod is a cheaper victim than a group, and a group comes back first",
        ),
        pytest.param(
            [A, B, C, WHOLE, *MEMBERS, pod("v").req(cpu="2").on("c"), P],
            {"v"},
            id="one victim costs less than two",
        ),
        pytest.param(
            [A, B, WHOLE, MEMBERS[0], MEMBERS[1].priority(10), P],
            set(),
            id="a member that is as important protects all",
        ),
        pytest.param(
            [A, B, group("g", disruptionMode="PodGroup", priority=10), *MEMBERS, P],
            set(),
            id="and so does the group's own priority",
        ),
        pytest.param([A, B, *tree(), *PARTS, P], {"ma"}, id="groups of a tree leave one by one"),
        pytest.param([A, B, *tree(parts="all"), *PARTS, P], {"ma"}, id="also where each is evicted whole"),
        pytest.param(
            [A, B, *tree(middle="all"), *PARTS, P], {"ma", "mb"}, id="all below a group of groups leave"
        ),
        pytest.param(
            [A, B, *tree(top="all"), *PARTS, P],
            {"ma", "mb"},
            id="the topmost one decides, whatever the modes below it",
        ),
        pytest.param(
            [A, B, *tree(top="all", priority=10), *PARTS, P],
            set(),
            id="and its own priority counts",
        ),
        pytest.param(
            [
                A,
                B,
                C,
                WHOLE,
                *MEMBERS,
                budget("m", allowed=1, app="m"),
                pod("v").req(cpu="2").priority(9).on("c"),
                P,
            ],
            {"v"},
            id="a budget that the whole group would break",
        ),
    ],
)
def test_victims(objects, gone):
    assert evicted(*objects) == (gone, True)


def test_a_tree_is_overlooked_without_its_gate():
    gone, _ = evicted(A, B, *tree(top="all"), *PARTS, P, gates="CompositePodGroup=false")
    assert gone == {"ma"}


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"release": "1.36"}, id="in 1.36 pods preempt pod by pod"),
        pytest.param({"gates": "WorkloadAwarePreemption=false"}, id="and so they do without the gate"),
    ],
)
def test_pod_by_pod(options):
    gone, _ = evicted(A, B, WHOLE, *MEMBERS, P, **options)
    assert gone == {"ma"}
