"""The quick look at a node before a pod is moved because of it, from the time before queueing hints.

Source: kube-scheduler 1.34.1 eventhandlers.go (preCheckForNode, AdmissionCheck), used while the gate
SchedulerQueueingHints is off.
"""

from collections import Counter

from ...models.features import FeatureGates
from ...models.node import Node
from ...models.pod import Pod
from ...models.requests import in_units, pod_requests, running_pod_requests
from ..events.objects import ObjectStore
from ..index.ports import conflict, host_ports
from ..index.taints import tolerates


def may_fit(pod: Pod, node: Node, objects: ObjectStore, gates: FeatureGates) -> bool:
    """Whether a pod passes the quick checks: room, selector, name, ports and NoSchedule taints."""
    there = objects.pods_on(node.name).values()
    return (
        _has_room(pod, node, list(there))
        and selects(pod, node)
        and pod.spec.node_name in (None, "", node.name)
        and not any(conflict(host_ports(pod), host_ports(other)) for other in there)
        and not any(
            taint.effect == "NoSchedule" and not any(tolerates(t, taint, gates) for t in pod.spec.tolerations)
            for taint in node.spec.taints
        )
    )


def _has_room(pod: Pod, node: Node, there: list[Pod]) -> bool:
    offered = in_units(node.status.allocatable)
    if len(there) + 1 > offered.get("pods", 0):
        return False
    taken: Counter[str] = Counter()
    for other in there:
        taken.update(running_pod_requests(other))
    return all(
        not amount or amount <= offered.get(name, 0) - taken[name]
        for name, amount in pod_requests(pod).items()
    )


def selects(pod: Pod, node: Node) -> bool:
    """Whether a node satisfies a pod's nodeSelector and its required node affinity."""
    labels = node.metadata.labels
    if any(labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    affinity = pod.spec.affinity
    required = affinity.node_affinity.required if affinity and affinity.node_affinity else None
    return required is None or required.matches(labels, node.name)
