"""The promises with devices in the mix, and with devices and pod groups."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from support.builders import cluster, group, node, pod
from support.device_rounds import small_devices, small_mixed, tiny_device_rounds, tiny_devices, tiny_mixed
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
    user,
    zone,
)
from support.oracle.exhaustive import best_plan
from support.proof import HURRIED, check_optimal, solve_and_replay, told
from support.sweeps import few_or_all

from kubestow.framework.build import build_cluster
from kubestow.models.kube_version import KubeVersion

EXHAUSTIVE = [
    *((tiny_devices, seed) for seed in range(few_or_all(80, 220))),
    *((tiny_mixed, seed) for seed in range(few_or_all(40, 80))),
]
NEVER_WORSE = [
    *((small_devices, seed) for seed in range(few_or_all(50, 200))),
    *((small_mixed, seed) for seed in range(few_or_all(30, 80))),
]


@pytest.mark.parametrize("make, seed", EXHAUSTIVE)
def test_the_plan_equals_the_exhaustive_search(make, seed):
    """Equal in every tier, all proven; or greedy's inadmissible outcome is better, and is said to be so."""
    check_optimal(make(seed))


@pytest.mark.parametrize("seed", range(3000, 3000 + few_or_all(25, 60)))
def test_the_plan_equals_the_exhaustive_search_in_1_34(seed):
    check_optimal(replace(tiny_devices(seed), kube_version=KubeVersion.V1_34))


@settings(max_examples=few_or_all(15, 30))
@given(snapshot=tiny_device_rounds)
def test_no_round_that_hypothesis_finds_is_solved_worse(snapshot):
    check_optimal(snapshot)


@pytest.mark.parametrize("make, seed", NEVER_WORSE)
def test_the_plan_is_never_worse_than_greedys(make, seed):
    """Lexicographically at least as good, and both plans pass their replay; at any time limit."""
    snapshot = make(seed)
    optimal, greedy = solve_and_replay(snapshot, HURRIED)
    assert optimal.vector() <= greedy.vector(), told(snapshot, f"greedy has {greedy.vector()}", plan=optimal)


@pytest.mark.parametrize("seed", range(1000, 1000 + few_or_all(25, 60)))
def test_pods_of_one_class_are_alike(seed):
    """The exhaustive search finds the same, whether it takes equal pods as equal or tries every one."""
    snapshot = tiny_devices(seed)
    by_class, one_by_one = (best_plan(build_cluster(snapshot), by_class=choice) for choice in (True, False))
    assert by_class.tiers == one_by_one.tiers, told(snapshot, "pods of one class differ")


GPU = device_class("gpu")
HIGH = 10
p, q = user("p", "x").created(9), user("q", "y").created(1)
CARD = {"card": {"memory": "4"}}
FULL = gpu("full", takes={"card": {"memory": "4"}}, size="full")
HALVES = [gpu(f"half-{k}", takes={"card": {"memory": "2"}}, size="half") for k in range(2)]


def has_size(size):
    return f'device.attributes["gpu.example.com"].size == "{size}"'


