"""The allocator, row by row: what a pod `p` with claims `c` (and `d`) gets on node `a`."""

import pytest
from support.builders import node
from support.devices import (
    allocated,
    alternative,
    claim,
    device_class,
    first_of,
    gpu,
    model,
    request,
    slice_,
    slice_on,
    user,
    zone,
)

NONE = "UAU DynamicResources: cannot allocate all claims"
A, B = gpu("g0", model="a"), gpu("g1", model="b")
NUMA = (gpu("g0", numa=0), gpu("g1", numa=1), gpu("g2", numa=1))


def on_a(*devices, **more):
    return slice_on("a", *devices, **more)


def pod_with(*claims):
    return user("p", *(item.name for item in claims)), *claims


def both_ways(item):
    """Put the constraints of a claim in the other order."""
    devices = item.spec.devices
    turned = devices.model_copy(update={"constraints": devices.constraints[::-1]})
    return item.model_copy(update={"spec": item.spec.model_copy(update={"devices": turned})})


HELD = claim("held", has=[("r", "a", "g0")], at="a", users=["q"])
"""Somebody else's claim, which has g0."""

ROWS = [
    # the worked examples
    pytest.param(
        [on_a(A, B), *pod_with(claim("c", request("r", count=2)))],
        {"c": ["r=g0", "r=g1"]},
        id="two devices come in their order",
    ),
    pytest.param(
        [on_a(A, B), *pod_with(claim("c", request("r", count=2), match="model"))],
        NONE,
        id="two devices of different models match no constraint",
    ),
    pytest.param(
        [on_a(A, B), *pod_with(claim("c", request("r1", model("a", "b")), request("r2", model("a"))))],
        {"c": ["r1=g1", "r2=g0"]},
        id="an easy request steps back for a picky one",
    ),
    pytest.param(
        [
            on_a(A, B),
            *pod_with(
                claim("c", first_of("r", alternative("large", model("c")), alternative("small", count=2)))
            ),
        ],
        {"c": ["r/small=g0", "r/small=g1"]},
        id="the second alternative serves where the first cannot",
    ),
    pytest.param(
        [on_a(A, B, gpu("g2")), HELD, *pod_with(claim("c", request("r", mode="All")))],
        NONE,
        id="all devices cannot be had where one is taken",
    ),
    pytest.param(
        [on_a(A, of=2), *pod_with(claim("c", request("r", mode="All")))],
        "error: claim default/c, request r: asks for all devices, but resource pool gpu.example.com/a is "
        "currently being updated",
        id="all devices of an incomplete pool are an error",
    ),
    pytest.param(
        [
            on_a(gpu("new"), generation=5),
            on_a(gpu("old"), name="old", generation=4, of=3),
            *pod_with(claim("c")),
        ],
        {"c": ["r=new"]},
        id="a newer generation replaces all older slices",
    ),
    # order
    pytest.param(
        [
            slice_("z", gpu("late"), pool="one", allNodes=True, of=2),
            slice_("y", gpu("early"), pool="one", allNodes=True, of=2),
            *pod_with(claim("c")),
        ],
        {"c": ["r=early"]},
        id="slices of a pool come by object name",
    ),
    pytest.param(
        [
            slice_("s1", gpu("other"), driver="b.example.com", allNodes=True),
            slice_("s2", gpu("own"), driver="a.example.com", allNodes=True),
            device_class("any", "true"),
            *pod_with(claim("c", request("r", of="any"))),
        ],
        {"c": ["r=own"]},
        id="pools come by driver, then by name",
    ),
    pytest.param(
        [on_a(A, B), *pod_with(claim("d"), claim("c"))],
        {"d": ["r=g0"], "c": ["r=g1"]},
        id="claims come in the order of the pod",
    ),
    # who has a device
    pytest.param([on_a(A), HELD, *pod_with(claim("c"))], NONE, id="a device belongs to one claim"),
    pytest.param(
        [on_a(A, B), *pod_with(claim("c"), claim("d", request("r", count=2)))],
        NONE,
        id="claims of one pod do not share devices",
    ),
    pytest.param(
        [on_a(A), HELD, *pod_with(claim("c", request("r", admin=True)))],
        {"c": ["r=g0"]},
        id="adminAccess looks past other claims",
    ),
    pytest.param(
        [on_a(A), *pod_with(claim("c", request("r", admin=True, count=2)))],
        NONE,
        id="but not past its own",
    ),
    pytest.param(
        [on_a(A), *pod_with(claim("c", request("r", admin=True)), claim("d"))],
        NONE,
        id="what adminAccess has in a search is not free for the pod's next claim",
    ),
    pytest.param(
        [
            on_a(A),
            claim("watched", request("r", admin=True)).model_copy(
                update={"status": HELD.status.model_copy(update={"reserved_for": ()})}
            ),
            *pod_with(claim("c")),
        ],
        NONE,
        id="an allocation without the flag takes its device, whatever the claim asked for",
    ),
    # constraints
    pytest.param(
        [on_a(*NUMA), *pod_with(claim("c", request("r", count=2), match="numa"))],
        {"c": ["r=g1", "r=g2"]},
        id="matchAttribute takes the first pair that agrees",
    ),
    pytest.param(
        [on_a(*NUMA), *pod_with(claim("c", request("r", count=2), distinct="numa"))],
        {"c": ["r=g0", "r=g1"]},
        id="distinctAttribute takes the first pair that differs",
    ),
    pytest.param(
        [on_a(*NUMA), *pod_with(claim("c", request("r", count=3), distinct="numa"))],
        NONE,
        id="three devices cannot differ in two values",
    ),
    pytest.param(
        [on_a(gpu("g0"), gpu("g1", numa=1)), *pod_with(claim("c", match="numa"))],
        {"c": ["r=g1"]},
        id="a device without the attribute cannot be compared",
    ),
    pytest.param(
        [on_a(gpu("g0", x=1), gpu("g1", x=True)), *pod_with(claim("c", request("r", count=2), match="x"))],
        NONE,
        id="values of different types never match",
    ),
    pytest.param(
        [
            on_a(*NUMA),
            *pod_with(claim("c", request("r"), request("s", count=2), match="numa", over=["s"])),
        ],
        {"c": ["r=g0", "s=g1", "s=g2"]},
        id="a constraint is about the requests that it lists",
    ),
    pytest.param(
        [
            on_a(*NUMA),
            *pod_with(
                claim(
                    "c",
                    request("r"),
                    first_of("s", alternative("two", count=2), alternative("one")),
                    match="numa",
                    over=["r", "s/two"],
                )
            ),
        ],
        {"c": ["r=g0", "s/one=g1"]},
        id="or about one alternative of a request",
    ),
    pytest.param(
        [on_a(*NUMA), *pod_with(claim("c", request("r", mode="All"), match="numa"))],
        "error: claim default/c, request r: cannot add device gpu.example.com/a/g1 because a claim "
        "constraint would not be satisfied",
        id="a constraint that not all devices can satisfy is an error",
    ),
    pytest.param(
        [
            on_a(gpu("g0", model="a", numa=0), gpu("g1", model="b", numa=1), gpu("g2", model="b", numa=0)),
            *pod_with(both_ways(claim("c", request("r", count=2), match="numa", distinct="model"))),
        ],
        {"c": ["r=g0", "r=g2"]},
        id="a device that one constraint refuses leaves no trace in another",
    ),
    # all
    pytest.param(
        [on_a(A, B), *pod_with(claim("c", request("r", model("b"), mode="All")))],
        {"c": ["r=g1"]},
        id="all devices are those that match",
    ),
    pytest.param(
        [on_a(A), *pod_with(claim("c", request("r", model("b"), mode="All")))],
        NONE,
        id="all devices are at least one",
    ),
    pytest.param(
        [
            on_a(A),
            slice_("far", gpu("x"), driver="nic.example.com", allNodes=True, of=2),
            *pod_with(claim("c", request("r", mode="All"))),
        ],
        "error: claim default/c, request r: asks for all devices, but resource pool nic.example.com/far is "
        "currently being updated",
        id="all devices mind every pool in reach, of whichever driver",
    ),
    pytest.param(
        [
            on_a(A, name="one", of=2),
            on_a(A, name="two", of=2),
            *pod_with(claim("c", request("r", mode="All"))),
        ],
        "error: claim default/c, request r: asks for all devices, but resource pool gpu.example.com/a is "
        "currently invalid",
        id="all devices of an invalid pool are an error",
    ),
    pytest.param(
        [
            slice_("s1", gpu("x"), pool="0", allNodes=True),
            on_a(A, name="one", of=2),
            on_a(A, name="two", of=2),
            *pod_with(claim("c")),
        ],
        {"c": ["r=x"]},
        id="an invalid pool is nothing to who is served before",
    ),
    # how many
    pytest.param(
        [
            on_a(*(gpu(f"g{k}") for k in range(34))),
            *pod_with(claim("c", request("r", count=16), request("s", count=17))),
        ],
        "error: claim default/c: number of requested devices 33 exceeds the claim limit of 32",
        id="a claim has at most 32 devices",
    ),
    pytest.param(
        [
            on_a(*(gpu(f"g{k:02}") for k in range(40))),
            *pod_with(
                claim(
                    "c",
                    first_of("r", alternative("many", count=20), alternative("few", count=10)),
                    request("s", count=20),
                )
            ),
        ],
        {"c": [f"r/few=g{k:02}" for k in range(10)] + [f"s=g{k:02}" for k in range(10, 30)]},
        id="an alternative with which the claim would have more is left out",
    ),
    # where
    pytest.param(
        [slice_on("b", A), *pod_with(claim("c"))], NONE, id="a node does not reach another node's devices"
    ),
    pytest.param(
        [slice_("net", A, nodeSelector=zone("z1")), *pod_with(claim("c"))],
        {"c": ["r=g0"]},
        id="a pool in the network is reached by the nodes that it selects",
    ),
    pytest.param(
        [slice_("net", A, nodeSelector=zone("z2")), *pod_with(claim("c"))], NONE, id="and by no others"
    ),
    pytest.param(
        [
            slice_(
                "net",
                gpu("far", extra={"nodeName": "b"}),
                gpu("near", extra={"nodeSelector": zone("z1")}),
                gpu("every", extra={"allNodes": True}),
                perDeviceNodeSelection=True,
            ),
            *pod_with(claim("c", request("r", mode="All"))),
        ],
        {"c": ["r=near", "r=every"]},
        id="with perDeviceNodeSelection each device has its own nodes",
    ),
    pytest.param(
        [
            slice_(
                "net",
                A,
                nodeSelector={"nodeSelectorTerms": [{"matchFields": [{"key": "x", "operator": "In"}]}]},
            ),
            *pod_with(claim("c")),
        ],
        "error: gather pool information: failed to perform node selection for slice net",
        id="a node selector that cannot be read is an error",
    ),
    # classes and selectors
    pytest.param(
        [on_a(A, B), *pod_with(claim("c", request("r", model("b"))))],
        {"c": ["r=g1"]},
        id="a request's selectors narrow its class",
    ),
    pytest.param(
        [on_a(A), *pod_with(claim("c", request("r", of="none")))],
        "UAU DynamicResources: request r: device class none does not exist",
        id="a class that does not exist",
    ),
    pytest.param(
        [on_a(A), *pod_with(claim("c", first_of("r", alternative("x"), alternative("y", of="none"))))],
        "UAU DynamicResources: request r/y: device class none does not exist",
        id="also in an alternative that is not needed",
    ),
    pytest.param(
        [on_a(gpu("g0"), B), *pod_with(claim("c", request("r", model("b"))))],
        "error: claim default/c: selector #0: CEL runtime error: no such key: model",
        id="a selector that fails on a device ends the attempt",
    ),
    pytest.param(
        [on_a(A, gpu("g9")), *pod_with(claim("c", request("r", model("a"))))],
        {"c": ["r=g0"]},
        id="unless a device was found before",
    ),
    pytest.param(
        [
            on_a(gpu("g0"), gpu("g1", model="a")),
            HELD,
            *pod_with(claim("c", request("r", model("a")))),
        ],
        {"c": ["r=g1"]},
        id="or the device is in use",
    ),
    pytest.param(
        [
            device_class("odd", model("a")),
            on_a(gpu("g0")),
            *pod_with(claim("c", request("r", of="odd"))),
        ],
        "error: class odd: selector #0: CEL runtime error: no such key: model",
        id="a class is named with its failing selector",
    ),
]


