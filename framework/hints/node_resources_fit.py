"""NodeResourcesFit: a pod waits for room.

A node is judged as if it were empty: the hint only asks whether the pod could ever fit.

Source: kube-scheduler 1.34.1 plugins/noderesources/fit.go.
"""

from collections.abc import Hashable, Mapping
from typing import ClassVar, cast

from ...models.config import NodeResourcesFitArgs
from ...models.node import Node
from ...models.pod import Pod
from ...models.requests import in_units, pod_requests, running_pod_requests
from ..events.changes import identity
from ..events.events import Action, ClusterEvent, Resource
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip
from .pods import held_a_node

_BASIC = ("cpu", "memory", "ephemeral-storage")


class NodeResourcesFit(HintPlugin):
    """Wakes a pod when a pod goes or shrinks, or when a node that is large enough comes or grows."""

    name: ClassVar[str] = names.NODE_RESOURCES_FIT

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register pods that go or shrink, and nodes that come or change what they offer."""
        action = Action.DELETE
        if self.gates.enabled("InPlacePodVerticalScaling"):
            action |= Action.UPDATE_POD_SCALE_DOWN
        nodes = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE)
        return (
            Registration(ClusterEvent(Resource.POD, action), self._after_pod),
            Registration(nodes, self._after_node),
        )

    def traits(self, pod: Pod) -> Hashable:
        """Return what the pod asks for."""
        return tuple(sorted(self._requests(pod).items()))

    def _requests(self, pod: Pod) -> dict[str, int]:
        """Return what the pod asks for, without zeros and without what the profile ignores."""
        args = cast("NodeResourcesFitArgs", self.args)
        return {
            name: amount
            for name, amount in pod_requests(pod).items()
            if amount and (name in _BASIC or not _ignored(name, args))
        }

    def _after_pod(self, pod: Pod, old: Pod, new: Pod | None) -> QueueingHint:
        if new is None:
            if held_a_node(old):
                return queue("a pod that held a node is gone")
            return skip("the pod that went was on no node")
        if identity(new) == identity(pod):
            return queue("the pod itself asks for less now")
        if not new.spec.node_name:
            return skip("a pod that waits itself")
        before, after = running_pod_requests(old), running_pod_requests(new)
        for name, amount in pod_requests(pod).items():
            if amount and before.get(name, 0) > after.get(name, 0):
                return queue(f"a pod on a node takes less {name} now")
        return skip("nothing that the pod asks for was freed")

    def _after_node(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        wanted = self._requests(pod)
        offered = in_units(new.status.allocatable)
        short = _lacking(wanted, offered)
        if short:
            return skip(f"the pod would not fit even if the node were empty: {short}")
        if old is None:
            return queue("the pod would fit the node if it were empty")
        before = in_units(old.status.allocatable)
        for name in ("pods", *wanted):
            if offered.get(name, 0) > before.get(name, 0):
                return queue(f"the node offers more {name}")
        return skip("the node offers no more of anything that the pod asks for")


def _lacking(wanted: Mapping[str, int], offered: Mapping[str, int]) -> str:
    """Return the name of something that an empty node lacks for a pod, or an empty text."""
    if offered.get("pods", 0) < 1:
        return "pods"
    return next((name for name, amount in wanted.items() if amount > offered.get(name, 0)), "")


def _ignored(name: str, args: NodeResourcesFitArgs) -> bool:
    return name in args.ignored_resources or name.partition("/")[0] in args.ignored_resource_groups
