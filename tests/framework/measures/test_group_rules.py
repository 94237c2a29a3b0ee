import pytest
from support.builders import composite, group, node, pod
from support.grouped import Grouped

from kubestow.framework.measures.group_rules import faults_of_groups, placements_of

#   r1      r2      r3
#   a b     c       d     lost: no rack
NODES = [
    node("a").label(rack="r1", row="1"),
    node("b").label(rack="r1", row="2"),
    node("c").label(rack="r2", row="1"),
    node("lost"),
]


def members(*, running=(), pending=3):
    return [
        *(pod(f"r{k}").member("g").on(n) for k, n in enumerate(running)),
        *(pod(f"p{k}").member("g") for k in range(pending)),
    ]


def judge(objects, placed, victims=(), release="1.34"):
    round_ = Grouped(NODES, *objects, release=release)
    index = round_.cluster.pod_index
    end = {index[f"default/{p}"]: round_.cluster.node_index[n] for p, n in placed.items()}
    gone = [index[f"default/{p}"] for p in victims]
    domains = [(d.group.key, d.key, d.domain, d.scheduled) for d in placements_of(round_.cluster, end, gone)]
    return list(faults_of_groups(round_.cluster, end, gone)), domains


GANG = group("g", gang=2)
RACK = group("g", "rack")
BOTH = group("g", "rack", gang=3)
WHOLE = group("g", disruptionMode="PodGroup")
QUORUM = "gang default/g stands with {} of {} members"


@pytest.mark.parametrize(
    "objects, placed, victims, faults",
    [
        pytest.param([GANG, *members()], {}, (), [], id="a gang that gains nobody"),
        pytest.param([GANG, *members()], {"p0": "a"}, (), [QUORUM.format(1, 2)], id="one of two"),
        pytest.param([GANG, *members()], {"p0": "a", "p1": "lost"}, (), [], id="two of two"),
        pytest.param([GANG, *members()], {"p0": "a", "p1": "b", "p2": "c"}, (), [], id="more than enough"),
        pytest.param([GANG, *members(running=["a"])], {"p0": "b"}, (), [], id="running members count"),
        pytest.param(
            [GANG, *members(running=["a"])],
            {"p0": "b"},
            ["r0"],
            [QUORUM.format(1, 2)],
            id="evicted ones do not",
        ),
        pytest.param(
            [GANG, *members(running=["a", "b"])], {}, ["r0"], [], id="a gang may be broken that gains nobody"
        ),
        pytest.param([group("g"), *members()], {"p0": "a"}, (), [], id="the basic policy has no quorum"),
        pytest.param(
            [group("g", gang=9), *members()],
            {"p0": "a"},
            (),
            [
                "default/p0 is placed, and pod group default/g waits: "
                "waiting for minCount pods from a gang to appear in scheduling queue",
                QUORUM.format(1, 9),
            ],
            id="a group that waits gains nobody",
        ),
        pytest.param([RACK, *members()], {"p0": "a", "p1": "b"}, (), [], id="one rack"),
        pytest.param(
            [RACK, *members()],
            {"p0": "a", "p1": "c"},
            (),
            ["pod group default/g is in more than one domain of rack: r1, r2"],
            id="two racks",
        ),
        pytest.param(
            [RACK, *members()],
            {"p0": "lost"},
            (),
            ["pod group default/g: default/p0 is on lost, which lacks the label rack"],
            id="no rack",
        ),
        pytest.param(
            [RACK, *members(running=["a"])],
            {"p0": "c"},
            (),
            ["pod group default/g is in more than one domain of rack: r1, r2"],
            id="apart from one that runs",
        ),
        pytest.param([RACK, *members(running=["a"])], {"p0": "c"}, ["r0"], [], id="from one that has left"),
        pytest.param(
            [RACK, *members(running=["a", "c"])], {}, (), [], id="already in two racks, and gains nobody"
        ),
        pytest.param(
            [RACK, *members(running=["a", "lost"])],
            {"p0": "b"},
            (),
            ["pod group default/g: default/r1 is on lost, which lacks the label rack"],
            id="one runs off the key",
        ),
        pytest.param(
            [group("g", "rack", "row"), *members()],
            {"p0": "a", "p1": "b"},
            (),
            ["pod group default/g is in more than one domain of row: 1, 2"],
            id="each key is a rule of its own",
        ),
        pytest.param([WHOLE, *members(running=["a", "c"])], {}, ["r0", "r1"], [], id="evicted whole"),
        pytest.param(
            [WHOLE, *members(running=["a", "c"])],
            {},
            ["r1"],
            ["pod group default/g is evicted whole or not at all: default/r1 leaves and default/r0 stays"],
            id="not evicted whole",
        ),
        pytest.param(
            [WHOLE, *members(running=["a", "c"]), pod("dying").member("g").on("b").terminating()],
            {},
            ["r0", "r1"],
            [],
            id="evicted whole, and a terminating member takes its time",
        ),
        pytest.param(
            [WHOLE, *members(running=["a"]), pod("dying").member("g").on("b").terminating()],
            {"p0": "c"},
            ["dying"],
            [],
            id="the room of a terminating member is no eviction",
        ),
        pytest.param(
            [WHOLE, *members(running=["a"]), pod("gone").member("g").on("nowhere")],
            {},
            ["r0"],
            [],
            id="evicted whole, but for one on a node that is not there",
        ),
        pytest.param(
            [WHOLE, *members(running=["a"])],
            {"p0": "c"},
            ["r0"],
            ["default/p0 is placed, and its pod group default/g is evicted"],
            id="who is evicted gains nobody",
        ),
    ],
)
def test_faults_of_groups(objects, placed, victims, faults):
    found, _ = judge(objects, placed, victims)
    assert found == faults


