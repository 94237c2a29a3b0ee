"""Claims whose devices bind under conditions (KEP-5007): what a round sees of it."""

import pytest
from support.builders import ago, cluster, node
from support.devices import allocated, claim, device_class, gpu, request, slice_on, user
from support.filtering import pass_over
from support.proof import check_optimal

from kubestow.models.resource_api import ResourceClaim

ELSEWHERE = "UAU DynamicResources: resourceclaim not available on the node"
READY, BROKEN = "example.com/ready", "example.com/broken"
BINDING = gpu("g0", extra={"bindingConditions": [READY], "bindingFailureConditions": [BROKEN]})


def given(*conditions, minutes=1, users=(), named=True):
    """A claim that has g0 since some minutes, with these conditions true."""
    facts = {"bindingConditions": [READY], "bindingFailureConditions": [BROKEN]} if named else {}
    item = claim("c", has=[("r", "a", "g0", facts)], at="a", users=users)
    document = item.model_dump(by_alias=True, mode="json", exclude_none=True)
    document["status"]["allocation"]["allocationTimestamp"] = ago(minutes)
    document["status"]["devices"] = [
        {
            "driver": "gpu.example.com",
            "pool": "a",
            "device": "g0",
            "conditions": [{"type": kind, "status": "True"} for kind in conditions],
        }
    ]
    return ResourceClaim.model_validate(document)


AROUND = [node("a"), device_class(), slice_on("a", BINDING, gpu("g1"))]


@pytest.mark.parametrize(
    "item, fails",
    [
        pytest.param(given(READY), False, id="ready"),
        pytest.param(given(), False, id="not ready yet"),
        pytest.param(given(minutes=11), True, id="not ready after ten minutes"),
        pytest.param(given(READY, minutes=11), False, id="ready, however long ago"),
        pytest.param(given(READY, BROKEN), True, id="a failure, ready or not"),
        pytest.param(given(BROKEN, named=False), False, id="conditions that the allocation does not name"),
    ],
)
def test_an_allocated_claim(item, fails):
    assert allocated(*AROUND, user("p", "c"), item) == (ELSEWHERE if fails else {})
    off = allocated(*AROUND, user("p", "c"), item, gates="DRADeviceBindingConditions=false")
    assert off == {}


def test_a_failed_claim_gets_other_devices():
    cycle = pass_over(*AROUND, user("p", "c"), given(BROKEN, users=["p"]))["p"]
    assert cycle["deallocated"] == ["default/c"]
    assert "deallocation of ResourceClaim completed" in cycle["message"]
    check_optimal(cluster(*AROUND, user("p", "c"), given(BROKEN, users=["p"])))


def test_a_failed_claim_of_a_running_pod_stays_where_it_is():
    around = [*AROUND, user("v", "c").on("a"), user("p", "c"), given(BROKEN, users=["v"])]
    assert pass_over(*around)["p"]["result"] == "unschedulable"
    check_optimal(cluster(*around))


@pytest.mark.parametrize(
    "wanted, on, off",
    [
        pytest.param({}, ["r=g0"], ["r=g1"], id="one device"),
        pytest.param({"mode": "All"}, ["r=g0", "r=g1"], ["r=g1"], id="all devices"),
    ],
)
def test_without_the_gate_devices_with_conditions_are_not_there(wanted, on, off):
    around = [*AROUND, user("p", "c"), claim("c", request("r", **wanted))]
    assert allocated(*around) == {"c": on}
    assert allocated(*around, gates="DRADeviceBindingConditions=false") == {"c": off}
