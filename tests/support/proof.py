"""The promises as assertions; what fails is told with the instance that failed."""

from dataclasses import replace

from kubestow.framework.build import build_cluster
from kubestow.solver.api import SolveOptions, solve_both
from kubestow.solver.plans.replay import replay
from support.builders import manifest
from support.moves import in_words
from support.oracle.exhaustive import best_plan

PLENTY = 600.0
"""Seconds that no search of a tiny round comes near: it ends by proof, however busy the machine is."""

OPTIONS = SolveOptions(workers=1, seed=0, time_limit=PLENTY)
"""One worker and a seed: the same run everywhere."""

SHORT = replace(OPTIONS, time_limit=2)
"""For small rounds: a few have very many solutions without an order, and end with a plan and a bound."""

HURRIED = replace(OPTIONS, time_limit=0.5)
"""For what holds at any time limit: that no plan is worse than greedy's."""


def solve_and_replay(snapshot, options=OPTIONS):
    """Solve a round with both schedulers and replay both plans on a cluster of its own.

    Returns
    -------
    (Plan, Plan)
        The optimal plan and greedy's.
    """
    optimal, greedy = solve_both(snapshot, options)
    replay(build_cluster(snapshot), optimal, options.prefer)
    replay(build_cluster(snapshot), greedy, options.prefer)
    return optimal, greedy


def check_optimal(snapshot, options=OPTIONS):
    """Hold the optimal plan of a tiny round to the exhaustive search, tier by tier; return both plans."""
    optimal, greedy = solve_and_replay(snapshot, options)
    best = best_plan(build_cluster(snapshot), options.prefer)
    names = [tier.name for tier in optimal.tiers]
    strangers = [name for name in best.tiers if name not in names]
    assert not strangers, told(snapshot, f"the plan has no tiers {strangers}")
    reached = {name: value for name, (_, value) in best.tiers.items()}
    wanted = {name: reached.get(name, 0) for name in names}
    if not greedy.stats.admissible and greedy.vector() < costs_of(optimal, wanted):
        # greedy's outcome is no plan, but better than every plan: it is the answer, and is said to be none
        wanted = {tier.name: tier.value for tier in greedy.tiers}
        assert not optimal.stats.admissible, told(snapshot, "greedy's inadmissible outcome is better")
    else:
        assert optimal.stats.admissible, told(snapshot, "greedy's inadmissible outcome is not better")
    found = {tier.name: tier.value for tier in optimal.tiers}
    differing = next((name for name in names if found[name] != wanted[name]), None)
    assert differing is None, told(
        snapshot,
        f"{differing}: the plan has {found[differing]}, the exhaustive search {wanted[differing]}"
        if differing
        else "",
        best,
        optimal,
    )
    open_tiers = [tier.name for tier in optimal.tiers if not tier.proven or tier.bound != tier.value]
    assert not open_tiers, told(snapshot, f"not proven: {open_tiers}", best, optimal)
    assert optimal.status == "OPTIMAL"
    return optimal, greedy


def check_same(snapshot, one, other):
    """Hold two plans of one round to equal values, tier by tier, as far as both are proven."""
    for a, b in zip(one.tiers, other.tiers, strict=True):
        if not (a.proven and b.proven):
            return
        assert a.name == b.name
        assert a.value == b.value, told(snapshot, f"{a.name}: {a.value} became {b.value}", plan=other)


def costs_of(plan, values):
    """Order values by a plan's tiers so that the smaller vector is the better one."""
    return tuple(-values[t.name] if t.sense == "max" else values[t.name] for t in plan.tiers)


def told(snapshot, fault, best=None, plan=None):
    """Write a failure down so that it can be run again."""
    lines = [f"{snapshot.name}: {fault}"]
    if plan is not None:
        lines.append(f"plan:  {[step.model_dump() for step in plan.steps]}")
        lines += [f"       {t.name} = {t.value}, bound {t.bound}" for t in plan.tiers if t.value or t.bound]
    if best is not None:
        cluster = build_cluster(snapshot)
        lines.append(f"exhaustive: {in_words(cluster, best.moves)}")
        lines += [f"       {name} = {value}" for name, (_, value) in best.tiers.items() if value]
    return "\n".join([*lines, manifest(snapshot)])
