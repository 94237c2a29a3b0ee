"""A round that asks about some pods: the tier before all others, and the best plan that places them."""

from dataclasses import replace

import pytest
from support.builders import cluster, group, node, pod
from support.oracle.placing import best_tiers
from support.sweeps import few_or_all
from support.why_rounds import OPTIONS, asked_round

from kubestow.framework.build import build_cluster
from kubestow.solver.api import solve

P = pod("p").req(cpu="2")


def fault(seed):
    """How the best plan that places the pod differs from the best of all plans; nothing where it does not."""
    snapshot = asked_round(seed)
    if snapshot is None:
        return None
    plan = solve(snapshot, OPTIONS)
    if not plan.stats.admissible:
        return None  # greedy's outcome beats every plan
    expected = best_tiers(build_cluster(snapshot))
    found = {tier.name: tier.value for tier in plan.tiers if tier.value}
    return None if found == expected else (found, expected)


@pytest.mark.parametrize("seed", range(400, 406))
def test_the_best_plan_that_places_a_pod_is_the_best_of_all_plans(seed):
    assert fault(seed) is None


@pytest.mark.slow
@pytest.mark.parametrize("start", range(500, few_or_all(540, 600), 20))
def test_many_best_plans_that_place_a_pod(start):
    assert {seed: found for seed in range(start, start + 20) if (found := fault(seed))} == {}


def asked(*objects, about):
    keys = tuple(f"default/{name}" for name in about)
    return solve(replace(cluster(*objects), asked=keys), OPTIONS)


def test_a_pod_that_is_asked_about_comes_before_more_important_ones():
    plan = asked(node("n", cpu="2"), P.named("a").priority(9), P.named("b"), about=["b"])
    assert plan.placed() == {"default/b": "n"}
    assert (plan.tiers[0].name, plan.tiers[0].value, plan.tiers[0].proven) == ("asked", 1, True)


def test_a_pod_that_no_plan_places_is_proven_to_be_one():
    plan = asked(node("n", cpu="1"), P, about=["p"])
    assert (plan.tiers[0].value, plan.tiers[0].bound, plan.status) == (0, 0, "OPTIMAL")


def test_of_several_pods_one_is_enough():
    plan = asked(node("n", cpu="2"), P.times(3), pod("q").req(cpu="2").priority(5), about=["p-0", "p-1"])
    assert plan.tiers[0].value == 1
    assert len(plan.placed()) == 1


def test_a_group_that_is_asked_about_starts_whole():
    members = [P.named(f"m{k}").member("g") for k in range(2)]
    objects = [node("n", cpu="4"), group("g", gang=2), *members, P.named("a").priority(9).req(cpu="3")]
    plan = asked(*objects, about=["m0", "m1"])
    assert set(plan.placed()) == {"default/m0", "default/m1"}


def test_an_ordinary_round_has_no_such_tier():
    assert "asked" not in [tier.name for tier in solve(cluster(node("n"), P), OPTIONS).tiers]
