"""Storage objects in one line, for tests; sizes are in GiB.

The class `wait` binds a claim with its first pod, and no volume can be made for it; `make` lets the driver
`csi.test` make one; `now` binds at once.
"""

from kubestow.models.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from support.builders import KEYS, ago

DRIVER = "csi.test"


def storage_class(name, *, provisioner=DRIVER, mode="WaitForFirstConsumer", zones=None, default=False):
    """A class of volumes; `zones` are those in which volumes can be made."""
    terms = [{"matchLabelExpressions": [{"key": KEYS["zone"], "values": list(zones)}]}] if zones else []
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    return StorageClass.model_validate(
        {
            "metadata": {"name": name, "annotations": annotations},
            "provisioner": provisioner,
            "volumeBindingMode": mode,
            "allowedTopologies": terms,
        }
    )


WAIT = storage_class("wait", provisioner="kubernetes.io/no-provisioner")
MAKE = storage_class("make")
NOW = storage_class("now", mode="Immediate")


def claim(
    name,
    size=1,
    storage="wait",
    *,
    namespace="default",
    modes=("ReadWriteOnce",),
    to=None,
    complete=True,
    selected=None,
    select=None,
    owner=None,
    phase=None,
    deleted=False,
    block=False,
):
    """A claim.

    Parameters
    ----------
    to : str, optional
        The volume that it is bound to; `complete` says whether for good.
    selected : str, optional
        The node for which its volume is being made.
    select : mapping, optional
        The labels that its volume must have.
    owner : str, optional
        The uid of the pod that it was made for.
    """
    annotations = {}
    if to is not None and complete:
        annotations["pv.kubernetes.io/bind-completed"] = "yes"
    if selected is not None:
        annotations["volume.kubernetes.io/selected-node"] = selected
    owners = [{"kind": "Pod", "name": "o", "uid": owner, "controller": True}] if owner is not None else []
    return PersistentVolumeClaim.model_validate(
        {
            "metadata": {
                "name": name,
                "namespace": namespace,
                "annotations": annotations,
                "ownerReferences": owners,
                "deletionTimestamp": ago(1) if deleted else None,
            },
            "spec": {
                "accessModes": list(modes),
                "storageClassName": storage,
                "resources": {"requests": {"storage": f"{size}Gi"}},
                "volumeName": to,
                "volumeMode": "Block" if block else None,
                "selector": {"matchLabels": dict(select)} if select else None,
            },
            "status": {"phase": phase},
        }
    )


def volume(
    name,
    size=1,
    storage="wait",
    *,
    on=(),
    zones=(),
    modes=("ReadWriteOnce",),
    to=None,
    phase="Available",
    handle=None,
    labels=(),
    deleted=False,
    block=False,
    **source,
):
    """A volume.

    Parameters
    ----------
    on, zones : iterable of str
        The nodes, or the zones, from which it can be reached; from everywhere by default.
    to : str, optional
        `namespace/name` of the claim that it is reserved for.
    handle : str, optional
        Its handle with the driver.
    """
    spec = {
        "capacity": {"storage": f"{size}Gi"},
        "accessModes": list(modes),
        "storageClassName": storage,
        "volumeMode": "Block" if block else None,
        **source,
    }
    places = [(KEYS["hostname"], on), (KEYS["zone"], zones)]
    conditions = [{"key": key, "operator": "In", "values": list(names)} for key, names in places if names]
    if conditions:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": conditions}]}}
    if to is not None:
        namespace, _, claimed = to.rpartition("/")
        spec["claimRef"] = {"namespace": namespace or "default", "name": claimed}
    if handle is not None:
        spec["csi"] = {"driver": DRIVER, "volumeHandle": handle}
    return PersistentVolume.model_validate(
        {
            "metadata": {
                "name": name,
                "labels": dict(labels),
                "deletionTimestamp": ago(1) if deleted else None,
            },
            "spec": spec,
            "status": {"phase": phase},
        }
    )


def bound(name, *, namespace="default", storage="make", modes=("ReadWriteOnce",), **facts):
    """A claim with the volume that it is bound to, which bears its name."""
    facts.setdefault("handle", name)
    return (
        claim(name, storage=storage, namespace=namespace, to=name, modes=modes),
        volume(name, storage=storage, to=f"{namespace}/{name}", modes=modes, phase="Bound", **facts),
    )


def csi_node(name, *, migrated=(), **limits):
    """How many volumes a node attaches: of `csi.test` as `volumes`, of other drivers as written."""
    counts = {DRIVER if driver == "volumes" else driver: count for driver, count in limits.items()}
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": ",".join(migrated)} if migrated else {}
    drivers = [{"name": d, "nodeID": name, "allocatable": {"count": c}} for d, c in counts.items()]
    return CSINode.model_validate(
        {"metadata": {"name": name, "annotations": annotations}, "spec": {"drivers": drivers}}
    )


def csi_driver(*, capacity=False, required=False):
    """The driver; whether it reports how much storage is free, and whether pods need it on their node."""
    spec = {"storageCapacity": capacity, "preventPodSchedulingIfMissing": required}
    return CSIDriver.model_validate({"metadata": {"name": DRIVER}, "spec": spec})


def free(size, *, storage="make", largest=None, **labels):
    """A report of free storage for the nodes with these labels; without labels for none."""
    return CSIStorageCapacity.model_validate(
        {
            "metadata": {
                "name": f"free-{storage}-{size}-{'-'.join(labels.values())}",
                "namespace": "default",
            },
            "storageClassName": storage,
            "capacity": f"{size}Gi",
            "maximumVolumeSize": None if largest is None else f"{largest}Gi",
            "nodeTopology": {"matchLabels": {KEYS[k]: v for k, v in labels.items()}} if labels else None,
        }
    )


def attachment(node, volume_name):
    """An attachment of a volume to a node."""
    return VolumeAttachment.model_validate(
        {
            "metadata": {"name": f"{node}-{volume_name}"},
            "spec": {
                "attacher": DRIVER,
                "nodeName": node,
                "source": {"persistentVolumeName": volume_name},
            },
        }
    )
