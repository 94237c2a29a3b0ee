"""PodTopologySpread: keeps matching pods evenly over domains.

A node passes a hard constraint when

    matching pods in its domain + (1 if the pod matches itself) - global minimum <= maxSkew

where the global minimum is the smallest count of any domain, and 0 while there are fewer domains than
minDomains. Counts are over the nodes that have all keys of the pod's hard constraints and pass the
constraint's policies.

Source: kube-scheduler 1.34.1 plugins/podtopologyspread (filtering.go, scoring.go).
"""

import math
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ...models.config import PluginArgs
from ..index.matchers import Matcher
from ..index.missing import Missing
from ..rules import spread
from ..vocabulary import names
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.domains import Bins, Domains
from ..vocabulary.status import Code
from .base import MAX_NODE_SCORE, FilterPlugin, ScorePlugin, Verdicts

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State

MISMATCH: Final = "node(s) didn't match pod topology spread constraints"
MISSING_LABEL: Final = f"{MISMATCH} (missing required label)"

_NO_KEY: Final = 1
_SKEWED: Final = 2
_INFINITE: Final = 2**31 - 1
_HOSTNAME: Final = "kubernetes.io/hostname"

_FEW_DOMAINS: Final = 32
"""Up to so many, plain numbers are faster than arrays."""


@dataclass(slots=True, eq=False)
class _Rule:
    """What a hard constraint means for one class of pods, wherever pods are."""

    domains: Domains
    eligible: Bools
    bins: Bins
    exists: Bools
    matcher: Matcher | None
    hooked: Bools
    max_skew: int
    self_match: int
    below_min_domains: bool
    _present: list[bool]

    def least(self, counts: Ints) -> int:
        """Return the smallest count of a domain that is there, infinite where there is none."""
        if len(counts) > _FEW_DOMAINS:
            return int(counts.min(initial=_INFINITE, where=self.exists))
        return min(compress(counts.tolist(), self._present), default=_INFINITE)

    def within(self, counts: Ints, most: int) -> Bools:
        """Return the nodes whose domain has a count of no more than `most`; bool[N], shared."""
        if len(counts) > _FEW_DOMAINS:
            return self.domains.to_nodes(counts <= most, missing=False)
        return self.domains.nodes_of(tuple([count <= most for count in counts.tolist()]))


@dataclass(slots=True, eq=False)
class _SoftRule:
    """What a soft constraint means for one class of pods; `bins` is None where each node is a domain."""

    domains: Domains
    bins: Bins | None
    matcher: Matcher | None
    max_skew: int


@dataclass(slots=True, eq=False)
class _SoftRules:
    """The soft constraints of one class; only nodes in `keyed` get a score."""

    keyed: Bools
    rules: list[_SoftRule]


@dataclass(slots=True, eq=False)
class _Count:
    """A rule with the counts of the moment; `least` is the smallest of them, infinite where there is none."""

    rule: _Rule
    counts: Ints
    least: int
    _others: tuple[int, int] | None = None

    @property
    def at(self) -> int:
        """The first domain with the smallest count, -1 where there is none."""
        return self._rest()[0]

    @property
    def second(self) -> int:
        """The smallest count of the other domains, infinite where there is none."""
        return self._rest()[1]

    def _rest(self) -> tuple[int, int]:
        if self._others is None:
            self._others = _second_smallest(np.where(self.rule.exists, self.counts, _INFINITE))
        return self._others

    def judge(self, nodes: Ints, deltas: Ints) -> Verdicts:
        """Judge some nodes after their domains' counts have changed by so much; uint8[len(nodes)]."""
        rule, at = self.rule, self.rule.domains.ids[nodes]
        here = np.append(self.counts, 0)[at] + deltas  # a node without the label is in the last place
        minimum: Ints = np.zeros(len(nodes), dtype=np.int64)
        if not rule.below_min_domains:
            others = np.where(at == self.at, self.second, self.least)
            minimum = np.where(deltas != 0, np.minimum(others, here), self.least)
        skewed = here + rule.self_match - minimum > rule.max_skew
        verdicts: Verdicts = np.where(at < 0, _NO_KEY, np.where(skewed, _SKEWED, 0)).astype(np.uint8)
        return verdicts

    def limit(self) -> int:
        """The largest count of a domain that still takes the pod."""
        minimum = 0 if self.rule.below_min_domains else self.least
        return self.rule.max_skew + minimum - self.rule.self_match


