"""Which rounds are counted by node types, with shares of their devices, and how."""

import pytest
from support.builders import cluster, node, pod
from support.devices import claim, device_class, gpu, model, request, slice_, slice_on, user
from support.share_rounds import on_shelf, round_of, shared, sharing, shelf

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.solver.columns.reading import type_round
from kubestow.solver.columns.shared_devices import Evictable

SHELF = shelf("a", "1000", "1000")
HALF = sharing("p", "500")


def counted(*parts, most_types=64, evictable=Evictable.STAY):
    return type_round(build_problem(build_cluster(round_of(*parts))), most_types, evictable)


def wanting(*requests, **more):
    return [user("q", "c"), claim("c", *requests, owner="q", **more)]


def holding(has, *users):
    """A claim that is allocated, for pods that run or wait."""
    share = [{"shareID": "s", "consumedCapacity": {"milli": "300"}}]
    return [claim("held", has=[("r", "a", has, *share)], at="a", users=users)]


SHARE = request("r", capacity={"milli": "500"})
OTHERS = [
    pytest.param([SHELF, HALF, wanting(SHARE, request("s"))], id="a claim has two requests"),
    pytest.param([SHELF, HALF, wanting(request("r", mode="All"))], id="a claim wants all devices"),
    pytest.param(
        [SHELF, HALF, wanting(request("r", count=2, capacity={"milli": "500"}))],
        id="a claim for two devices could have them on one half each beside another",
    ),
    pytest.param([SHELF, HALF, wanting(SHARE, match="model")], id="a claim has a constraint"),
    pytest.param(
        [[node("a"), slice_on("a", shared("g0"), gpu("g1"))], HALF, wanting(request("r"))],
        id="some devices are not shared",
    ),
    pytest.param(
        [
            [node("a"), slice_on("a", gpu("g0", capacity={"milli": "9", "memory": "9"}, shared=True))],
            sharing("p", "5"),
        ],
        id="a device has two capacities",
    ),
    pytest.param(
        [
            [
                node("a"),
                slice_on(
                    "a",
                    gpu("g0", capacity={"milli": "9"}, shared=True, model="m"),
                    gpu("g1", capacity={"milli": "9"}, shared=True, model="n"),
                ),
            ],
            sharing("p", "5"),
            wanting(request("r", model("m"), capacity={"milli": "5"})),
        ],
        id="a claim may have some devices of a node and not others",
    ),
    pytest.param(
        [[node("a"), node("b"), slice_("s", shared("g0"), allNodes=True)], HALF],
        id="several nodes reach a device",
    ),
    pytest.param(
        [SHELF, HALF, holding("g0", "p2"), [user("p2", "held")]], id="a pod that waits holds a share"
    ),
    pytest.param(
        [shelf("a", "80Gi"), sharing("p", "50Gi"), sharing("q", "1n")],
        id="units of what a claim asks for are too many for 64 bits",
    ),
    pytest.param(
        [SHELF, HALF, [pod("p2").req(memory="100Ei")]], id="a pod asks for more than 64 bits can count"
    ),
]


@pytest.mark.parametrize("parts", OTHERS)
def test_other_rounds_are_left_to_the_model(parts):
    assert counted(*parts) is None


@pytest.mark.parametrize("first", [SHELF, [node("a")]], ids=["nobody wants devices", "there are no devices"])
def test_a_round_without_claims_is_counted_by_room(first):
    found = counted(first, [node("b"), node("c", cpu="2")], [pod("p").req(cpu="1")])
    assert sorted(len(kind.nodes) for kind in found.types) == [1, 2]
    assert not found.wants
    assert [kind.devices for kind in found.types] == [(), ()]


def test_nodes_with_equal_room_and_devices_are_one_type():
    found = counted(SHELF, shelf("b", "1000", "1000"), shelf("c", "1000"), HALF)
    assert sorted((kind.nodes, kind.devices) for kind in found.types) == [
        ((0, 1), ((1000, 2),)),
        ((2,), ((1000, 1),)),
    ]


def test_too_many_types_are_left_to_the_model():
    assert counted(SHELF, shelf("c", "1000"), HALF, most_types=1) is None


def test_what_a_running_pod_holds_is_no_longer_there():
    running = [user("r", "held").req(cpu="1").on("a")]
    found = counted(SHELF, HALF, holding("g0", "r"), running)
    assert [kind.devices for kind in found.types] == [((1000, 1), (700, 1))]


EVICTABLE = [
    pytest.param(Evictable.STAY, ((1000, 1), (300, 1)), 2000, id="they keep room and shares where they stay"),
    pytest.param(Evictable.GONE, ((1000, 2),), 4000, id="room and shares are free where they are gone"),
]


@pytest.mark.parametrize("evictable, devices, cpu", EVICTABLE)
def test_running_pods_that_may_be_evicted(evictable, devices, cpu):
    running = [on_shelf("r", "a", "g0", "700", cpu="1"), [pod("plain").req(cpu="1").on("a")]]
    found = counted(SHELF, sharing("p", "500", priority=9), *running, evictable=evictable)
    [kind] = found.types
    assert (kind.devices, kind.room[0], found.loose) == (devices, cpu, False)


def test_pods_that_nobody_evicts_stay_in_both_rounds():
    running = on_shelf("r", "a", "g0", "700", priority=9)
    found = counted(SHELF, HALF, running, evictable=Evictable.GONE)
    assert [kind.devices for kind in found.types] == [((1000, 1), (300, 1))]


ALIKE = [
    pytest.param(sharing("q", "500"), 1, id="pods that differ in their labels alone are one class"),
    pytest.param(sharing("q", "400"), 2, id="pods with other shares are another one"),
    pytest.param(sharing("q", "500", cpu="2"), 2, id="pods with other requests are another one"),
    pytest.param(sharing("q", "500", priority=9), 2, id="pods of another priority are another one"),
]


@pytest.mark.parametrize("other, classes", ALIKE)
def test_classes_that_ask_for_the_same_are_one(other, classes):
    labelled = [[HALF[0].label(app="a"), HALF[1]], [other[0].label(app="b"), other[1]]]
    found = counted(SHELF, *labelled)
    assert len(found.classes) == classes
    assert found.sizes.sum() == 2


def test_several_whole_devices_count_as_so_many():
    found = counted(SHELF, sharing("p", "1000", count=2))
    assert (found.devices.tolist(), found.demand(found.types[0])) == ([2], {1000: 2})


def test_pods_without_claims_take_room_only():
    found = counted(SHELF, HALF, [pod("plain").req(cpu="1")])
    assert sorted(found.types[0].sizes.tolist()) == [0, 500]


def test_a_class_whose_devices_a_node_lacks_has_no_place_there():
    found = counted(SHELF, [node("b")], HALF)
    [limits] = [kind.limits.tolist() for kind in found.types if kind.nodes == (1,)]
    assert limits == [0]


def test_the_world_of_a_driver_may_be_larger_than_one():
    """Units are whole numbers: a quarter of one is the unit of all."""
    found = type_round(
        build_problem(
            build_cluster(
                cluster(
                    device_class("gpu"),
                    node("a"),
                    slice_on("a", gpu("g0", capacity={"share": "1"}, shared=True)),
                    *[user("p", "c"), claim("c", request("r", capacity={"share": "250m"}), owner="p")],
                )
            )
        ),
        64,
        Evictable.STAY,
    )
    assert (found.types[0].devices, found.types[0].sizes.tolist()) == (((4, 1),), [1])
