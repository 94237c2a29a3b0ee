"""Counting proofs with other pods: nodes that affinity, its contrary or a spread constraint rule out.

What is counted errs on the side of the pod: others that wait may come to any domain, whoever may be evicted
may be gone, and nodes may take part in a count that a lifted rule keeps out of it.

Let c be a spread constraint, `low[d]` the pods that it counts and that stay on nodes of domain d that take
part now, `high[d]` all running ones of d on any node, and `w` those that wait. In every plan, whatever other
rules of the pod are lifted, the count of d is at least `low[d]` and the minimum at most `min high[d] + w`
over the domains that take part now. So d takes no pod if

    low[d] + (1 if the pod counts itself) - (min high + w) > maxSkew

and below `minDomains`, of the domains of all nodes, the minimum is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...framework.rules.spread import constraints_of, eligible_nodes, hard_constraints, spread_matches

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...framework.index.affinity import AffinityTerm
    from ...framework.index.cluster import Cluster
    from ...framework.vocabulary.arrays import Bools, Ints
    from .reasons import Reason, Subject


def lacks_company(subject: Subject, reason: Reason) -> Bools:
    """Return the nodes where no pod that a term of the pod's affinity looks for runs or can come; bool[N]."""
    cluster, info = subject.cluster, subject.infos[0]
    term = info.terms.required_affinity[reason.facts["term"]]
    ids = cluster.domains(term.topology_key).ids
    if any(_matches(term, cluster, j) for j in (info.index, *_waiting(subject))):
        return np.asarray(ids < 0)
    there = {int(ids[cluster.pods[v].initial_node]) for v in cluster.bound if _matches(term, cluster, v)}
    return np.asarray((ids < 0) | ~np.isin(ids, list(there)))


def keeps_distance(subject: Subject, reason: Reason, stays: tuple[int, ...]) -> Bools:
    """Return the nodes of domains where a pod stays that a term of the anti-affinity avoids; bool[N]."""
    cluster = subject.cluster
    term = subject.infos[0].terms.required_anti_affinity[reason.facts["term"]]
    ids = cluster.domains(term.topology_key).ids
    there = {int(ids[cluster.pods[v].initial_node]) for v in stays if _matches(term, cluster, v)}
    return np.asarray((ids >= 0) & np.isin(ids, list(there)))


def _matches(term: AffinityTerm, cluster: Cluster, j: int) -> bool:
    return term.matches(cluster.pods[j].namespace, cluster.pods[j].labels)


def _waiting(subject: Subject) -> list[int]:
    """Return all others without a node, those that no plan places among them."""
    own = frozenset(subject.pods)
    return [
        info.index
        for info in subject.cluster.pods
        if info.initial_node < 0 and not info.terminating and info.index not in own
    ]


@dataclass(frozen=True, eq=False)
class SpreadBounds:
    """What a spread constraint of a pod counts at least, and its minimum at most.

    Attributes
    ----------
    ids : int32[N]
        The domain of each node, -1 for none.
    names : sequence of str
        The domains' values.
    low : int64[D]
        Pods that are counted in each domain in every plan.
    minimum : int
        The most that the smallest count can be.
    rejects : bool[N]
        The nodes that it rules out.
    """

    ids: Any
    names: tuple[str, ...]
    low: Ints
    minimum: int
    rejects: Bools

    def sums(self, n: int) -> dict[str, Any]:
        """Return the numbers behind one node that is ruled out, as JSON values."""
        d = int(self.ids[n])
        if d < 0:
            return {"domain": None}
        return {"domain": self.names[d], "counted": int(self.low[d]), "minimum": self.minimum}


def spread_bounds(subject: Subject, reason: Reason, stays: tuple[int, ...]) -> SpreadBounds | None:
    """Return the bounds of a constraint of the pod's own; None for the defaults, and where one fell back."""
    number = reason.facts.get("constraint")
    cluster, i = subject.cluster, subject.pods[0]
    constraint = next((c for c in hard_constraints(cluster, i) if c.index == number), None)
    if number is None or constraint is None or any(c.fallen_back for c in constraints_of(cluster, i)):
        return None
    domains, eligible = cluster.domains(constraint.topology_key), eligible_nodes(cluster, i, constraint)
    pods = cluster.pods

    def counted(found: tuple[int, ...], takes: Callable[[int], bool]) -> Ints:
        counts = np.zeros(len(domains.values), dtype=np.int64)
        for v in found:
            d = int(domains.ids[pods[v].initial_node])
            if d >= 0 and takes(v) and not pods[v].terminating and spread_matches(cluster, constraint, i, v):
                counts[d] += 1
        return counts

    low = counted(stays, lambda v: bool(eligible[pods[v].initial_node]))
    taking_part = np.unique(domains.ids[eligible])
    if len(domains.values) < constraint.min_domains:
        minimum = 0
    elif not len(taking_part):
        return None
    else:
        waiting = sum(spread_matches(cluster, constraint, i, j) for j in _waiting(subject))
        minimum = int(counted(cluster.bound, lambda v: True)[taking_part].min()) + waiting
    beyond = low + int(constraint.self_match) - minimum > constraint.max_skew
    rejects = np.append(beyond, True)[domains.ids]  # the last one for nodes of no domain
    return SpreadBounds(domains.ids, tuple(domains.values), low, minimum, rejects)
