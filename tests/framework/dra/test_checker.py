"""The checker, fault by fault: claim `c` on node `a`."""

from dataclasses import replace

import pytest
from support.builders import cluster, node
from support.devices import (
    DRIVER,
    alternative,
    claim,
    device_class,
    first_of,
    gpu,
    model,
    request,
    slice_,
    slice_on,
    taint_rule,
    zone,
)

from kubestow.framework.dra.allocation import Allocation, Result
from kubestow.framework.dra.checker import NewAllocation, faults
from kubestow.framework.dra.devices import DeviceId
from kubestow.models.selectors import NodeSelector

ON_A = NodeSelector.model_validate(
    {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}
)
CARD = {"card": {"memory": "40Gi"}}


def result(name, request="r", pool="a", driver=DRIVER, **more):
    return Result(request, DeviceId(driver, pool, name), **more)


def share(name, amount, id_="1", **more):
    return result(name, share=id_, taken=((f"{DRIVER}/mem", amount),), **more)


def check(objects, wanted, *results, selector=ON_A, held=None, gates="", release="1.36"):
    """The faults of an allocation."""
    nodes = [node("a", zone="z1"), node("b", zone="z2"), device_class()]
    snapshot = cluster(*nodes, *objects, wanted, gates=gates, release=release)
    new = NewAllocation("default/c", wanted.spec.devices, Allocation(results, selector), "a")
    return list(faults(snapshot, [new], held))


SLICE = slice_on(
    "a", gpu("g0", model="a", numa=0), gpu("g1", model="b", numa=0), gpu("g2", model="a", numa=1)
)
PARTS = [gpu(f"h{k}", takes={"card": {"memory": "20Gi"}}) for k in range(3)]
SHARED = gpu(
    "s", shared=True, capacity={"mem": ("40", {"default": "4", "validRange": {"min": "4", "step": "4"}})}
)
HELD = {"default/held": Allocation((result("g0"),), ON_A)}

