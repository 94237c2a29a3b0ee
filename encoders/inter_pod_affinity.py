"""Required inter-pod affinity and anti-affinity, of pending and of running pods.

Anti-affinity on key k, domain d:

    newcomers that repel each other in both orders of binding do not share d: at most one of a clique
    a newcomer that a running pod repels, or that repels it, shares d only if that pod leaves

Affinity terms T of a class c, each term t with its own key:

    lands(c, d of t) -> a running match in d, or a new match of another class in d, or the starter in d

A match satisfies every term of T. The starter uses upstream's first-pod rule: one pod of the classes that
carry T and match it themselves may start where nothing matches T yet, so every running match must have left.
Running pods that leave still count as support (they may leave later), which is the looser side. Classes that
carry T and match T cannot be their own first support: apart from the starter they only go where a match
already is.

Source: kube-scheduler 1.34.1 interpodaffinity/filtering.go (upstream resolves the namespaces of a term
differently for incoming and for existing pods; a pair is excluded only where both orders fail).
"""

from __future__ import annotations

from functools import partial
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from ..framework.rules.affinity import (
    matches_all,
    matches_existing,
    matches_incoming,
    required_affinity,
    required_anti_affinity,
)
from ..framework.vocabulary import names
from .cliques import cliques
from .family import Family, Relation, Tie
from .terms import Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..framework.index.affinity import AffinityTerm
    from ..framework.index.cluster import Cluster
    from ..framework.vocabulary.arrays import Bools
    from .context import Context
    from .problem import PodClass, Problem, VictimClass

name = names.INTER_POD_AFFINITY


def applies(problem: Problem) -> bool:
    """Whether a pending or a running pod carries a required term."""
    cluster = problem.cluster
    return any(
        required_affinity(cluster, c.pod) or required_anti_affinity(cluster, c.pod) for c in problem.classes
    ) or any(required_anti_affinity(cluster, p) for p in cluster.bound)


def encode(ctx: Context) -> None:
    """Add the rows of both kinds of terms."""
    _newcomers_repel(ctx)
    _newcomers_repel_running(ctx)
    _running_repel_newcomers(ctx)
    _attract(ctx)


def _domains(ctx: Context, key: str, classes: Iterable[PodClass]) -> Iterator[Bools]:
    """Node sets of the domains of a key that any of the classes can reach."""
    ids = ctx.problem.cluster.domains(key).ids
    reached = {int(d) for c in classes for d in np.unique(ids[c.mask]) if d >= 0}
    for domain in sorted(reached):
        yield np.asarray(ids == domain)


def _refused_after(problem: Problem, key: str, later: PodClass, earlier: PodClass) -> bool:
    """Whether `later` fails in a domain of `key` where `earlier` stands already."""
    cluster = problem.cluster
    return any(
        t.topology_key == key and matches_incoming(cluster, t, earlier.pod)
        for t in required_anti_affinity(cluster, later.pod)
    ) or any(
        t.topology_key == key and matches_existing(cluster, t, later.pod)
        for t in required_anti_affinity(cluster, earlier.pod)
    )


def _newcomers_repel(ctx: Context) -> None:
    problem = ctx.problem
    cluster = problem.cluster
    asking = problem.asking(name, problem.classes)
    keys = sorted({t.topology_key for c in asking for t in required_anti_affinity(cluster, c.pod)})
    for key in keys:
        pairs = [
            (a, b)
            for a, b in combinations_with_replacement(asking, 2)
            if _refused_after(problem, key, a, b) and _refused_after(problem, key, b, a)
        ]
        alone = [a for a, b in pairs if a is b]
        classes = {c.index: c for pair in pairs for c in pair}
        together = cliques((a.index, b.index) for a, b in pairs if a is not b)
        for nodes in _domains(ctx, key, classes.values()):
            where = np.flatnonzero(nodes).tolist()
            for cls in alone:
                ctx.at_most(ctx.placed([cls], where), 1)
            for members in together:
                here = [lands for i in members if (lands := ctx.lands(classes[i], where)) is not None]
                if len(here) > 1:
                    ctx.model.add_at_most_one(here)


