"""From the counts of a solution to the devices of each claim, as a plan has them."""

from collections import Counter

import pytest
from support.builders import cluster, group, node
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

from kubestow.solver.api import SolveOptions, solve

GPU = device_class()
A, B = node("a", zone="z1"), node("b", zone="z1")
p, q = user("p", "x"), user("q", "y")


def solved(*objects):
    plan = solve(cluster(*objects), SolveOptions(workers=1))
    assert plan.status == "OPTIMAL"
    return plan


def given(plan):
    """Claim -> request=pool/device each."""
    return {
        item["claim"].partition("/")[2]: [
            f"{d['request']}={d['pool']}/{d['device']}" for d in item["devices"]
        ]
        for item in plan.allocations
    }


def homes(plan):
    return {item["claim"].partition("/")[2]: item["node"] for item in plan.allocations}


def test_each_device_is_handed_out_once():
    """Twelve pods of one class, two devices each, on three nodes of eight."""
    nodes = [node(n) for n in "abc"]
    slices = [slice_on(n, *(gpu(f"g{k}") for k in range(8))) for n in "abc"]
    claims = [claim(f"c{k}", request("r", count=2)) for k in range(12)]
    plan = solved(nodes, GPU, slices, claims, [user(f"p{k:02d}", f"c{k}") for k in range(12)])
    taken = Counter(device for devices in given(plan).values() for device in devices)
    assert len(plan.bindings) == 12
    assert len(taken) == 24
    assert set(taken.values()) == {1}
    where = {b.pod: b.node for b in plan.bindings}
    assert all(home == where[f"default/p{int(name[1:]):02d}"] for name, home in homes(plan).items())


def test_pods_of_one_class_get_what_belongs_together():
    """Links 0 and 1 have two devices each, in turn: a pair for each pod, whatever the order of the slice."""
    devices = [gpu(f"g{k}", link=k % 2) for k in range(4)]
    pairs = [claim(c, request("r", count=2), match="link") for c in "xy"]
    found = given(solved(A, GPU, slice_on("a", *devices), pairs, p, q))
    links = sorted(sorted(int(device[-1]) % 2 for device in devices) for devices in found.values())
    assert links == [[0, 0], [1, 1]]


def test_alternatives_are_divided_over_a_class():
    devices = [gpu("g0", model="m"), gpu("g1", model="n"), gpu("g2", model="n")]
    claims = [
        claim(c, first_of("r", alternative("s", model("m")), alternative("t", model("n")))) for c in "xyz"
    ]
    found = given(solved(A, GPU, slice_on("a", *devices), claims, p, q, user("s", "z")))
    assert sorted(device for devices in found.values() for device in devices) == [
        "r/s=a/g0",
        "r/t=a/g1",
        "r/t=a/g2",
    ]


def test_a_request_for_all_has_all_and_each_once():
    devices = [gpu("g0", model="m"), gpu("g1", model="n"), gpu("g2", model="m")]
    plan = solved(A, GPU, slice_on("a", *devices), claim("x", request("r", mode="All")), p)
    assert given(plan) == {"x": ["r=a/g0", "r=a/g1", "r=a/g2"]}


def test_requests_of_a_claim_are_in_its_order():
    plan = solved(
        A, GPU, slice_on("a", gpu("g0", model="m"), gpu("g1")), claim("x", request("s"), request("r")), p
    )
    assert [device.partition("=")[0] for device in given(plan)["x"]] == ["s", "r"]


def test_what_admin_access_gets_is_nobodys_loss():
    """Three claims, one device: the administrator's looks past the others."""
    plan = solved(A, GPU, slice_on("a", gpu("g0")), claim("x"), claim("y", request("r", admin=True)), p, q)
    assert given(plan) == {"x": ["r=a/g0"], "y": ["r=a/g0"]}
    by_claim = {item["claim"]: item["devices"][0] for item in plan.allocations}
    assert by_claim["default/y"]["adminAccess"] is True
    assert not by_claim["default/x"].get("adminAccess")


def test_shares_say_whose_they_are_and_how_much():
    shared = gpu("g0", shared=True, capacity={"memory": "4"})
    claims = [claim(c, request("r", capacity={"memory": "2"})) for c in "xy"]
    plan = solved(A, GPU, slice_on("a", shared), claims, p, q)
    results = [item["devices"][0] for item in plan.allocations]
    assert len({result["shareID"] for result in results}) == 2
    assert [result["consumedCapacity"] for result in results] == [{"memory": "2"}] * 2


def test_devices_of_several_nodes_have_no_node():
    plan = solved(A, B, GPU, slice_("net", gpu("n0"), nodeSelector=zone("z1")), claim("x"), p)
    assert homes(plan) == {"x": None}
    local = solved(A, GPU, slice_on("a", gpu("g0")), claim("x"), p)
    assert homes(local) == {"x": "a"}


def test_a_common_claim_is_handed_out_once():
    plan = solved(A, GPU, slice_on("a", gpu("g0"), gpu("g1")), claim("x"), p, user("q", "x"))
    assert len(plan.bindings) == 2
    assert given(plan) == {"x": ["r=a/g0"]}


def test_a_claim_of_a_gang_that_does_not_start_gets_nothing():
    plan = solved(
        A,
        GPU,
        slice_on("a", gpu("g0")),
        group("g", gang=2),
        claim("x"),
        claim("y"),
        p.member("g"),
        q.member("g"),
    )
    assert plan.allocations == ()


# name -> (claims and running pods, the steps of the plan that are no binding)
STEPS = {
    "an idle claim gives its device back first": (
        [claim("idle", has=[("r", "a", "g0")], at="a"), claim("x")],
        [{"deallocate": "default/idle"}],
    ),
    "not where nobody needs it": ([claim("idle", has=[("r", "b", "g0")], at="b"), claim("x")], []),
    "a victim's claim gives it back by itself": (
        [
            claim("held", has=[("r", "a", "g0")], at="a", users=["v"]),
            user("v", "held").priority(0).on("a"),
            claim("x"),
        ],
        [{"mark": "default/v"}, {"leave": "default/v"}],
    ),
    "the pod's own claim is allocated elsewhere": (
        [claim("x", has=[("r", "b", "g0")], at="b", users=["p"])],
        [{"deallocate": "default/x"}],
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_claims_are_deallocated_where_somebody_needs_it(name):
    objects, steps = STEPS[name]
    slices = [slice_on(n, gpu("g0")) for n in "ab"]
    plan = solved(A, B, GPU, slices, objects, p.priority(10).select(hostname="a"))
    assert plan.placed() == {"default/p": "a"}
    assert [step.model_dump() for step in plan.steps if step.bind is None] == steps
