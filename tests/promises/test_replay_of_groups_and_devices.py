"""The replay refuses placements, allocations and deallocations that are not so."""

import pytest
from support.builders import cluster, group, node, pod
from support.devices import DRIVER, claim, device_class, gpu, request, slice_, slice_on, user
from support.proof import OPTIONS
from support.tampering import Tampering, lists, steps

from kubestow.framework.index.cluster import Cluster
from kubestow.models.plan import Binding, Placement, Step
from kubestow.solver.api import solve
from kubestow.solver.plans.replay import ReplayFailure, replay

# rack r1: a (g0 free, g1 of running v), b (g0 of a claim that nobody uses); rack r2: c (g0 free)
ROUND = cluster(
    [node(name, cpu="1").label(rack=rack) for name, rack in (("a", "r1"), ("b", "r1"), ("c", "r2"))],
    device_class("gpu"),
    slice_on("a", gpu("g0"), gpu("g1")),
    slice_on("b", gpu("g0")),
    slice_on("c", gpu("g0")),
    claim("held", has=[("r", "a", "g1")], at="a", users=["v"]),
    claim("idle", has=[("r", "b", "g0")], at="b"),
    user("v", "held").on("a"),
    group("g", "rack", gang=2),
    claim("x"),
    claim("y"),
    claim("z"),
    user("m", "x").req(cpu="1").member("g"),
    user("n", "y").req(cpu="1").member("g"),
    pod("w").req(cpu="9"),
)
FREE = Step(deallocate="default/idle")
BIND_M, BIND_N = Step(bind="default/m", node="a"), Step(bind="default/n", node="b")
STEPS = (FREE, BIND_M, BIND_N)


def allocation(name, node, *devices, **more):
    """Write an allocation as a plan has it."""
    results = [{"request": "r", "driver": DRIVER, "pool": p, "device": d, **more} for p, d in devices]
    return {"claim": f"default/{name}", "node": node, "devices": results}


X, Y = allocation("x", "a", ("a", "g0")), allocation("y", "b", ("b", "g0"))


def allocations(*stated):
    return lists(allocations=lambda _: stated)


def both(*changes):
    def change(plan):
        for one in changes:
            plan = one(plan)
        return plan

    return change


TAMPERINGS = [
    Tampering(
        "a claim is not deallocated first",
        steps(BIND_M, BIND_N),
        "step 1 binds default/n to b: DynamicResources: cannot allocate all claims",
    ),
    Tampering(
        "a claim that is not there",
        steps(Step(deallocate="default/no"), BIND_M),
        "step 0 names an unknown claim",
    ),
    Tampering(
        "a claim deallocated twice",
        steps(FREE, FREE),
        "step 1 deallocates default/idle, which is not allocated",
    ),
    Tampering(
        "a claim without devices deallocated",
        steps(Step(deallocate="default/x")),
        "step 0 deallocates default/x, which is not allocated",
    ),
    Tampering(
        "the claim of a running pod deallocated",
        steps(Step(deallocate="default/held"), *STEPS),
        "step 0 deallocates default/held, which is reserved for others",
    ),
    Tampering(
        "a device of another node",
        allocations(allocation("x", "a", ("c", "g0")), Y),
        "step 1 binds default/m to a with device gpu.example.com/c/g0, which the node does not reach",
    ),
    Tampering(
        "a device that another claim has",
        allocations(allocation("x", "a", ("a", "g1")), Y),
        "step 1 binds default/m to a with device gpu.example.com/a/g1, which is not to be had",
    ),
    Tampering(
        "more devices than the claim asks for",
        allocations(allocation("x", "a", ("a", "g0"), ("a", "g1")), Y),
        "step 1 binds default/m to a with 2 devices for r, not 1",
    ),
    Tampering("no device", allocations(allocation("x", "a"), Y), "with request r served 0 times"),
    Tampering(
        "for a request that is not there",
        allocations({**X, "devices": [{**X["devices"][0], "request": "s"}]}, Y),
        "with request r served 0 times",
    ),
    Tampering(
        "in another way than asked for",
        allocations(allocation("x", "a", ("a", "g0"), adminAccess=True), Y),
        "with device gpu.example.com/a/g0 in another way than r asks for",
    ),
    Tampering(
        "a share of a device that cannot be shared",
        allocations(allocation("x", "a", ("a", "g0"), shareID="s"), Y),
        "with device gpu.example.com/a/g0 in another way than r asks for",
    ),
    Tampering(
        "some of a capacity that is not there",
        allocations(allocation("x", "a", ("a", "g0"), consumedCapacity={"gpu.example.com/memory": "1"}), Y),
        "with device gpu.example.com/a/g0 with other amounts than r takes",
    ),
    Tampering(
        "said to be for another node",
        allocations(allocation("x", "b", ("a", "g0")), Y),
        "with devices that are not those for node a",
    ),
    Tampering(
        "a device that is not there",
        allocations(allocation("x", "a", ("a", "g7")), Y),
        "allocations are not what the steps allocate",
    ),
    Tampering("an allocation is not listed", allocations(Y), "allocations are not what the steps allocate"),
    Tampering(
        "an allocation is listed twice", allocations(X, X, Y), "allocations are not what the steps allocate"
    ),
    Tampering(
        "devices for a claim that nobody uses",
        allocations(X, Y, allocation("z", "c", ("c", "g0"))),
        "claim default/z gets devices and nobody uses it",
    ),
    Tampering(
        "half a gang", both(steps(BIND_M), allocations(X)), "gang default/g stands with 1 of 2 members"
    ),
    Tampering(
        "a gang in two racks",
        both(
            steps(BIND_M, Step(bind="default/n", node="c")),
            allocations(X, allocation("y", "c", ("c", "g0"))),
        ),
        "pod group default/g is in more than one domain of rack: r1, r2",
    ),
    Tampering("a placement is not listed", lists(placements=lambda _: ()), "placements are not the domains"),
    Tampering(
        "a placement is listed twice",
        lists(placements=lambda plan: plan.placements * 2),
        "placements are not the domains",
    ),
    Tampering(
        "another domain",
        lists(placements=lambda _: (Placement(pod_group="default/g", key="rack", domain="r2", scheduled=2),)),
        "placements are not the domains",
    ),
    Tampering(
        "another number of members",
        lists(placements=lambda _: (Placement(pod_group="default/g", key="rack", domain="r1", scheduled=3),)),
        "placements are not the domains",
    ),
]


