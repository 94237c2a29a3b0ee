"""InterPodAffinity: a pod waits for pods to be beside, or for pods to keep away from to go.

Namespace selectors are matched against no labels at all, and the terms of existing pods are not considered: a
pod that those repel is woken by no event of this plugin.

Source: kube-scheduler 1.34.1 plugins/interpodaffinity/plugin.go.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...models.affinity import PodAffinity, PodAffinityTerm
from ...models.node import Node
from ...models.pod import Pod
from ...models.selectors import CompiledSelector
from ..events.events import Action, ClusterEvent, Resource
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip
from .parsing import parsed


@dataclass(frozen=True, slots=True)
class _Term:
    """A required term; a selector of None matches nothing."""

    topology_key: str
    selector: CompiledSelector | None
    namespaces: frozenset[str]
    everywhere: bool

    def matches(self, pod: Pod) -> bool:
        if self.selector is None or not (self.everywhere or pod.namespace in self.namespaces):
            return False
        return self.selector.matches(pod.metadata.labels)


class InterPodAffinity(HintPlugin):
    """Wakes a pod when a pod starts to match all affinity terms, or stops matching all anti-affinity terms.

    Nodes wake it by a topology key: one of affinity that comes or changes, one of anti-affinity that goes or
    changes.
    """

    name: ClassVar[str] = names.INTER_POD_AFFINITY

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register pods that come, go or change labels, and nodes that come or change labels."""
        pods = Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL
        return (
            Registration(ClusterEvent(Resource.POD, pods), self._after_pod),
            Registration(
                ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL), self._after_node
            ),
        )

    def traits(self, pod: Pod) -> Hashable:
        """Return the pod's namespace and its required terms as JSON."""
        affinity, anti_affinity = _sides(pod)
        return (
            pod.namespace,
            tuple(term.model_dump_json() for term in _required(affinity)),
            tuple(term.model_dump_json() for term in _required(anti_affinity)),
        )

    def _after_pod(self, pod: Pod, old: Pod | None, new: Pod | None) -> QueueingHint:
        if any(version is not None and not version.spec.node_name for version in (old, new)):
            return skip("a pod on no node")
        affinity, anti_affinity = _sides(pod)
        if new is not None:
            terms = _parse(pod, _required(affinity))
            if _all_match(terms, new) and (old is None or not _all_match(terms, old)):
                return queue("a pod that all affinity terms select is there now")
            if old is None:
                return skip("the affinity terms do not all select the pod")
        if old is not None:
            terms = _parse(pod, _required(anti_affinity))
            if _all_match(terms, old) and (new is None or not _all_match(terms, new)):
                return queue("a pod that all anti-affinity terms select is gone")
        return skip("the terms select no more and no fewer pods than before")

    def _after_node(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        affinity, anti_affinity = _sides(pod)
        for term in _parse(pod, _required(affinity)):
            before, after = _domain(term, old), _domain(term, new)
            if after is not None and after != before:
                return queue("a domain to be in came or changed")
        for term in _parse(pod, _required(anti_affinity)):
            before, after = _domain(term, old), _domain(term, new)
            if old is None or (before is not None and after != before):
                return queue("a domain to keep away from went or changed")
        return skip("no domain of a term changed")


def _sides(pod: Pod) -> tuple[PodAffinity | None, PodAffinity | None]:
    affinity = pod.spec.affinity
    return (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity else (None, None)


def _required(side: PodAffinity | None) -> tuple[PodAffinityTerm, ...]:
    return side.required if side is not None else ()


def _parse(pod: Pod, terms: Sequence[PodAffinityTerm]) -> list[_Term]:
    """Parse terms of a pod.

    Raises
    ------
    HintError
        If a selector cannot be parsed.
    """
    result: list[_Term] = []
    for term in terms:
        namespaces = frozenset(term.namespaces)
        if not namespaces and term.namespace_selector is None:
            namespaces = frozenset((pod.namespace,))
        selector = parsed(term.label_selector)
        wanted = parsed(term.namespace_selector)
        everywhere = wanted is not None and wanted.matches({})
        result.append(_Term(term.topology_key, selector, namespaces, everywhere))
    return result


def _all_match(terms: Sequence[_Term], pod: Pod) -> bool:
    return bool(terms) and all(term.matches(pod) for term in terms)


def _domain(term: _Term, node: Node | None) -> str | None:
    return None if node is None else node.metadata.labels.get(term.topology_key)
