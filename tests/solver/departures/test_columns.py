"""Bounds from who leaves each node: of rounds made by hand; no plan of a random round beats one."""

import time

import pytest
from support.builders import budget, cluster, node
from support.device_rounds import tiny_mixed
from support.group_rounds import tiny_groups
from support.guard_rounds import tiny_guards
from support.oracle.exhaustive import best_plan
from support.proof import told
from support.refill_rounds import tiny_refills
from support.rows import evicted, high, low, scheduled, violations
from support.strategies import tiny
from support.sweeps import few_or_all
from support.volume_rounds import tiny_volumes
from support.whole_rounds import tiny_wholes

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.solver.departures.columns import departures_of
from kubestow.solver.departures.demand import scarce_resources
from kubestow.solver.departures.params import DepartureParams

EAGER = {
    "all resources": DepartureParams(most_pods=100.0, scarce=0.0),
    "one resource": DepartureParams(most_pods=100.0, most_rows=1),
    "coarse units, one signature": DepartureParams(most_pods=100.0, most_units=3, most_signatures=1),
    "all nodes one group": DepartureParams(most_pods=100.0, scarce=0.0, most_groups=1),
}


def bounds_of(snapshot, wanted, params):
    """Bound the tiers that count victims, those above held at what is wanted of them."""
    problem = build_problem(build_cluster(snapshot))
    found, held = {}, {}
    for name, value in wanted.items():
        departures = departures_of(problem, held, params)
        if departures is not None and name in departures.kinds.tiers:
            found[name] = departures.bound(name, held, time.monotonic() + 600, 1000)
        held[name] = value
    return found


WEB = low.label(app="web")
FULL = [WEB.named(f"v{n}{k}").req(cpu="2").on(n) for n in "ab" for k in "12"]

ROWS = [
    pytest.param(
        cluster(*(node(n, cpu="4") for n in "ab"), *FULL, high.req(cpu="3").times(2)),
        {scheduled(100): 2, evicted(100, 0): 4},
        id="a node needs whole pods to leave: three of four would do in sum",
    ),
    pytest.param(
        cluster(
            *(node(n, cpu="5") for n in "ab"),
            *FULL,
            high.req(cpu="3").times(2),
            budget("web", app="web", allowed=1),
        ),
        {scheduled(100): 2, violations(100): 1, evicted(100, 0): 2},
        id="the room of one node is of no use to the pod on another",
    ),
    pytest.param(
        cluster(*(node(n, cpu="4") for n in "ab"), *FULL[::2], high.req(cpu="3")),
        {scheduled(100): 1, evicted(100, 0): 1},
        id="the room of all nodes together would do, so sums have no price",
    ),
    pytest.param(
        cluster(
            *(node(n, cpu="4") for n in "ab"),
            *FULL,
            low.named("t").req(cpu="0").on("a").terminating(),
            high.req(cpu="1"),
        ),
        {scheduled(100): 1, evicted(100, 0): 1},
        id="a pod that terminates frees nothing here",
    ),
    pytest.param(
        cluster(
            *(node(f"n{k}", cpu="4", memory="16Pi") for k in range(600)),
            *(WEB.named(f"v{k}").req(cpu="4").on(f"n{k}") for k in range(600)),
            high.req(cpu="3", memory="1Gi"),
        ),
        {scheduled(100): 1, evicted(100, 0): 1},
        id="all memory together is beyond 64 bits",
    ),
]


def test_the_scarcest_resource_is_found_where_another_sums_up_beyond_64_bits():
    nodes = [node(f"n{k}", cpu="4", memory="16Pi") for k in range(600)]
    problem = build_problem(build_cluster(cluster(*nodes, high.req(cpu="3", memory="1Gi"))))
    assert problem.fits_in_64_bits
    scarce = scarce_resources(problem, DepartureParams())
    assert problem.cluster.resources[scarce.rows[0]] == "cpu"


@pytest.mark.parametrize("snapshot, wanted", ROWS)
@pytest.mark.parametrize("how", EAGER)
def test_the_bound_of_a_round(snapshot, wanted, how):
    found = bounds_of(snapshot, wanted, EAGER[how])
    if how.startswith("coarse"):  # amounts are rounded down
        assert all(found[name] <= wanted[name] for name in found)
    else:
        assert found == {name: value for name, value in wanted.items() if name != scheduled(100)}


ROUNDS = [
    *((tiny_refills, seed) for seed in range(50_000, 50_000 + few_or_all(12, 2_500))),
    *((tiny_guards, seed) for seed in range(50_000, 50_000 + few_or_all(8, 1_000))),
    *((tiny_wholes, seed) for seed in range(50_000, 50_000 + few_or_all(4, 400))),
    *((tiny, seed) for seed in range(50_000, 50_000 + few_or_all(4, 500))),
    *((tiny_groups, seed) for seed in range(50_000, 50_000 + few_or_all(2, 200))),
    *((tiny_mixed, seed) for seed in range(50_000, 50_000 + few_or_all(2, 200))),
    *((tiny_volumes, seed) for seed in range(50_000, 50_000 + few_or_all(3, 200))),
]


@pytest.mark.parametrize("make, seed", ROUNDS)
def test_no_plan_is_better_than_the_bound(make, seed):
    snapshot = make(seed)
    best = best_plan(build_cluster(snapshot))
    values = {name: value for name, (_, value) in best.tiers.items()}
    for how, params in EAGER.items():
        for name, bound in bounds_of(snapshot, values, params).items():
            assert bound is None or bound <= values[name], told(
                snapshot, f"{name}, {how}: the bound is {bound}", best
            )


@pytest.mark.parametrize(
    "changes",
    [{"most_pods": 0.5}, {"most_choices": 2}],
    ids=["many pods a node", "more choices than are listed"],
)
def test_rounds_that_are_left_to_sums(changes):
    snapshot, _ = ROWS[0].values
    problem = build_problem(build_cluster(snapshot))
    assert departures_of(problem, {scheduled(100): 2}, DepartureParams()) is not None
    assert departures_of(problem, {scheduled(100): 2}, DepartureParams(**changes)) is None


def departures_in(seed):
    """Who may leave each node of a random round, with the values that its best plan holds; None without."""
    snapshot = tiny_refills(seed)
    values = {name: value for name, (_, value) in best_plan(build_cluster(snapshot)).tiers.items()}
    return departures_of(build_problem(build_cluster(snapshot)), values, EAGER["all resources"]), values


@pytest.mark.parametrize("seed", range(50_000, 50_006))
def test_columns_that_are_forgotten_leave_one_for_each_type(seed):
    departures, values = departures_in(seed)
    if departures is None:
        pytest.skip("nobody can leave")
    for name in sorted(departures.kinds.tiers):
        departures.bound(name, values, time.monotonic() + 600, 1000)
    before = set(departures.known)
    departures.forget(1024.0 * 1024.0)
    assert set(departures.known) == before
    departures.forget(0.0)
    assert {column.kind for column in departures.known} == set(range(len(departures.choices.times)))
    assert set(departures.known) <= before


def test_a_column_that_is_dearer_than_the_best_one_is_forgotten():
    snapshot, _ = ROWS[0].values
    departures = departures_of(build_problem(build_cluster(snapshot)), {scheduled(100): 2}, DepartureParams())
    departures.bound(evicted(100, 0), {scheduled(100): 2}, time.monotonic() + 600, 1000)
    best = next(iter(departures.known))
    wasteful = best._replace(choice=int(departures.choices.first[best.kind + 1]) - 1, pods=(0,))
    departures.known[wasteful] = None
    departures.forget(0.25)
    assert wasteful not in departures.known
    assert departures.known
