"""InterPodAffinity: pods that want to be, or must not be, in one domain with others.

Three counts decide, each by domain of a topology key:

- (a) pods whose required anti-affinity matches the incoming pod;
- (b) pods that match every required affinity term of the incoming pod;
- (c) for each required anti-affinity term of the incoming pod, pods that match it.

Source: kube-scheduler 1.34.1 plugins/interpodaffinity (filtering.go, scoring.go).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final, cast

import numpy as np

from ...models.config import InterPodAffinityArgs, PluginArgs
from ..index.affinity import AffinityTerm
from ..index.matchers import Matcher
from ..index.missing import Missing, label_of, named, selected
from ..rules.affinity import matches_all, matches_incoming
from ..rules.affinity_groups import Kind, groups_about, term_matcher
from ..vocabulary import names
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.domains import Domains
from ..vocabulary.status import Code
from .base import MAX_NODE_SCORE, FilterPlugin, ScorePlugin, Verdicts

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State

REASON_AFFINITY: Final = "node(s) didn't match pod affinity rules"
REASON_ANTI_AFFINITY: Final = "node(s) didn't match pod anti-affinity rules"
REASON_EXISTING: Final = "node(s) didn't satisfy existing pods anti-affinity rules"

_AFFINITY: Final = 1
_ANTI_AFFINITY: Final = 2
_EXISTING: Final = 3


@dataclass(slots=True, eq=False)
class _Rule:
    """One of the counts: over which domains, and how much a pod of each count class adds to it."""

    domains: Domains
    matchers: tuple[Matcher, ...]
    weights: Ints


@dataclass(slots=True, eq=False)
class _Rules:
    """The three counts of one class of pods, wherever pods are.

    `keys` are the domains of the required affinity terms, term by term; the same pods count for all of them.
    """

    existing: list[_Rule]
    keys: list[Domains]
    together: _Rule | None
    self_match: bool
    apart: list[_Rule]


@dataclass(slots=True, eq=False)
class _Counts:
    """The three counts of the moment, by domain; `found` is all that (b) counts in the cluster."""

    rules: _Rules
    existing: list[Ints]
    together: list[Ints]
    found: int
    apart: list[Ints]


@dataclass(slots=True, eq=False)
class _Fork:
    """One node, and by how much hooks changed the counts in its domains."""

    counts: _Counts
    node: int
    existing: list[int]
    apart: list[int]
    together: int = 0


@dataclass(slots=True, eq=False)
class _Preference:
    """Weight by domain for each topology key."""

    per_key: dict[str, Ints] = field(default_factory=dict)


_Wish = tuple[Domains, Matcher, int]
"""A preferred term: over which domains, whose pods count, and the weight of each (negative: stay away)."""


class InterPodAffinity(FilterPlugin, ScorePlugin):
    """See the module's docstring; scoring adds up the weights of the preferred terms, both pods' ones."""

    name: ClassVar[str] = names.INTER_POD_AFFINITY
    codes: ClassVar[tuple[Code, ...]] = (
        Code.SUCCESS,
        Code.UNRESOLVABLE,
        Code.UNSCHEDULABLE,
        Code.UNSCHEDULABLE,
    )

    def __init__(self, cluster: "Cluster", args: PluginArgs) -> None:
        super().__init__(cluster, args)
        self._args = cast("InterPodAffinityArgs", args)
        self._by_class: dict[int, _Rules | None] = {}
        self._wishes_by_class: dict[int, list[_Wish]] = {}

    def _rules(self, i: int) -> _Rules | None:
        cls = self.cluster.pods[i].but_claims
        if cls not in self._by_class:
            self._by_class[cls] = _make_rules(self.cluster, i)
        return self._by_class[cls]

    def is_settled(self, i: int) -> bool:
        """Whether the pod has no required terms, and nobody's anti-affinity can be about it."""
        return self._rules(i) is None

    def pre_filter(self, state: "State", i: int) -> _Counts | None:
        """Count; skips a pod without required terms that nobody's anti-affinity is about."""
        rules = self._rules(i)
        if rules is None:
            return None
        existing = [_count(state, rule) for rule in rules.existing]
        if not rules.keys and not rules.apart and not any(counts.any() for counts in existing):
            return None
        together: list[Ints] = []
        if rules.keys:
            matchers = rules.together.matchers if rules.together is not None else ()
            together = [_sum(state, matchers, domains) for domains in rules.keys]
        return _Counts(
            rules=rules,
            existing=existing,
            together=together,
            found=sum(int(counts.sum()) for counts in together),
            apart=[_count(state, rule) for rule in rules.apart],
        )

    def filter_all(self, data: _Counts, state: "State", i: int) -> Verdicts:
        """Judge every node: the pod's affinity, its anti-affinity, then the others' anti-affinity."""
        rules = data.rules
        n_nodes = self.cluster.n_nodes
        existing = np.zeros(n_nodes, dtype=np.bool_)
        for rule, counts in zip(rules.existing, data.existing, strict=True):
            existing |= rule.domains.to_nodes(counts > 0, missing=False)
        apart = np.zeros(n_nodes, dtype=np.bool_)
        for rule, counts in zip(rules.apart, data.apart, strict=True):
            apart |= rule.domains.to_nodes(counts > 0, missing=False)
        keyed = np.ones(n_nodes, dtype=np.bool_)
        beside = np.full(n_nodes, not (data.found == 0 and rules.self_match))
        for domains, counts in zip(rules.keys, data.together, strict=True):
            keyed &= domains.present
            beside &= domains.to_nodes(counts > 0, missing=False)
        first = data.found == 0 and rules.self_match
        alone = ~(keyed & (beside | first))
        verdicts = np.select([alone, apart, existing], [_AFFINITY, _ANTI_AFFINITY, _EXISTING], 0)
        return verdicts.astype(np.uint8)

    def fork(self, data: _Counts, state: "State", i: int, n: int) -> _Fork:
        """Return the node with no change yet."""
        return _Fork(data, n, [0] * len(data.existing), [0] * len(data.apart))

    def concerned(self, data: _Counts) -> Bools:
        """Say which pods one of the counts is about."""
        rules = data.rules
        about = [*rules.existing, *rules.apart, *([] if rules.together is None else [rules.together])]
        units = np.zeros(len(self.cluster.unit_pods), dtype=np.bool_)
        for rule in about:
            units |= rule.weights > 0
        return units[self.cluster.unit_of]

    def add(self, fork: _Fork, j: int) -> None:
        """Count pod j."""
        self._change(fork, j, 1)

    def remove(self, fork: _Fork, j: int) -> None:
        """Take pod j out of the counts."""
        self._change(fork, j, -1)

    def _change(self, fork: _Fork, j: int, by: int) -> None:
        unit = self.cluster.pods[j].unit
        rules = fork.counts.rules
        for k, rule in enumerate(rules.existing):
            fork.existing[k] += by * int(rule.weights[unit])
        for k, rule in enumerate(rules.apart):
            fork.apart[k] += by * int(rule.weights[unit])
        if rules.together is not None:
            fork.together += by * int(rules.together.weights[unit])

    def check(self, fork: _Fork) -> int:
        """Judge the node in the same order."""
        counts, rules, n = fork.counts, fork.counts.rules, fork.node
        if rules.keys:
            beside = True
            found = counts.found
            for domains, per_domain in zip(rules.keys, counts.together, strict=True):
                domain = int(domains.ids[n])
                if domain < 0:
                    return _AFFINITY
                # Two terms with one key share its pairs; whether they are above zero is the same.
                beside &= int(per_domain[domain]) + fork.together > 0
                found += fork.together
            if not beside and not (found == 0 and rules.self_match):
                return _AFFINITY
        for rule, per_domain, delta in zip(rules.apart, counts.apart, fork.apart, strict=True):
            domain = int(rule.domains.ids[n])
            if domain >= 0 and int(per_domain[domain]) + delta > 0:
                return _ANTI_AFFINITY
        for rule, per_domain, delta in zip(rules.existing, counts.existing, fork.existing, strict=True):
            domain = int(rule.domains.ids[n])
            if domain >= 0 and int(per_domain[domain]) + delta > 0:
                return _EXISTING
        return 0

    def reasons(self, fork: _Fork, verdict: int) -> tuple[str, ...]:
        """Say which rule it was."""
        return (("", REASON_AFFINITY, REASON_ANTI_AFFINITY, REASON_EXISTING)[verdict],)

    def missing(self, fork: _Fork, verdict: int, state: "State", i: int) -> tuple[Missing, ...]:
        """Tell every term that is not satisfied, the pod's own and those of pods that are there."""
        cluster, n = self.cluster, fork.node
        terms = cluster.pods[i].terms
        found: list[Missing] = []
        for term in terms.required_affinity:
            found += self._alone(n, term, state, i)
        for term in terms.required_anti_affinity:
            there = self._in_domain(n, term.topology_key, state)
            matching = [j for j in there if matches_incoming(cluster, term, j)]
            found += self._apart(n, term.topology_key, matching, "")
        for group in groups_about(cluster, "required_anti_affinity", i):
            there = self._in_domain(n, group.term.topology_key, state)
            carriers = [j for j in there if group.carriers.weights[cluster.pods[j].unit]]
            found += self._apart(n, group.term.topology_key, carriers, ", kept away by its anti-affinity")
        return tuple(found)

    def _in_domain(self, n: int, key: str, state: "State") -> list[int]:
        """Return the pods in node n's domain of a key; none where it lacks the label."""
        ids = self.cluster.domains(key).ids
        if ids[n] < 0:
            return []
        here = (state.node_of >= 0) & (ids[state.node_of] == ids[n])
        return np.flatnonzero(here).tolist()

    def _alone(self, n: int, term: AffinityTerm, state: "State", i: int) -> list[Missing]:
        key, terms = term.topology_key, self.cluster.pods[i].terms.required_affinity
        domain = label_of(self.cluster.nodes[n].metadata.labels, key)
        facts = {"topologyKey": key, "selector": selected(term.selector)}
        if self.cluster.domains(key).ids[n] < 0:
            return [Missing(key, f"the node has no label {key}", facts=facts)]
        if any(matches_all(self.cluster, terms, j) for j in self._in_domain(n, key, state)):
            return []
        who = "no pod that matches all terms" if len(terms) > 1 else f"no pod {selected(term.selector)}"
        return [Missing(key, f"{who} in {domain}", facts=facts)]

    def _apart(self, n: int, key: str, pods: list[int], why: str) -> list[Missing]:
        if not pods:
            return []
        domain = label_of(self.cluster.nodes[n].metadata.labels, key)
        facts = {"topologyKey": key, "pods": [self.cluster.pods[j].key for j in pods]}
        return [Missing(key, f"{named(self.cluster, pods)} in {domain}{why}", facts=facts)]

    def may_prefer(self, i: int) -> bool:
        """Whether there is any preferred term that the pod has or is meant by."""
        return bool(self._wishes(i))

    def _wishes(self, i: int) -> list[_Wish]:
        cls = self.cluster.pods[i].but_claims
        wishes = self._wishes_by_class.get(cls)
        if wishes is None:
            wishes = self._wishes_by_class[cls] = list(_wishes(self.cluster, i, self._args))
        return wishes

    def pre_score(self, state: "State", i: int, nodes: Ints) -> _Preference | None:
        """Add up the weights by domain; skips a pod for which no term is met anywhere."""
        data = _Preference()
        for domains, matcher, weight in self._wishes(i):
            counts = state.tally(matcher, domains.bins)
            if counts.any():
                before = data.per_key.get(domains.key)
                data.per_key[domains.key] = counts * weight if before is None else before + counts * weight
        return data if data.per_key else None

    def score(self, data: _Preference, state: "State", i: int, nodes: Ints) -> Ints:
        """Add up what the node's domains have; it may be negative."""
        total: Ints = np.zeros(len(nodes), dtype=np.int64)
        for key, weights in data.per_key.items():
            total += self.cluster.domains(key).to_nodes(weights)[nodes]
        return total

    def normalize(self, data: _Preference, scores: Ints) -> Ints:
        """Stretch from the lowest to the highest: trunc(100 * ((score - min) / (max - min)))."""
        lowest, highest = int(scores.min()), int(scores.max())
        if highest == lowest:
            return np.zeros_like(scores)
        shares = (scores - lowest).astype(np.float64) / float(highest - lowest)
        return (float(MAX_NODE_SCORE) * shares).astype(np.int64)