@dataclass(slots=True, eq=False)
class _Fork:
    """One node: `deltas` is by how much hooks changed each constraint's count in the node's domain."""

    counts: list[_Count]
    node: int
    deltas: list[int]


@dataclass(slots=True, eq=False)
class _Preference:
    """The soft constraints over the feasible nodes; one row for each constraint."""

    ignored: Bools
    rows: list[tuple[Bools, Ints, float, int]]


class PodTopologySpread(FilterPlugin, ScorePlugin):
    """See the module's docstring; scoring prefers domains with fewer matching pods."""

    name: ClassVar[str] = names.POD_TOPOLOGY_SPREAD
    codes: ClassVar[tuple[Code, ...]] = (Code.SUCCESS, Code.UNRESOLVABLE, Code.UNSCHEDULABLE)

    def __init__(self, cluster: "Cluster", args: PluginArgs) -> None:
        super().__init__(cluster, args)
        self._by_class: dict[int, list[_Rule]] = {}
        self._soft_by_class: dict[int, _SoftRules | None] = {}

    def _rules(self, i: int) -> list[_Rule]:
        cls = self.cluster.pods[i].but_claims
        rules = self._by_class.get(cls)
        if rules is None:
            constraints = spread.hard_constraints(self.cluster, i)
            rules = self._by_class[cls] = [_make_rule(self.cluster, i, c) for c in constraints]
        return rules

    def is_settled(self, i: int) -> bool:
        """Whether the pod has no hard constraints."""
        return not self._rules(i)

    def pre_filter(self, state: "State", i: int) -> list[_Count] | None:
        """Count matching pods in every domain; skips a pod without hard constraints."""
        return [_count(rule, state) for rule in self._rules(i)] or None

    def filter_all(self, data: list[_Count], state: "State", i: int) -> Verdicts:
        """Judge every node by its first constraint that fails."""
        verdicts: Verdicts | None = None
        for count in data:
            by_domain = np.full(count.rule.domains.size + 1, _NO_KEY, dtype=np.uint8)
            by_domain[:-1] = np.where(count.counts > count.limit(), _SKEWED, 0)
            own = by_domain[count.rule.domains.ids]  # a node without the label is in the last place
            verdicts = own if verdicts is None else np.where(verdicts == 0, own, verdicts)
        assert verdicts is not None  # without a constraint the plugin skips
        return verdicts

    def passing(self, data: list[_Count], state: "State", i: int) -> Bools:
        """Return where no constraint fails."""
        passes: Bools | None = None
        for count in data:
            own = count.rule.within(count.counts, count.limit())
            passes = own if passes is None else passes & own
        assert passes is not None  # without a constraint the plugin skips
        return passes

    def fork(self, data: list[_Count], state: "State", i: int, n: int) -> _Fork:
        """Return the node with no change yet."""
        return _Fork(data, n, [0] * len(data))

    def concerned(self, data: list[_Count]) -> Bools:
        """Say which pods some constraint counts."""
        units = np.logical_or.reduce([count.rule.hooked for count in data])
        found: Bools = units[self.cluster.unit_of]
        return found

    def judge_after(self, data: list[_Count], nodes: Ints, pods: Ints, at: Ints, by: Ints) -> Verdicts:
        """Judge each node by its first constraint that fails after the change."""
        units = self.cluster.unit_of[pods]
        verdicts: Verdicts = np.zeros(len(nodes), dtype=np.uint8)
        for count in data:
            deltas: Ints = np.zeros(len(nodes), dtype=np.int64)
            hooked = count.rule.hooked[units]
            np.add.at(deltas, at[hooked], by[hooked])
            own = count.judge(nodes, np.where(count.rule.eligible[nodes], deltas, 0))
            verdicts = np.where(verdicts == 0, own, verdicts)
        return verdicts

    def add(self, fork: _Fork, j: int) -> None:
        """Count pod j, terminating or not, and also for a selector that asks for nothing."""
        self._change(fork, j, 1)

    def remove(self, fork: _Fork, j: int) -> None:
        """Take pod j out of the counts."""
        self._change(fork, j, -1)

    def _change(self, fork: _Fork, j: int, by: int) -> None:
        unit = self.cluster.pods[j].unit
        for c, count in enumerate(fork.counts):
            if count.rule.hooked[unit] and count.rule.eligible[fork.node]:
                fork.deltas[c] += by

    def check(self, fork: _Fork) -> int:
        """Judge the node by its first constraint that fails."""
        for count, delta in zip(fork.counts, fork.deltas, strict=True):
            rule = count.rule
            domain = int(rule.domains.ids[fork.node])
            if domain < 0:
                return _NO_KEY
            if not delta:
                if count.counts[domain] > count.limit():
                    return _SKEWED
                continue
            here, minimum = self._here(count, domain, delta)
            if here + rule.self_match - minimum > rule.max_skew:
                return _SKEWED
        return 0

    def _here(self, count: _Count, domain: int, delta: int) -> tuple[int, int]:
        """Return the matching pods in a domain after a change there, and the global minimum then."""
        here = int(count.counts[domain]) + delta
        others = count.second if domain == count.at else count.least
        if count.rule.below_min_domains:
            return here, 0
        return here, min(others, here) if delta else count.least

    def reasons(self, fork: _Fork, verdict: int) -> tuple[str, ...]:
        """Say which of the two it was."""
        return (MISSING_LABEL if verdict == _NO_KEY else MISMATCH,)

    def missing(self, fork: _Fork, verdict: int, state: "State", i: int) -> tuple[Missing, ...]:
        """Tell for every constraint that fails what the skew would be."""
        found: list[Missing] = []
        for count, delta in zip(fork.counts, fork.deltas, strict=True):
            rule, domain = count.rule, int(count.rule.domains.ids[fork.node])
            key = rule.domains.key
            if domain < 0:
                found.append(Missing(key, f"the node has no label {key}", facts={"topologyKey": key}))
                continue
            here, minimum = self._here(count, domain, delta)
            skew, most = here + rule.self_match - minimum, rule.max_skew
            if skew > most:
                value = rule.domains.values[domain]
                text = f"skew would be {skew} in {key}={value} ({here} there, {minimum} where fewest are)"
                facts = {"topologyKey": key, "domain": value, "matching": here, "minimum": minimum}
                facts |= {"skew": skew, "maxSkew": most}
                text += f": {skew - most} over maxSkew {most}"
                found.append(Missing(key, text, (skew - most) / skew, facts))
        return tuple(found)

    def may_prefer(self, i: int) -> bool:
        """Whether the pod has soft constraints."""
        return self._soft_rules(i) is not None

    def _soft_rules(self, i: int) -> _SoftRules | None:
        cls = self.cluster.pods[i].but_claims
        if cls not in self._soft_by_class:
            self._soft_by_class[cls] = _make_soft_rules(self.cluster, i)
        return self._soft_by_class[cls]

    def pre_score(self, state: "State", i: int, nodes: Ints) -> _Preference | None:
        """Count matching pods in the domains of the feasible nodes; skips a pod without soft constraints."""
        soft = self._soft_rules(i)
        if soft is None:
            return None
        keyed = soft.keyed[nodes]
        kept = nodes[keyed]
        rows: list[tuple[Bools, Ints, float, int]] = []
        for rule in soft.rules:
            domains = rule.domains
            size = len(kept) if rule.bins is None else domains.count(kept)
            counted = _counted(rule, state, nodes)
            rows.append((domains.present[nodes], counted, math.log(size + 2), rule.max_skew))
        return _Preference(~keyed, rows)

    def score(self, data: _Preference, state: "State", i: int, nodes: Ints) -> Ints:
        """Return the rounded sum over constraints of count * ln(domains + 2) + maxSkew - 1."""
        total = np.zeros(len(nodes), dtype=np.float64)
        for present, counted, weight, max_skew in data.rows:
            total += np.where(present & ~data.ignored, counted * weight + float(max_skew - 1), 0.0)
        return _round(total)

    def normalize(self, data: _Preference, scores: Ints) -> Ints:
        """Turn fewer into better: 100 * (max + min - score) / max; nodes left out get 0."""
        kept = scores[~data.ignored]
        if not kept.size:
            return np.zeros_like(scores)
        highest, lowest = int(kept.max()), int(kept.min())
        if highest <= 0:
            turned = np.full_like(scores, MAX_NODE_SCORE)
        else:
            turned = MAX_NODE_SCORE * (highest + lowest - scores) // highest
        return np.where(data.ignored, 0, turned)