def _newcomers_repel_running(ctx: Context) -> None:
    problem = ctx.problem
    cluster = problem.cluster
    for cls in problem.asking(name, problem.classes):
        for term in required_anti_affinity(cluster, cls.pod):
            found = problem.select(problem.by_labels(partial(matches_incoming, cluster, term)))
            for nodes in _domains(ctx, term.topology_key, [cls]):
                if found.fixed[nodes].any():
                    _forbid(ctx, cls, nodes)
                else:
                    _all_leave_first(ctx, cls, nodes, [v for v in found.victims if nodes[v.node]])


def _running_repel_newcomers(ctx: Context) -> None:
    problem = ctx.problem
    cluster = problem.cluster
    asking = problem.asking(name, problem.classes)
    carriers: dict[int, list[int]] = {}
    for p in problem.fixed_pods:
        carriers.setdefault(cluster.pods[p].cls, []).append(p)
    for pods in carriers.values():
        for term in required_anti_affinity(cluster, pods[0]):
            at = np.unique(problem.state.node_of[pods])
            for cls in asking:
                if matches_existing(cluster, term, cls.pod):
                    ids = cluster.domains(term.topology_key).ids
                    taken = [d for d in np.unique(ids[at]) if d >= 0]
                    _forbid(ctx, cls, np.isin(ids, taken))
    for v in problem.victims:
        for term in required_anti_affinity(cluster, v.pod):
            ids = cluster.domains(term.topology_key).ids
            if ids[v.node] < 0:
                continue
            nodes = np.asarray(ids == ids[v.node])
            for cls in asking:
                if matches_existing(cluster, term, cls.pod):
                    _all_leave_first(ctx, cls, nodes, [v])


def _forbid(ctx: Context, cls: PodClass, nodes: Bools) -> None:
    for node in np.flatnonzero(nodes & cls.mask).tolist():
        variable = ctx.count(cls, node)
        if variable is not None:
            ctx.model.add(variable == 0)


def _all_leave_first(ctx: Context, cls: PodClass, nodes: Bools, victims: Iterable[VictimClass]) -> None:
    for v in victims:
        lands = ctx.lands(cls, nodes)
        if lands is not None:
            ctx.model.add_implication(lands, ctx.all_gone(v))


def _attract(ctx: Context) -> None:
    problem = ctx.problem
    groups: dict[tuple[AffinityTerm, ...], list[PodClass]] = {}
    for cls in problem.asking(name, problem.classes):
        terms = tuple(required_affinity(problem.cluster, cls.pod))
        if terms:
            groups.setdefault(terms, []).append(cls)
    for terms, classes in groups.items():
        _attract_group(ctx, terms, classes)


def _attract_group(ctx: Context, terms: tuple[AffinityTerm, ...], classes: list[PodClass]) -> None:
    problem = ctx.problem
    cluster = problem.cluster
    matches = problem.by_labels(lambda j: all(matches_incoming(cluster, t, j) for t in terms))
    found = problem.select(matches)
    starters = [c for c in classes if matches(c.pod)]
    keyed = np.zeros(cluster.n_nodes, bool)
    for term in terms:
        keyed |= cluster.domains(term.topology_key).ids >= 0
    running = [v for v in found.victims if keyed[v.node]]
    start: dict[int, Terms] = {}
    if starters and not found.fixed[keyed].any():
        start = _starters(ctx, starters, running)
    for cls in classes:
        support = [c for c in found.classes if c not in starters] if cls in starters else list(found.classes)
        for term in terms:
            ids = cluster.domains(term.topology_key).ids
            _forbid(ctx, cls, ids < 0)
            for nodes in _domains(ctx, term.topology_key, [cls]):
                if found.fixed[nodes].any() or any(nodes[v.node] for v in running):
                    continue
                where = np.flatnonzero(nodes).tolist()
                reasons = ctx.placed(support, where)
                if cls in starters:
                    for node in where:
                        reasons.extend(start.get(node, Terms()))
                lands = ctx.lands(cls, nodes)
                if lands is not None:
                    ctx.at_most(Terms().add(lands, 1).extend(reasons, -1), 0)


