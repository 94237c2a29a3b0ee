"""PodTopologySpread: a pod waits for counts or domains to change.

Source: kube-scheduler 1.34.1 plugins/podtopologyspread (plugin.go, common.go).
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from ...models.controllers import ReplicaSet, ReplicationController, Service, StatefulSet
from ...models.node import Node
from ...models.pod import Pod, TopologySpreadConstraint
from ...models.selectors import CompiledSelector, requirement
from ...models.snapshot import Snapshot
from ..events.changes import identity
from ..events.events import Action, ClusterEvent, Resource
from ..index.owners import DefaultSelectors
from ..index.podinfo import EARLIEST
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip
from .parsing import parsed

if TYPE_CHECKING:
    from ...models.config import PodTopologySpreadArgs


@dataclass(frozen=True, slots=True)
class _Constraint:
    """A hard constraint as far as the hints look at it; a selector of None matches nothing."""

    topology_key: str
    selector: CompiledSelector | None
    honors_taints: bool


class PodTopologySpread(HintPlugin):
    """Wakes a pod when a pod that it counts comes or goes, and when a node that it counts changes.

    A pod without hard constraints counts every node and no pod.
    """

    name: ClassVar[str] = names.POD_TOPOLOGY_SPREAD

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register pods that come, go or change labels or tolerations, and nodes likewise."""
        pods = Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL | Action.UPDATE_POD_TOLERATION
        nodes = Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT
        return (
            Registration(ClusterEvent(Resource.POD, pods), self._after_pod),
            Registration(ClusterEvent(Resource.NODE, nodes), self._after_node),
        )

    def traits(self, pod: Pod) -> Hashable:
        """Return the pod's namespace, its constraints as JSON, and the labels that go into them."""
        own = [c for c in pod.spec.topology_spread_constraints if c.is_hard]
        if not own and not pod.spec.topology_spread_constraints and self._default_constraints():
            # Defaults depend on services and controllers, which come and go.
            return identity(pod)
        keys = sorted({key for c in own for key in c.match_label_keys})
        labels = tuple((key, pod.metadata.labels.get(key)) for key in keys)
        return (pod.namespace, tuple(c.model_dump_json() for c in own), labels)

    def _default_constraints(self) -> tuple[TopologySpreadConstraint, ...]:
        """Return the profile's hard default constraints; upstream's own defaults are soft."""
        args = cast("PodTopologySpreadArgs", self.args)
        if args.defaulting_type == "System":
            return ()
        return tuple(c for c in args.default_constraints if c.is_hard)

    def _constraints(self, pod: Pod) -> tuple[_Constraint, ...]:
        """Return the pod's hard constraints, its own or the profile's.

        Raises
        ------
        HintError
            If a selector cannot be parsed.
        """
        if pod.spec.topology_spread_constraints:
            own = (c for c in pod.spec.topology_spread_constraints if c.is_hard)
            return tuple(self._parse(c, _merged(c, pod.metadata.labels, self._merge_keys)) for c in own)
        defaults = self._default_constraints()
        if not defaults:
            return ()
        selector = self._default_selector(pod)
        return () if selector.is_empty else tuple(self._parse(c, selector) for c in defaults)

    @property
    def _merge_keys(self) -> bool:
        return self.gates.enabled("MatchLabelKeysInPodTopologySpread")

    def _parse(self, constraint: TopologySpreadConstraint, selector: CompiledSelector | None) -> _Constraint:
        honors = constraint.node_taints_policy == "Honor"
        policies = self.gates.enabled("NodeInclusionPolicyInPodTopologySpread")
        return _Constraint(constraint.topology_key, selector, honors and policies)

    def _default_selector(self, pod: Pod) -> CompiledSelector:
        owners = Snapshot(
            name="",
            now=EARLIEST,
            services=tuple(self.objects.all(Service)),
            replica_sets=tuple(self.objects.all(ReplicaSet)),
            stateful_sets=tuple(self.objects.all(StatefulSet)),
            replication_controllers=tuple(self.objects.all(ReplicationController)),
        )
        selectors = DefaultSelectors(owners)
        return selectors.select(pod.namespace, pod.metadata.labels, pod.metadata.controller)

    def _after_pod(self, pod: Pod, old: Pod | None, new: Pod | None) -> QueueingHint:
        if any(version is not None and not _counts(version, pod) for version in (old, new)):
            return skip("a pod that does not count: of another namespace, or on no node")
        constraints = self._constraints(pod)
        if old is None or new is None:
            if any(_matches(constraints, version) for version in (old, new)):
                return queue("a pod that counts came" if old is None else "a pod that counts is gone")
            return skip("no constraint counts the pod")
        if (
            identity(new) == identity(pod)
            and old.spec.tolerations != new.spec.tolerations
            and any(c.honors_taints for c in constraints)
        ):
            return queue("the pod's own tolerations changed, and a constraint honors taints")
        if any(_matches((c,), old) != _matches((c,), new) for c in constraints):
            return queue("a constraint starts or stops to count the pod")
        return skip("the constraints count the pod, or do not, as before")

    def _after_node(self, pod: Pod, old: Node | None, new: Node | None) -> QueueingHint:
        constraints = self._constraints(pod)
        before = old is not None and _has_keys(constraints, old)
        after = new is not None and _has_keys(constraints, new)
        if old is None or new is None:
            if before or after:
                return queue("a node that counts came" if old is None else "a node that counts is gone")
            return skip("the node lacks a topology key")
        if before != after:
            return queue("the node starts or stops to count")
        if not after:
            return skip("the node lacks a topology key")
        if any(_value(c, old) != _value(c, new) for c in constraints):
            return queue("the node changed its domain")
        if old.spec.taints != new.spec.taints:
            return queue("the node's taints changed")
        return skip("the node counts as before")


def _counts(other: Pod, pod: Pod) -> bool:
    if identity(other) == identity(pod):
        return True
    return other.namespace == pod.namespace and bool(other.spec.node_name)


def _merged(
    constraint: TopologySpreadConstraint, labels: Mapping[str, str], merge_keys: bool
) -> CompiledSelector | None:
    """Return a constraint's selector with the pod's values of its `matchLabelKeys`."""
    selector = parsed(constraint.label_selector)
    if selector is None or not merge_keys:
        return selector
    extra = (requirement(key, "In", (labels[key],)) for key in constraint.match_label_keys if key in labels)
    return selector.and_also(*extra)


def _matches(constraints: tuple[_Constraint, ...], pod: Pod | None) -> bool:
    return pod is not None and any(
        c.selector is not None and c.selector.matches(pod.metadata.labels) for c in constraints
    )


def _has_keys(constraints: tuple[_Constraint, ...], node: Node) -> bool:
    return all(c.topology_key in node.metadata.labels for c in constraints)


def _value(constraint: _Constraint, node: Node) -> str | None:
    return node.metadata.labels.get(constraint.topology_key)