def _make_rule(cluster: "Cluster", i: int, constraint: spread.SpreadConstraint) -> _Rule:
    domains = cluster.domains(constraint.topology_key)
    eligible = spread.eligible_nodes(cluster, i, constraint)
    exists = domains.exists(eligible)
    matcher = spread.count_matcher(cluster, constraint)
    namespace = frozenset((constraint.namespace,))
    if constraint.selector is None:
        hooked = np.zeros(len(cluster.unit_pods), dtype=np.bool_)
    else:
        hooked = cluster.units.pods(namespace, constraint.selector).weights > 0
    return _Rule(
        domains=domains,
        eligible=eligible,
        bins=domains.bins_of(eligible),
        exists=exists,
        matcher=matcher,
        hooked=hooked,
        max_skew=constraint.max_skew,
        self_match=int(constraint.self_match),
        below_min_domains=int(exists.sum()) < constraint.min_domains,
        _present=exists.tolist(),
    )


def _make_soft_rules(cluster: "Cluster", i: int) -> _SoftRules | None:
    constraints = spread.soft_constraints(cluster, i)
    if not constraints:
        return None
    keyed = np.ones(cluster.n_nodes, dtype=np.bool_)
    if spread.requires_all_keys(cluster, i):
        keyed = spread.nodes_with_keys(cluster, constraints)
    rules: list[_SoftRule] = []
    for constraint in constraints:
        domains = cluster.domains(constraint.topology_key)
        counting = keyed & spread.policy_mask(cluster, i, constraint)
        bins = None if constraint.topology_key == _HOSTNAME else domains.bins_of(counting)
        rules.append(_SoftRule(domains, bins, spread.count_matcher(cluster, constraint), constraint.max_skew))
    return _SoftRules(keyed, rules)


