"""Gaps and oddities of the real hints about volumes and resource claims."""

import pytest
from support.builders import node, pod
from support.changing import Queue, hint

from kubestow.models.resource_api import ResourceClaim, ResourceSlice
from kubestow.models.storage import CSIDriver, CSINode, CSIStorageCapacity, PersistentVolume, VolumeAttachment
from kubestow.models.storage import PersistentVolumeClaim as Claim

QUEUE, SKIP = "Queue", "QueueSkip"
ZONE = "topology.kubernetes.io/zone"


def row(said, plugin, waiting, old=None, new=None, *, sentence):
    return pytest.param(said, plugin, waiting, old, new, id=sentence)


def volume(zones):
    return PersistentVolume.model_validate({"metadata": {"name": "v", "labels": {ZONE: zones}}})


def capacity(fields):
    return CSIStorageCapacity.model_validate({"metadata": {"name": "c"}, **fields})


def drivers(*found):
    return CSINode.model_validate({"metadata": {"name": "n"}, "spec": {"drivers": list(found)}})


def driver(**spec):
    return CSIDriver.model_validate({"metadata": {"name": "d"}, "spec": spec})


ATTACHED = VolumeAttachment.model_validate({"metadata": {"name": "a"}, "spec": {"attacher": "unknown"}})
LIMITED = {"name": "d", "allocatable": {"count": 1}}
FREE = {"name": "d"}


@pytest.mark.parametrize(
    "said, plugin, waiting, old, new",
    [
        *(
            row(
                said,
                plugin,
                pod("me").ephemeral("v0"),
                None,
                Claim.model_validate({"metadata": {"name": "me-v0"}}),
                sentence=f"13: {plugin} and the claim of an ephemeral volume: {said}",
            )
            for said, plugin in (
                (SKIP, "VolumeRestrictions"),
                (SKIP, "VolumeZone"),
                (QUEUE, "VolumeBinding"),
                (QUEUE, "NodeVolumeLimits"),
            )
        ),
        *(
            row(
                said,
                "VolumeZone",
                pod("me").claim("c"),
                volume(before),
                volume(after),
                sentence=f"14: a volume's zones go from {before} to {after}",
            )
            for said, before, after in (
                (SKIP, "z0__z1", "z1__z0"),
                (QUEUE, "z0", "z0__z1"),
                (SKIP, "z0__", "__z1"),
                (QUEUE, "z0", "z0__"),
            )
        ),
        row(
            QUEUE,
            "VolumeBinding",
            pod("me"),
            *[PersistentVolume.model_validate({"metadata": {"name": "v"}})] * 2,
            sentence="15: any update of any volume wakes what VolumeBinding rejected",
        ),
        row(
            QUEUE,
            "VolumeBinding",
            pod("me"),
            node("n"),
            node("n").label(any="thing"),
            sentence="15: and so does any label of any node",
        ),
        row(
            SKIP,
            "VolumeBinding",
            pod("me").volume(csi={"driver": "d"}),
            None,
            driver(),
            sentence="15: a driver that comes does not",
        ),
        row(
            QUEUE,
            "VolumeBinding",
            pod("me").volume(csi={"driver": "d"}),
            driver(storageCapacity=True),
            driver(),
            sentence="15: one whose capacity is not looked at any more does",
        ),
        *(
            row(
                said,
                "VolumeBinding",
                pod("me"),
                capacity(before),
                capacity(after),
                sentence=f"15: a capacity goes from {before} to {after}",
            )
            for said, before, after in (
                (QUEUE, {"capacity": "1Gi"}, {"capacity": "2Gi"}),
                (SKIP, {"capacity": "1Gi"}, {"capacity": "1024Mi"}),
                (SKIP, {"capacity": 1, "maximumVolumeSize": 1}, {"capacity": 9, "maximumVolumeSize": 1}),
                (QUEUE, {"capacity": 9, "maximumVolumeSize": 1}, {"capacity": 2}),
                (SKIP, {"capacity": "1Gi"}, {}),
                (QUEUE, {}, {"capacity": "1Gi"}),
            )
        ),
        row(
            QUEUE,
            "NodeVolumeLimits",
            pod("me").claim("c"),
            ATTACHED,
            None,
            sentence="16: a detached volume of whatever driver wakes every pod with a claim",
        ),
        row(
            QUEUE,
            "NodeVolumeLimits",
            pod("me").volume(awsElasticBlockStore={"volumeID": "aws://z/none"}),
            ATTACHED,
            None,
            sentence="16: a malformed EBS volume cannot be judged, so the pod is woken",
        ),
        row(
            SKIP,
            "NodeVolumeLimits",
            pod("me").volume(awsElasticBlockStore={"volumeID": "aws://z/vol-1"}),
            ATTACHED,
            None,
            sentence="16: a well-formed one is judged by its driver",
        ),
        *(
            row(
                said,
                "NodeVolumeLimits",
                pod("me").claim("c"),
                drivers(*before),
                drivers(*after),
                sentence=f"16: drivers go from {before} to {after}",
            )
            for said, before, after in (
                (QUEUE, [], [LIMITED]),
                (SKIP, [], [FREE]),
                (SKIP, [LIMITED], [FREE]),
                (QUEUE, [FREE], [LIMITED]),
            )
        ),
    ],
)
def test_fact(said, plugin, waiting, old, new):
    assert hint(plugin, waiting, old, new) == said


