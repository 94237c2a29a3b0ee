"""Which pods can have their devices together, for the filter DynamicResources and for the model.

The filter's allocator takes the first devices that it finds; with every order of binding tried, it gets
wherever the model says that devices suffice.
"""

import pytest
from support.builders import cluster, group, node, pod
from support.devices import (
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
    user,
    zone,
)
from support.engines import Case, admits, both_engines

from kubestow.framework.build import build_cluster

GPU = device_class()
A, B, C = node("a", zone="z1"), node("b", zone="z1"), node("c", zone="z2")
p, q = user("p", "x"), user("q", "y")
X, Y = claim("x"), claim("y")
two = ("p", "q")
CARD = {"card": {"memory": "4"}}
FULL = gpu("full", takes=CARD, model="full")
HALVES = [gpu(f"half-{k}", takes={"card": {"memory": "2"}}, model="half") for k in range(2)]
SHARED = gpu("g0", shared=True, capacity={"memory": "4"})
HELD = [claim("held", has=[("r", "a", "g0")], at="a", users=["v"]), user("v", "held").on("a")]
GIVEN_OUT = [claim("held", has=[("r", "a", "g0", {"shareID": "s"})], at="a", users=["v"]), HELD[1]]


def some(amount, name="x"):
    return claim(name, request("r", capacity={"memory": amount}))