ROWS = [
    pytest.param([SLICE], claim("c"), [result("g0")], [], id="all is well"),
    pytest.param(
        [SLICE], claim("c"), [], ["claim default/c: request r is served 0 times, not once"], id="nothing"
    ),
    pytest.param(
        [SLICE],
        claim("c"),
        [result("g0"), result("g1")],
        ["claim default/c: r has 2 devices, not 1"],
        id="one too many",
    ),
    pytest.param(
        [SLICE],
        claim("c"),
        [result("g0"), result("g1", request="s")],
        ["claim default/c: serves s, which is no request"],
        id="a request that is none",
    ),
    pytest.param(
        [SLICE],
        claim("c", first_of("r", alternative("x"), alternative("y"))),
        [result("g0", request="r/x"), result("g1", request="r/y")],
        ["claim default/c: request r is served 2 times, not once"],
        id="two alternatives",
    ),
    pytest.param(
        [SLICE],
        claim("c", first_of("r", alternative("x"), alternative("y"))),
        [result("g1", request="r/y")],
        [],
        id="the second alternative",
    ),
    pytest.param(
        [SLICE],
        claim("c"),
        [result("g9")],
        ["claim default/c: r has gpu.example.com/a/g9, which node a does not reach"],
        id="a device that is nowhere",
    ),
    pytest.param(
        [slice_on("b", gpu("g0"))],
        claim("c"),
        [result("g0", pool="b")],
        ["claim default/c: r has gpu.example.com/b/g0, which node a does not reach"],
        id="a device of another node",
    ),
    pytest.param(
        [slice_on("a", gpu("new"), generation=2), slice_on("a", gpu("old"), name="old")],
        claim("c"),
        [result("old")],
        ["claim default/c: r has gpu.example.com/a/old, which node a does not reach"],
        id="a device of an old generation",
    ),
    pytest.param(
        [SLICE],
        claim("c", request("r", model("b"))),
        [result("g0")],
        ["claim default/c: r has gpu.example.com/a/g0, which its selectors do not take"],
        id="a device that the selectors do not take",
    ),
    pytest.param(
        [slice_on("a", gpu("g0"))],
        claim("c", request("r", model("b"))),
        [result("g0")],
        ["claim default/c: r has gpu.example.com/a/g0, which its selectors do not take"],
        id="or fail on",
    ),
    pytest.param(
        [SLICE],
        claim("c", request("r", of="none")),
        [result("g0")],
        ["claim default/c: r has gpu.example.com/a/g0, which its selectors do not take"],
        id="a class that does not exist",
    ),
    pytest.param(
        [SLICE],
        claim("c"),
        [result("g0", admin=True)],
        ["claim default/c: r has gpu.example.com/a/g0 with adminAccess True, not False"],
        id="access that was not asked for",
    ),
    pytest.param(
        [slice_on("a", gpu("g0", taints=[("bad", "NoSchedule")]))],
        claim("c"),
        [result("g0")],
        ["claim default/c: r has gpu.example.com/a/g0, whose taints it does not tolerate"],
        id="a taint",
    ),
    pytest.param(
        [SLICE, taint_rule("t", "bad", "NoSchedule", model("a"), deviceClassName="gpu")],
        claim("c"),
        [result("g0")],
        ["claim default/c: r has gpu.example.com/a/g0, whose taints it does not tolerate"],
        id="a taint by a rule",
    ),
    pytest.param(
        [SLICE, taint_rule("t", "bad")],
        claim("c", request("r", tolerate=["bad"])),
        [result("g0")],
        [],
        id="a taint that is tolerated",
    ),
    pytest.param(
        [SLICE],
        claim("c", request("r", count=2), match="model"),
        [result("g0"), result("g1")],
        ["claim default/c: devices differ in gpu.example.com/model"],
        id="devices that must match",
    ),
    pytest.param(
        [SLICE],
        claim("c", request("r", count=2), distinct="numa"),
        [result("g0"), result("g1")],
        ["claim default/c: devices are alike in gpu.example.com/numa"],
        id="devices that must differ",
    ),
    pytest.param(
        [SLICE],
        claim("c", match="nothing"),
        [result("g0")],
        ["claim default/c: gpu.example.com/a/g0 lacks gpu.example.com/nothing, which a constraint compares"],
        id="an attribute that is missing",
    ),
    pytest.param(
        [SLICE],
        claim("c", request("r"), request("s", count=2), match="model", over=["s"]),
        [result("g1"), result("g0", request="s"), result("g2", request="s")],
        [],
        id="a constraint over one request",
    ),
    pytest.param(
        [SLICE],
        claim("c", request("r", model("a"), mode="All")),
        [result("g0")],
        ["claim default/c: r lacks gpu.example.com/a/g2, and it wants all devices"],
        id="one of all devices is missing",
    ),
    pytest.param(
        [slice_on("a", gpu("g0"), of=2)],
        claim("c", request("r", mode="All")),
        [result("g0")],
        [
            "claim default/c: r has gpu.example.com/a/g0, which node a does not reach",
            "claim default/c: r wants all devices, and pool gpu.example.com/a is incomplete",
        ],
        id="all devices of an incomplete pool",
    ),
    pytest.param(
        [slice_on("a", *(gpu(f"g{k}") for k in range(33)))],
        claim("c", request("r", count=33)),
        [result(f"g{k}") for k in range(33)],
        ["claim default/c: has 33 devices, more than 32"],
        id="too many devices",
    ),
    pytest.param(
        [SLICE],
        claim("c", request("r"), request("s")),
        [result("g0"), result("g0", request="s")],
        [
            "claim default/c: has gpu.example.com/a/g0 twice",
            "device gpu.example.com/a/g0: belongs to 2 claims",
        ],
        id="one device twice",
    ),
    pytest.param(
        [slice_on("a", *PARTS, counters=CARD)],
        claim("c", request("r", count=3)),
        [result(f"h{k}") for k in range(3)],
        ["counter gpu.example.com/a/1/a-gpu.example.com/card/memory: 60Gi are taken, and it has 40Gi"],
        id="a counter beside the devices",
    ),
    pytest.param(
        [slice_("counters", pool="a", of=2, counters=CARD), slice_on("a", *PARTS, of=2)],
        claim("c", request("r", mode="All")),
        [result(f"h{k}") for k in range(3)],
        ["counter gpu.example.com/a/1/card/memory: 60Gi are taken, and it has 40Gi"],
        id="a counter in a slice of its own",
    ),
    pytest.param(
        [slice_on("a", SHARED)],
        claim("c", request("r", capacity={"mem": "5"})),
        [share("s", 8)],
        [],
        id="a share",
    ),
    pytest.param(
        [slice_on("a", SHARED)],
        claim("c", request("r", capacity={"mem": "5"})),
        [share("s", 4)],
        ["claim default/c: r takes 4 of gpu.example.com/mem of gpu.example.com/a/s: no legal amount"],
        id="less than was asked for",
    ),
    pytest.param(
        [slice_on("a", SHARED)],
        claim("c", request("r", capacity={"mem": "5"})),
        [share("s", 6)],
        ["claim default/c: r takes 6 of gpu.example.com/mem of gpu.example.com/a/s: no legal amount"],
        id="no step",
    ),
    pytest.param(
        [slice_on("a", SHARED)],
        claim("c"),
        [share("s", 8)],
        ["claim default/c: r takes 8 of gpu.example.com/mem of gpu.example.com/a/s without asking for it"],
        id="more than the default",
    ),
    pytest.param(
        [slice_on("a", SHARED)],
        claim("c"),
        [result("s", share="1")],
        ["claim default/c: r takes nothing of gpu.example.com/mem of gpu.example.com/a/s"],
        id="a share of nothing",
    ),
    pytest.param(
        [slice_on("a", SHARED)],
        claim("c", request("r", count=2, capacity={"mem": "24"})),
        [share("s", 24), share("s", 24, "2")],
        [
            "claim default/c: r has gpu.example.com/a/s twice",
            "device gpu.example.com/a/s: 48 of gpu.example.com/mem are taken, and it has 40",
        ],
        id="more than there is, twice for one request",
    ),
    pytest.param(
        [slice_on("a", gpu("g0", capacity={"mem": "4"}))],
        claim("c", request("r", capacity={"mem": "5"})),
        [result("g0")],
        ["claim default/c: r has gpu.example.com/a/g0, which lacks a capacity that is asked for"],
        id="too little capacity",
    ),
    pytest.param(
        [SLICE],
        claim("c"),
        [result("g0", share="1")],
        ["claim default/c: r has gpu.example.com/a/g0 as a share, which it is not"],
        id="a share of a device of its own",
    ),
]


