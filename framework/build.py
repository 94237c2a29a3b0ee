"""Build the index of a snapshot: number its objects, then find which pods are alike.

Two numbers of a pod come from comparing it with others: its count class (equal labels, affinity terms and
host ports: nothing that counts pods can tell its members apart) and its class (equal to every filter and
score too). They need what volumes ask for, which stands above the index.
"""

from typing import TYPE_CHECKING, Final

import numpy as np

from ..models.memory import no_collection
from ..models.progress import Watch, unwatched
from ..models.snapshot import Snapshot
from .index.cluster import Cluster
from .index.matchers import LabelClass, MatcherIndex
from .index.podinfo import PodInfo
from .index.signature import claims_as_written, signature
from .volumes.signature import VolumeSignatures

if TYPE_CHECKING:
    from collections.abc import Hashable

# Pods between two reports of how many are classified.
_PODS_UNHEARD: Final = 1024

# What stands for the claims of a pod that has some.
_SOME: Final = "some"


def build_cluster(snapshot: Snapshot, watch: Watch = unwatched, *, like: Cluster | None = None) -> Cluster:
    """Return the index of a snapshot, with its pods classified; `watch` hears of the pods done.

    Parameters
    ----------
    like : Cluster, optional
        The index of a snapshot from which this one differs little: what it knows of pods is used again.
    """
    with no_collection():
        cluster = Cluster(snapshot, watch, like=like)
        classify(cluster, watch)
    return cluster


def classify(cluster: Cluster, watch: Watch = unwatched) -> None:
    """Number the count classes and classes of a cluster's pods, and index the former."""
    label_classes: dict[Hashable, int] = {}
    units: dict[Hashable, int] = {}
    units_before: dict[int, PodInfo] = {}
    classes: dict[Hashable, int] = {}
    but_claims: dict[Hashable, int] = {}
    labelled: list[LabelClass] = []
    unit_labels: list[int] = []
    unit_pods: list[int] = []
    signatures = _Signatures(cluster)
    for info in cluster.pods:
        if info.index % _PODS_UNHEARD == 0:
            watch("classifying: pods", info.index, len(cluster.pods))
        # Pods of one count class in another cluster, from which this one took them over, are of one here.
        first = units_before.setdefault(info.unit, info) if info.unit >= 0 else info
        if first is not info:
            info.label_cls, info.unit = first.label_cls, first.unit
        else:
            key = (info.namespace, tuple(sorted(info.labels.items())))
            info.label_cls = label_classes.setdefault(key, len(label_classes))
            if info.label_cls == len(labelled):
                labelled.append(LabelClass(info.namespace, info.labels))
            unit = (info.label_cls, info.terms, info.ports)
            info.unit = units.setdefault(unit, len(units))
            if info.unit == len(unit_labels):
                unit_labels.append(info.label_cls)
                unit_pods.append(info.index)
        info.signature, without_claims = signatures.of(info)
        info.cls = classes.setdefault((info.unit, info.signature), len(classes))
        info.but_claims = but_claims.setdefault((info.unit, without_claims), len(but_claims))
    cluster.readings.end()
    cluster.unit_pods = unit_pods
    cluster.unit_of = np.array([info.unit for info in cluster.pods], dtype=np.int64)
    cluster.units = MatcherIndex(labelled, np.array(unit_labels, dtype=np.int64))


class _Signatures:
    """Numbers of signatures, known already of pods that were taken over and have no volumes and claims."""

    def __init__(self, cluster: Cluster) -> None:
        self._table = cluster.readings.signatures
        self._volumes = VolumeSignatures(cluster)
        self._consumers = {
            f"{claim.namespace}/{reference.name}"
            for claim in cluster.snapshot.resource_claims
            for reference in claim.status.reserved_for
        }

    def of(self, info: PodInfo) -> tuple[int, int]:
        """Return the number of a pod's signature, and of the one that only knows that the pod has claims."""
        spec = info.pod.spec
        if info.signature >= 0 and not (spec.volumes or spec.resource_claims):
            return info.signature, info.signature
        claims = claims_as_written(info, self._consumers)
        plain = self._number(signature(info, self._volumes.of(info.index), _SOME if claims else ""))
        return self._number((plain, claims)) if claims else plain, plain

    def _number(self, own: "Hashable") -> int:
        return self._table.setdefault(own, len(self._table))
