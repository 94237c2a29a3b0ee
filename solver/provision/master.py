"""The round and the purchase as one model: nodes that can be bought, each with a literal.

Every filter of the round holds on the nodes that are bought (`encoders`: a node that is not bought has no
room, and a domain without a node is none); the solution is a purchase and who may stand where. The encoders
state what every plan must satisfy, so its optimum bounds every purchase. Whether the purchase has a plan is
tried out; where it is proven to place less, it is excluded, and the model solved again.

Copies of one offer are alike: they are bought in order.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ...encoders.build import build_problem
from ...encoders.terms import Goal, Terms
from ...framework.build import build_cluster
from ...framework.rules.affinity import (
    matches_existing,
    matches_incoming,
    required_affinity,
    required_anti_affinity,
)
from ...framework.rules.spread import hard_constraints, spread_matches
from ...models import tiers
from ..model.round_model import RoundModel
from ..plans.topology import HOSTNAME
from .climb import climb

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from ortools.sat.python import cp_model

    from ...encoders.context import Context
    from ...encoders.problem import Problem
    from ...framework.index.cluster import Cluster
    from ...models.pod import Pod
    from ...models.purchases import Catalogue
    from .climb import Climbed
    from .trial import Bought, Counts, Market

PRICE = "price"
NODES = "nodes"


class Master:
    """The model, built anew for each search.

    Parameters
    ----------
    most : tuple of int
        How many nodes of each offer may be of use: more are not looked at.
    budget : int or None
        The most that a purchase may cost, in millionths.
    """

    def __init__(self, market: Market, most: Counts, budget: int | None) -> None:
        self._market = market
        self._budget = budget
        bought = market.stripped(most)
        cluster = disentangled(bought)
        self._nodes = tuple(tuple(cluster.node_index[name] for name in names) for names in bought.nodes)
        optional = frozenset(n for nodes in self._nodes for n in nodes)
        self.problem: Problem = replace(build_problem(cluster), optional=optional)
        self._excluded: list[Counts] = []

    @property
    def size(self) -> int:
        """Pairs of a class and a node."""
        return sum(int(cls.mask.sum()) for cls in self.problem.classes)

    def exclude(self, counts: Counts) -> None:
        """Exclude a purchase whose worth is known."""
        self._excluded.append(counts)

    def search(self, until: float) -> tuple[Climbed, Counts | None]:
        """Find the best purchase that is not excluded, with bounds of the tiers."""
        model = RoundModel(self.problem, replace(self._market.options, prefer="none"))
        levels = [
            model.goals.get(tiers.scheduled(level)) or _nothing(tiers.scheduled(level))
            for level in self._market.levels
        ]
        offers = purchase_rows(model.context, self._nodes, self._market.catalogue, self._excluded)
        price, nodes = Terms(), Terms()
        for terms, offer in zip(offers, self._market.catalogue.offers, strict=True):
            price.extend(terms, offer.price)
            nodes.extend(terms)
        if self._budget is not None:
            model.context.model.add(price.expression() <= self._budget)
        goals = [*levels, _least(PRICE, price), _least(NODES, nodes)]
        found = climb(model.context.model, goals, self._market.options, until)
        if found.solution is None:
            return found, None
        return found, tuple(found.value(_least("", terms)) for terms in offers)


def purchase_rows(
    context: Context, nodes: Sequence[Sequence[int]], catalogue: Catalogue, excluded: Iterable[Counts]
) -> list[Terms]:
    """State what can be bought; return how many nodes of each offer are.

    Parameters
    ----------
    nodes : sequence
        Of each offer, the nodes that can be bought; they are alike, and bought in this order.
    excluded : iterable
        Purchases that are not to be proposed.
    """
    model = context.model
    offers = []
    for copies in nodes:
        literals = [context.bought[n] for n in copies]
        for first, second in pairwise(literals):
            model.add_implication(second, first)
        offers.append(Terms(literals, [1] * len(literals), [1] * len(literals)))
    for limits in catalogue.limits:
        total = Terms()
        for k in catalogue.of_group(limits.name):
            total.extend(offers[k])
        if limits.most is not None and total.high > limits.most:
            model.add(total.expression() <= limits.most)
        if limits.least:
            model.add(total.expression() >= limits.least)
    for counts in excluded:
        differs: list[cp_model.LiteralT] = []
        for copies, n in zip(nodes, counts, strict=True):
            if n < len(copies):
                differs.append(context.bought[copies[n]])
            if n:
                differs.append(context.bought[copies[n - 1]].negated())
        model.add_bool_or(differs)
    return offers


def _least(name: str, terms: Terms) -> Goal:
    return Goal(name, "min", terms, terms.low, terms.high)


def _nothing(name: str) -> Goal:
    return Goal(name, "max", Terms(), 0, 0)


def disentangled(bought: Bought, movers: Container[str] = frozenset()) -> Cluster:
    """Return the cluster, with less to ask for where DaemonSets' pods of new nodes matter to other nodes.

    They do by spread or affinity over domains of several nodes; there the model could not tell whether a node
    that is not bought has them. A pod that asks for less has every place that it had.

    Parameters
    ----------
    movers : container of str
        Running pods, by key, that may be placed anew.
    """
    cluster = build_cluster(bought.snapshot)
    new = {name for names in bought.nodes for name in names}
    there = {i for i in cluster.bound if cluster.node_names[cluster.pods[i].initial_node] in new}
    daemons = tuple({cluster.pods[i].label_cls: i for i in there}.values())
    coming = [*cluster.pending, *(i for i in cluster.bound if cluster.pods[i].key in movers)]
    classes = {cluster.pods[i].cls: i for i in coming}
    freed = {kind for kind, i in classes.items() if _matters(cluster, i, daemons)}
    if not freed:
        return cluster
    keys = {cluster.pods[i].key for i in coming if cluster.pods[i].cls in freed}
    keys |= {cluster.pods[i].key for i in there}
    pods = (_free_of_others(pod) if pod.key in keys else pod for pod in bought.snapshot.pods)
    return build_cluster(replace(bought.snapshot, pods=tuple(pods)))


def _free_of_others(pod: Pod) -> Pod:
    """Return a pod that does not look at other pods."""
    affinity = pod.spec.affinity
    if affinity is not None:
        affinity = affinity.model_copy(update={"pod_affinity": None, "pod_anti_affinity": None})
    spec = pod.spec.model_copy(update={"affinity": affinity, "topology_spread_constraints": ()})
    return pod.model_copy(update={"spec": spec})


def _matters(cluster: Cluster, i: int, daemons: Sequence[int]) -> bool:
    wide = [c for c in hard_constraints(cluster, i) if c.topology_key != HOSTNAME]
    repelled = [term for term in required_anti_affinity(cluster, i) if term.topology_key != HOSTNAME]
    # whether a pod may be the first of its kind depends on all nodes, whatever the key
    terms = [*required_affinity(cluster, i), *repelled]
    return any(
        any(spread_matches(cluster, constraint, i, j) for constraint in wide)
        or any(matches_incoming(cluster, term, j) for term in terms)
        or any(
            term.topology_key != HOSTNAME and matches_existing(cluster, term, i)
            for term in required_anti_affinity(cluster, j)
        )
        for j in daemons
    )
