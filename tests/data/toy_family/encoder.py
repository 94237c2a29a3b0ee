"""The rows: in the end a leader is there for each pod that follows, and no node has too many followers.

    lands(c, anywhere) -> Σ leaders that run + Σ leaders placed >= 1
    Σ_c y[c,n] − Σ_v evicted[v] <= max(0, most(n) − followers that run)

Source: made up.
"""

import numpy as np

from kubestow.encoders.family import Family, Relation, Tie
from kubestow.encoders.terms import Terms

from . import FOLLOWERS, follows, leads, most_on


def matching(problem, what, wanted=None):
    """Return the running pods, classes and victims of which something is said."""
    pods = problem.cluster.pods

    def ask(i):
        return what(pods[i]) is not None if wanted is None else what(pods[i]) == wanted

    return problem.select(problem.by_labels(ask))


def applies(problem):
    """Only where a pending pod follows."""
    return any(followers(problem))


def followers(problem):
    """Return the classes that follow, with what they follow."""
    pods = problem.cluster.pods
    return [
        (c, follows(pods[c.pod])) for c in problem.asking(FOLLOWERS, problem.classes) if follows(pods[c.pod])
    ]


def encode(ctx):
    """Add both kinds of rows."""
    problem = ctx.problem
    for cls, wanted in followers(problem):
        found = matching(problem, leads, wanted)
        lands = ctx.lands(cls, range(problem.cluster.n_nodes))
        if lands is not None and not found.fixed.any() and not found.victims:
            ctx.at_most(Terms().extend(ctx.placed(found.classes), -1), -1, when=lands)
    found = matching(problem, follows)
    for n, node in enumerate(problem.cluster.nodes):
        most = most_on(node)
        if most is not None:
            here = [v for v in found.victims if v.node == n]
            there = int(found.fixed[n]) + sum(v.size for v in here)
            terms = ctx.placed([c for c, _ in followers(problem)], [n]).extend(ctx.evicted(here), -1)
            ctx.at_most(terms, max(most - there, 0))


def limit(problem, cls):
    """Bound the members of a class that follows by what each node takes."""
    if not follows(problem.cluster.pods[cls.pod]):
        return None
    most = [most_on(node) for node in problem.cluster.nodes]
    return np.array([cls.size if n is None else n for n in most], dtype=np.int64)


def ties(problem):
    """Tie followers to leaders, wherever they are."""
    for cls, wanted in followers(problem):
        found = matching(problem, leads, wanted)
        yield Tie([cls, *found.classes], found.victims)


def order_sensitive(problem):
    """Relate followers to leaders, which come first and go last."""
    for cls, wanted in followers(problem):
        found = matching(problem, leads, wanted)
        yield Relation(cls, found.classes, found.victims, supporting=True)


FAMILY = Family(FOLLOWERS, applies, encode, limit=limit, ties=ties, order_sensitive=order_sensitive)