def _starters(ctx: Context, starters: list[PodClass], running: list[VictimClass]) -> dict[int, Terms]:
    """Return a literal for each node where the first pod may start, at most one of them true."""
    literals: dict[int, Terms] = {}
    every = Terms()
    for node in range(ctx.problem.cluster.n_nodes):
        placed = ctx.placed(starters, [node])
        if not placed.variables:
            continue
        literal = ctx.model.new_bool_var(
            f"starts[{ctx.problem.cluster.node_names[node]},{len(ctx.model.proto.variables)}]"
        )
        ctx.at_most(Terms().add(literal, 1).extend(placed, -1), 0)
        for v in running:
            ctx.model.add_implication(literal, ctx.all_gone(v))
        literals[node] = Terms().add(literal, 1)
        every.add(literal, 1)
    ctx.at_most(every, 1)
    return literals


def ties(problem: Problem) -> Iterator[Tie]:
    """Tie the carriers of required terms, pending or evictable, to whatever the terms match."""
    cluster = problem.cluster
    for cls in problem.classes:
        attracting = required_affinity(cluster, cls.pod)
        if attracting:
            yield _tie(problem, partial(matches_all, cluster, attracting), [cls])
    yield from ties_of(problem, required_anti_affinity)
    for victim in problem.victims:
        for term in required_anti_affinity(cluster, victim.pod):
            yield _tie(problem, partial(matches_existing, cluster, term), victims=[victim])


def ties_of(problem: Problem, terms_of: Callable[[Cluster, int], Sequence[AffinityTerm]]) -> Iterator[Tie]:
    """Tie pending carriers of terms to what each matches.

    Upstream resolves a term's namespaces in two ways, for an incoming pod and for an existing one.
    """
    for cls in problem.classes:
        for term in terms_of(problem.cluster, cls.pod):
            yield _tie(problem, partial(matches_incoming, problem.cluster, term), [cls])
            yield _tie(problem, partial(matches_existing, problem.cluster, term), [cls])


def _tie(
    problem: Problem,
    matches: Callable[[int], bool],
    classes: Sequence[PodClass] = (),
    victims: Sequence[VictimClass] = (),
) -> Tie:
    found = problem.select(problem.by_labels(matches))
    return Tie([*found.classes, *classes], [*found.victims, *victims])


def order_sensitive(problem: Problem) -> Iterator[Relation]:
    """Relate carriers of affinity to the pods that match it, and pairs that repel in one order only."""
    cluster = problem.cluster
    repelling = [c for c in problem.classes if required_anti_affinity(cluster, c.pod)]
    for cls in problem.classes:
        terms = required_affinity(cluster, cls.pod)
        if terms and problem.asking(name, [cls]):
            ask = problem.by_labels(partial(matches_all, cluster, terms))
            victims = [v for v in problem.victims if ask(v.pod)]
            yield Relation(cls, [c for c in problem.classes if ask(c.pod)], victims, supporting=True)
        # two classes without a term of their own never repel each other
        others = problem.classes if cls in repelling else repelling
        lopsided = [c for c in others if _one_way(cluster, cls.pod, c.pod)]
        if lopsided:
            yield Relation(cls, lopsided)


def _one_way(cluster: Cluster, a: int, b: int) -> bool:
    """Whether some anti-affinity between two pending pods holds in one order of binding only."""

    def refused(later: int, earlier: int) -> frozenset[str]:
        if not cluster.profile(later).filters(name):
            return frozenset()
        own = {
            t.topology_key
            for t in required_anti_affinity(cluster, later)
            if matches_incoming(cluster, t, earlier)
        }
        theirs = {
            t.topology_key
            for t in required_anti_affinity(cluster, earlier)
            if matches_existing(cluster, t, later)
        }
        return frozenset(own | theirs)

    return refused(a, b) != refused(b, a)


FAMILY = Family(name, applies, encode, ties=ties, order_sensitive=order_sensitive)
