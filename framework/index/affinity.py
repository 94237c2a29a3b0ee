"""Inter-pod affinity terms, parsed once and shared by the plugin and by everything else that reads them.

A term is looked at from two sides, which differ (plugins/interpodaffinity): the incoming pod's terms have
their namespace selector resolved to names, and the selector is kept beside and asked about *no* labels; an
existing pod's terms are asked about the labels of the incoming pod's namespace. So a namespace selector that
accepts the empty label set means every namespace in the first case only.

Source: kube-scheduler 1.34.1 framework/types.go (AffinityTerm), plugins/interpodaffinity/plugin.go.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...models.affinity import PodAffinityTerm
from ...models.pod import Pod
from ...models.selectors import CompiledSelector

Namespaces = Mapping[str, Mapping[str, str]]
"""Namespace name to its labels."""


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """One (anti-)affinity term of a pod.

    Attributes
    ----------
    topology_key : str
        The node label whose domains count.
    selector : CompiledSelector or None
        Which pods; None matches none.
    namespaces : frozenset of str or None
        Where, as an incoming pod's term: listed and selected ones together; None is everywhere.
    listed : frozenset of str
        Where, as an existing pod's term, apart from what `namespace_selector` accepts.
    namespace_selector : CompiledSelector or None
        Asked about the labels of the incoming pod's namespace.
    weight : int
        1 to 100 for a preferred term, 0 for a required one.
    """

    topology_key: str
    selector: CompiledSelector | None
    namespaces: frozenset[str] | None
    listed: frozenset[str]
    namespace_selector: CompiledSelector | None
    weight: int = 0

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether this term of an incoming pod matches a pod with that namespace and those labels."""
        return (
            self.selector is not None
            and (self.namespaces is None or namespace in self.namespaces)
            and self.selector.matches(labels)
        )

    def accepts(self, namespace: str, labels: Mapping[str, str], namespaces: Namespaces) -> bool:
        """Whether this term of an existing pod matches an incoming pod's namespace and labels."""
        if self.selector is None:
            return False
        if namespace not in self.listed and (
            self.namespace_selector is None
            or not self.namespace_selector.matches(namespaces.get(namespace, {}))
        ):
            return False
        return self.selector.matches(labels)


@dataclass(frozen=True, slots=True)
class PodTerms:
    """All terms of one pod, by kind."""

    required_affinity: tuple[AffinityTerm, ...] = ()
    required_anti_affinity: tuple[AffinityTerm, ...] = ()
    preferred_affinity: tuple[AffinityTerm, ...] = ()
    preferred_anti_affinity: tuple[AffinityTerm, ...] = ()


NO_TERMS: Final = PodTerms()


def parse_term(
    term: PodAffinityTerm, namespace: str, namespaces: Namespaces, weight: int = 0
) -> AffinityTerm:
    """Parse a term of a pod in `namespace`."""
    listed = frozenset(term.namespaces)
    selector = None if term.namespace_selector is None else term.namespace_selector.compiled
    if not listed and selector is None:
        listed = frozenset((namespace,))
    resolved: frozenset[str] | None = listed
    if selector is not None:
        if selector.matches({}):
            resolved = None
        else:
            resolved = listed | {name for name, labels in namespaces.items() if selector.matches(labels)}
    return AffinityTerm(
        topology_key=term.topology_key,
        selector=None if term.label_selector is None else term.label_selector.compiled,
        namespaces=resolved,
        listed=listed,
        namespace_selector=selector,
        weight=weight,
    )


def parse_terms(pod: Pod, namespaces: Namespaces) -> PodTerms:
    """Parse all terms of a pod. Preferred terms of weight 0 are left out, as upstream does."""
    affinity = pod.spec.affinity
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return NO_TERMS
    ns = pod.namespace
    to, away = affinity.pod_affinity, affinity.pod_anti_affinity
    return PodTerms(
        required_affinity=tuple(parse_term(t, ns, namespaces) for t in (to.required if to else ())),
        required_anti_affinity=tuple(parse_term(t, ns, namespaces) for t in (away.required if away else ())),
        preferred_affinity=tuple(
            parse_term(w.pod_affinity_term, ns, namespaces, w.weight)
            for w in (to.preferred if to else ())
            if w.weight
        ),
        preferred_anti_affinity=tuple(
            parse_term(w.pod_affinity_term, ns, namespaces, w.weight)
            for w in (away.preferred if away else ())
            if w.weight
        ),
    )
