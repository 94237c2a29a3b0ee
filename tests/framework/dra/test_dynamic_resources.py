"""The plugin in whole cycles: what pods get one after another, and what is said where they get nothing."""

import pytest
from support.builders import cluster, node, pod
from support.devices import (
    allocated,
    alternative,
    claim,
    device_class,
    first_of,
    gpu,
    request,
    slice_,
    slice_on,
    user,
    zone,
)
from support.filtering import Look, pass_over

from kubestow.framework.build import build_cluster
from kubestow.framework.runs.trace import trace
from kubestow.models.errors import InputError
from kubestow.solver.api import solve
from kubestow.solver.options import SolveOptions

NOT_HELPFUL = "Preemption is not helpful for scheduling."
CLUSTER = [node("a", zone="z1"), node("b", zone="z2"), device_class()]


def got(cycle):
    """A cycle's node and allocations, or its message."""
    if cycle["result"] != "bound":
        return cycle["message"]
    claims = {
        item["claim"].partition("/")[2]: [device["device"] for device in item["devices"]]
        for item in cycle.get("allocations", ())
    }
    return cycle["node"], claims


def cycles(*objects, **more):
    return {name: got(cycle) for name, cycle in pass_over(*CLUSTER, *objects, **more).items()}


def test_two_pods_and_one_device():
    found = cycles(slice_on("a", gpu("g0")), user("p", "c"), user("q", "d"), claim("c"), claim("d"))
    assert found == {
        "p": ("a", {"c": ["g0"]}),
        "q": "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, preemption: "
        f"0/2 nodes are available: 2 {NOT_HELPFUL}",
    }


def test_a_shared_claim_is_allocated_once_and_binds_the_others_to_its_nodes():
    net = slice_("net", gpu("g0"), nodeSelector=zone("z2"))
    found = cycles(net, user("p", "c"), user("q", "c"), user("r", "c").select(zone="z1"), claim("c"))
    assert found == {
        "p": ("b", {"c": ["g0"]}),
        "q": ("b", {}),
        "r": "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
        "1 resourceclaim not available on the node. still not schedulable, preemption: "
        f"0/2 nodes are available: 2 {NOT_HELPFUL}",
    }


def test_what_cannot_be_allocated_is_said_before_what_is_elsewhere():
    elsewhere = claim("c", has=[("r", "b", "g1")], at="b")
    look = Look(*CLUSTER, slice_on("b", gpu("g1")), user("p", "c", "d"), elsewhere, claim("d"))
    assert set(look.rejected.values()) == {"UAU DynamicResources: cannot allocate all claims"}


ELSEWHERE = claim("c", has=[("r", "b", "g1")], at="b")


@pytest.mark.parametrize(
    "held, said, freed",
    [
        pytest.param(
            ELSEWHERE, "deallocation of ResourceClaim completed", ["default/c"], id="reserved for nobody"
        ),
        pytest.param(
            claim("c", has=[("r", "b", "g1")], at="b", users=["p"]),
            "deallocation of ResourceClaim completed",
            ["default/c"],
            id="reserved for this pod alone",
        ),
        pytest.param(
            claim("c", has=[("r", "b", "g1")], at="b", users=["gone"]),
            "still not schedulable",
            None,
            id="reserved for somebody else",
        ),
    ],
)
def test_a_claim_that_keeps_its_pod_away(held, said, freed):
    full = pod("filler").req(cpu="4").on("b")
    cycle = pass_over(
        *CLUSTER, slice_on("b", gpu("g1")), full, user("p", "c").req(cpu="1").priority(-1), held
    )["p"]
    assert f". {said}, preemption: " in cycle["message"]
    assert cycle.get("deallocated") == freed


def test_a_freed_claim_is_allocated_anew_in_the_next_cycle():
    slices = [slice_on("a", gpu("g0")), slice_on("b", gpu("g1"))]
    full = pod("filler").req(cpu="4").on("b").priority(10)
    pods = [user("p", "c").req(cpu="1").priority(5), user("q", "c").req(cpu="1")]
    found = cycles(*slices, full, *pods, ELSEWHERE)
    assert "deallocation of ResourceClaim completed" in found["p"]
    assert found["q"] == ("a", {"c": ["g0"]})


