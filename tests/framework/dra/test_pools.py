"""What nodes see of pools, by release; and what their search loses in 1.36: what pod `p` gets on node `a`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import cluster, node
from support.devices import allocated, claim, device_class, gpu, request, slice_, slice_on, user
from support.filtering import Look, pass_over, written

from kubestow.framework.build import build_cluster
from kubestow.framework.dra.checker_view import ServedDevices
from kubestow.framework.dra.index import device_index
from kubestow.solver.api import SolveOptions, solve_both

NONE = "UAU DynamicResources: cannot allocate all claims"
FAULTY = "UAU DynamicResources: invalid resource pools were encountered"
G0, G1 = gpu("g0"), gpu("g1")
CARD = {"card": {"memory": "4"}}


def part(name, memory="2", **more):
    return gpu(name, takes={"card": {"memory": memory}}, **more)


def whole(name, *devices, pool="p", of=2, **more):
    """A slice of a pool that spans nodes."""
    return slice_(name, *devices, pool=pool, of=of, **more)


COUNTERS = whole("counters", counters=CARD, of=3)


@pytest.mark.parametrize(
    "slices, old, new",
    [
        pytest.param(
            [slice_on("a", G0, of=2)], {"c": ["r=g0"]}, NONE, id="a pool that lacks a slice gives no device"
        ),
        pytest.param(
            [whole("s0", G0, nodeName="a"), whole("s1", G1, nodeName="b")],
            {"c": ["r=g0"]},
            {"c": ["r=g0"]},
            id="a slice of another node makes a pool complete",
        ),
        pytest.param(
            [whole("s0", G0, of=1, nodeName="a"), whole("s1", G1, of=1, nodeName="b", generation=2)],
            {"c": ["r=g0"]},
            {"c": ["r=g0"]},
            id="a node that sees enough does not mind a newer generation elsewhere",
        ),
        pytest.param(
            [whole("s0", G0, nodeName="a"), whole("s1", G1, nodeName="b", generation=2)],
            {"c": ["r=g0"]},
            NONE,
            id="one that sees too little does",
        ),
        pytest.param(
            [slice_on("a", G0, name="one", of=2), slice_on("a", G0, name="two", of=2)],
            "error: pool a is invalid: duplicate device name g0",
            FAULTY,
            id="a name that is there twice spoils the pool",
        ),
        pytest.param(
            [
                slice_on("a", G0, name="one", of=2),
                slice_on("a", G0, name="two", of=2),
                slice_("b", G1, allNodes=True),
            ],
            "error: pool a is invalid: duplicate device name g0",
            {"c": ["r=g1"]},
            id="and the next pool serves",
        ),
        pytest.param(
            [whole("s0", G0, nodeName="a"), whole("s1", G0, nodeName="b")],
            {"c": ["r=g0"]},
            {"c": ["r=g0"]},
            id="a name that another node's slice has, too, is no fault",
        ),
        pytest.param(
            [
                COUNTERS,
                whole("s0", part("g0"), of=3, nodeName="a"),
                whole("s1", part("g1"), of=3, nodeName="b"),
            ],
            {"c": ["r=g0"]},
            {"c": ["r=g0"]},
            id="counters that name no node count everywhere",
        ),
        pytest.param(
            [
                COUNTERS,
                whole("s0", part("g0"), of=3, nodeName="a"),
                whole("s1", gpu("g1", takes={"nothing": {"memory": "1"}}), of=3, nodeName="b"),
            ],
            {"c": ["r=g0"]},
            FAULTY,
            id="a device of another node that takes from no known counters spoils the pool",
        ),
        pytest.param(
            [
                whole("counters", counters=CARD, of=2, nodeName="b"),
                whole("s0", part("g0"), nodeName="a"),
            ],
            {"c": ["r=g0"]},
            FAULTY,
            id="counters of another node's slice are not seen",
        ),
    ],
)
@pytest.mark.parametrize("release", ["1.34", "1.36"])
def test_pools(release, slices, old, new):
    objects = [node("a"), node("b"), device_class(), *slices, user("p", "c"), claim("c")]
    assert allocated(*objects, release=release) == (old if release == "1.34" else new)


def test_all_devices_mind_a_pool_that_the_node_only_has_counters_of():
    lacking = whole("counters", counters=CARD, of=2)
    wanted = claim("c", request("r", mode="All"))
    found = allocated(node("a"), device_class(), lacking, slice_on("a", G0), user("p", "c"), wanted)
    assert found == (
        "error: claim default/c, request r: asks for all devices, but resource pool gpu.example.com/p is "
        "currently being updated"
    )


@st.composite
def some_pools(draw):
    """Slices of one or two pools over two nodes, of one or two generations, some of them missing or wrong."""
    slices = []
    number = {(pool, age): draw(st.integers(1, 3)) for pool in "pq" for age in (1, 2)}
    for k in range(draw(st.integers(1, 5))):
        pool, age = draw(st.sampled_from(["p", "p", "q"])), draw(st.sampled_from([1, 1, 1, 2]))
        facts = {"of": number[pool, age], "generation": age}
        where = draw(st.sampled_from([{"nodeName": "a"}, {"nodeName": "b"}, {"allNodes": True}, {}]))
        if draw(st.integers(0, 3)) == 0:
            names = draw(st.sampled_from([["card"], ["card"], ["other"], ["card", "other"]]))
            counters = {key: {"memory": "4"} for key in names}
            slices.append(slice_(f"s{k}", pool=pool, counters=counters, **facts, **where))
            continue
        names = draw(st.lists(st.sampled_from([f"g{k}", "g0"]), min_size=1, max_size=2, unique=True))
        devices = [draw(st.sampled_from([gpu(name), part(name)])) for name in names]
        if not where:
            where = {"perDeviceNodeSelection": True}
            places = st.sampled_from([{"nodeName": "a"}, {"allNodes": True}])
            devices = [device | draw(places) for device in devices]
        slices.append(slice_(f"s{k}", *devices, pool=pool, **facts, **where))
    return slices


@settings(max_examples=300, deadline=None)
@given(some_pools(), st.sampled_from(["", "DRAPartitionableDevices=false"]))
def test_the_checker_sees_the_same_devices(slices, gates):
    """Both readings of what a pool gives agree; so do they on which pools keep a claim from all devices."""
    snapshot = cluster(node("a"), node("b"), device_class(), *slices, claim("c"), gates=gates)
    whole_ = build_cluster(snapshot)
    inventory, served = device_index(whole_).inventory, ServedDevices(snapshot)
    for n, item in enumerate(snapshot.nodes):
        pools = inventory.view(n).pools
        ours = {d.id for pool in pools for d in pool.devices if d.reached_from(n)}
        assert ours == set(served.reached(item))
        incomplete = {pool.name for pool in served.pools(item) if not pool.complete}
        assert {(pool.driver, pool.name) for pool in pools if pool.incomplete} == incomplete


BROKEN = part("g0", taints=[("worn", "NoSchedule")])


@pytest.mark.parametrize(
    "release, count, expected",
    [
        pytest.param("1.36", 1, "", id="one more fits beside what was lost"),
        pytest.param("1.36", 2, NONE, id="a second one does not: 2 of 4 are lost with the tainted device"),
        pytest.param("1.34", 2, "", id="1.34 is rebuilt without that fault"),
    ],
)
def test_counters_of_a_device_that_is_turned_down_are_lost_in_a_search(release, count, expected):
    slices = [
        slice_on("a", BROKEN, part("g1"), part("g2"), of=2),
        slice_("n", pool="a", of=2, counters=CARD),
    ]
    wanted = claim("c", request("r", count=count))
    look = Look(node("a"), device_class(), *slices, user("p", "c"), wanted, release=release)
    result = look.framework.filter_all(look.state, look.pod)
    assert written(result.status(0)) == expected
    assert look.framework.filter_node(look.state, look.pod, 0).ok, "the rules permit it"


def test_a_plan_does_not_lose_them():
    """What is admissible does not depend on where a search has looked first; greedy's plan replays, too."""
    slices = [
        slice_on("a", BROKEN, part("g1"), part("g2"), of=2),
        slice_("n", pool="a", of=2, counters=CARD),
    ]
    around = [node("a"), device_class(), *slices, user("p", "c"), claim("c", request("r", count=2))]
    assert pass_over(*around)["p"]["result"] == "unschedulable"
    optimal, greedy = solve_both(cluster(*around), SolveOptions(workers=1))
    assert optimal.placed() == {"default/p": "a"}
    assert greedy.placed() == {}
    assert optimal.stats.verified
    assert greedy.stats.verified


def test_a_constraint_loses_them_as_well():
    """g0 is chosen, g1 lies on another board: its counters are gone when g2 comes."""
    devices = [gpu("g0", numa=0, takes={"card": {"memory": "2"}}), part("g1", numa=1), part("g2", numa=0)]
    slices = [slice_on("a", *devices, of=2), slice_("n", pool="a", of=2, counters=CARD)]
    wanted = claim("c", request("r", count=2), match="numa")
    look = Look(node("a"), device_class(), *slices, user("p", "c"), wanted)
    assert written(look.framework.filter_all(look.state, look.pod).status(0)) == NONE
    assert look.framework.filter_node(look.state, look.pod, 0).ok
