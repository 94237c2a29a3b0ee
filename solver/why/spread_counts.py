"""What a topology spread constraint counts in the input: pods by domain, and where the minimum is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ...framework.rules.spread import constraints_of, eligible_nodes, spread_matches

if TYPE_CHECKING:
    from .reasons import Reason, Subject


def counts_of(subject: Subject, reason: Reason) -> dict[str, Any]:
    """Return `counts` for a spread constraint of the pod's own; nothing for other rules."""
    if reason.kind != "topologySpread" or "constraint" not in reason.facts:
        return {}
    return {"counts": spread_counts(subject, reason.facts["constraint"])}


def spread_counts(subject: Subject, number: int) -> dict[str, Any]:
    """Return the counts of a pod's constraint, by its place in the pod's list, as JSON values.

    Returns
    -------
    dict
        `maxSkew`, `minDomains`, `domains` (`domain`, `pods`, by name), `minimum` (0 below minDomains) and
        `minimumAt`, the domains that have it.
    """
    cluster, i = subject.cluster, subject.pods[0]
    constraint = next(c for c in constraints_of(cluster, i) if c.index == number)
    mask, domains = eligible_nodes(cluster, i, constraint), cluster.domains(constraint.topology_key)
    counts: Counter[str] = Counter(
        {domains.values[d]: 0 for d, eligible in zip(domains.ids.tolist(), mask, strict=True) if eligible}
    )
    for v in cluster.bound:
        info = cluster.pods[v]
        if mask[info.initial_node] and not info.terminating and spread_matches(cluster, constraint, i, v):
            counts[domains.values[int(domains.ids[info.initial_node])]] += 1
    enough = len(counts) >= constraint.min_domains
    least = min(counts.values(), default=0)
    return {
        "maxSkew": constraint.max_skew,
        "minDomains": constraint.min_domains,
        "topologyKey": constraint.topology_key,
        "domains": [{"domain": name, "pods": count} for name, count in sorted(counts.items())],
        "minimum": least if enough else 0,
        "minimumAt": sorted(name for name, count in counts.items() if count == least) if enough else [],
    }
