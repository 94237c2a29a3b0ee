"""Which rounds are packed, who stands where by the sums, and what comes of it in numbers of the round."""

import time

import pytest
from ortools.sat.python import cp_model
from support.builders import cluster, group, node
from support.rows import high, low

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.models import tiers
from kubestow.solver.bounds.summed import SummedModel
from kubestow.solver.packing.params import PackingParams
from kubestow.solver.packing.quotas import quotas
from kubestow.solver.packing.search import Packing
from kubestow.solver.packing.side import suits

SCHEDULED = tiers.scheduled(100)
ZONES = [node(name, zone=name[0], cpu="4") for name in ("x1", "x2", "y1", "y2")]
SOON = 600.0


def problem_of(*objects):
    return build_problem(build_cluster(cluster(*objects)))


def new_solver(seconds):
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = SOON
    return solver


def packing_of(problem, **changes):
    return Packing(problem, 0, new_solver, PackingParams(**changes))


def drawn(problem, held=(), names=(SCHEDULED,)):
    until = time.monotonic() + SOON
    return quotas(problem, packing_of(problem).sides, held, names, new_solver, PackingParams(), until)


ROUNDS = [
    pytest.param([high.req(cpu="1")], True, id="room alone decides"),
    pytest.param([low.req(cpu="1").on("x1"), high.req(cpu="1")], True, id="those who run are less important"),
    pytest.param(
        [high.named("h").priority(50).req(cpu="1").on("x1"), high.req(cpu="1"), low.req(cpu="1")],
        False,
        id="one who runs is more important than one who waits",
    ),
    pytest.param(
        [low.req(cpu="1").on("x1"), high.req(cpu="1"), high.named("p").req(cpu="1").never()],
        False,
        id="some pods may evict and others not",
    ),
    pytest.param([low.req(cpu="1").on("x1"), high.req(cpu="1").never()], True, id="no pod may evict"),
    pytest.param([high.req(cpu="1").label(app="a").anti("hostname")], False, id="pods repel each other"),
    pytest.param([high.req(cpu="1").host_port(80)], False, id="pods have ports of the host"),
    pytest.param([group("g", gang=1), high.req(cpu="1").member("g")], False, id="pods are of a group"),
    pytest.param([high.req(memory="100Ei")], False, id="a pod asks for more than 64 bits can count"),
    pytest.param([], False, id="no pod waits"),
]


@pytest.mark.parametrize("pods, suited", ROUNDS)
def test_rounds_that_it_is_for(pods, suited):
    assert suits(problem_of(*ZONES, *pods)) is suited


def test_nodes_of_many_types_are_left_alone():
    nodes = [node(f"n{k}", cpu=str(k + 1)) for k in range(5)]
    problem = problem_of(*nodes, high.req(cpu="1"))
    assert packing_of(problem, most_types=5).worthwhile
    assert not packing_of(problem, most_types=4).worthwhile


def test_nodes_that_victims_make_unlike_are_alike():
    problem = problem_of(*ZONES, low.req(cpu="3").on("x1"), low.req(cpu="1").on("y1"), high.req(cpu="1"))
    assert packing_of(problem, most_types=1).worthwhile


def test_the_largest_pod_stays_out_where_one_has_to():
    pods = [high.named(name).req(cpu=cpu) for name, cpu in (("a", "3"), ("b", "2"), ("c", "1"))]
    plan = drawn(problem_of(node("n", cpu="4"), *pods))
    assert plan.coming.tolist() == [[0, 1, 1]]


def test_tiers_below_are_as_good_as_they_can_be():
    problem = problem_of(node("n", cpu="4"), high.req(cpu="3"), low.req(cpu="1").times(3))
    below = drawn(problem, [(SCHEDULED, 1)], [tiers.scheduled(0)])
    assert sorted(below.coming[0].tolist()) == [1, 1]
    assert drawn(problem, [(SCHEDULED, 2)], [tiers.scheduled(0)]) is None


def test_zones_that_pods_are_spread_over_have_like_numbers():
    spread = high.label(app="web").req(cpu="1").spread("zone", max_skew=1).times(5)
    plan = drawn(problem_of(*ZONES, spread))
    assert sorted(plan.coming[:, 0].tolist()) == [2, 3]


def test_hosts_that_pods_are_spread_over_have_a_least_number_each():
    spread = high.label(app="web").req(cpu="1").spread("hostname", max_skew=1).times(10)
    problem = problem_of(*(node(name, cpu="4") for name in "abcd"), spread)
    plan = drawn(problem)
    assert plan.coming.tolist() == [[10]]
    assert set(plan.least[0].tolist()) == {2}
    assert set(plan.most[0].tolist()) == {3}


def test_hosts_where_others_count_have_maxskew_at_most():
    spread = high.label(app="web").req(cpu="1").spread("hostname", max_skew=1)
    problem = problem_of(*(node(n, cpu="4") for n in "ab"), spread.times(8), spread.named("o").req(cpu="2"))
    plan = drawn(problem)
    assert plan.least.max() == 0
    assert plan.most.max() == 1


def test_a_plan_in_numbers_lets_stay_whom_it_can():
    problem = problem_of(
        node("n", cpu="4"),
        low.named("large").req(cpu="3").on("n"),
        low.named("small").req(cpu="1").on("n"),
        high.req(cpu="3"),
    )
    found = packing_of(problem).plan([(SCHEDULED, 1)], [], 3, time.monotonic() + SOON)
    gone = [int(problem.victims[v].usage.max()) for v in found.leaving]
    assert found.counts == {(0, 0): 1}
    assert gone == [3000]


def test_sums_that_no_packing_attains_are_given_up():
    problem = problem_of(*(node(n, cpu="3") for n in "ab"), high.req(cpu="2").times(3))
    packing = packing_of(problem)
    assert packing.plan([(SCHEDULED, 3)], [], 3, time.monotonic() + SOON) is None
    assert packing.plan([(SCHEDULED, 2)], [], 3, time.monotonic() + SOON) is not None


def test_no_time_is_no_plan():
    problem = problem_of(node("n", cpu="3"), high.req(cpu="2"))
    assert packing_of(problem).plan([(SCHEDULED, 1)], [], 3, time.monotonic() - 1.0) is None


def test_room_that_sums_up_beyond_64_bits_is_divided_as_it_is(monkeypatch):
    told, add_room = [], SummedModel.add_room
    monkeypatch.setattr(
        SummedModel, "add_room", lambda self, grain, *most: told.append(grain) or add_room(self, grain, *most)
    )
    nodes = [node(f"n{k}", cpu="4", memory="16Pi") for k in range(600)]
    problem = problem_of(*nodes, high.req(cpu="1", memory="1Gi").times(2))
    assert problem.fits_in_64_bits
    assert drawn(problem).coming.tolist() == [[2]]
    memory = problem.cluster.resources.index("memory")
    assert told[0][0, memory] == -(-600 * 2**54 // 1_000_000)
