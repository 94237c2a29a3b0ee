"""Attributes with several values (KEP-5491): what pod `p` gets on node `a`, and where two pods may stand."""

import pytest
from support.builders import cluster, node
from support.devices import DRIVER, allocated, claim, device_class, gpu, request, slice_on, user
from support.engines import Case, both_engines

from kubestow.framework.dra.checker_view import ServedDevices

NONE = "UAU DynamicResources: cannot allocate all claims"
OWN = f'device.attributes["{DRIVER}"]'


def wants(*devices, match=None, distinct=None, count=2, selectors=(), **more):
    wanted = claim("c", request("r", *selectors, count=count), match=match, distinct=distinct)
    return allocated(node("a"), device_class(), slice_on("a", *devices), user("p", "c"), wanted, **more)


@pytest.mark.parametrize(
    "numa, match, distinct",
    [
        pytest.param([0, 0], True, False, id="two single values that are equal"),
        pytest.param([[0, 1], 1], True, False, id="a single value among several"),
        pytest.param([[0, 1], [1, 2]], True, False, id="two lists with a value in common"),
        pytest.param([[0, 1], [2, 3]], False, True, id="two lists without"),
        pytest.param([[0, 0], 0], True, False, id="what is there twice counts once"),
        pytest.param([[0], ["0"]], False, True, id="the type counts"),
        pytest.param([["v1.2.3", "v2.0.0"], "v2.0.0"], True, False, id="versions"),
        pytest.param([[True], False], False, True, id="truth values"),
    ],
)
def test_constraints(numa, match, distinct):
    devices = [gpu(f"g{k}", numa=value) for k, value in enumerate(numa)]
    both = {"c": ["r=g0", "r=g1"]}
    assert wants(*devices, match="numa") == (both if match else NONE)
    assert wants(*devices, distinct="numa") == (both if distinct else NONE)


def test_all_devices_share_one_value_not_each_pair_one_of_its_own():
    devices = [gpu("g0", numa=[0, 1]), gpu("g1", numa=[1, 2]), gpu("g2", numa=[0, 2]), gpu("g3", numa=[1])]
    assert wants(*devices, match="numa", count=3) == {"c": ["r=g0", "r=g1", "r=g3"]}


@pytest.mark.parametrize(
    "more", [{"gates": "DRAListTypeAttributes=false"}, {"release": "1.34"}], ids=["gate off", "1.34"]
)
def test_lists_that_are_not_read_are_no_value(more):
    devices = [gpu("g0", numa=[0, 1]), gpu("g1", numa=[1])]
    assert wants(*devices, match="numa", **more) == NONE
    assert wants(*devices, distinct="numa", **more) == NONE
    assert wants(*devices, **more) == {"c": ["r=g0", "r=g1"]}


@pytest.mark.parametrize(
    "expression, expected",
    [
        pytest.param(f"{OWN}.numa.includes(1)", ["r=g0", "r=g1"], id="a list includes a value"),
        pytest.param(f"{OWN}.numa.includes(0)", ["r=g0"], id="or not"),
        pytest.param(f"{OWN}.slot.includes(7)", ["r=g1"], id="a single value includes itself"),
        pytest.param(f'{OWN}.brand.includes("x")', ["r=g0"], id="texts"),
        pytest.param(f"{OWN}.ready.includes(true)", ["r=g0", "r=g1"], id="truth values"),
        pytest.param(f'{OWN}.driver.includes(semver("2.0.0"))', ["r=g1"], id="versions, one or several"),
        pytest.param(f"{OWN}.numa.exists(n, n == 0) && 1 in {OWN}.numa", ["r=g0"], id="a list is a list"),
    ],
)
def test_selectors(expression, expected):
    devices = [
        gpu("g0", numa=[0, 1], slot=6, brand=["x", "y"], ready=True, driver="v1.2.3"),
        gpu("g1", numa=[1], slot=7, brand="z", ready=[False, True], driver=["v1.2.3", "v2.0.0"]),
    ]
    assert wants(*devices, count=len(expected), selectors=[expression]) == {"c": expected}


def test_the_checker_reads_lists_by_itself():
    snapshot = cluster(node("a"), slice_on("a", gpu("g0", numa=[0, 1], v=["v1.0.0"])))
    [device] = snapshot.resource_slices[0].spec.devices
    found = {name: ServedDevices(snapshot).compared(item) for name, item in device.attributes.items()}
    assert found == {"numa": {("int", 0), ("int", 1)}, "v": {("version", "1.0.0")}}


def pair(name, *, distinct=False):
    return claim(name, request("r", count=2), **{"distinct" if distinct else "match": "numa"})


A, B, GPU = node("a"), node("b"), device_class()
P, Q = user("p", "x"), user("q", "y")
CASES = [
    Case(
        "two claims on one node, each with a value of its own",
        cluster(
            A,
            GPU,
            slice_on("a", *(gpu(f"g{k}", numa=n) for k, n in enumerate([[0, 1], 0, [1, 2], 2]))),
            pair("x"),
            pair("y"),
            P,
            Q,
        ),
        {"aa"},
        ("p", "q"),
    ),
    Case(
        "one device cannot serve two values",
        cluster(
            A,
            GPU,
            slice_on("a", *(gpu(f"g{k}", numa=n) for k, n in enumerate([[0, 1], 0, 1]))),
            pair("x"),
            pair("y"),
            P,
            Q,
        ),
        set(),
        ("p", "q"),
    ),
    Case(
        "lists that have a value in common are not distinct",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0", numa=[0, 1]), gpu("g1", numa=[1, 2])),
            slice_on("b", gpu("g0", numa=[0, 1]), gpu("g1", numa=[2])),
            pair("x", distinct=True),
            P,
        ),
        {"b"},
    ),
    Case(
        "all devices, and no value that all have",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0", numa=[0, 1]), gpu("g1", numa=[1, 2]), gpu("g2", numa=[0, 2])),
            slice_on("b", gpu("g0", numa=[0, 1]), gpu("g1", numa=[1, 2]), gpu("g2", numa=[1])),
            claim("x", request("r", count=3), match="numa"),
            P,
        ),
        {"b"},
    ),
]


@both_engines
@pytest.mark.parametrize("case", CASES, ids=Case.title)
def test_allowed_nodes(engine, case):
    assert engine(case) == case.allowed