@pytest.mark.parametrize("objects, expected", ROWS)
def test_one_node(objects, expected):
    assert allocated(node("a", zone="z1"), node("b", zone="z2"), device_class(), *objects) == expected


@pytest.mark.parametrize(
    "gates, requests, expected",
    [
        pytest.param(
            "DRAPrioritizedList=false",
            [first_of("r", alternative("x"))],
            "UAU DynamicResources: resource claim default/c, request r: has subrequests, but the "
            "DRAPrioritizedList feature is disabled",
            id="firstAvailable",
        ),
        pytest.param(
            "DRAAdminAccess=false",
            [request("r", admin=True)],
            "error: claim default/c, request r: admin access is requested, but the feature is disabled",
            id="adminAccess",
        ),
        pytest.param(
            "DRAConsumableCapacity=false",
            [request("r", capacity={"memory": "1Gi"})],
            "error: claim default/c, request r: has capacity requests, but the DRAConsumableCapacity feature "
            "is disabled",
            id="capacity requests",
        ),
        pytest.param("DynamicResourceAllocation=false", [request("r")], {}, id="the whole of it is ignored"),
    ],
)
def test_a_gate_that_is_off(gates, requests, expected):
    objects = [node("a"), device_class(), on_a(A), *pod_with(claim("c", *requests))]
    assert allocated(*objects, gates=gates) == expected


def test_a_constraint_whose_gate_is_off_says_nothing():
    found = allocated(
        node("a"),
        device_class(),
        on_a(A),
        *pod_with(claim("c", distinct="numa")),
        gates="DRAConsumableCapacity=false",
    )
    assert found == "error: claim default/c, constraint #0: empty constraint (unsupported constraint type?)"