def test_of_two_claims_the_pod_s_first_is_freed():
    held = [claim(name, has=[("r", "b", f"g{name}")], at="b") for name in ("d", "c")]
    slices = slice_on("b", gpu("gc"), gpu("gd"))
    cycle = pass_over(*CLUSTER, slices, user("p", "d", "c").select(zone="z1"), *held)["p"]
    assert cycle["deallocated"] == ["default/d"]


def test_a_claim_that_was_never_in_the_way_is_not_freed():
    """The node is out of the question before anybody asks for its devices."""
    found = cycles(slice_on("b", gpu("g1")), user("p", "c").select(zone="z3"), ELSEWHERE)
    assert ". still not schedulable, preemption" in found["p"]


def test_a_pod_without_claims_has_nothing_to_free():
    assert ". no new claims to deallocate, preemption" in cycles(pod("p").req(cpu="9"))["p"]


def test_nor_has_a_pod_whose_class_is_missing():
    found = cycles(user("p", "c"), claim("c", request("r", of="none")))["p"]
    assert found == (
        "0/2 nodes are available: request r: device class none does not exist. no new claims to deallocate, "
        f"preemption: 0/2 nodes are available: 2 {NOT_HELPFUL}"
    )


def test_a_pod_that_another_plugin_refuses_first_leaves_no_state():
    def torn(doc):
        terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [n]}]} for n in ("a",)]
        both = {"matchFields": [*terms[0]["matchFields"], {**terms[0]["matchFields"][0], "values": ["b"]}]}
        affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [both]}}
        doc["spec"]["affinity"] = {"nodeAffinity": affinity}

    found = cycles(user("p", "c").changed(torn), claim("c"))["p"]
    assert found == "0/2 nodes are available: pod affinity terms conflict. not found"


def test_an_error_ends_the_attempt():
    wanted = claim("c", request("r", mode="All"))
    low = pod("low").req(cpu="4").on("a").priority(-5)
    cycle = pass_over(*CLUSTER, slice_on("a", gpu("g0"), of=2), low, user("p", "c"), wanted)["p"]
    assert cycle == {
        "pod": "default/p",
        "filter": {},
        "feasible": [],
        "result": "unschedulable",
        "node": None,
        "victims": [],
        "pdbViolations": 0,
        "message": 'running "DynamicResources" filter plugin: claim default/c, request r: asks for all '
        "devices, but resource pool gpu.example.com/a is currently being updated",
        "error": True,
    }


def test_an_error_on_a_node_that_is_out_of_the_question_is_none():
    wanted = claim("c", request("r", mode="All"))
    slices = [slice_on("a", gpu("g0"), of=2), slice_on("b", gpu("g1"))]
    assert cycles(*slices, user("p", "c").select(zone="z2"), wanted)["p"] == ("b", {"c": ["g1"]})


def test_an_error_clears_a_nomination():
    wanted = claim("c", request("r", mode="All"))
    slices = slice_on("a", gpu("g0"), of=2)
    stale = user("p", "c").priority(5).nominated("b")
    found = pass_over(*CLUSTER, slices, stale, wanted, pod("q").req(cpu="4").select(zone="z2"))
    assert found["p"]["error"]
    assert found["q"]["result"] == "bound"


def test_a_claim_has_at_most_256_users():
    held = claim("c", has=[("r", "a", "g0")], at="a", users=[f"u{k}" for k in range(256)])
    found = cycles(slice_on("a", gpu("g0")), user("p", "c"), user("u7", "c"), held)
    assert found["p"].startswith("0/2 nodes are available: resourceclaim in use. ")
    assert found["u7"] == ("a", {})


