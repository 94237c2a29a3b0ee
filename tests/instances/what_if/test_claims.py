"""Claims of pods whose node is gone."""

import pytest
from support.what_if import changed, cluster, meta, node, pod

ALLOCATION = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "x"}]}}


def device_claim(name, *users, owner=""):
    metadata = meta(name, owner)
    for each in metadata["ownerReferences"]:
        each["uid"] = f"uid-{each['name']}"
    return {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata,
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}},
        "status": {
            "allocation": ALLOCATION,
            "reservedFor": [{"resource": "pods", "name": user, "uid": f"uid-{user}"} for user in users],
        },
    }  # fmt: skip


def with_uid(item):
    item["metadata"]["uid"] = f"uid-{item['metadata']['name']}"
    return item


@pytest.mark.parametrize(
    "owner, claim, left",
    [
        pytest.param("Job/j", device_claim("c", "p", owner="Pod/p"), (None, 0), id="its own is made again"),
        pytest.param("", device_claim("c", "p", owner="Pod/p"), None, id="that of a lost pod goes with it"),
        pytest.param("Job/j", device_claim("c", "p"), (None, 0), id="the last user frees the devices"),
        pytest.param("Job/j", device_claim("c", "p", "q"), ("x", 1), id="another user keeps them"),
        pytest.param("Job/j", device_claim("c", "q"), ("x", 1), id="a claim of others is left alone"),
        pytest.param("Job/j", device_claim("c"), ("x", 0), id="and so is one that is idle"),
    ],
)
def test_claims_of_devices(owner, claim, left):
    before = cluster(node("n1"), node("n2"), with_uid(pod("p", "n1", owner)), with_uid(pod("q", "n2")), claim)
    found = changed(before, {"remove": "n1"}).snapshot.resource_claims
    if left is None:
        assert found == ()
        return
    [status] = [item.status for item in found]
    device = status.allocation and status.allocation.devices.results[0].device
    assert (device, len(status.reserved_for)) == left


def volume_claim(name, owner=""):
    metadata = meta(name, owner, annotations={"pv.kubernetes.io/bind-completed": "yes"})
    for each in metadata["ownerReferences"]:
        each["uid"] = "uid-p"
    return {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata,
        "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": "pv",
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Bound"},
    }  # fmt: skip


VOLUME = {
    "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"},
    "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/d"}},
}  # fmt: skip


@pytest.mark.parametrize(
    "owner, claim, claims, volumes",
    [
        pytest.param("Job/j", volume_claim("p-v", "Pod/p"), [None], 0, id="an ephemeral one is made again"),
        pytest.param("", volume_claim("p-v", "Pod/p"), [], 0, id="that of a lost pod goes, with its volume"),
        pytest.param("Job/j", volume_claim("data"), ["pv"], 1, id="any other keeps its volume"),
    ],
)
def test_claims_of_volumes(owner, claim, claims, volumes):
    before = cluster(node("n1"), node("n2"), with_uid(pod("p", "n1", owner)), claim, VOLUME)
    found = changed(before, {"remove": "n1"}).snapshot
    assert [item.spec.volume_name for item in found.persistent_volume_claims] == claims
    assert len(found.persistent_volumes) == volumes
