"""What each text in an object is, by model and field.

A field whose text has no role here is left out of an anonymous snapshot, so that a new field is never told by
accident; numbers, times, amounts and words of closed sets need none. A test holds that every text has one.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel

KEEP: Final = "keep"
"""A word of the API, of this system or of a device's vendor, such as `ReadWriteOnce`, `50%` or a feature."""

DROP: Final = "drop"
"""What no rule reads."""

_ROLES: Final = {
    "KubeObject": "apiVersion=keep kind=keep",
    "ObjectMeta": "name=name namespace=namespace uid=uid labels=labels annotations=annotations",
    "OwnerReference": "apiVersion=group kind=kind name=name uid=uid",
    "ObjectReference": "apiVersion=group kind=kind namespace=namespace name=name uid=uid",
    "ControllerReference": "apiGroup=group kind=kind name=name",
    "Condition": "type=condition status=keep reason=reason message=drop",
    # nodes
    "NodeSpec": "providerID=drop",
    "NodeStatus": "capacity=amounts allocatable=amounts declaredFeatures=keep",
    "ContainerImage": "names=image",
    "Taint": "key=key value=tolerated",
    # pods
    "PodSpec": (
        "nodeName=node nodeSelector=labels schedulerName=scheduler priorityClassName=priority "
        "overhead=amounts restartPolicy=keep"
    ),
    "Container": "name=name image=ran restartPolicy=keep",
    "ContainerPort": "hostIP=ip name=drop",
    "ContainerResourceClaim": "name=name request=request",
    "ContainerRestartRule": "action=keep",
    "ResourceRequirements": "requests=amounts limits=amounts",
    "Toleration": "key=key value=tolerated",
    "TopologySpreadConstraint": "topologyKey=key matchLabelKeys=key",
    "PodAffinityTerm": "namespaces=namespace topologyKey=key matchLabelKeys=key mismatchLabelKeys=key",
    "NodeSelectorRequirement": "key=key values=values",
    "LabelSelector": "matchLabels=labels",
    "LabelSelectorRequirement": "key=key values=values",
    "PodSchedulingGate": "name=name",
    "PodResourceClaim": "name=name resourceClaimName=name resourceClaimTemplateName=name",
    "WorkloadReference": "name=name podGroup=name podGroupReplicaKey=name",
    "PodSchedulingGroup": "podGroupName=name",
    "PodStatus": "phase=keep nominatedNodeName=node allocatedResources=amounts resize=keep",
    "ContainerStatus": "name=name allocatedResources=amounts",
    "PodResourceClaimStatus": "name=name resourceClaimName=name",
    "PodExtendedResourceClaimStatus": "resourceClaimName=name",
    "ContainerExtendedResourceRequest": "containerName=name resourceName=resource requestName=name",
    # volumes
    "Volume": "name=name sources=drop",
    "GCEPersistentDiskVolumeSource": "pdName=name fsType=drop",
    "AWSElasticBlockStoreVolumeSource": "volumeID=ebs fsType=drop",
    "ISCSIVolumeSource": "targetPortal=name iqn=iqn",
    "RBDVolumeSource": "monitors=name image=name pool=name",
    "AzureDiskVolumeSource": "diskName=name diskURI=name",
    "AzureFileVolumeSource": "secretName=name shareName=name",
    "CinderVolumeSource": "volumeID=name",
    "VsphereVirtualDiskVolumeSource": "volumePath=name",
    "PortworxVolumeSource": "volumeID=name",
    "PersistentVolumeClaimVolumeSource": "claimName=name",
    "CSIVolumeSource": "driver=driver fsType=drop volumeAttributes=drop",
    "VolumeResources": "requests=amounts limits=amounts",
    "PersistentVolumeClaimSpec": (
        "accessModes=keep volumeName=name storageClassName=name volumeMode=keep "
        "volumeAttributesClassName=name"
    ),
    "PersistentVolumeClaimStatus": "phase=keep accessModes=keep capacity=amounts",
    "PersistentVolumeSpec": (
        "capacity=amounts accessModes=keep storageClassName=name volumeMode=keep "
        "persistentVolumeReclaimPolicy=keep volumeAttributesClassName=name sources=drop"
    ),
    "CSIPersistentVolumeSource": "driver=driver volumeHandle=name volumeAttributes=drop",
    "LocalVolumeSource": "path=name",
    "PersistentVolumeStatus": "phase=keep",
    "StorageClass": "provisioner=driver parameters=drop reclaimPolicy=keep volumeBindingMode=keep",
    "TopologySelectorLabelRequirement": "key=key values=values",
    "CSINodeDriver": "name=driver nodeID=drop topologyKeys=key",
    "CSIStorageCapacity": "storageClassName=name",
    "VolumeAttachmentSpec": "attacher=driver nodeName=node",
    "VolumeAttachmentSource": "persistentVolumeName=name",
    # budgets, priorities, groups, workloads
    "PodDisruptionBudgetSpec": "minAvailable=keep maxUnavailable=keep unhealthyPodEvictionPolicy=keep",
    "PodDisruptionBudgetStatus": "disruptedPods=named",
    "GroupSpec": "priorityClassName=priority",
    "PodGroupTemplate": "name=name",
    "CompositePodGroupTemplate": "name=name",
    "PodGroupSpec": "parentCompositePodGroupName=name",
    "TopologyConstraint": "key=key",
    "WorkloadTemplateReference": "workloadName=name templateName=name",
    "ServiceSpec": "selector=labels type=keep clusterIP=drop",
    "ReplicationControllerSpec": "selector=labels",
    "StatefulSetSpec": "serviceName=name podManagementPolicy=keep",
    "DeploymentStrategy": "type=keep",
    "RollingUpdate": "maxSurge=keep maxUnavailable=keep",
    "JobSpec": "completionMode=keep",
    # devices
    "ResourceSliceSpec": "driver=driver nodeName=node",
    "ResourcePool": "name=name",
    "Device": (
        "name=name attributes=qualified capacity=qualified nodeName=node "
        "bindingConditions=condition bindingFailureConditions=condition"
    ),
    "DeviceAttribute": "string=attribute strings=attribute version=keep versions=keep",
    "CounterSet": "name=name counters=kept_names",
    "DeviceCounterConsumption": "counterSet=name counters=kept_names",
    "DeviceTaint": "key=key value=tolerated",
    "DeviceToleration": "key=key value=tolerated",
    "DeviceRequest": "name=name",
    "DeviceSubRequest": "name=name deviceClassName=name",
    "ExactDeviceRequest": "deviceClassName=name",
    "CELDeviceSelector": "expression=expression",
    "CapacityRequirements": "requests=qualified",
    "DeviceClaim": "config=drop",
    "DeviceConstraint": "requests=request matchAttribute=attribute_name distinctAttribute=attribute_name",
    "DeviceRequestAllocationResult": (
        "request=request driver=driver pool=name device=name shareID=uid consumedCapacity=qualified "
        "bindingConditions=condition bindingFailureConditions=condition"
    ),
    "ResourceClaimConsumerReference": "apiGroup=group resource=consumer name=name uid=uid",
    "AllocatedDeviceStatus": "driver=driver pool=name device=name shareID=uid",
    "DeviceClassSpec": "extendedResourceName=resource config=drop",
    "DeviceTaintSelector": "deviceClassName=name driver=driver pool=name device=name",
    # configuration
    "KubeSchedulerConfiguration": "apiVersion=keep kind=keep",
    "KubeSchedulerProfile": "schedulerName=scheduler",
    "PluginRef": "name=keep",
    "PluginConfig": "name=keep",
    "NodeResourcesFitArgs": "ignoredResources=resource ignoredResourceGroups=keep",
    "ResourceSpec": "name=resource",
    # what kubestow says itself
    "SnapshotInfo": "notes=keep",
}

_BY_MODEL: Final = {model: dict(entry.split("=") for entry in text.split()) for model, text in _ROLES.items()}

NAMES_OF_THEIR_OWN: Final = {
    "Node": "node",
    "CSINode": "node",
    "Namespace": "namespace",
    "PriorityClass": "priority",
    "CSIDriver": "driver",
}
"""Kind to the role of its objects' names, where that is not `name`."""


def role_of(model: type[BaseModel], field: str) -> str | None:
    """Return the role of a field in the API's spelling, that of a base class where the model has none."""
    for base in model.__mro__:
        role = _BY_MODEL.get(base.__name__, {}).get(field)
        if role is not None:
            return role
    return None


def holds_text(annotation: Any) -> bool:
    """Whether a field of this type can hold text that is not of a closed set."""
    if annotation is str:
        return True
    if get_origin(annotation) is Literal:
        return False
    return any(holds_text(part) for part in _parts(annotation))


def _parts(annotation: Any) -> Iterator[Any]:
    if hasattr(annotation, "__metadata__"):  # what is behind Annotated, without the notes on it
        yield annotation.__origin__
    else:
        yield from get_args(annotation)
