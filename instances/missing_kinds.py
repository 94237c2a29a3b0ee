"""Notes about kinds of objects that pods name and that an input lacks altogether.

A dump that leaves out a kind reads like a cluster without it: a claim that was not dumped is a claim that
does not exist, and the pods that use it wait for ever. One object that is missing may be missing in the
cluster; where all are, the dump is the likelier reason.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from ..models.affinity import PodAffinityTerm
from ..models.pod import Pod
from ..models.resource_api import ResourceClaimSpec
from ..models.snapshot import Snapshot
from ..models.storage import PersistentVolumeClaim
from .dump import resource

_NOT_FOUND: Final = "each counts as one that does not exist"
_SPREADING: Final = ("ReplicaSet", "StatefulSet", "ReplicationController")

OWNERS: Final = (*_SPREADING, "DaemonSet", "Job")
"""Kinds of workloads that pods belong to."""


def missing_kinds(snapshot: Snapshot, besides: Collection[str] = ()) -> list[str]:
    """Return a line for each kind that pods name and the snapshot lacks: how many pods, what follows.

    Parameters
    ----------
    snapshot : Snapshot
    besides : collection of str
        Kinds that are not missing although the snapshot has none of them.
    """
    spread = [
        pod
        for pod in snapshot.pods
        if not pod.is_terminal and not pod.spec.node_name and not pod.spec.topology_spread_constraints
    ]
    consequence = "default spreading does not see which pods belong together"
    return [*_objects(snapshot, besides), *_owners(snapshot, spread, _SPREADING, besides, consequence)]


def kinds_it_waits_for(snapshot: Snapshot, key: str) -> list[str]:
    """Return a line for each kind that one pod names and the snapshot lacks, so that it cannot be placed."""
    alone = replace(snapshot, pods=tuple(pod for pod in snapshot.pods if pod.key == key))
    return list(_objects(alone, ("CSINode", "Namespace")))


def _objects(snapshot: Snapshot, besides: Collection[str]) -> Iterator[str]:
    named = _Named(snapshot)
    rows: tuple[tuple[str, Iterable[object], Callable[[Pod], bool], str], ...] = (
        ("PersistentVolumeClaim", snapshot.persistent_volume_claims, named.claims, _NOT_FOUND),
        ("PersistentVolume", snapshot.persistent_volumes, named.volumes, _NOT_FOUND),
        ("StorageClass", snapshot.storage_classes, named.storage_classes, _NOT_FOUND),
        ("CSINode", snapshot.csi_nodes, named.csi_drivers, "no limit of volumes on a node is known"),
        ("ResourceClaim", snapshot.resource_claims, named.device_claims, _NOT_FOUND),
        ("ResourceClaimTemplate", snapshot.resource_claim_templates, named.templates, _NOT_FOUND),
        ("DeviceClass", snapshot.device_classes, named.devices, _NOT_FOUND),
        ("ResourceSlice", snapshot.resource_slices, named.devices, "no node offers a device"),
        ("PodGroup", snapshot.pod_groups, _in_group, _NOT_FOUND),
        ("CompositePodGroup", snapshot.composite_pod_groups, named.parents, _NOT_FOUND),
        ("Workload", snapshot.workloads, _in_workload, _NOT_FOUND),
        ("Namespace", snapshot.namespaces, _selects_namespaces, "no namespaceSelector selects any"),
    )
    for kind, objects, concerns, consequence in rows:
        if not objects and kind not in besides and any(map(concerns, named.pods)):
            yield _line(kind, sum(map(concerns, named.pods)), consequence)


def missing_owners(snapshot: Snapshot, besides: Collection[str] = ()) -> list[str]:
    """Return a line for each kind of workload that pods belong to and the snapshot lacks."""
    pods = [pod for pod in snapshot.pods if not pod.is_terminal]
    return list(_owners(snapshot, pods, OWNERS, besides, "nothing takes the place of a pod that goes"))


def _owners(
    snapshot: Snapshot,
    pods: Iterable[Pod],
    kinds: Collection[str],
    besides: Collection[str],
    consequence: str,
) -> Iterator[str]:
    there = {
        "ReplicaSet": snapshot.replica_sets,
        "StatefulSet": snapshot.stateful_sets,
        "ReplicationController": snapshot.replication_controllers,
        "DaemonSet": snapshot.daemon_sets,
        "Job": snapshot.jobs,
    }
    owners = Counter(owner.kind for pod in pods if (owner := pod.metadata.controller) is not None)
    for kind in kinds:
        if owners[kind] and not there[kind] and kind not in besides:
            yield _line(kind, owners[kind], consequence)


def _line(kind: str, pods: int, consequence: str) -> str:
    who = "1 pod depends" if pods == 1 else f"{pods} pods depend"
    plural = f"{kind}es" if kind.endswith("s") else f"{kind}s"
    add = f"add {resource(kind)} to `kubectl get`"
    return f"{who} on {plural}, of which the input has none, so {consequence}; if the cluster has some, {add}"


class _Named:
    """What the pods of a snapshot that have not finished name.

    Attributes
    ----------
    pods : list of Pod
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.pods = [pod for pod in snapshot.pods if not pod.is_terminal]
        self._claims = {item.key: item for item in snapshot.persistent_volume_claims}
        self._csi = {item.name for item in snapshot.persistent_volumes if item.spec.csi is not None}
        self._device_claims = {item.key: item for item in snapshot.resource_claims}
        self._templates = {item.key: item.spec.spec for item in snapshot.resource_claim_templates}
        # A scheduler that knows no parents overlooks them.
        served = snapshot.feature_gates.known_to(snapshot.kube_version).enabled("CompositePodGroup")
        self._parts = {
            item.key for item in snapshot.pod_groups if served and item.spec.parent_composite_pod_group_name
        }

    def claims(self, pod: Pod) -> bool:
        """Whether a pod names a claim."""
        return any(volume.persistent_volume_claim is not None for volume in pod.spec.volumes)

    def volumes(self, pod: Pod) -> bool:
        """Whether a pod has a claim that names its volume."""
        return any(claim.spec.volume_name for claim in self._claims_of(pod))

    def storage_classes(self, pod: Pod) -> bool:
        """Whether a pod has a claim that is not bound and names a class."""
        return any(
            claim.spec.storage_class_name for claim in self._claims_of(pod) if not claim.spec.volume_name
        )

    def csi_drivers(self, pod: Pod) -> bool:
        """Whether a pod waits for a node and has volumes of a CSI driver."""
        return not pod.spec.node_name and (
            any(volume.csi is not None for volume in pod.spec.volumes)
            or any(claim.spec.volume_name in self._csi for claim in self._claims_of(pod))
        )

    def device_claims(self, pod: Pod) -> bool:
        """Whether a pod names a claim to devices, or has one that was made for it."""
        made = (item.resource_claim_name for item in pod.status.resource_claim_statuses)
        return any(made) or any(item.resource_claim_name for item in pod.spec.resource_claims)

    def templates(self, pod: Pod) -> bool:
        """Whether a pod names a template from which no claim was made yet."""
        made = {item.name for item in pod.status.resource_claim_statuses}
        return any(
            item.resource_claim_template_name and item.name not in made for item in pod.spec.resource_claims
        )

    def devices(self, pod: Pod) -> bool:
        """Whether a pod has a claim, or a template of one, whose devices are still to be chosen."""
        return any(spec.devices.requests for spec in self._open_claims(pod))

    def parents(self, pod: Pod) -> bool:
        """Whether a pod's group names a parent, and the scheduler knows parents."""
        group = pod.spec.scheduling_group
        return group is not None and f"{pod.namespace}/{group.pod_group_name}" in self._parts

    def _claims_of(self, pod: Pod) -> Iterator[PersistentVolumeClaim]:
        for volume in pod.spec.volumes:
            source = volume.persistent_volume_claim
            if source is not None or volume.ephemeral is not None:
                name = source.claim_name if source is not None else f"{pod.name}-{volume.name}"
                if (claim := self._claims.get(f"{pod.namespace}/{name}")) is not None:
                    yield claim

    def _open_claims(self, pod: Pod) -> Iterator[ResourceClaimSpec]:
        made = {item.name: item.resource_claim_name for item in pod.status.resource_claim_statuses}
        for item in pod.spec.resource_claims:
            claim = item.resource_claim_name or made.get(item.name)
            found = self._device_claims.get(f"{pod.namespace}/{claim}")
            if found is not None and found.status.allocation is None:
                yield found.spec
            template = self._templates.get(f"{pod.namespace}/{item.resource_claim_template_name}")
            if claim is None and template is not None:
                yield template


def _in_group(pod: Pod) -> bool:
    group = pod.spec.scheduling_group
    return group is not None and bool(group.pod_group_name)


def _in_workload(pod: Pod) -> bool:
    return pod.spec.workload_ref is not None


def _selects_namespaces(pod: Pod) -> bool:
    return any(
        term.namespace_selector is not None
        and (term.namespace_selector.match_labels or term.namespace_selector.match_expressions)
        for term in _terms(pod)
    )


def _terms(pod: Pod) -> Iterator[PodAffinityTerm]:
    affinity = pod.spec.affinity
    if affinity is not None:
        for each in (affinity.pod_affinity, affinity.pod_anti_affinity):
            if each is not None:
                yield from each.required
                yield from (wish.pod_affinity_term for wish in each.preferred)
