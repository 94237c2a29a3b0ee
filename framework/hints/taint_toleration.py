"""TaintToleration: a pod waits for a node whose taints it tolerates.

Source: kube-scheduler 1.34.1 plugins/tainttoleration.
"""

from collections.abc import Hashable
from typing import ClassVar

from ...models.node import Node
from ...models.pod import Pod
from ..events.changes import identity
from ..events.events import Action, ClusterEvent, Resource
from ..index.taints import first_untolerated
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip


class TaintToleration(HintPlugin):
    """Wakes a pod when a node's taints become tolerable, or its own tolerations change in number."""

    name: ClassVar[str] = names.TAINT_TOLERATION

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register nodes that come or change their taints, and tolerations."""
        nodes = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT)
        tolerations = ClusterEvent(Resource.POD, Action.UPDATE_POD_TOLERATION)
        return (Registration(nodes, self._after_node), Registration(tolerations, self._after_toleration))

    def traits(self, pod: Pod) -> Hashable:
        """Return the pod's tolerations."""
        return pod.spec.tolerations

    def _after_node(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        tolerations = pod.spec.tolerations
        if first_untolerated(new.spec.taints, tolerations, self.gates) is not None:
            return skip("the node has a taint that the pod does not tolerate")
        if old is not None and first_untolerated(old.spec.taints, tolerations, self.gates) is None:
            return skip("the pod tolerated the node before, too")
        return queue("the pod tolerates the node now")

    def _after_toleration(self, pod: Pod, old: Pod | None, new: Pod) -> QueueingHint:
        if identity(new) != identity(pod):
            return skip("the tolerations of another pod")
        return queue("the pod's own tolerations changed")