def claim(name, *, allocated=False, deleted=False, **labels):
    meta = {"name": name, "uid": f"uid-{name}", "labels": labels}
    if deleted:
        meta["deletionTimestamp"] = "2026-03-01T00:00:00Z"
    return ResourceClaim.model_validate({"metadata": meta, "status": {"allocation": {}} if allocated else {}})


def user(*names):
    claims = [{"name": name, "resourceClaimName": name} for name in names]
    return pod("me").changed(lambda d: d["spec"].update(resourceClaims=claims))


@pytest.mark.parametrize(
    "said, old, new, objects",
    [
        pytest.param(
            QUEUE,
            claim("b", allocated=True),
            claim("b"),
            [claim("a")],
            id="18: the deallocation of any claim wakes the pod",
        ),
        pytest.param(
            SKIP,
            claim("b", allocated=True),
            None,
            [claim("a")],
            id="18: the deletion of an allocated one does not",
        ),
        pytest.param(
            SKIP,
            claim("b", allocated=True),
            claim("b"),
            [],
            id="18: nor does a deallocation while a claim of the pod is missing",
        ),
        pytest.param(
            SKIP,
            claim("b", allocated=True),
            claim("b"),
            [claim("a", deleted=True)],
            id="18: nor while a claim of the pod is being deleted",
        ),
        pytest.param(SKIP, claim("a"), claim("a", app="x"), [], id="18: nor a label of the pod's own claim"),
        pytest.param(QUEUE, None, claim("a"), [], id="18: the pod's own claim comes"),
        pytest.param(SKIP, None, claim("b"), [claim("a")], id="18: another claim comes"),
        pytest.param(
            QUEUE,
            claim("a"),
            claim("a", allocated=True),
            [],
            id="18: the status of the pod's own claim changes",
        ),
    ],
)
def test_fact_about_claims(said, old, new, objects):
    assert hint("DynamicResources", user("a"), old, new, objects) == said


def test_18_slices_say_queue_and_pre_enqueue_keeps_the_gate_shut():
    pool = {"driver": "d", "pool": {"name": "p"}, "nodeName": "n"}
    part = ResourceSlice.model_validate({"metadata": {"name": "s"}, "spec": pool})
    assert hint("DynamicResources", user("a"), None, part) == QUEUE
    queue = Queue(user("a"))
    assert queue.add(part).where("me") == "unschedulable"
    assert [item.gating_plugin for item in queue.queue.unschedulable] == ["DynamicResources"]
    assert queue.add(claim("a")).where("me") == "active"