CASES = [
    # -- what serves a request --
    Case("a device of the node", cluster(A, B, GPU, slice_on("b", gpu("g0")), X, p), {"b"}),
    Case(
        "as many as the request counts",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0")),
            slice_on("b", gpu("g0"), gpu("g1")),
            claim("x", request("r", count=2)),
            p,
        ),
        {"b"},
    ),
    Case(
        "only what the class takes",
        cluster(
            A,
            B,
            device_class("gpu", model("m")),
            slice_on("a", gpu("g0", model="n")),
            slice_on("b", gpu("g0", model="m")),
            X,
            p,
        ),
        {"b"},
    ),
    Case(
        "only what the request takes",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0", model="n")),
            slice_on("b", gpu("g0", model="m")),
            claim("x", request("r", model("m"))),
            p,
        ),
        {"b"},
    ),
    Case(
        "a selector that fails on a device keeps the pod from its node",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0")),
            slice_on("b", gpu("g0", model="m")),
            claim("x", request("r", model("m"))),
            p,
        ),
        {"b"},
    ),
    Case(
        "two requests want two devices",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0")),
            slice_on("b", gpu("g0"), gpu("g1")),
            claim("x", request("r"), request("s")),
            p,
        ),
        {"b"},
    ),
    Case(
        "two claims of a pod as well",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0")),
            slice_on("b", gpu("g0"), gpu("g1")),
            X,
            Y,
            user("p", "x", "y"),
        ),
        {"b"},
    ),
    Case(
        "a later request may be the picky one",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0", model="m"), gpu("g1", model="n")),
            claim("x", request("r"), request("s", model("m"))),
            p,
        ),
        {"a"},
    ),
    Case("a class that does not exist", cluster(A, slice_on("a", gpu("g0")), X, p), set()),
    Case("a claim that does not exist", cluster(A, GPU, slice_on("a", gpu("g0")), p), set()),
    Case(
        "a claim that is being deleted",
        cluster(A, GPU, slice_on("a", gpu("g0")), claim("x", deletionTimestamp="2026-03-01T12:00:00Z"), p),
        set(),
    ),
    Case(
        "a device of an older generation is none",
        cluster(A, GPU, slice_on("a", gpu("g0"), name="old", generation=0), slice_on("a", name="new"), X, p),
        set(),
    ),
    # -- each device once --
    Case("two pods and one device", cluster(A, B, GPU, slice_on("a", gpu("g0")), X, Y, p, q), set(), two),
    Case(
        "two pods and a device each",
        cluster(A, B, GPU, slice_on("a", gpu("g0")), slice_on("b", gpu("g0")), X, Y, p, q),
        {"ab", "ba"},
        two,
    ),
    Case(
        "two of one class on one node",
        cluster(A, GPU, slice_on("a", gpu("g0"), gpu("g1")), X, Y, p, q),
        {"aa"},
        two,
    ),
    Case(
        "a running pod keeps its device",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0")),
            slice_on("b", gpu("g0")),
            claim("held", has=[("r", "a", "g0")], at="a", users=["v"]),
            user("v", "held").on("a"),
            X,
            p,
        ),
        {"b"},
    ),
    Case(
        "so does a pod that the input does not have",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0")),
            slice_on("b", gpu("g0")),
            claim("held", has=[("r", "a", "g0")], at="a", users=["away"]),
            X,
            p,
        ),
        {"b"},
    ),
    Case(
        "the picky claim and the other one",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0", model="m"), gpu("g1", model="n")),
            X,
            claim("y", request("r", model("m"))),
            p,
            q,
        ),
        {"aa"},
        two,
    ),
    # -- constraints --
    Case(
        "matchAttribute",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0", link=0), gpu("g1", link=1)),
            slice_on("b", gpu("g0", link=1), gpu("g1", link=1)),
            claim("x", request("r", count=2), match="link"),
            p,
        ),
        {"b"},
    ),
    Case(
        "matchAttribute wants one type as well",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0", link=1), gpu("g1", link="1")),
            claim("x", request("r", count=2), match="link"),
            p,
        ),
        set(),
    ),
    Case(
        "a device without the attribute matches nothing",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0", link=1), gpu("g1")),
            claim("x", request("r", count=2), match="link"),
            p,
        ),
        set(),
    ),
    Case(
        "matchAttribute over some requests",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0", link=0), gpu("g1", link=1), gpu("g2", link=1)),
            claim("x", request("r"), request("s", count=2), match="link", over=["s"]),
            p,
        ),
        {"a"},
    ),
    Case(
        "two pods that match each for itself",
        cluster(
            A,
            GPU,
            slice_on("a", *(gpu(f"g{k}", link=k % 2) for k in range(4))),
            claim("x", request("r", count=2), match="link"),
            claim("y", request("r", count=2), match="link"),
            p,
            q,
        ),
        {"aa"},
        two,
    ),
    Case(
        "two pods, and pairs for one",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0", link=0), gpu("g1", link=0), gpu("g2", link=1), gpu("g3", link=2)),
            claim("x", request("r", count=2), match="link"),
            claim("y", request("r", count=2), match="link"),
            p,
            q,
        ),
        set(),
        two,
    ),
    Case(
        "distinctAttribute",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0", link=1), gpu("g1", link=1)),
            slice_on("b", gpu("g0", link=0), gpu("g1", link=1)),
            claim("x", request("r", count=2), distinct="link"),
            p,
        ),
        {"b"},
    ),
    Case(
        "a device without the attribute is not distinct",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0", link=1), gpu("g1")),
            claim("x", request("r", count=2), distinct="link"),
            p,
        ),
        set(),
    ),
    # -- counters --
    Case(
        "a whole card or its halves",
        cluster(
            A,
            GPU,
            slice_on("a", FULL, *HALVES, counters=CARD),
            claim("x", request("r", model("full"))),
            claim("y", request("r", model("half"))),
            p,
            q,
        ),
        set(),
        two,
    ),
    Case(
        "both halves",
        cluster(
            A,
            GPU,
            slice_on("a", FULL, *HALVES, counters=CARD),
            claim("x", request("r", model("half"))),
            claim("y", request("r", model("half"))),
            p,
            q,
        ),
        {"aa"},
        two,
    ),
    Case(
        "a half that runs leaves no whole",
        cluster(
            A,
            GPU,
            slice_on("a", FULL, *HALVES, counters=CARD),
            claim("held", has=[("r", "a", "half-0")], at="a", users=["v"]),
            user("v", "held").on("a"),
            claim("x", request("r", model("full"))),
            p,
        ),
        set(),
    ),
    Case(
        "counters in a slice of their own",
        cluster(
            A,
            GPU,
            slice_on("a", FULL, *HALVES, of=2),
            slice_("counters", pool="a", of=2, counters=CARD, nodeName="a"),
            claim("x", request("r", model("full"))),
            claim("y", request("r", model("half"))),
            p,
            q,
        ),
        set(),
        two,
    ),
    Case(
        "without its gate no partition is given",
        cluster(
            A, GPU, slice_on("a", FULL, *HALVES, counters=CARD), X, p, gates="DRAPartitionableDevices=false"
        ),
        set(),
    ),
    # -- capacity --
    Case(
        "shares within the capacity",
        cluster(A, GPU, slice_on("a", SHARED), some("2"), some("2", "y"), p, q),
        {"aa"},
        two,
    ),
    Case(
        "shares beyond it",
        cluster(A, GPU, slice_on("a", SHARED), some("2"), some("3", "y"), p, q),
        set(),
        two,
    ),
    Case(
        "no request takes all of it",
        cluster(A, GPU, slice_on("a", SHARED), X, some("1", "y"), p, q),
        set(),
        two,
    ),
    Case(
        "amounts are rounded by the policy",
        cluster(
            A,
            GPU,
            slice_on(
                "a",
                gpu(
                    "g0", shared=True, capacity={"memory": ("4", {"default": "1", "validValues": ["1", "3"]})}
                ),
            ),
            some("2"),
            some("2", "y"),
            p,
            q,
        ),
        set(),
        two,
    ),
    Case(
        "a share that runs takes its part",
        cluster(
            A,
            GPU,
            slice_on("a", SHARED),
            claim(
                "held",
                has=[("r", "a", "g0", {"shareID": "s", "consumedCapacity": {"gpu.example.com/memory": "3"}})],
                at="a",
                users=["v"],
            ),
            user("v", "held").on("a"),
            some("2"),
            p,
        ),
        set(),
    ),
    Case(
        "a device of its own is a filter by capacity",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0", capacity={"memory": "4"})),
            slice_on("b", gpu("g0", capacity={"memory": "8"})),
            some("6"),
            p,
        ),
        {"b"},
    ),
    Case(
        "a capacity that the device does not have",
        cluster(A, GPU, slice_on("a", gpu("g0", shared=True, capacity={"cores": "4"})), some("1"), p),
        set(),
    ),
    Case(
        "nothing of a device that a claim had whole before it was shared",
        cluster(A, B, GPU, slice_on("a", SHARED), slice_on("b", SHARED), *HELD, some("1"), p),
        {"b"},
    ),
    Case(
        "a device whole though shares were given out before that ended",
        cluster(A, GPU, slice_on("a", gpu("g0")), *GIVEN_OUT, X, p),
        {"a"},
    ),
    # -- taints --
    Case(
        "a tainted device",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0", taints=[("worn", "NoSchedule")])),
            slice_on("b", gpu("g0")),
            X,
            p,
        ),
        {"b"},
    ),
    Case(
        "one that is tolerated",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0", taints=[("worn", "NoExecute")])),
            claim("x", request("r", tolerate=["worn"])),
            p,
        ),
        {"a"},
    ),
    Case(
        "tainted by a rule",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0")),
            slice_on("b", gpu("g0")),
            taint_rule("rule", "worn", pool="a"),
            X,
            p,
        ),
        {"b"},
    ),
    Case(
        "without its gate taints are nothing",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0", taints=[("worn", "NoSchedule")])),
            X,
            p,
            gates="DRADeviceTaints=false",
        ),
        {"a"},
    ),
    # -- all devices --
    Case(
        "all devices of a node",
        cluster(A, B, GPU, slice_on("a", gpu("g0"), gpu("g1")), claim("x", request("r", mode="All")), p),
        {"a"},
    ),
    Case(
        "all, and one is taken",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0"), gpu("g1")),
            slice_on("b", gpu("g0")),
            claim("held", has=[("r", "a", "g0")], at="a", users=["v"]),
            user("v", "held").on("a"),
            claim("x", request("r", mode="All")),
            p,
        ),
        {"b"},
    ),
    Case(
        "all, and one is tainted",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0"), gpu("g1", taints=[("worn", "NoSchedule")])),
            claim("x", request("r", mode="All")),
            p,
        ),
        set(),
    ),
    Case(
        "all of a pool that is incomplete",
        cluster(A, GPU, slice_on("a", gpu("g0"), of=2), claim("x", request("r", mode="All")), p),
        set(),
    ),
    Case("one of such a pool", cluster(A, GPU, slice_on("a", gpu("g0"), of=2), X, p), set()),
    Case(
        "one of such a pool in 1.34",
        cluster(A, GPU, slice_on("a", gpu("g0"), of=2), X, p, release="1.34"),
        {"a"},
    ),
    Case(
        "one of a pool in which another node's device takes from counters that are nowhere",
        cluster(
            A,
            B,
            GPU,
            slice_("one", gpu("g0"), pool="both", of=2, nodeName="a"),
            slice_("two", gpu("g1", takes=CARD), pool="both", of=2, nodeName="b"),
            X,
            p,
        ),
        set(),
    ),
    Case(
        "two for one request are two devices, however much a shared one has",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", SHARED),
            slice_on("b", SHARED, gpu("g1", shared=True, capacity={"memory": "4"})),
            claim("x", request("r", count=2, capacity={"memory": "1"})),
            claim("y", request("r", count=2, capacity={"memory": "1"})),
            p,
            q,
        ),
        {"bb"},
        two,
    ),
    Case(
        "two shares of a device for one request in 1.34",
        cluster(
            A,
            GPU,
            slice_on("a", SHARED),
            claim("x", request("r", count=2, capacity={"memory": "1"})),
            p,
            release="1.34",
        ),
        {"a"},
    ),
    Case(
        "all beside one",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0")),
            slice_on("b", gpu("g0")),
            claim("x", request("r", mode="All")),
            Y,
            p,
            q,
        ),
        {"ab", "ba"},
        two,
    ),
    Case(
        "more than a claim can hold",
        cluster(
            A, GPU, slice_on("a", *(gpu(f"g{k}") for k in range(33))), claim("x", request("r", mode="All")), p
        ),
        set(),
    ),
    # -- the first that can be had --
    Case(
        "the second alternative",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0", model="n")),
            claim("x", first_of("r", alternative("s", model("m")), alternative("t", model("n")))),
            p,
        ),
        {"a"},
    ),
    Case(
        "no alternative",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0", model="o")),
            claim("x", first_of("r", alternative("s", model("m")), alternative("t", model("n")))),
            p,
        ),
        set(),
    ),
    Case(
        "an alternative of two devices",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0", model="n")),
            slice_on("b", gpu("g0", model="n"), gpu("g1", model="n")),
            claim("x", first_of("r", alternative("s", model("m")), alternative("t", model("n"), count=2))),
            p,
        ),
        {"b"},
    ),
    Case(
        "without its gate there are no alternatives",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0")),
            claim("x", first_of("r", alternative("s"))),
            p,
            gates="DRAPrioritizedList=false",
        ),
        set(),
    ),
    # -- adminAccess --
    Case(
        "adminAccess looks past other claims",
        cluster(A, GPU, slice_on("a", gpu("g0")), X, claim("y", request("r", admin=True)), p, q),
        {"aa"},
        two,
    ),
    Case(
        "but not past its own",
        cluster(
            A,
            GPU,
            slice_on("a", gpu("g0")),
            claim("x", request("r", admin=True), request("s", admin=True)),
            p,
        ),
        set(),
    ),
    # -- devices of several nodes --
    Case(
        "a device of a zone",
        cluster(A, B, C, GPU, slice_("net", gpu("n0"), nodeSelector=zone("z1")), X, p),
        {"a", "b"},
    ),
    Case(
        "one device for all nodes",
        cluster(A, C, GPU, slice_("net", gpu("n0"), allNodes=True), X, Y, p, q),
        set(),
        two,
    ),
    Case(
        "devices that each say where they are",
        cluster(
            A, B, GPU, slice_("each", gpu("g0", extra={"nodeName": "b"}), perDeviceNodeSelection=True), X, p
        ),
        {"b"},
    ),
    # -- claims of several pods --
    Case(
        "users of a claim go where its device is",
        cluster(A, B, GPU, slice_on("a", gpu("g0")), slice_on("b", gpu("g0")), X, p, user("q", "x")),
        {"aa", "bb"},
        two,
    ),
    Case(
        "or where it is reached from",
        cluster(A, B, C, GPU, slice_("net", gpu("n0"), nodeSelector=zone("z1")), X, p, user("q", "x")),
        {"aa", "ab", "ba", "bb"},
        two,
    ),
    Case(
        "a claim that has its device keeps its users there",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0")),
            slice_on("b", gpu("g0")),
            claim("x", has=[("r", "a", "g0")], at="a", users=["v"]),
            user("v", "x").on("a"),
            p,
        ),
        {"a"},
    ),
    Case(
        "the claim of a pod group",
        cluster(
            A,
            B,
            GPU,
            slice_on("a", gpu("g0")),
            slice_on("b", gpu("g0")),
            X,
            group("g", resourceClaims=[{"name": "e0", "resourceClaimName": "x"}]),
            [user(n, "x").member("g") for n in two],
        ),
        {"aa", "bb"},
        two,
    ),
    # -- extended resources --
    Case(
        "an extended resource that a class serves",
        cluster(
            A,
            B,
            device_class("gpu", serves="example.com/gpu"),
            slice_on("a", gpu("g0")),
            pod("p").req({"example.com/gpu": "1"}),
        ),
        {"a"},
    ),
    Case(
        "a node that offers it itself needs no device",
        cluster(
            A,
            B.offer({"example.com/gpu": "1"}),
            device_class("gpu", serves="example.com/gpu"),
            pod("p").req({"example.com/gpu": "1"}),
        ),
        {"b"},
    ),
    Case(
        "without the gate of all, claims are nothing",
        cluster(A, B, GPU, X, p, gates="DynamicResourceAllocation=false"),
        {"a", "b"},
    ),
]


