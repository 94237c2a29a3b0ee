"""NodeUnschedulable: a pod waits for a node that is not cordoned.

Source: kube-scheduler 1.34.1 plugins/nodeunschedulable.
"""

from typing import ClassVar, Final

from ...models.node import Node, Taint
from ...models.pod import Pod
from ..events.changes import identity
from ..events.events import Action, ClusterEvent, Resource
from ..index.taints import tolerates
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip

CORDON: Final = "node.kubernetes.io/unschedulable"


class NodeUnschedulable(HintPlugin):
    """Wakes a pod when a node becomes schedulable, or the pod tolerates a cordon from now on."""

    name: ClassVar[str] = names.NODE_UNSCHEDULABLE

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register nodes that come or change their taints, and tolerations."""
        nodes = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT)
        tolerations = ClusterEvent(Resource.POD, Action.UPDATE_POD_TOLERATION)
        return (Registration(nodes, self._after_node), Registration(tolerations, self._after_toleration))

    def _after_node(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        if new.spec.unschedulable:
            return skip("the node is cordoned")
        if old is not None and not old.spec.unschedulable:
            return skip("the node was not cordoned before either")
        return queue("the node is schedulable now")

    def _after_toleration(self, pod: Pod, old: Pod | None, new: Pod) -> QueueingHint:
        if identity(new) != identity(pod):
            return skip("the tolerations of another pod")
        taint = Taint(key=CORDON, effect="NoSchedule")
        if any(tolerates(toleration, taint, self.gates) for toleration in new.spec.tolerations):
            return queue("the pod tolerates cordoned nodes now")
        return skip("the pod still tolerates no cordoned node")
