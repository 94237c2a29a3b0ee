"""Guards and budgets that several priority levels contest: the optimum of every tier is that of all plans."""

import pytest
from hypothesis import given, settings
from support.guard_rounds import tiny_guard_rounds, tiny_guards
from support.oracle.exhaustive import best_plan
from support.oracle.valuation import level_of
from support.proof import check_optimal
from support.sweeps import few_or_all

from kubestow.framework.build import build_cluster
from kubestow.framework.state.moves import Leave

SEEDS = range(few_or_all(50, 200))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_plan_equals_the_exhaustive_search(seed):
    check_optimal(tiny_guards(seed))


def test_guards_move_victims_to_other_levels_often_enough():
    """In some best plans a guarded victim violates, at another level than its priority alone gives."""
    seen = {"violating": 0, "guarded": 0, "moved": 0}
    for seed in SEEDS[:30]:
        cluster = build_cluster(tiny_guards(seed))
        best = best_plan(cluster)
        left = [v for v in cluster.bound if Leave(v) in best.moves]
        own = {f"evicted[priority={level_of(cluster, v)},victim={cluster.pods[v].priority}]" for v in left}
        used = {name for name, (_, value) in best.tiers.items() if value}
        seen["violating"] += any(name.startswith("violations") for name in used)
        seen["guarded"] += any(cluster.pods[v].guard is not None for v in left)
        seen["moved"] += any(name.startswith("evicted") for name in used - own)
    assert min(seen.values()) >= 3, seen


@settings(max_examples=few_or_all(20, 60))
@given(snapshot=tiny_guard_rounds)
def test_no_round_that_hypothesis_finds_is_solved_worse(snapshot):
    check_optimal(snapshot)