@both_engines
@pytest.mark.parametrize("case", CASES, ids=Case.title)
def test_allowed_nodes(engine, case):
    """Filter and encoder agree on where the pods may stand."""
    assert engine(case) == case.allowed


# name -> (objects, the least sum of ranks with all pods on the node)
RANKS = {
    "the first choice": (
        [
            slice_on("a", gpu("g0", model="m")),
            claim("x", first_of("r", alternative("s", model("m")), alternative("t", model("n")))),
            p,
        ],
        0,
    ),
    "the second choice": (
        [
            slice_on("a", gpu("g0", model="n")),
            claim("x", first_of("r", alternative("s", model("m")), alternative("t", model("n")))),
            p,
        ],
        1,
    ),
    "one of each where there is one of each": (
        [
            slice_on("a", gpu("g0", model="m"), gpu("g1", model="n")),
            [
                claim(c, first_of("r", alternative("s", model("m")), alternative("t", model("n"))))
                for c in "xy"
            ],
            p,
            q,
        ],
        1,
    ),
    "requests add up": (
        [
            slice_on("a", gpu("g0", model="o"), gpu("g1", model="o")),
            claim(
                "x",
                *(
                    first_of(
                        r,
                        alternative("s", model("m")),
                        alternative("t", model("n")),
                        alternative("u", model("o")),
                    )
                    for r in ("r0", "r1")
                ),
            ),
            p,
        ],
        4,
    ),
}