@pytest.mark.parametrize("objects, wanted, results, expected", ROWS)
def test_one_fault(objects, wanted, results, expected):
    assert check(objects, wanted, *results) == expected


def test_what_1_34_allows():
    twice = claim("c", request("r", count=2, capacity={"mem": "20"}))
    both = [share("s", 20), share("s", 20, "2")]
    assert check([slice_on("a", SHARED)], twice, *both, release="1.34") == []
    part = slice_on("a", gpu("g0"), of=2)
    assert check([part], claim("c"), result("g0"), release="1.34") == []


def test_a_device_that_another_claim_has():
    assert check([SLICE], claim("c"), result("g0"), held=HELD) == [
        "device gpu.example.com/a/g0: belongs to 2 claims"
    ]
    watching = claim("c", request("r", admin=True))
    assert check([SLICE], watching, result("g0", admin=True), held=HELD) == []


@pytest.mark.parametrize(
    "device, before, after, expected",
    [
        pytest.param(
            SHARED,
            result("s"),
            share("s", 20),
            ["device gpu.example.com/a/s: belongs to 2 claims"],
            id="whole, before it was shared",
        ),
        pytest.param(gpu("s"), share("s", 20), result("s"), [], id="shares of it, before that ended"),
    ],
)
def test_a_device_that_another_claim_has_in_another_way(device, before, after, expected):
    held = {"default/held": Allocation((before,), ON_A)}
    amount = None if after.share == "" else {"mem": "20"}
    wanted = claim("c", request("r", capacity=amount))
    assert check([slice_on("a", device)], wanted, after, held=held) == expected


def test_what_was_too_much_before_is_not_told():
    twice = {**HELD, "default/other": HELD["default/held"]}
    assert check([SLICE], claim("c"), result("g1"), held=twice) == []


@pytest.mark.parametrize(
    "where, selector, expected",
    [
        pytest.param({"allNodes": True}, None, [], id="everywhere"),
        pytest.param(
            {"nodeSelector": zone("z1")},
            None,
            ["claim default/c: node b is said to reach gpu.example.com/net/g0, and does not"],
            id="not everywhere",
        ),
        pytest.param(
            {"nodeSelector": zone("z1")}, NodeSelector.model_validate(zone("z1")), [], id="in one zone"
        ),
        pytest.param(
            {"allNodes": True},
            NodeSelector.model_validate(zone("z2")),
            ["claim default/c: was allocated for node a, which its node selector leaves out"],
            id="not where it was chosen",
        ),
    ],
)
def test_nodes(where, selector, expected):
    net = slice_("net", gpu("g0"), **where)
    assert check([net], claim("c"), result("g0", pool="net"), selector=selector) == expected


def test_a_device_that_binds_to_a_node_is_reached_from_nowhere_else():
    net = slice_("net", gpu("g0", extra={"bindsToNode": True}), allNodes=True)
    assert check([net], claim("c"), result("g0", pool="net"), selector=None) == [
        "claim default/c: node b is said to reach gpu.example.com/net/g0, and does not"
    ]


def test_gates():
    parts = slice_on("a", *PARTS, counters=CARD)
    off = check([parts], claim("c"), result("h0"), gates="DRAPartitionableDevices=false")
    assert off == ["claim default/c: r has gpu.example.com/a/h0, which node a does not reach"]
    apart = slice_on("a", PARTS[0])
    off = check([apart], claim("c"), result("h0"), gates="DRAPartitionableDevices=false")
    assert off == ["claim default/c: r has gpu.example.com/a/h0, which takes counters"]
    tainted = slice_on("a", gpu("g0", taints=[("bad", "NoSchedule")]))
    assert check([tainted], claim("c"), result("g0"), gates="DRADeviceTaints=false") == []
    shared = slice_on("a", SHARED)
    assert check([shared], claim("c"), result("s"), gates="DRAConsumableCapacity=false") == []


def test_several_claims_at_once():
    snapshot = cluster(node("a"), device_class(), SLICE)
    one = NewAllocation("default/c", claim("c").spec.devices, Allocation((result("g0"),), ON_A), "a")
    two = replace(one, key="default/d")
    assert list(faults(snapshot, [one, two])) == ["device gpu.example.com/a/g0: belongs to 2 claims"]