def _counted(rule: _SoftRule, state: "State", nodes: Ints) -> Ints:
    """Return the matching pods in the domain of each of `nodes`, 0 where it lacks the label."""
    if rule.matcher is None:
        return np.zeros(len(nodes), dtype=np.int64)
    if rule.bins is None:
        return state.counts(rule.matcher, alive=True)[nodes]
    per_domain = np.append(state.tally(rule.matcher, rule.bins, alive=True), 0)
    return per_domain[rule.domains.ids[nodes]]


def _count(rule: _Rule, state: "State") -> _Count:
    if rule.matcher is None:
        counts = np.zeros(rule.domains.size, dtype=np.int64)
    else:
        counts = state.tally(rule.matcher, rule.bins, alive=True)
    return _Count(rule, counts, rule.least(counts))


def _second_smallest(values: Ints) -> tuple[int, int]:
    """Return the place of the smallest value, and the smallest of the others."""
    if not values.size:
        return -1, _INFINITE
    at = int(values.argmin())
    return at, int(np.partition(values, 1)[1]) if values.size > 1 else _INFINITE


def _round(values: NDArray[np.float64]) -> Ints:
    """Round halves up, as Go's math.Round does for numbers that are not negative."""
    floor = np.floor(values)
    return (floor + (values - floor >= 0.5)).astype(np.int64)
