"""Required and preferred inter-pod affinity terms of the pods of a cluster, and which pods they match.

Source: kube-scheduler 1.34.1 framework/types.go (AffinityTerm), plugins/interpodaffinity/plugin.go.
"""

from collections.abc import Iterable

from ..index.affinity import AffinityTerm
from ..index.cluster import Cluster


def matches_incoming(cluster: Cluster, term: AffinityTerm, j: int) -> bool:
    """Whether a term of an incoming pod matches pod j."""
    info = cluster.pods[j]
    return term.matches(info.namespace, info.labels)


def matches_existing(cluster: Cluster, term: AffinityTerm, i: int) -> bool:
    """Whether a term of an existing pod matches incoming pod i."""
    info = cluster.pods[i]
    return term.accepts(info.namespace, info.labels, cluster.namespaces)


def required_affinity(cluster: Cluster, i: int) -> tuple[AffinityTerm, ...]:
    """Return the required affinity terms of pod i."""
    return cluster.pods[i].terms.required_affinity


def required_anti_affinity(cluster: Cluster, i: int) -> tuple[AffinityTerm, ...]:
    """Return the required anti-affinity terms of pod i."""
    return cluster.pods[i].terms.required_anti_affinity


def preferred_affinity(cluster: Cluster, i: int) -> tuple[AffinityTerm, ...]:
    """Return the preferred affinity terms of pod i."""
    return cluster.pods[i].terms.preferred_affinity


def preferred_anti_affinity(cluster: Cluster, i: int) -> tuple[AffinityTerm, ...]:
    """Return the preferred anti-affinity terms of pod i."""
    return cluster.pods[i].terms.preferred_anti_affinity


def matches_all(cluster: Cluster, terms: Iterable[AffinityTerm], j: int) -> bool:
    """Whether pod j satisfies every one of an incoming pod's terms."""
    return all(matches_incoming(cluster, term, j) for term in terms)