def test_a_search_that_takes_too_long(monkeypatch):
    monkeypatch.setattr("kubestow.framework.dra.search.MOST_STEPS", 3)
    wanted = claim("c", request("r", count=2), match="n")
    devices = [gpu(f"g{k}", n=k) for k in range(5)]
    assert allocated(*CLUSTER, slice_on("a", *devices), user("p", "c"), wanted) == (
        "UAU DynamicResources: timed out trying to allocate devices"
    )


def test_devices_that_nothing_tells_apart_are_not_tried_in_all_orders():
    """20 devices in two kinds for 10 requests, of which the last has none: upstream would go on for ages."""
    devices = [gpu(f"g{k:02}", kind=k % 2) for k in range(20)]
    wanted = claim("c", *(request(f"r{k}", count=1) for k in range(9)), request("last", "false"))
    assert allocated(*CLUSTER, slice_on("a", *devices), user("p", "c"), wanted) == (
        "UAU DynamicResources: cannot allocate all claims"
    )


@pytest.mark.parametrize(
    "release, node, device",
    [
        pytest.param("1.34", "a", "g0", id="the second choice is as good as the first in 1.34"),
        pytest.param("1.36", "b", "g1", id="the first choice scores more since 1.36"),
    ],
)
def test_alternatives(release, node, device):
    slices = [slice_on("a", gpu("g0", kind=2)), slice_on("b", gpu("g1", kind=1))]
    kinds = [f'device.attributes["gpu.example.com"].kind == {k}' for k in (1, 2)]
    wanted = claim("c", first_of("r", alternative("best", kinds[0]), alternative("good", kinds[1])))
    assert cycles(*slices, user("p", "c"), wanted, release=release)["p"] == (node, {"c": [device]})


@pytest.mark.parametrize(
    "broken, text",
    [
        pytest.param(
            device_class("odd", "device.drivr == 1"),
            "DeviceClass odd: spec.selectors[0].cel.expression: does not compile: .*'device.drivr'",
            id="a class",
        ),
        pytest.param(
            claim("d", request("r", "true", "1 +")),
            r"ResourceClaim default/d: spec.devices.requests[0].exactly.selectors[1].cel.expression: ",
            id="a claim",
        ),
        pytest.param(
            claim("d", first_of("r", alternative("x"), alternative("y", '"x"'))),
            "ResourceClaim default/d: spec.devices.requests[0].firstAvailable[1].selectors[0].cel.expression"
            ": does not compile: must evaluate to bool or the unknown type, not string",
            id="an alternative",
        ),
    ],
)
def test_a_selector_that_does_not_compile_is_an_input_error(broken, text):
    snapshot = cluster(*CLUSTER, user("p", "c"), claim("c"), broken, name="dump.yaml")
    with pytest.raises(InputError) as raised:
        trace(snapshot)
    assert str(raised.value).startswith(f"dump.yaml: {text.split('.*')[0]}")
    assert all(part in str(raised.value) for part in text.split(".*"))


def test_pods_with_claims_of_their_own_are_no_class():
    pods = [user(f"p{k}", made=[("e", f"p{k}-e")]) for k in range(2)]
    claims = [claim(f"p{k}-e", owner=f"p{k}") for k in range(2)]
    infos = build_cluster(cluster(*CLUSTER, *pods, *claims)).pods
    assert infos[0].cls != infos[1].cls
    found = cycles(slice_on("a", gpu("g0"), gpu("g1")), *pods, *claims)
    assert found == {"p0": ("a", {"p0-e": ["g0"]}), "p1": ("a", {"p1-e": ["g1"]})}


def test_without_a_node_nobody_gets_a_device():
    cards = slice_("s", gpu("g"), allNodes=True)
    snapshot = cluster(device_class(), cards, claim("c", request("r")), user("p", "c"))
    [cycle] = trace(snapshot)["cycles"]
    assert cycle["result"] == "unschedulable"
    [told] = solve(snapshot, SolveOptions(workers=1)).unschedulable
    assert told.pod == "default/p"
