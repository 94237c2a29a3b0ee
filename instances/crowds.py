"""How many pods an input may ask for: ten characters of a replica count may stand for all memory."""

from typing import Final

from ..models.controllers import Deployment, Job, ReplicaSet, StatefulSet
from ..models.errors import InputError
from ..models.meta import KubeObject
from ..models.snapshot import Snapshot
from ..models.validation import title

MOST_PODS: Final = 150_000
"""As many pods as Kubernetes is made for (kubernetes.io, "Considerations for large clusters")."""


def pods_of(item: KubeObject) -> int:
    """Return how many pods a workload keeps at a time; 0 for what is no workload."""
    if isinstance(item, Job):
        return 1 if item.spec.parallelism is None else item.spec.parallelism
    return item.spec.replicas if isinstance(item, (Deployment, ReplicaSet, StatefulSet)) else 0


def refuse_crowds(snapshot: Snapshot, file: str) -> None:
    """Raise for workloads that would have more pods together than a cluster can hold.

    Raises
    ------
    InputError
        Naming the workload that goes beyond the limit.
    """
    total = 0
    for item in (
        *snapshot.deployments,
        *snapshot.stateful_sets,
        *snapshot.jobs,
        *(each for each in snapshot.replica_sets if each.metadata.controller is None),
    ):
        total += pods_of(item)
        if total > MOST_PODS:
            message = f"would bring the workloads to {total} pods; {MOST_PODS} is the most"
            raise InputError(file, title(item), "spec", message)
