"""Which others that wait could help a pod to a place.

A plan that places the pod stays one without the others that none of its pods needs: to leave others out is
admissible, and takes nothing from a filter but what it looks for. One pod needs another where that

- is what a term of its affinity or the minimum of its spread constraint counts;
- has a claim with it, to devices or to a volume;
- may evict what the pod may not evict itself and what stands in its way.

The helpers are closed under needing: what a helper needs is one, and groups come whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.dra.extended import requested
from ...framework.rules.groups import group_of
from ...framework.rules.spread import hard_constraints, spread_matches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ...framework.index.cluster import Cluster


def together(cluster: Cluster, asked: Iterable[int]) -> list[int]:
    """Return the asked pods and all that start with them: their groups, and the trees of these."""
    asked = frozenset(asked)
    groups = {group.index: group for i in asked if (group := group_of(cluster, i)) is not None}
    if any(group.parent for group in groups.values()):
        # Members of the tree may be anywhere in it; pods outside every group are no part of one.
        return [i for i in cluster.pending if i in asked or group_of(cluster, i) is not None]
    members = {i for group in groups.values() for i in group.pending}
    return [i for i in cluster.pending if i in asked or i in members]


def helpers(cluster: Cluster, asked: Iterable[int]) -> list[int]:
    """Return the others that wait without which the asked pods may find no place, in queue order."""
    needs = _Needs(cluster)
    unit = frozenset(together(cluster, asked))
    found, fresh = set(unit), set(unit)
    while fresh and len(found) < len(cluster.pending):
        more: set[int] = set()
        for i in {needs.like[j]: j for j in fresh}.values():
            more |= needs.of(i)
        fresh = set(together(cluster, more)) - found
        found |= fresh
    return [i for i in cluster.pending if i in found and i not in unit]


def looked_at(cluster: Cluster, pods: Iterable[int], others: Iterable[int]) -> list[int]:
    """Return those of the others that some pods look for: by affinity, or for a minimum of their spread."""
    needs = _Needs(cluster)
    found = {j for i in {needs.like[i]: i for i in pods}.values() for j in needs.looked_at(i)}
    return [j for j in others if j in found]


class _Needs:
    """Which others a pod needs, one question for each class."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._pods = cluster.pods
        self.like = {i: self._pods[i].cls for i in cluster.pending}
        self._of: dict[int, frozenset[int]] = {}
        self._able = [i for i in cluster.pending if self._pods[i].preempts]
        self._labels: dict[int, list[int]] = {}
        for i in cluster.pending:
            self._labels.setdefault(self._pods[i].label_cls, []).append(i)

    def of(self, i: int) -> frozenset[int]:
        """Return the others that pods like one need."""
        cls = self.like[i]
        if cls not in self._of:
            self._of[cls] = frozenset((*self.looked_at(i), *self._sharing(i), *self._evicting(i)))
        return self._of[cls]

    def looked_at(self, i: int) -> list[int]:
        """Return the pods that a pod's affinity or the minimum of its spread constraints counts."""
        constraints, terms = hard_constraints(self._cluster, i), self._pods[i].terms.required_affinity
        if not constraints and not terms:
            return []
        return self._where(
            lambda j: (
                any(spread_matches(self._cluster, item, i, j) for item in constraints)
                or any(term.matches(self._pods[j].namespace, self._pods[j].labels) for term in terms)
            )
        )

    def _where(self, holds: Callable[[int], bool]) -> list[int]:
        """Return the pods of which a relation to namespace and labels holds."""
        return [j for members in self._labels.values() if holds(members[0]) for j in members]

    def _sharing(self, i: int) -> list[int]:
        """Return the pods that may share a claim with a pod: those of its namespace that have any."""
        if not _has_claims(self._cluster, i):
            return []
        mine = self._pods[i].namespace
        return [
            j
            for j in self._cluster.pending
            if self._pods[j].namespace == mine and _has_claims(self._cluster, j)
        ]

    def _evicting(self, i: int) -> list[int]:
        """Return the pods that may evict what stands in a pod's way and what it may not evict itself."""
        pods = self._pods
        own = pods[i].priority if pods[i].preempts else None
        reach = max((pods[j].priority for j in self._able), default=None)
        if reach is None:
            return []
        running = [v for v in self._cluster.bound if v not in self._cluster.kept]
        least = min(
            (
                pods[v].priority
                for v in running
                if pods[v].priority < reach and (own is None or pods[v].priority >= own or self._apart(i, v))
            ),
            default=None,
        )
        guard = min(
            (
                guard
                for v in running
                if (guard := pods[v].guard) is not None and own is not None and guard > own
            ),
            default=None,
        )
        return [
            j
            for j in self._able
            if (least is not None and pods[j].priority > least)
            or (guard is not None and pods[j].priority >= guard)
        ]

    def _apart(self, i: int, v: int) -> bool:
        """Whether a running pod may keep one away from other nodes than its own."""
        info, other = self._pods[i], self._pods[v]
        return (
            any(
                term.accepts(info.namespace, info.labels, self._cluster.namespaces)
                for term in other.terms.required_anti_affinity
            )
            or any(term.matches(other.namespace, other.labels) for term in info.terms.required_anti_affinity)
            or any(spread_matches(self._cluster, item, i, v) for item in hard_constraints(self._cluster, i))
            or (_has_claims(self._cluster, i) and _has_claims(self._cluster, v))
            or group_of(self._cluster, i) is not None
        )


def _has_claims(cluster: Cluster, i: int) -> bool:
    spec = cluster.pods[i].pod.spec
    return bool(spec.volumes or spec.resource_claims or requested(cluster, i))