@pytest.mark.parametrize("name", RANKS)
def test_the_least_rank(name):
    """The tier `firstAvailable`: the best sum of ranks that the model admits."""
    objects, least = RANKS[name]
    cluster_ = build_cluster(cluster(A, GPU, *objects))
    placed = dict.fromkeys(cluster_.pending, 0)
    assert [k for k in range(least + 1) if admits(cluster_, placed, (), {"firstAvailable": k})] == [least]


def freed(*users):
    return claim("held", has=[("r", "a", "g0")], at="a", users=users)


# name -> (objects, who leaves, whether p may have the device then)
LEAVING = {
    "the one user leaves": ([freed("v"), user("v", "held").priority(0).on("a")], ["v"], True),
    "the one user stays": ([freed("v"), user("v", "held").priority(0).on("a")], [], False),
    "one of two leaves": (
        [freed("v", "w"), [user(n, "held").priority(0).on("a") for n in "vw"]],
        ["v"],
        False,
    ),
    "both leave": ([freed("v", "w"), [user(n, "held").priority(0).on("a") for n in "vw"]], ["v", "w"], True),
    "nobody uses it": ([freed()], [], True),
    "only a pod that waits uses it": ([freed("late"), user("late", "held").select(zone="no")], [], True),
    "only pods that wait use it, and are two": (
        [freed("late", "later"), [user(n, "held").select(zone="no") for n in ("late", "later")]],
        [],
        False,
    ),
}


@pytest.mark.parametrize("name", LEAVING)
def test_a_device_is_free_once_its_users_have_left(name):
    objects, left, free = LEAVING[name]
    cluster_ = build_cluster(cluster(A, GPU, slice_on("a", gpu("g0")), X, p.priority(10), *objects))
    gone = [cluster_.pod_index[f"default/{v}"] for v in left]
    assert admits(cluster_, {cluster_.pod_index["default/p"]: 0}, gone) == free
