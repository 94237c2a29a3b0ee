"""Counters that devices share, in both layouts; taints; shared capacity: what pod `p` gets on node `a`."""

import pytest
from support.builders import cluster, node
from support.devices import (
    DRIVER,
    allocated,
    claim,
    device_class,
    gpu,
    model,
    request,
    slice_,
    slice_on,
    taint_rule,
    user,
)
from support.filtering import pass_over

from kubestow.framework.build import build_cluster
from kubestow.framework.dra.state import ClaimState

NONE = "UAU DynamicResources: cannot allocate all claims"
FAULTY = "UAU DynamicResources: invalid resource pools were encountered"
CARD = {"card": {"memory": "40Gi"}}


def part(name, memory, **more):
    return gpu(name, takes={"card": {"memory": memory}}, **more)


WHOLE, HALF_0, HALF_1 = part("whole", "40Gi", kind="whole"), part("half-0", "20Gi"), part("half-1", "20Gi")
TOGETHER = [slice_on("a", WHOLE, HALF_0, HALF_1, counters=CARD)]
APART = [
    slice_("counters", pool="a", of=2, counters=CARD, nodeName="a"),
    slice_on("a", WHOLE, HALF_0, HALF_1, of=2),
]
FREE_COUNTERS = [slice_("counters", pool="a", of=2, counters=CARD), APART[1]]


def held(device):
    return claim("held", has=[("r", "a", device)], at="a", users=["q"])


def pod_with(*claims):
    return user("p", *(item.name for item in claims)), *claims


@pytest.mark.parametrize(
    "slices",
    [
        pytest.param(TOGETHER, id="counters beside the devices"),
        pytest.param(APART, id="counters in a slice of their own"),
        pytest.param(FREE_COUNTERS, id="in one that names no node"),
    ],
)
@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param([*pod_with(claim("c"))], {"c": ["r=whole"]}, id="the whole card comes first"),
        pytest.param(
            [held("half-0"), *pod_with(claim("c"))],
            {"c": ["r=half-1"]},
            id="half of it is left beside a half",
        ),
        pytest.param([held("whole"), *pod_with(claim("c"))], NONE, id="nothing is left beside the whole"),
        pytest.param(
            [*pod_with(claim("c", request("r", count=2)))],
            {"c": ["r=half-0", "r=half-1"]},
            id="two devices are the halves",
        ),
        pytest.param([*pod_with(claim("c", request("r", count=3)))], NONE, id="three are too many"),
        pytest.param(
            [held("half-0"), *pod_with(claim("c", request("r", admin=True)))],
            {"c": ["r=half-0"]},
            id="adminAccess needs counters too",
        ),
        pytest.param([*pod_with(claim("c", request("r", mode="All")))], NONE, id="all of them are too many"),
    ],
)
def test_partitions(slices, objects, expected):
    assert allocated(node("a"), node("b"), device_class(), *slices, *objects) == expected


def test_no_partition_without_the_gate():
    objects = [node("a"), device_class(), slice_on("a", WHOLE), *pod_with(claim("c"))]
    assert allocated(*objects, gates="DRAPartitionableDevices=false") == NONE


@pytest.mark.parametrize("release", ["1.34", "1.36"])
@pytest.mark.parametrize(
    "slices, reason",
    [
        pytest.param([slice_on("a", WHOLE)], "counter set card not found", id="no counters at all"),
        pytest.param(
            [slice_on("a", WHOLE, counters={"card": {"cores": "1"}})],
            "counter memory not found in counter set card",
            id="none of this name",
        ),
        pytest.param(
            [
                slice_("x", pool="a", of=3, counters=CARD),
                slice_("y", pool="a", of=3, counters=CARD),
                slice_on("a", WHOLE, HALF_0, HALF_1, of=3),
            ],
            "duplicate counter set name card",
            id="two of this name",
        ),
    ],
)
def test_a_pool_with_counters_that_do_not_fit_together(release, slices, reason):
    found = allocated(node("a"), device_class(), *slices, *pod_with(claim("c")), release=release)
    assert found == (f"error: pool a is invalid: {reason}" if release == "1.34" else FAULTY)


def test_counters_of_a_newer_generation_leave_old_devices_behind():
    newer = slice_("counters", pool="a", of=2, generation=2, counters=CARD)
    assert allocated(node("a"), device_class(), newer, APART[1], *pod_with(claim("c"))) == NONE


def test_a_pool_with_counters_apart_is_complete_over_all_nodes():
    slices = [
        slice_("counters", pool="net", of=3, counters=CARD, allNodes=True),
        slice_("net-a", part("x", "10Gi"), pool="net", of=3, nodeName="a"),
        slice_("net-b", part("y", "10Gi"), pool="net", of=3, nodeName="b"),
    ]
    objects = [node("a"), node("b"), device_class(), *slices]
    assert allocated(*objects, *pod_with(claim("c", request("r", mode="All")))) == {"c": ["r=x"]}


BAD = [("bad", "NoSchedule")]