TREE = [
    composite("c", gang=1, disruptionMode="all"),
    *(group(name, gang=1, parent="c") for name in "gh"),
    *members(running=["a"]),
    pod("other").member("h").on("c"),
]


@pytest.mark.parametrize(
    "placed, victims, faults",
    [
        pytest.param({}, ["r0", "other"], [], id="all below it leave"),
        pytest.param(
            {},
            ["r0"],
            [
                "composite pod group default/c is evicted whole or not at all: default/r0 leaves and "
                "default/other stays"
            ],
            id="one of its groups leaves",
        ),
        pytest.param(
            {"p0": "b"},
            ["r0", "other"],
            ["default/p0 is placed, and its composite pod group default/c is evicted"],
            id="one of its groups gains a member",
        ),
    ],
)
def test_a_group_of_groups_is_evicted_whole(placed, victims, faults):
    found, _ = judge(TREE, placed, victims, release="1.37")
    assert found == faults


@pytest.mark.parametrize(
    "objects, placed, victims, domains",
    [
        pytest.param([GANG, *members()], {"p0": "a", "p1": "b"}, (), [], id="no key, no domain"),
        pytest.param(
            [BOTH, *members(running=["a"])],
            {"p0": "a", "p1": "b"},
            (),
            [("default/g", "rack", "r1", 2)],
            id="new members are counted",
        ),
        pytest.param(
            [group("g", "row", "rack"), *members()],
            {"p0": "c"},
            (),
            [("default/g", "row", "1", 1), ("default/g", "rack", "r2", 1)],
            id="a line for each key",
        ),
        pytest.param([BOTH, *members(running=["a"])], {}, (), [], id="nobody is new"),
        pytest.param([RACK, *members()], {"p0": "a", "p1": "c"}, (), [], id="broken rules have no domain"),
        pytest.param(
            [RACK, *members(running=["a"])],
            {"p0": "c"},
            ["r0"],
            [("default/g", "rack", "r2", 1)],
            id="who has left pins nothing",
        ),
    ],
)
def test_placements(objects, placed, victims, domains):
    _, found = judge(objects, placed, victims)
    assert found == domains
