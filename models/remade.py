"""Pods that their controllers make once more."""

from datetime import datetime

from .pod import Pod, PodStatus


def made_again(pod: Pod, now: datetime) -> Pod:
    """Return a pod as its controller makes it once more: pending, without a node."""
    meta = pod.metadata.model_copy(update={"creation_timestamp": now, "deletion_timestamp": None})
    claims = pod.status.resource_claim_statuses
    return pod.model_copy(
        update={
            "metadata": meta,
            "spec": pod.spec.model_copy(update={"node_name": None}),
            "status": PodStatus(phase="Pending", resource_claim_statuses=claims),
        }
    )
