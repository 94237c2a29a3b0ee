"""NodeDeclaredFeatures: a pod waits for a node that declares the features it needs.

Source: kube-scheduler 1.36.2 plugins/nodedeclaredfeatures.
"""

from typing import ClassVar

from ...models.node import Node
from ...models.pod import Pod
from ..events.changes import identity
from ..events.events import Action, ClusterEvent, Resource
from ..index.declared_features import required_features
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip


class NodeDeclaredFeatures(HintPlugin):
    """Wakes a pod when a node comes or declares other features, or when the pod needs others."""

    name: ClassVar[str] = names.NODE_DECLARED_FEATURES

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register nodes that come or change their features, and updates of pods."""
        nodes = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE)
        pods = ClusterEvent(Resource.POD, Action.UPDATE)
        return (Registration(nodes, self._after_node), Registration(pods, self._after_update))

    def _after_node(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        if old is not None and old.status.declared_features == new.status.declared_features:
            return skip("the node declares the same features as before")
        return queue("a node declares its features")

    def _after_update(self, pod: Pod, old: Pod | None, new: Pod) -> QueueingHint:
        if identity(new) != identity(pod):
            return skip("an update of another pod")
        if old is not None and required_features(old.spec) == required_features(new.spec):
            return skip("the pod needs the same features as before")
        return queue("the pod needs other features now")
