"""NodeAffinity: a pod waits for a node that its selector and affinity, and the profile's, accept.

Source: kube-scheduler 1.34.1 plugins/nodeaffinity, component-helpers scheduling/corev1/nodeaffinity.
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING, ClassVar, cast

from ...models.node import Node
from ...models.pod import Pod
from ..events.events import Action, ClusterEvent, Resource
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip
from .parsing import matches_node

if TYPE_CHECKING:
    from ...models.config import NodeAffinityArgs


class NodeAffinity(HintPlugin):
    """Wakes a pod when a node starts to match."""

    name: ClassVar[str] = names.NODE_AFFINITY

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register nodes that come or change their labels."""
        nodes = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
        return (Registration(nodes, self._after_node),)

    def traits(self, pod: Pod) -> Hashable:
        """Return the pod's nodeSelector and required affinity."""
        affinity = pod.spec.affinity
        node_affinity = affinity.node_affinity if affinity else None
        required = node_affinity.required if node_affinity else None
        return (
            tuple(sorted(pod.spec.node_selector.items())),
            None if required is None else required.compiled,
        )

    def _after_node(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        added = cast("NodeAffinityArgs", self.args).added_affinity
        if (
            added is not None
            and added.required is not None
            and not matches_node(added.required, new.metadata.labels, new.name)
        ):
            return skip("the node does not match the profile's added affinity")
        if not _required(pod, new):
            return skip("the node does not match")
        if old is not None and _required(pod, old):
            return skip("the node matched before, too")
        return queue("the node matches now")


def _required(pod: Pod, node: Node) -> bool:
    """Whether a node has the pod's nodeSelector and satisfies its required affinity."""
    labels = node.metadata.labels
    if any(labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    affinity = pod.spec.affinity
    node_affinity = affinity.node_affinity if affinity else None
    required = node_affinity.required if node_affinity else None
    return required is None or matches_node(required, labels, node.name)