# name -> (objects, pods placed, evictions, other tiers that are not 0)
ROUNDS = {
    "the picky claim gets the first device": (
        [
            node("a"),
            GPU,
            slice_on("a", gpu("g0", model="a"), gpu("g1", model="b")),
            claim("x"),
            claim("y", request("r", model("a"))),
            p,
            q,
        ],
        (2, 0, {}),
    ),
    "two of a kind go to the claim that wants them alike": (
        [
            node("a"),
            GPU,
            slice_on("a", gpu("g0", link=0), gpu("g1", link=0), gpu("g2", link=1)),
            claim("x"),
            claim("y", request("r", count=2), match="link"),
            p,
            q,
        ],
        (2, 0, {}),
    ),
    "the second choice of one is better than nothing for another": (
        [
            node("a"),
            GPU,
            slice_on("a", gpu("g0", model="a"), gpu("g1", model="b")),
            claim("x", first_of("r", alternative("a", model("a")), alternative("b", model("b")))),
            claim("y", request("r", model("a"))),
            p,
            q,
        ],
        (2, 0, {"firstAvailable": 1}),
    ),
    "who can have the first choice has it": (
        [
            node("a"),
            node("b"),
            GPU,
            slice_on("a", gpu("g0", model="b")),
            slice_on("b", gpu("g0", model="a")),
            claim("x", first_of("r", alternative("a", model("a")), alternative("b", model("b")))),
            p,
        ],
        (1, 0, {}),
    ),
    "all devices of a node are left free for the claim that wants all": (
        [
            node("a"),
            node("b"),
            GPU,
            slice_on("a", gpu("g0"), gpu("g1", model="m")),
            slice_on("b", gpu("g0")),
            claim("x"),
            claim("y", request("r", 'device.attributes["gpu.example.com"].?model.hasValue()', mode="All")),
            p,
            q.select(hostname="a"),
        ],
        (2, 0, {}),
    ),
    "all devices that break a constraint are an error, and no second choice": (
        [
            node("a"),
            GPU,
            slice_on("a", gpu("g0", link=0), gpu("g1", link=1)),
            claim("x", first_of("r", alternative("all", mode="All"), alternative("one")), match="link"),
            p,
        ],
        (0, 0, {}),
    ),
    "unless another claim has one of them, and the search turns back in time": (
        [
            node("a"),
            GPU,
            slice_on("a", gpu("g0", link=0), gpu("g1", link=1)),
            claim("x", first_of("r", alternative("all", mode="All"), alternative("one")), match="link"),
            p,
            claim("y"),
            q,
        ],
        (2, 0, {"firstAvailable": 1}),
    ),
    "halves of a card leave no whole one": (
        [
            node("a"),
            GPU,
            slice_on("a", FULL, *HALVES, counters=CARD),
            claim("x", request("r", has_size("full"))),
            p,
            claim("y", request("r", has_size("half"))),
            q,
            claim("z", request("r", has_size("half"))),
            user("s", "z"),
        ],
        (2, 0, {}),
    ),
    "counters in a slice of their own are the same counters": (
        [
            node("a"),
            GPU,
            slice_on("a", FULL, *HALVES, of=2),
            slice_("counters", pool="a", of=2, counters=CARD, nodeName="a"),
            claim("x", request("r", has_size("full"))),
            p,
            claim("y", request("r", has_size("half"))),
            q,
            claim("z", request("r", has_size("half"))),
            user("s", "z"),
        ],
        (2, 0, {}),
    ),
    "shares of a device fit as long as its capacity lasts": (
        [node("a"), GPU, slice_on("a", gpu("g0", shared=True, capacity={"memory": "4"}))]
        + [claim(c, request("r", capacity={"memory": "2"})) for c in "xyz"]
        + [p, q, user("s", "z")],
        (2, 0, {}),
    ),
    "a claim of two pods is allocated where both fit": (
        [
            node("a", cpu="1", zone="z1"),
            node("b", cpu="4", zone="z1"),
            GPU,
            slice_on("a", gpu("g0")),
            slice_on("b", gpu("g0")),
            claim("x"),
            p.req(cpu="1"),
            user("q", "x").req(cpu="1"),
        ],
        (2, 0, {}),
    ),
    "devices of a network keep pods in their zone": (
        [
            node("a", cpu="1", zone="z1"),
            node("b", cpu="1", zone="z1"),
            node("c", cpu="9", zone="z2"),
            GPU,
            slice_("net", gpu("n0"), nodeSelector=zone("z1")),
            claim("x"),
            p.req(cpu="1"),
            user("q", "x").req(cpu="1"),
            user("s", "x").req(cpu="1"),
        ],
        (2, 0, {}),
    ),
    "a device is freed by an eviction": (
        [
            node("a"),
            GPU,
            slice_on("a", gpu("g0")),
            claim("held", has=[("r", "a", "g0")], at="a", users=["v"]),
            user("v", "held").priority(0).on("a"),
            claim("x"),
            p.priority(HIGH),
        ],
        (1, 1, {}),
    ),
    "but not by that of one of its two users": (
        [
            node("a"),
            GPU,
            slice_on("a", gpu("g0")),
            claim("held", has=[("r", "a", "g0")], at="a", users=["v", "w"]),
            user("v", "held").priority(0).on("a"),
            user("w", "held").priority(HIGH).on("a"),
            claim("x"),
            p.priority(HIGH),
        ],
        (0, 0, {}),
    ),
    "a claim that nobody uses gives its device back for nothing": (
        [
            node("a"),
            GPU,
            slice_on("a", gpu("g0")),
            claim("idle", has=[("r", "a", "g0")], at="a"),
            claim("x"),
            p,
        ],
        (1, 0, {}),
    ),
    "and so does one of a pod that waits, to serve that pod elsewhere": (
        [
            node("a", cpu="1"),
            node("b"),
            GPU,
            slice_on("a", gpu("g0")),
            slice_on("b", gpu("g0")),
            claim("x", has=[("r", "a", "g0")], at="a", users=["p"]),
            p.req(cpu="2"),
        ],
        (1, 0, {}),
    ),
    "adminAccess looks past other claims": (
        [node("a"), GPU, slice_on("a", gpu("g0")), claim("x"), claim("y", request("r", admin=True)), p, q],
        (2, 0, {}),
    ),
    "a taint keeps a device from those that do not tolerate it": (
        [
            node("a"),
            GPU,
            slice_on("a", gpu("g0", taints=[("worn", "NoSchedule")]), gpu("g1")),
            claim("x", request("r", tolerate=["worn"])),
            claim("y"),
            p,
            q,
        ],
        (2, 0, {}),
    ),
    "an extended resource is served where no node offers it": (
        [
            node("a"),
            device_class("gpu", serves="example.com/gpu"),
            slice_on("a", gpu("g0"), gpu("g1")),
            pod("p").req({"example.com/gpu": "1"}).times(3),
        ],
        (2, 0, {}),
    ),
    "a gang's members share the claim of their group": (
        [node("a", cpu="1", zone="z1"), node("b", cpu="1", zone="z1"), node("c", cpu="1", zone="z2"), GPU]
        + [slice_("net", gpu("n0"), nodeSelector=zone("z1")), slice_on("c", gpu("g0")), claim("x")]
        + [group("g", gang=2, resourceClaims=[{"name": "e0", "resourceClaimName": "x"}])]
        + [user(name, "x").req(cpu="1").member("g") for name in ("p", "q")],
        (2, 0, {}),
    ),
    "a gang that cannot have all its devices takes none": (
        [node("a"), GPU, slice_on("a", gpu("g0"), gpu("g1")), group("g", gang=3)]
        + [claim(c) for c in "xyzw"]
        + [user(f"m{k}", c).member("g") for k, c in enumerate("xyz")]
        + [user("other", "w")],
        (1, 0, {}),
    ),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_rounds_with_a_point(name):
    """The optimum is known; both engines find it."""
    objects, (placed, evicted, others) = ROUNDS[name]
    plan, _ = check_optimal(cluster(objects, name=name))
    assert len(plan.placed()) == placed
    assert len(plan.evictions) == evicted
    rest = {t.name: t.value for t in plan.tiers if t.value and "[" not in t.name}
    assert rest == others
