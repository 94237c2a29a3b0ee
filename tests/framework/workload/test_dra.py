"""DRATestPlugin: placements from the devices that satisfy the claims that a group shares."""

import pytest
from support.builders import group, pod
from support.devices import (
    alternative,
    claim,
    device_class,
    devices,
    first_of,
    gpu,
    request,
    slice_,
    slice_on,
    user,
)
from support.grouped import Grouped, profile, rack

SHARED = profile(
    placementPlugins=["PlacementBinPackingPlugin", "PlacementPodCountScorerPlugin", "DRATestPlugin"]
)


def fabric(name, *cards, nodes):
    """Cards that several nodes reach."""
    term = {"matchExpressions": [{"key": "rack", "operator": "In", "values": [nodes]}]}
    cards = [gpu(card, fabric=name) for card in cards]
    return slice_(name, *cards, nodeSelector={"nodeSelectorTerms": [term]})


#   r1: a b, three cards        r2: c d, four cards
NODES = [*rack("r1", ("a", 4), ("b", 4)), *rack("r2", ("c", 4), ("d", 4))]
CARDS = [
    device_class(),
    fabric("f1", "g0", "g1", "g2", nodes="r1"),
    fabric("f2", "g0", "g1", "g2", "g3", nodes="r2"),
]
FOUR = claim("c", request("r", count=4), match="fabric")
TWO = claim("c", request("r", count=2), match="fabric")
GANG = group("g", gang=2)


def members(*claims, count=2, cpu="2"):
    return [user(f"p{k}", *claims).member("g").req(cpu=cpu) for k in range(count)]


def name(fabric_, *cards):
    return ",".join(f"gpu.example.com/{fabric_}/{card}" for card in cards)


F1 = name("f1", "g0", "g1")
F2 = name("f2", "g0", "g1")
ALL_OF_F2 = name("f2", "g0", "g1", "g2", "g3")


@pytest.mark.parametrize(
    "objects, placements",
    [
        pytest.param(
            [GANG, TWO, members("c")], {F1: ["a", "b"], F2: ["c", "d"]}, id="one for each set of devices"
        ),
        pytest.param([GANG, FOUR, members("c")], {ALL_OF_F2: ["c", "d"]}, id="only where there are enough"),
        pytest.param(
            [group("g", "rack", gang=2), TWO, members("c")],
            {f"r1/{F1}": ["a", "b"], f"r2/{F2}": ["c", "d"]},
            id="within each rack",
        ),
        pytest.param(
            [GANG, TWO, user("p0", "c").member("g"), pod("p1").member("g")],
            {"": list("abcd")},
            id="a claim of one member is not shared",
        ),
        pytest.param([GANG, members(), TWO], {"": list("abcd")}, id="no claims"),
        pytest.param(
            [GANG, claim("c", request("r"), has=[("r", "f1", "g2")], at="everywhere"), members("c")],
            {"": list("abcd")},
            id="an allocated claim needs none",
        ),
        pytest.param(
            [GANG, claim("c", request("r", count=5)), members("c")],
            "cannot allocate all claims",
            id="nowhere enough",
        ),
        pytest.param([GANG, members("c")], 'could not find ResourceClaim "default/c"', id="no such claim"),
        pytest.param(
            [GANG, claim("c", request("r")), claim("d", request("s")), members("c", "d")],
            {F1: ["a", "b"], F2: ["c", "d"]},
            id="two claims share out different devices",
        ),
        pytest.param(
            [
                GANG,
                claim("c", first_of("r", alternative("many", count=4), alternative("few", count=2))),
                members("c"),
            ],
            {F1: ["a", "b"], ALL_OF_F2: ["c", "d"]},
            id="the first alternative that a node has",
        ),
    ],
)
def test_placements(objects, placements):
    assert Grouped(NODES, CARDS, *objects, configuration=SHARED).placements() == placements


def test_local_devices_are_one_node_each():
    local = [device_class(), slice_on("a", gpu("g0")), slice_on("c", gpu("g0"))]
    round_ = Grouped(NODES, local, GANG, claim("c", request("r")), members("c"), configuration=SHARED)
    assert list(round_.placements().values()) == [["a"], ["c"]]


def test_members_follow_their_devices():
    round_ = Grouped(NODES, CARDS, GANG, FOUR, members("c", cpu="3"), configuration=SHARED)
    assert round_.placed == {"p0": "c", "p1": "d"}
    found = round_.outcome.state.claims.allocations["default/c"]
    assert devices(found) == ["r=g0", "r=g1", "r=g2", "r=g3"]
    assert round_.outcome.state.claims.reserved["default/c"] == {0, 1}


def test_the_first_member_brings_the_devices_along():
    cycles = Grouped(NODES, CARDS, GANG, FOUR, members("c"), configuration=SHARED).trace
    assert ["allocations" in cycle for cycle in cycles.values()] == [True, False]


def test_a_fabric_whose_nodes_are_too_small_is_passed_over():
    """One after another, the first member would settle for f1, where the second finds no room."""
    tight = [pod("x").req(cpu="3").on("b")]
    objects = [NODES, tight, CARDS, GANG, TWO, members("c", cpu="4")]
    assert Grouped(*objects).placed == {}
    assert Grouped(*objects, configuration=SHARED).placed == {"p0": "c", "p1": "d"}


def test_a_group_that_fails_takes_no_devices():
    round_ = Grouped(NODES, CARDS, GANG, TWO, members("c", cpu="5"), configuration=SHARED)
    assert round_.placed == {}
    assert round_.outcome.state.claims.allocations == {}
