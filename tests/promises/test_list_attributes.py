"""The promises with devices whose attributes have several values (KEP-5491)."""

from dataclasses import replace

import pytest
from support.device_rounds import tiny_devices
from support.proof import check_optimal

from kubestow.models.resource_api import DeviceAttribute


def widened(snapshot):
    """Return the slices, every other device that has a link with a second one."""
    count = 0
    slices = []
    for item in snapshot.resource_slices:
        devices = []
        for device in item.spec.devices:
            count += 1
            attributes = dict(device.attributes)
            if count % 2 and "link" in attributes:
                links = [attributes["link"].int_value, 1 + count % 3]
                attributes["link"] = DeviceAttribute.model_validate({"ints": links})
            devices.append(device.model_copy(update={"attributes": attributes}))
        spec = item.spec.model_copy(update={"devices": tuple(devices)})
        slices.append(item.model_copy(update={"spec": spec}))
    return tuple(slices)


def constrained(seed):
    """Return the tiny round of a seed with lists; None where no claim compares links."""
    snapshot = tiny_devices(seed)
    slices = widened(snapshot)
    compares = any(
        (item.match_attribute or item.distinct_attribute or "").endswith("/link")
        for claim in snapshot.resource_claims
        for item in claim.spec.devices.constraints
    )
    several = any(
        "link" in device.attributes and device.attributes["link"].ints is not None
        for item in slices
        for device in item.spec.devices
    )
    return replace(snapshot, resource_slices=slices) if compares and several else None


ROUNDS = [(seed, found) for seed in range(2000, 2250) if (found := constrained(seed)) is not None]


@pytest.mark.parametrize("seed, snapshot", ROUNDS, ids=[str(seed) for seed, _ in ROUNDS])
def test_the_plan_equals_the_exhaustive_search(seed, snapshot):
    check_optimal(snapshot)


def test_there_are_enough_rounds():
    assert len(ROUNDS) > 20
