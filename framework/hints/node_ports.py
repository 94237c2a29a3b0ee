"""NodePorts: a pod waits for a node on which its host ports are free.

Source: kube-scheduler 1.34.1 plugins/nodeports.
"""

from collections.abc import Hashable
from typing import ClassVar

from ...models.pod import Pod
from ..events.events import NODE_ADD, Action, ClusterEvent, Resource
from ..index.ports import conflict, host_ports
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip
from .pods import held_a_node


class NodePorts(HintPlugin):
    """Wakes a pod when a pod goes that held one of its ports, and whenever a node comes."""

    name: ClassVar[str] = names.NODE_PORTS

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register pods that go and nodes that come."""
        gone = ClusterEvent(Resource.POD, Action.DELETE)
        return (Registration(gone, self._after_deletion), Registration(NODE_ADD))

    def traits(self, pod: Pod) -> Hashable:
        """Return the host ports that the pod wants."""
        return host_ports(pod, sidecars=self.gates.enabled("SidecarContainers"))

    def _after_deletion(self, pod: Pod, old: Pod, new: None) -> QueueingHint:
        if not held_a_node(old):
            return skip("the pod that went was on no node")
        sidecars = self.gates.enabled("SidecarContainers")
        if conflict(host_ports(pod, sidecars=sidecars), host_ports(old, sidecars=sidecars)):
            return queue("a host port that the pod wants is free")
        return skip("no host port that the pod wants was freed")
