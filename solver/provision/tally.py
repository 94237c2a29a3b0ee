"""First-fit decreasing in numbers, for rounds whose pods look at room, labels, taints and spread alone.

What a node has free, and how many pods each spread constraint counts in a domain, is all that such pods look
at: the estimator fills nodes without a cluster being built for each. It gives the same orders as with
kube-scheduler's filters (`estimate`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from ...framework.rules.spread import eligible_nodes, group_key, hard_constraints, spread_matches
from .order import Option, decreasing

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from ...encoders.problem import PodClass
    from ...framework.rules.spread import SpreadConstraint
    from ...framework.vocabulary.arrays import Bools, Ints
    from .order import Limits, Placed
    from .sample import Sample
    from .trial import Counts, Market

_INFINITE: Final = 2**31 - 1


@dataclass(eq=False)
class _Rule:
    """A spread constraint: its nodes and domains, and how many pods it counts where.

    Attributes
    ----------
    fixed : int array (N,)
        Running pods that count.
    matching : frozenset of int
        Classes that count.
    """

    place: int
    constraint: SpreadConstraint
    domain_of: Ints
    eligible: Bools
    fixed: Ints
    matching: frozenset[int]


@dataclass(eq=False)
class _Filled:
    """Nodes and what is on them.

    Attributes
    ----------
    kinds : list of int
        Of each node, the node of the sample that it is like.
    names : list
        How plans name each node.
    free : int array (N, R+1)
        The last column is pod slots.
    counts : list of dict
        Of each rule, pods by domain that is there.
    """

    free: Ints
    counts: list[dict[int, int]]
    kinds: list[int] = field(default_factory=list)
    names: list[Hashable] = field(default_factory=list)


class Tally:
    """Fills nodes as `estimate.Filters` does.

    Parameters
    ----------
    limits : Limits
        What may be ordered.
    """

    def __init__(self, market: Market, sample: Sample, limits: Limits) -> None:
        self._market, self._sample, self._limits = market, sample, limits
        problem = sample.problem
        self._cluster = problem.cluster
        self._free = np.vstack((problem.free_now, problem.slots_now[None, :])).T.astype(np.int64)
        self._takes = sample.takes(np.arange(problem.cluster.n_nodes)) > 0
        self._asked = np.array([_asked(cls) for cls in problem.classes], dtype=np.int64)
        self._needs = [[(r, n) for r, n in enumerate(row) if n] for row in self._asked.tolist()]
        cluster, waiting = self._cluster, sorted(i for cls in problem.classes for i in cls.pods)
        self._number = {cluster.pods[i].key: i for i in waiting}
        self._class_of = np.full(len(cluster.pods), -1, dtype=np.int64)
        for cls in problem.classes:
            self._class_of[list(cls.pods)] = cls.index
        self._priorities = np.array([pod.priority for pod in cluster.pods], dtype=np.int64)
        self._usage = np.array(cluster.usage, dtype=float).reshape(len(cluster.pods), -1)
        self._rules: dict[Hashable, _Rule] = {}
        self._of_class = [self._rules_of(cls) for cls in problem.classes]
        self._counted = [
            [rule for rule in self._rules.values() if c in rule.matching] for c in range(len(problem.classes))
        ]
        self._whole = np.asarray(self._cluster.allocatable, dtype=float)
        self._filled_by = [
            [rule for rule in self._rules.values() if rule.fixed[n]] for n in range(cluster.n_nodes)
        ]
        new = {*sample.nodes.tolist()}
        self._here = [n for n in range(self._cluster.n_nodes) if n not in new]
        self._whole_here = self._whole[:, self._here].sum(axis=1)
        self._whole_new = self._whole[:, sample.nodes]
        self._counts: list[dict[int, int]] = []
        self._rest: Ints = np.zeros(0, dtype=np.int64)

    def _rules_of(self, cls: PodClass) -> list[tuple[_Rule, int]]:
        """Return the constraints of a class, each with whether the pod counts for itself."""
        problem, found = self._sample.problem, []
        for constraint in hard_constraints(self._cluster, cls.pod):
            key = group_key(self._cluster, cls.pod, constraint)
            if key not in self._rules:
                ask = problem.by_labels(partial(spread_matches, self._cluster, constraint, cls.pod))
                matching = problem.select(ask, terminating=False)
                self._rules[key] = _Rule(
                    len(self._rules),
                    constraint,
                    self._cluster.domains(constraint.topology_key).ids.astype(np.int64),
                    eligible_nodes(self._cluster, cls.pod, constraint),
                    matching.fixed,
                    frozenset(each.index for each in matching.classes),
                )
            found.append((self._rules[key], int(constraint.self_match)))
        return found

    # -- what an estimator asks ------------------------------------------------------------

    def settle(self, counts: Counts, placed: Placed) -> tuple[Placed, list[str]]:
        """Place pods where there is room; return all that are placed, and those that are left."""
        filled = self._filled(counts, placed)
        pods = np.array([i for key, i in self._number.items() if key not in placed], dtype=np.int64)
        bought = self._market.names(counts)
        called = [*(self._cluster.node_names[n] for n in self._here), *(n for each in bought for n in each)]
        ranks = np.empty(len(called), dtype=np.int64)
        ranks[sorted(range(len(called)), key=called.__getitem__)] = np.arange(len(called))
        found = dict(placed)
        left: list[int] = []
        for c, run in self._runs(pods, counts):
            for at, i in enumerate(run):
                node = self._first(filled, ranks, c)
                if node is None:
                    left += run[at:]
                    break
                self._put(filled, node, c)
                found[self._cluster.pods[i].key] = filled.names[node]
        self._counts, self._rest = filled.counts, np.array(sorted(left), dtype=np.int64)
        return found, [self._cluster.pods[i].key for i in left]

    def tried(
        self, offer: int, batch: int, counts: Counts, placed: Placed, pods: Sequence[str], until: float
    ) -> Option | None:
        """Fill new nodes of an offer as long as each takes a pod, beside what was settled last."""
        del batch, placed, pods
        filled, now = _Filled(self._free[:0], [{**each} for each in self._counts]), counts
        rest = self._rest
        taken: dict[str, Hashable] = {}
        while len(rest) and self._limits.allowed(offer, now, now[offer] + 1) > now[offer]:
            if time.monotonic() > until:
                break
            more = (*now[:offer], now[offer] + 1, *now[offer + 1 :])
            like_last = now is not counts
            kind = int(self._sample.nodes[offer])
            self._add(filled, kind, (offer, now[offer]), like_last=like_last)
            filled.free = np.vstack((filled.free, self._free[kind]))
            on = self._fill_last(filled, rest, more)
            if not on:
                break
            taken.update((self._cluster.pods[i].key, filled.names[-1]) for i in on)
            now, rest = more, rest[~np.isin(rest, on)]
        if not taken:
            return None
        nodes = now[offer] - counts[offer]
        return Option(offer, now, nodes, taken, self._waste(filled, range(nodes)))

    # -- the steps ------------------------------------------------------------

    def _filled(self, counts: Counts, placed: Placed) -> _Filled:
        filled = _Filled(self._free[:0], [{} for _ in self._rules])
        for n in self._here:
            self._add(filled, n, self._cluster.node_names[n])
        for offer, number in enumerate(counts):
            for copy in range(number):
                self._add(filled, int(self._sample.nodes[offer]), (offer, copy), like_last=copy > 0)
        filled.free = self._free[filled.kinds]
        place = {name: n for n, name in enumerate(filled.names)}
        for key, name in placed.items():
            self._put(filled, place[name], int(self._class_of[self._number[key]]))
        return filled

    def _add(self, filled: _Filled, kind: int, name: Hashable, *, like_last: bool = False) -> None:
        """Add a node; `like_last` tells that the one before is of its kind, so that its domains are there."""
        filled.kinds.append(kind)
        filled.names.append(name)
        for rule in self._filled_by[kind] if like_last else self._rules.values():
            domain = int(rule.domain_of[kind])
            if rule.eligible[kind] and domain >= 0:
                counts = filled.counts[rule.place]
                counts[domain] = counts.get(domain, 0) + int(rule.fixed[kind])

    def _put(self, filled: _Filled, node: int, c: int) -> None:
        filled.free[node] -= self._asked[c]
        self._count(filled, filled.kinds[node], c)

    def _count(self, filled: _Filled, kind: int, c: int) -> None:
        for rule in self._counted[c]:
            if rule.eligible[kind]:
                filled.counts[rule.place][int(rule.domain_of[kind])] += 1

    def _spread(self, filled: _Filled, kind: int, c: int) -> bool:
        """Whether constraints let a pod in."""
        for rule, itself in self._of_class[c]:
            counts, domain = filled.counts[rule.place], int(rule.domain_of[kind])
            if domain < 0:
                return False
            few = len(counts) < rule.constraint.min_domains
            least = 0 if few else min(counts.values(), default=_INFINITE)
            if counts.get(domain, 0) + itself - least > rule.constraint.max_skew:
                return False
        return True

    def _runs(self, pods: Ints, counts: Counts) -> Iterator[tuple[int, list[int]]]:
        """Yield pods in the estimator's order, those of one class that follow one another together."""
        whole = self._whole_here + self._whole_new @ np.array(counts)
        ordered = decreasing(pods, self._priorities[pods], self._usage[pods], whole)
        classes = self._class_of[ordered]
        ends = np.flatnonzero(np.diff(classes, append=-1)) + 1
        start = 0
        for end in ends.tolist():
            yield int(classes[start]), ordered[start:end].tolist()
            start = end

    # -- nodes that take a pod ------------------------------------------------------------

    def _first(self, filled: _Filled, ranks: Ints, c: int) -> int | None:
        """Return the first node by name that takes a pod."""
        asked = self._asked[c]
        fits = self._takes[c, filled.kinds] & ((filled.free >= asked) | (asked == 0)).all(axis=1)
        nodes = np.flatnonzero(fits)
        for n in nodes[ranks[nodes].argsort()].tolist():
            if self._spread(filled, filled.kinds[n], c):
                return int(n)
        return None

    def _fill_last(self, filled: _Filled, pods: Ints, counts: Counts) -> list[int]:
        """Fill the newest node; return the pods that are there."""
        kind, node = filled.kinds[-1], len(filled.kinds) - 1
        fits = self._takes[:, kind] & ((filled.free[node] >= self._asked) | (self._asked == 0)).all(axis=1)
        free = filled.free[node].tolist()
        found: list[int] = []
        for c, run in self._runs(pods[fits[self._class_of[pods]]], counts):
            asked = self._needs[c]
            for i in run:
                if any(free[r] < amount for r, amount in asked) or not self._spread(filled, kind, c):
                    break
                for r, amount in asked:
                    free[r] -= amount
                self._count(filled, kind, c)
                found.append(i)
        filled.free[node] = free
        return found

    def _waste(self, filled: _Filled, nodes: range) -> float:
        """Return the share of nodes' cpu and memory that no pod requests."""
        shares = []
        for row in (0, 1):
            whole = float(sum(self._whole[row, filled.kinds[n]] for n in nodes))
            if whole:
                free = float(sum(filled.free[n, row] for n in nodes))
                shares.append(1 - (whole - free) / whole)
        return sum(shares)


def _asked(cls: PodClass) -> list[int]:
    """Return what a pod takes of a node, pod slots last; nothing where its profile looks at no room."""
    return [*cls.request.tolist(), 1] if cls.bounded else [0] * (len(cls.request) + 1)
