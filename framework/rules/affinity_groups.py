"""Equal affinity terms of all pods together, so that a cycle asks each distinct term once.

An incoming pod meets the terms of the pods that are already there. Pods made from one template carry equal
terms: a `TermGroup` is one such term, with a matcher that counts how many pods on each node carry it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from ..index.affinity import AffinityTerm
from ..index.matchers import Matcher

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..vocabulary.arrays import Ints

Kind = Literal["required_affinity", "required_anti_affinity", "preferred_affinity", "preferred_anti_affinity"]

KINDS: Final[tuple[Kind, ...]] = (
    "required_affinity",
    "required_anti_affinity",
    "preferred_affinity",
    "preferred_anti_affinity",
)


@dataclass(frozen=True, slots=True, eq=False)
class TermGroup:
    """One distinct term of some pods, and the matcher of the pods that carry it."""

    term: AffinityTerm
    carriers: Matcher


def term_groups(cluster: "Cluster", kind: Kind) -> tuple[TermGroup, ...]:
    """Return the distinct terms of one kind over all pods of the cluster."""

    def gather() -> tuple[TermGroup, ...]:
        weights: dict[AffinityTerm, Ints] = {}
        for unit, j in enumerate(cluster.unit_pods):
            terms: tuple[AffinityTerm, ...] = getattr(cluster.pods[j].terms, kind)
            for term in terms:
                if term not in weights:
                    weights[term] = np.zeros(len(cluster.unit_pods), dtype=np.int64)
                weights[term][unit] += 1
        return tuple(
            TermGroup(term, cluster.units.made(("carriers", kind, term), carried))
            for term, carried in weights.items()
        )

    return cluster.memo(("term groups", kind), gather)


def groups_about(cluster: "Cluster", kind: Kind, i: int) -> tuple[TermGroup, ...]:
    """Return the terms of one kind, carried by pods that may be there, that match incoming pod i."""
    groups = term_groups(cluster, kind)
    if not groups:
        return ()
    info = cluster.pods[i]
    return cluster.memo(
        ("groups about", kind, info.label_cls),
        lambda: tuple(g for g in groups if g.term.accepts(info.namespace, info.labels, cluster.namespaces)),
    )


def term_matcher(cluster: "Cluster", *terms: AffinityTerm) -> Matcher | None:
    """Return the matcher of the pods that satisfy all of an incoming pod's terms; None where no pod can."""
    pairs = [(term.namespaces, term.selector) for term in terms if term.selector is not None]
    if len(pairs) < len(terms):
        return None
    return cluster.units.all_of(pairs)
