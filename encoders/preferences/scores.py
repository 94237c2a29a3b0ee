"""`--prefer scores`: the most points of soft criteria (`framework.measures.preferences.soft_points`).

    scores = Σ static points(c, n)·y[c,n]
             + Σ weight·(pods of c in domains with another match of a preferred term)
             − Σ weight·(pods of c in domains with another match of a preferred anti-affinity term)
             − 100·Σ excess over maxSkew of ScheduleAnyway constraints

Sense: max. "Another" match: a class that matches its own term needs two pods in the domain.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...framework.measures.preferences import plugin_weight, preferred_terms, schedule_anyway, static_points
from ...framework.rules.affinity import matches_incoming, preferred_affinity, preferred_anti_affinity
from ...framework.vocabulary import names
from ..excess import excess
from ..inter_pod_affinity import ties_of as affinity_ties
from ..terms import Terms
from ..topology_spread import ties_of as spread_ties

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...framework.index.affinity import AffinityTerm
    from ...framework.index.cluster import Cluster
    from ...framework.rules.spread import SpreadConstraint
    from ...framework.vocabulary.arrays import Bools
    from ..context import Context
    from ..family import Tie
    from ..problem import Matching, PodClass, Problem


def encode(ctx: Context) -> None:
    """Register the tier `scores`."""
    problem = ctx.problem
    cluster = problem.cluster
    total = Terms()
    for cls in problem.classes:
        points = static_points(cluster, cls.pod)
        for node in np.flatnonzero(cls.mask & (points != 0)).tolist():
            total.extend(ctx.placed([cls], [node]), int(points[node]))
        weight = plugin_weight(cluster, cls.pod, names.INTER_POD_AFFINITY)
        if weight:
            for term, sign in preferred_terms(cluster, cls.pod):
                total.extend(_met(ctx, cls, term, sign), weight * sign * term.weight)
    weights = {plugin_weight(cluster, c.pod, names.POD_TOPOLOGY_SPREAD) for c in problem.classes} - {0}
    for weight in sorted(weights):
        total.extend(excess(ctx, partial(_carried, weight), f"anyway[{weight}]"), -100 * weight)
    ctx.goal("scores", "max", total)


def _carried(weight: int, cluster: Cluster, i: int) -> tuple[SpreadConstraint, ...]:
    """Return the ScheduleAnyway constraints of pods whose profile gives them this weight."""
    mine = plugin_weight(cluster, i, names.POD_TOPOLOGY_SPREAD)
    return schedule_anyway(cluster, i) if mine == weight else ()


def _met(ctx: Context, cls: PodClass, term: AffinityTerm, sign: int) -> Terms:
    """Pods of the class that stand with another match, bounded on the side that the goal pulls to."""
    problem = ctx.problem
    cluster = problem.cluster
    ids = cluster.domains(term.topology_key).ids
    found = problem.select(problem.by_labels(partial(matches_incoming, cluster, term)))
    own = int(matches_incoming(cluster, term, cls.pod))
    met = Terms()
    for domain in sorted({int(d) for d in ids[cls.mask] if d >= 0}):
        nodes = np.asarray(ids == domain)
        matches = _matches(ctx, found, nodes)
        here = ctx.placed([cls], np.flatnonzero(nodes).tolist())
        upper = min(here.high, cls.size)
        pods = ctx.model.new_int_var(0, upper, f"met[{cluster.pods[cls.pod].key},{len(met.uppers)}]")
        literal = ctx.model.new_bool_var(f"another[{cluster.pods[cls.pod].key},{len(met.uppers)}]")
        if sign > 0:
            # a bonus: only with another match, and at most the pods that are here
            ctx.model.add(pods <= here.expression())
            ctx.model.add(pods <= upper * literal)
            ctx.model.add(matches.expression() >= 1 + own).only_enforce_if(literal)
        else:
            # a penalty: without the literal no other pod matches, with it every pod that is here counts
            ctx.model.add(matches.expression() <= own).only_enforce_if(literal.negated())
            ctx.model.add(pods >= here.expression()).only_enforce_if(literal)
        met.add(pods, upper)
    return met


def _matches(ctx: Context, found: Matching, nodes: Bools) -> Terms:
    """Pods that match in a domain: running ones that stay, and newcomers."""
    victims = [v for v in found.victims if nodes[v.node]]
    terms = Terms(constant=int(found.fixed[nodes].sum()) + sum(v.size for v in victims))
    terms.extend(ctx.evicted(victims), -1)
    return terms.extend(ctx.placed(found.classes, np.flatnonzero(nodes).tolist()))


def ties(problem: Problem) -> Iterator[Tie]:
    """Tie the classes of soft constraints and terms as hard ones of the same kinds do."""
    yield from spread_ties(problem, schedule_anyway)
    yield from affinity_ties(problem, preferred_affinity)
    yield from affinity_ties(problem, preferred_anti_affinity)
