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
from .index.signature import claims_as_written, signature
from .volumes.signature import VolumeSignatures

if TYPE_CHECKING:
    from collections.abc import Hashable


# Pods between two reports of how many are classified.
_PODS_UNHEARD: Final = 1024


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
    classes: dict[Hashable, int] = {}
    units_before: dict[int, tuple[int, int]] = {}
    classes_before: dict[Hashable, int] = {}
    labelled: list[LabelClass] = []
    unit_labels: list[int] = []
    unit_pods: list[int] = []
    volumes = VolumeSignatures(cluster)
    consumers = {
        f"{claim.namespace}/{reference.name}"
        for claim in cluster.snapshot.resource_claims
        for reference in claim.status.reserved_for
    }
    for info in cluster.pods:
        if info.index % _PODS_UNHEARD == 0:
            watch("classifying: pods", info.index, len(cluster.pods))
        before = info.unit, info.cls  # by another cluster's numbers, where it was read there
        info.label_cls, info.unit = units_before.get(before[0], (-1, -1))
        if info.unit < 0:
            key = (info.namespace, tuple(sorted(info.labels.items())))
            info.label_cls = label_classes.setdefault(key, len(label_classes))
            if info.label_cls == len(labelled):
                labelled.append(LabelClass(info.namespace, info.labels))
            unit = (info.label_cls, info.terms, info.ports)
            info.unit = units.setdefault(unit, len(units))
            if info.unit == len(unit_labels):
                unit_labels.append(info.label_cls)
                unit_pods.append(info.index)
            if before[0] >= 0:
                units_before[before[0]] = info.label_cls, info.unit
        asked = volumes.of(info.index), claims_as_written(info, consumers)
        known = info.own is not None and before[1] >= 0
        info.cls = classes_before.get((before[1], *asked), -1) if known else -1
        if info.cls < 0:
            info.cls = classes.setdefault((info.unit, *signature(info, *asked)), len(classes))
            if known:
                classes_before[before[1], *asked] = info.cls
    cluster.unit_pods = unit_pods
    cluster.unit_of = np.array([info.unit for info in cluster.pods], dtype=np.int64)
    cluster.units = MatcherIndex(labelled, np.array(unit_labels, dtype=np.int64))
