"""Rounds searched as a whole and by their parts."""

import time

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.models.plan import Stats
from kubestow.solver.decomposition.components import find_parts
from kubestow.solver.decomposition.search import search_round
from kubestow.solver.plans.document import build_plan
from kubestow.solver.plans.greedy_baseline import greedy_outcome
from kubestow.solver.plans.replay import replay
from support.proof import OPTIONS

WHOLE = 10**9
"""Least weight of a part with which no round falls apart."""

APART = 1
"""Least weight of a part with which every round does that can."""


def solved(snapshot, least, options=OPTIONS):
    """Search a round with parts of at least this weight, and replay the plan that was found."""
    cluster = build_cluster(snapshot)
    greedy, _ = greedy_outcome(cluster, options.prefer)
    found = search_round(cluster, greedy, options, None, time.monotonic(), least=least)
    plan = plan_of(cluster, found)
    replay(cluster, plan, options.prefer)
    return plan


def plan_of(cluster, found):
    """Write what was found as a plan."""
    stats = Stats(interrupted=found.interrupted)
    return build_plan(cluster, found.best, found.valuation, found.bounds, "optimal", stats)


def parts_of(snapshot, prefer="none"):
    """Return the parts of a round, however small they are."""
    return find_parts(build_problem(build_cluster(snapshot)), prefer)
