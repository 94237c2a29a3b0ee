"""Blueprints: which rounds they are for, how nodes are divided, who leaves and who comes where."""

import pytest
from ortools.sat.python import cp_model
from support.builders import budget, cluster, group, node, pod
from support.rows import high, low

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.models import tiers
from kubestow.solver.refill.blueprint import blueprint, sides_of, suits
from kubestow.solver.refill.params import RefillParams

WEB = low.label(app="web")
ZONES = [node(name, zone=name[0], cpu="4") for name in ("x1", "x2", "y1", "y2")]
VIOLATIONS, EVICTED = tiers.violations(100), tiers.evicted(100, 0)


MANY = {VIOLATIONS: 99, EVICTED: 99}


def problem_of(*objects):
    return build_problem(build_cluster(cluster(*objects)))


def new_solver(seconds):
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = 600.0
    return solver


def drawn(problem, standing, slack=0, better=MANY):
    """The blueprint where all pods are to be placed, and the division of the nodes."""
    sides = sides_of(problem)
    held = [(tiers.scheduled(100), sum(cls.size for cls in problem.classes))]
    plan = blueprint(problem, sides, standing, held, better, slack, new_solver, RefillParams())
    return plan, sides


ROUNDS = [
    pytest.param([WEB.req(cpu="1").on("x1"), high.req(cpu="1")], True, id="room alone ties pods together"),
    pytest.param([high.req(cpu="1")], False, id="nobody can leave"),
    pytest.param(
        [WEB.req(cpu="1").on("x1"), high.req(cpu="1").label(app="a").anti("hostname")],
        False,
        id="pods repel each other",
    ),
    pytest.param(
        [WEB.req(cpu="1").on("x1"), high.req(cpu="1").host_port(80)], False, id="pods have ports of the host"
    ),
    pytest.param(
        [WEB.req(cpu="1").on("x1"), group("g", gang=1), high.req(cpu="1").member("g")],
        False,
        id="pods are of a group",
    ),
]


@pytest.mark.parametrize("pods, suited", ROUNDS)
def test_rounds_that_it_is_for(pods, suited):
    assert suits(problem_of(*ZONES, *pods)) is suited


def test_sides_are_the_zones_that_a_constraint_spreads_over():
    spread = high.label(app="a").req(cpu="1").spread("zone").times(2)
    sides = sides_of(problem_of(*ZONES, spread, high.req(cpu="2")))
    assert [side.tolist() for side in sides.nodes] == [[True, True, False, False], [False, False, True, True]]
    assert sides.tied == {0}


def test_an_over_committed_node_is_on_no_side():
    problem = problem_of(*ZONES, low.priority(200).req(cpu="5").on("x2"), high.req(cpu="1"))
    (side,) = sides_of(problem).nodes
    assert side.tolist() == [True, False, True, True]


def test_a_constraint_over_hosts_limits_a_class_on_each():
    alike = high.label(app="a").req(cpu="1").spread("hostname", max_skew=2).times(9)
    running = low.priority(200).label(app="a").req(cpu="1").on("x1")
    sides = sides_of(problem_of(*ZONES, alike, running))
    assert sides.caps.tolist() == [[1, 2, 2, 2]]


def test_the_victims_of_least_cost_leave():
    problem = problem_of(
        node("a", cpu="2"),
        node("b", cpu="2"),
        WEB.named("v").req(cpu="2").on("a"),
        low.label(app="db").named("w").req(cpu="2").on("b"),
        high.req(cpu="1").times(2),
        budget("web", app="web", allowed=0),
    )
    plan, _ = drawn(problem, {})
    assert plan.values == {VIOLATIONS: 0, EVICTED: 1}
    assert [(g.budgets, count) for (g, _), count in plan.leaving.items()] == [((0,), 0), ((), 1)]
    assert plan.coming == {(0, 0): 2}


def test_slack_makes_more_leave():
    objects = [
        node("a", cpu="2"),
        WEB.named("v").req(cpu="1").on("a"),
        WEB.named("w").req(cpu="1").on("a"),
        high.req(cpu="1"),
    ]
    assert drawn(problem_of(*objects), {})[0].values[EVICTED] == 1
    assert drawn(problem_of(*objects), {}, slack=1_000)[0].values[EVICTED] == 2


def test_there_is_no_blueprint_that_is_no_better_than_the_best_plan():
    objects = [node("a", cpu="2"), WEB.req(cpu="1").on("a").times(2), high.req(cpu="1")]
    assert drawn(problem_of(*objects), {}, better={VIOLATIONS: 0, EVICTED: 2})[0] is not None
    assert drawn(problem_of(*objects), {}, better={VIOLATIONS: 0, EVICTED: 1})[0] is None


def test_a_class_that_a_constraint_counts_stays_on_its_sides():
    spread = pod("p").priority(100).label(app="a").req(cpu="1").spread("zone", max_skew=2).times(3)
    problem = problem_of(*ZONES, WEB.req(cpu="1").on("x1"), spread)
    plan, _ = drawn(problem, {(0, 0): 2, (0, 3): 1})
    assert plan.coming == {(0, 0): 2, (0, 1): 1}
