"""Pods that belong to their node: those of DaemonSets, and mirrors of what a kubelet runs by itself."""

from typing import Final

from .annotations import MIRROR
from .pod import Pod

_NAME: Final = "metadata.name"


def is_daemon(pod: Pod) -> bool:
    """Whether a pod is a DaemonSet's: drains leave it, and no node is kept or made for it."""
    owner = pod.metadata.controller
    return owner is not None and owner.kind == "DaemonSet"


def is_mirror(pod: Pod) -> bool:
    """Whether a pod stands for a static pod of its node."""
    owner = pod.metadata.controller
    return MIRROR in pod.metadata.annotations or (owner is not None and owner.kind == "Node")


def node_meant(pod: Pod) -> str:
    """Return the node that a daemon is on, or meant for; empty where it does not say."""
    if pod.spec.node_name:
        return pod.spec.node_name
    affinity = pod.spec.affinity
    of_node = affinity.node_affinity if affinity is not None else None
    required = of_node.required if of_node is not None else None
    named = (
        value
        for term in (required.node_selector_terms if required is not None else ())
        for field in term.match_fields
        if field.key == _NAME
        for value in field.values
    )
    return next(named, "")