@pytest.mark.parametrize(
    "devices, rules, wanted, expected",
    [
        pytest.param(
            [gpu("g0", taints=BAD), gpu("g1")], [], {}, {"c": ["r=g1"]}, id="a tainted device is passed over"
        ),
        pytest.param(
            [gpu("g0", taints=BAD)], [], {"tolerate": ["bad"]}, {"c": ["r=g0"]}, id="unless it is tolerated"
        ),
        pytest.param(
            [gpu("g0", taints=BAD)], [], {"tolerate": [""]}, {"c": ["r=g0"]}, id="an empty key tolerates all"
        ),
        pytest.param([gpu("g0", taints=BAD)], [], {"tolerate": ["worse"]}, NONE, id="another key does not"),
        pytest.param(
            [gpu("g0", taints=[("bad", "NoExecute"), ("b", "NoSchedule")])],
            [],
            {"tolerate": ["bad"]},
            NONE,
            id="every taint must be tolerated",
        ),
        pytest.param(
            [gpu("g0", taints=[("bad", "None")])], [], {}, {"c": ["r=g0"]}, id="effect None only informs"
        ),
        pytest.param(
            [gpu("g0"), gpu("g1", taints=BAD)],
            [],
            {"mode": "All"},
            NONE,
            id="all devices are not without the tainted one",
        ),
        pytest.param(
            [gpu("g0"), gpu("g1")],
            [taint_rule("t", "bad", device="g0")],
            {},
            {"c": ["r=g1"]},
            id="a rule by name",
        ),
        pytest.param(
            [gpu("g0")],
            [taint_rule("t", "bad", device="g0", pool="b")],
            {},
            {"c": ["r=g0"]},
            id="of another pool",
        ),
        pytest.param(
            [gpu("g0", model="a"), gpu("g1", model="b")],
            [taint_rule("t", "bad", "NoExecute", model("a"))],
            {},
            {"c": ["r=g1"]},
            id="a rule by selector",
        ),
        pytest.param(
            [gpu("g0"), gpu("g1", model="a")],
            [taint_rule("t", "bad", "NoExecute", model("a"))],
            {},
            {"c": ["r=g0"]},
            id="a rule is not about devices on which its selector fails",
        ),
        pytest.param(
            [gpu("g0")], [taint_rule("t", "bad", deviceClassName="gpu")], {}, NONE, id="a rule by class"
        ),
        pytest.param(
            [gpu("g0")],
            [taint_rule("t", "bad", deviceClassName="none")],
            {},
            {"c": ["r=g0"]},
            id="by no class",
        ),
    ],
)
def test_taints(devices, rules, wanted, expected):
    objects = [node("a"), device_class(), slice_on("a", *devices), *rules]
    assert allocated(*objects, *pod_with(claim("c", request("r", **wanted)))) == expected


def test_taints_count_for_nothing_without_the_gate():
    objects = [node("a"), device_class(), slice_on("a", gpu("g0", taints=BAD)), *pod_with(claim("c"))]
    assert allocated(*objects, gates="DRADeviceTaints=false") == {"c": ["r=g0"]}


RANGE = {"default": "10", "validRange": {"min": "4", "max": "30", "step": "4"}}
VALUES = {"default": "10", "validValues": ["5", "10", "20"]}


def shared(policy=None, total="40"):
    return gpu("g0", shared=True, capacity={"mem": (total, policy)})


@pytest.mark.parametrize(
    "policy, asked, taken",
    [
        pytest.param(None, "7", "7", id="without a policy what is asked for"),
        pytest.param(None, None, "40", id="or everything"),
        pytest.param(RANGE, None, "10", id="the default, which need not be a step"),
        pytest.param(RANGE, "1", "4", id="the minimum of a range"),
        pytest.param(RANGE, "9", "12", id="the next step"),
        pytest.param(RANGE, "12", "12", id="a step as it is"),
        pytest.param(RANGE, "31", None, id="more than the maximum cannot be had"),
        pytest.param({**RANGE, "default": None}, None, None, id="nor all of it where a range ends before"),
        pytest.param(VALUES, "6", "10", id="the next listed value"),
        pytest.param(VALUES, "21", None, id="more than all listed values cannot be had"),
        pytest.param({"default": "10"}, "11", "11", id="a policy with nothing but a default"),
    ],
)
def test_what_is_taken_of_a_shared_device(policy, asked, taken):
    wanted = claim("c", request("r", capacity=None if asked is None else {"mem": asked}))
    cycle = pass_over(node("a"), device_class(), slice_on("a", shared(policy)), user("p", "c"), wanted)["p"]
    if taken is None:
        assert cycle["result"] == "unschedulable"
    else:
        (device,) = cycle["allocations"][0]["devices"]
        assert device["consumedCapacity"] == {"mem": taken}


