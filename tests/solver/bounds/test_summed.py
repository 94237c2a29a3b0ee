"""Bounds from summed rows: what they say of hand-made rounds; no plan of a random round beats one."""

import pytest
from ortools.sat.python import cp_model
from support.builders import budget, cluster, node
from support.device_rounds import tiny_mixed
from support.group_rounds import tiny_groups
from support.guard_rounds import tiny_guards
from support.oracle.exhaustive import best_plan
from support.proof import told
from support.rows import evicted, high, low, scheduled, violations
from support.strategies import tiny
from support.volume_rounds import tiny_volumes
from support.whole_rounds import tiny_wholes

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.solver.bounds.summed import SummedModel


def bounds_of(snapshot, wanted):
    """Bound tier after tier, those above held at what is wanted of them."""
    problem = build_problem(build_cluster(snapshot))
    sums = SummedModel(problem)
    sums.add_room()
    found, held = {}, []
    for name, value in wanted.items():
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        found[name] = sums.bound(name, held, solver)
        held.append((name, value))
    return found


WEB = low.label(app="web")
OTHER = low.label(app="other")

ROWS = [
    pytest.param(
        cluster(*(node(n, cpu="2") for n in "ab"), high.req(cpu="2").times(3)),
        {scheduled(100): 2},
        id="two nodes have room for two of three pods",
    ),
    pytest.param(
        cluster(
            node("a", cpu="2"),
            WEB.named("v").req(cpu="1").on("a"),
            WEB.named("w").req(cpu="1").on("a"),
            high.req(cpu="2"),
            budget("app", app="web", allowed=1),
        ),
        {scheduled(100): 1, violations(100): 1, evicted(100, 0): 2},
        id="two must leave, and their budget has one disruption",
    ),
    pytest.param(
        cluster(
            *(node(n, cpu="2") for n in "ab"),
            WEB.named("v").req(cpu="2").on("a"),
            OTHER.named("w").req(cpu="2").on("b"),
            high.req(cpu="2"),
            budget("app", app="web", allowed=0),
        ),
        {scheduled(100): 1, violations(100): 0, evicted(100, 0): 1},
        id="of two that could leave one has no budget",
    ),
    pytest.param(
        cluster(node("a", cpu="4", pods=1), WEB.named("v").req(cpu="1").on("a"), high.req(cpu="1")),
        {scheduled(100): 1, violations(100): 0, evicted(100, 0): 1},
        id="a pod slot is room as well",
    ),
    pytest.param(
        cluster(
            node("a", cpu="2"),
            WEB.named("v").req(cpu="2").on("a").terminating(),
            high.req(cpu="2"),
        ),
        {scheduled(100): 1, violations(100): 0},
        id="room of a pod that terminates costs nothing",
    ),
    pytest.param(
        cluster(
            node("a", cpu="1"),
            node("b", cpu="2"),
            low.named("v").priority(200).req(cpu="2").on("a"),
            OTHER.named("w").req(cpu="1").on("b"),
            high.req(cpu="2"),
        ),
        {scheduled(100): 1, violations(100): 0, evicted(100, 0): 1},
        id="what a node is over-committed by takes nothing from another",
    ),
]


@pytest.mark.parametrize("snapshot, wanted", ROWS)
def test_the_bound_of_a_round(snapshot, wanted):
    assert bounds_of(snapshot, wanted) == wanted


ROUNDS = [
    *((tiny_guards, seed) for seed in range(7127, 7143)),
    *((tiny_wholes, seed) for seed in range(7108, 7119)),
    *((tiny, seed) for seed in range(7100, 7106)),
    *((tiny_groups, seed) for seed in range(7100, 7104)),
    *((tiny_mixed, seed) for seed in range(7100, 7103)),
    *((tiny_volumes, seed) for seed in range(7100, 7103)),
]


@pytest.mark.parametrize("make, seed", ROUNDS)
def test_no_plan_is_better_than_the_bound(make, seed):
    snapshot = make(seed)
    best = best_plan(build_cluster(snapshot))
    values = {name: value for name, (_, value) in best.tiers.items()}
    for name, bound in bounds_of(snapshot, values).items():
        if bound is not None:
            better = bound < values[name] if best.tiers[name][0] == "max" else bound > values[name]
            assert not better, told(snapshot, f"{name}: the bound is {bound}", best)
