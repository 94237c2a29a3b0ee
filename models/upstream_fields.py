"""Fields of the Kubernetes API that kubestow has no use for, by the part of an object that may hold them.

With the fields of the models they are all that an API server of Kubernetes 1.26 to 1.37 can store there, so
that what is left over is a misspelling.

Source: the served OpenAPI documents of these releases; k8s.io/kube-scheduler/config/v1 for the configuration.
"""

from typing import Final

_UNREAD: Final = {
    "AllocationResult": "availableOnNodes controller resourceHandle resourceHandles shareable",
    "AllocatedDeviceStatus": "data networkData",
    "AzureDiskVolumeSource": "cachingMode fsType kind",
    "CSIDriverSpec": (
        "fsGroupPolicy nodeAllocatableUpdatePeriodSeconds podInfoOnMount "
        "requiresRepublish seLinuxMount serviceAccountTokenInSecrets tokenRequests volumeLifecycleModes"
    ),
    "CSINode": "status",
    "CSIPersistentVolumeSource": (
        "controllerExpandSecretRef controllerPublishSecretRef fsType nodeExpandSecretRef "
        "nodePublishSecretRef nodeStageSecretRef"
    ),
    "CSIVolumeSource": "nodePublishSecretRef",
    "CinderVolumeSource": "fsType secretRef",
    "CompositePodGroupSpec": "podGroupTemplateRef",
    "Condition": "lastHeartbeatTime lastProbeTime lastUpdateTime observedGeneration",
    "Container": (
        "args command env envFrom imagePullPolicy lifecycle livenessProbe readinessProbe resizePolicy "
        "securityContext startupProbe stdin stdinOnce terminationMessagePath "
        "terminationMessagePolicy tty volumeDevices volumeMounts workingDir"
    ),
    "ContainerRestartRule": "exitCodes",
    "ContainerStatus": (
        "allocatedResourcesStatus containerID image imageID lastState restartCount started state "
        "stopSignal user volumeMounts"
    ),
    "DaemonSet": "status",
    "DaemonSetSpec": "minReadySeconds revisionHistoryLimit updateStrategy",
    "Deployment": "status",
    "DeploymentSpec": "minReadySeconds progressDeadlineSeconds revisionHistoryLimit",
    "Device": "basic nodeAllocatableResourceMappings nodeAllocatableResources",
    "DeviceAllocationResult": "config",
    "DeviceClassSpec": "suitableNodes",
    "DeviceCounterConsumption": "compatibilityGroups",
    "DeviceRequest": (
        "adminAccess allocationMode capacity count derivedAttributes deviceClassName selectors tolerations"
    ),
    "DeviceRequestAllocationResult": "skipNodeOperations",
    "DeviceSubRequest": "derivedAttributes",
    "DeviceTaintRule": "status",
    "EmptyDirVolumeSource": "medium sizeLimit",
    "ExactDeviceRequest": "derivedAttributes",
    "HostPathVolumeSource": "path type",
    "ISCSIVolumeSource": (
        "chapAuthDiscovery chapAuthSession fsType initiatorName iscsiInterface portals secretRef"
    ),
    "JobSpec": (
        "activeDeadlineSeconds backoffLimit backoffLimitPerIndex managedBy manualSelector "
        "maxFailedIndexes podFailurePolicy podReplacementPolicy scheduling successPolicy "
        "ttlSecondsAfterFinished"
    ),
    "JobStatus": (
        "completedIndexes completionTime failed failedIndexes ready startTime terminating "
        "uncountedTerminatedPods"
    ),
    "KubeSchedulerConfiguration": (
        "clientConnection delayCacheUntilActive enableContentionProfiling enableProfiling extenders "
        "healthzBindAddress leaderElection metadata metricsBindAddress"
    ),
    "LocalVolumeSource": "fsType",
    "Namespace": "spec status",
    "NodeSpec": "configSource externalID podCIDR podCIDRs podPreemptionPolicy",
    "NodeStatus": (
        "addresses config daemonEndpoints features nodeInfo phase runtimeHandlers "
        "volumesAttached volumesInUse"
    ),
    "ObjectMeta": (
        "clusterName deletionGracePeriodSeconds finalizers generateName managedFields resourceVersion "
        "selfLink"
    ),
    "ObjectReference": "fieldPath resourceVersion",
    "OwnerReference": "blockOwnerDeletion",
    "PersistentVolumeClaimSpec": "dataSource dataSourceRef",
    "PersistentVolumeClaimStatus": (
        "allocatedResourceStatuses allocatedResources conditions currentVolumeAttributesClassName "
        "healthStatus modifyVolumeStatus resizeStatus"
    ),
    "PersistentVolumeSpec": (
        "cephfs fc flexVolume flocker glusterfs hostPath mountOptions nfs photonPersistentDisk quobyte "
        "scaleIO storageos"
    ),
    "PersistentVolumeStatus": "lastPhaseTransitionTime message reason",
    "Plugins": "placementGenerate placementScore",
    "PodDisruptionBudgetStatus": "conditions",
    "PodGroup": "name policy",
    "PodGroupSpec": "podGroupTemplateRef",
    "PodResourceClaim": "source",
    "PodSpec": (
        "activeDeadlineSeconds automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks "
        "ephemeralContainers evictionResponders hostAliases hostIPC hostPID hostname "
        "hostnameOverride imagePullSecrets os readinessGates runtimeClassName securityContext "
        "serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain"
    ),
    "PodStatus": (
        "ephemeralContainerStatuses hostIP hostIPs message nodeAllocatableResourceClaimStatuses "
        "observedGeneration podIP podIPs qosClass reason volumeHealth"
    ),
    "PortworxVolumeSource": "fsType",
    "PriorityClass": "description",
    "RBDVolumeSource": "fsType keyring secretRef user",
    "ReplicaSet": "status",
    "ReplicaSetSpec": "minReadySeconds",
    "ReplicationController": "status",
    "ReplicationControllerSpec": "minReadySeconds",
    "ResourceClaim": "name request",
    "ResourceClaimSpec": "allocationMode controller parametersRef resourceClassName",
    "ResourceClaimStatus": "deallocationRequested driverName",
    "ResourceSlice": "driverName namedResources nodeName",
    "ResourceSliceSpec": "partitionTypeAttribute skipNodeOperations",
    "Service": "status",
    "ServiceSpec": (
        "allocateLoadBalancerNodePorts clusterIPs externalIPs externalName externalTrafficPolicy "
        "healthCheckNodePort internalTrafficPolicy ipFamilies ipFamilyPolicy loadBalancerClass "
        "loadBalancerIP loadBalancerSourceRanges ports publishNotReadyAddresses sessionAffinity "
        "sessionAffinityConfig trafficDistribution"
    ),
    "StatefulSet": "status",
    "StatefulSetSpec": (
        "minReadySeconds persistentVolumeClaimRetentionPolicy revisionHistoryLimit updateStrategy"
    ),
    "StorageClass": "mountOptions",
    "Volume": (
        "cephfs configMap downwardAPI fc flexVolume flocker gitRepo glusterfs image "
        "nfs photonPersistentDisk projected quobyte scaleIO secret storageos"
    ),
    "VolumeAttachmentStatus": "attachError attachmentMetadata detachError",
    "VolumeResources": "claims",
    "VsphereVirtualDiskVolumeSource": "fsType storagePolicyID storagePolicyName",
    "WorkloadReference": "templateName workloadName",
    "WorkloadTemplateReference": "name podGroup podGroupReplicaKey workload",
}

UNREAD_FIELDS: Final = {name: frozenset(fields.split()) for name, fields in _UNREAD.items()}
"""Name of a model to the names, in the API's spelling, of the other fields that upstream's type has."""