def test_claims_share_a_device_until_it_is_full():
    asked = [claim(f"c{k}", request("r", capacity={f"{DRIVER}/mem": "15"})) for k in range(3)]
    pods = [user(f"p{k}", f"c{k}") for k in range(3)]
    cycles = pass_over(node("a"), device_class(), slice_on("a", shared()), *pods, *asked)
    assert [cycles[f"p{k}"]["result"] for k in range(3)] == ["bound", "bound", "unschedulable"]
    shares = [cycles[f"p{k}"]["allocations"][0]["devices"][0]["shareID"] for k in range(2)]
    assert len(set(shares)) == 2


@pytest.mark.parametrize(
    "device, wanted, expected",
    [
        pytest.param(shared(), {"capacity": {"cores": "1"}}, NONE, id="a capacity that it does not have"),
        pytest.param(shared(), {"capacity": {"x.example.com/mem": "1"}}, NONE, id="or has in another domain"),
        pytest.param(
            gpu("g0", capacity={"mem": "40"}),
            {"capacity": {"mem": "40"}},
            {"c": ["r=g0"]},
            id="a device of its own: enough",
        ),
        pytest.param(
            gpu("g0", capacity={"mem": "40"}),
            {"capacity": {"mem": "41"}},
            NONE,
            id="a device of its own: too little",
        ),
        pytest.param(
            shared(),
            {"mode": "All", "capacity": {"mem": "41"}},
            NONE,
            id="all devices are those with the capacity",
        ),
    ],
)
def test_capacity_requests(device, wanted, expected):
    objects = [
        node("a"),
        device_class(),
        slice_on("a", device),
        *pod_with(claim("c", request("r", **wanted))),
    ]
    assert allocated(*objects) == expected


def test_a_shared_device_belongs_to_one_claim_without_the_gate():
    pods = [user("p0", "c0"), user("p1", "c1")]
    cycles = pass_over(
        node("a"),
        device_class(),
        slice_on("a", shared()),
        *pods,
        claim("c0"),
        claim("c1"),
        gates="DRAConsumableCapacity=false",
    )
    assert [cycles[name]["result"] for name in ("p0", "p1")] == ["bound", "unschedulable"]


@pytest.mark.parametrize(
    "release, amount, expected",
    [
        pytest.param("1.34", "20", {"c": ["r=g0", "r=g0"]}, id="1.34 gives a request two shares of a device"),
        pytest.param("1.34", "21", NONE, id="but not beyond its capacity"),
        pytest.param("1.36", "20", NONE, id="1.36 gives it one"),
    ],
)
def test_shares_of_one_device_for_one_request(release, amount, expected):
    wanted = claim("c", request("r", count=2, capacity={"mem": amount}))
    objects = [node("a"), device_class(), slice_on("a", shared()), *pod_with(wanted)]
    assert allocated(*objects, release=release) == expected


def test_two_requests_have_shares_of_one_device():
    wanted = claim("c", *(request(name, capacity={"mem": "20"}) for name in "rs"))
    objects = [node("a"), device_class(), slice_on("a", shared()), *pod_with(wanted)]
    assert allocated(*objects) == {"c": ["r=g0", "s=g0"]}


def test_a_shared_device_takes_its_counters_once():
    device = gpu("g0", shared=True, capacity={"mem": "40"}, takes={"card": {"memory": "40Gi"}})
    objects = [node("a"), device_class(), slice_on("a", device, counters=CARD)]
    wanted = claim("c", *(request(name, capacity={"mem": "20"}) for name in "rs"))
    assert allocated(*objects, *pod_with(wanted)) == {"c": ["r=g0", "s=g0"]}


def share_of(device, amount):
    """Somebody's claim, which has a share of a device."""
    served = claim("held", has=[("r", "a", device)], at="a", users=["q"])
    result = served.status.allocation.devices.results[0]
    share = result.model_copy(update={"share_id": "x", "consumed_capacity": {"mem": amount}})
    devices = served.status.allocation.devices.model_copy(update={"results": (share,)})
    allocation = served.status.allocation.model_copy(update={"devices": devices})
    return served.model_copy(update={"status": served.status.model_copy(update={"allocation": allocation})})


def test_shares_of_the_input_count():
    objects = [node("a"), device_class(), slice_on("a", shared()), share_of("g0", 30)]
    assert ClaimState.of(build_cluster(cluster(*objects))).consumed(0) == {f"{DRIVER}/mem": 30}
    fits = claim("c", request("r", capacity={"mem": "10"}))
    assert allocated(*objects, *pod_with(fits)) == {"c": ["r=g0"]}
    exceeds = claim("c", request("r", capacity={"mem": "11"}))
    assert allocated(*objects, *pod_with(exceeds)) == NONE


def test_a_shared_device_that_looks_the_same_may_have_less_left():
    twins = [gpu(name, shared=True, capacity={"mem": "40"}) for name in ("g0", "g1")]
    objects = [node("a"), device_class(), slice_on("a", *twins), share_of("g1", 20)]
    wanted = claim("c", request("r", capacity={"mem": "20"}), request("s", capacity={"mem": "40"}))
    assert allocated(*objects, *pod_with(wanted)) == {"c": ["r=g1", "s=g0"]}