def _wishes(cluster: "Cluster", i: int, args: InterPodAffinityArgs) -> Iterator[_Wish]:
    """List what attracts pods of i's class to others or keeps them apart: their terms, then the others'."""
    terms = cluster.pods[i].terms
    own = ((1, terms.preferred_affinity), (-1, terms.preferred_anti_affinity))
    if args.ignore_preferred_terms_of_existing_pods and not any(mine for _, mine in own):
        return
    for sign, mine in own:
        for term in mine:
            matcher = term_matcher(cluster, term)
            if matcher is not None:
                yield cluster.domains(term.topology_key), matcher, sign * term.weight
    if args.hard_pod_affinity_weight:
        for group in groups_about(cluster, "required_affinity", i):
            yield cluster.domains(group.term.topology_key), group.carriers, args.hard_pod_affinity_weight
    theirs: tuple[tuple[Kind, int], ...] = (("preferred_affinity", 1), ("preferred_anti_affinity", -1))
    for kind, sign in theirs:
        for group in groups_about(cluster, kind, i):
            yield cluster.domains(group.term.topology_key), group.carriers, sign * group.term.weight


def _make_rules(cluster: "Cluster", i: int) -> _Rules | None:
    """Return the counts that matter for pods of i's class, None where there is nothing to count."""
    terms = cluster.pods[i].terms
    against: dict[str, list[Matcher]] = {}
    for group in groups_about(cluster, "required_anti_affinity", i):
        against.setdefault(group.term.topology_key, []).append(group.carriers)
    if not against and not terms.required_affinity and not terms.required_anti_affinity:
        return None
    beside = term_matcher(cluster, *terms.required_affinity) if terms.required_affinity else None
    keys = [cluster.domains(term.topology_key) for term in terms.required_affinity]
    apart = []
    for term in terms.required_anti_affinity:
        matcher = term_matcher(cluster, term)
        if matcher is not None:
            apart.append(_rule(cluster.domains(term.topology_key), (matcher,)))
    return _Rules(
        existing=[_rule(cluster.domains(key), matchers) for key, matchers in against.items()],
        keys=keys,
        together=_rule(keys[0], (beside,)) if beside is not None else None,
        self_match=matches_all(cluster, terms.required_affinity, i),
        apart=apart,
    )


def _rule(domains: Domains, matchers: Iterable[Matcher]) -> _Rule:
    chosen = tuple(matchers)
    return _Rule(domains, chosen, np.sum([matcher.weights for matcher in chosen], axis=0))


def _count(state: "State", rule: _Rule) -> Ints:
    return _sum(state, rule.matchers, rule.domains)


def _sum(state: "State", matchers: Iterable[Matcher], domains: Domains) -> Ints:
    total: Ints = np.zeros(domains.size, dtype=np.int64)
    for matcher in matchers:
        total += state.tally(matcher, domains.bins)
    return total