@pytest.fixture(scope="module")
def plan():
    """The plan of the round, in one order of steps and with one choice of devices that are known."""
    found = solve(ROUND, OPTIONS)
    assert len(found.placed()) == 2
    bindings = (Binding(pod="default/m", node="a"), Binding(pod="default/n", node="b"))
    return both(steps(*STEPS), allocations(X, Y), lists(bindings=lambda _: bindings))(found)


def test_the_plan_itself_passes(plan):
    replay(Cluster(ROUND), plan)


@pytest.mark.parametrize("row", TAMPERINGS, ids=Tampering.title)
def test_what_is_not_so_is_refused(plan, row):
    """A tampered plan fails with the words of its row."""
    with pytest.raises(ReplayFailure) as failure:
        replay(Cluster(ROUND), row.change(plan))
    assert row.words in str(failure.value)


def test_none_of_a_gang_binds_before_the_last_pod_that_leaves_for_it():
    """The same steps in another order are refused: w would leave after the first member is bound."""
    snapshot = cluster(
        node("a", cpu="1"),
        node("b", cpu="1"),
        group("g", gang=2),
        pod("v").req(cpu="1").priority(0).on("a"),
        pod("w").req(cpu="1").priority(0).on("b"),
        pod("m").req(cpu="1").priority(5).member("g").times(2),
    )
    plan = solve(snapshot, OPTIONS)
    assert len(plan.evictions) == 2
    replay(Cluster(snapshot), plan)
    leaving = {name: (Step(mark=f"default/{name}"), Step(leave=f"default/{name}")) for name in ("v", "w")}
    on = {b.node: Step(bind=b.pod, node=b.node) for b in plan.nominations}
    late = steps(*leaving["v"], on["a"], *leaving["w"], on["b"])(plan)
    with pytest.raises(ReplayFailure, match="default/w leaves and no preemptor comes to its node"):
        replay(Cluster(snapshot), late)


def test_a_claim_is_told_from_the_node_of_the_pod_that_brought_it():
    """All devices of a, where the first user went: what b reaches beside them is no matter."""
    snapshot = cluster(
        [node("a", cpu="1"), node("b", cpu="1"), device_class("gpu")],
        slice_on("b", gpu("g0")),
        slice_("net", gpu("n0"), allNodes=True),
        claim("x", request("r", mode="All")),
        user("q", "x").req(cpu="1").created(1).select(hostname="b"),
        user("p", "x").req(cpu="1").created(9).select(hostname="a"),
    )
    plan = solve(snapshot, OPTIONS)
    assert [a["devices"][0]["device"] for a in plan.allocations] == ["n0"]
    assert len(plan.placed()) == 2
