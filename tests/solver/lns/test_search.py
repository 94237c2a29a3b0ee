"""The search near a plan: every step keeps all rows of the model and never makes a tier worse."""

import time
from contextlib import closing
from itertools import islice
from random import Random

import numpy as np
import pytest
from support.builders import cluster, node, pod
from support.strategies import SMALL, generate

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.instances.generated import deployments, packing
from kubestow.instances.manifests import snapshot_of
from kubestow.instances.racks import racks
from kubestow.models import tiers
from kubestow.solver.lns import search as near_search
from kubestow.solver.lns.search import Near
from kubestow.solver.model.round_model import RoundModel
from kubestow.solver.model.submodel import Excerpts
from kubestow.solver.options import SolveOptions
from kubestow.solver.ordering.decoding import assign, complete, counted
from kubestow.solver.search.tier_bounds import Bounding

ROUNDS = {
    "pods that only need room": lambda: packing(
        nodes=8, pods_per_node=4, priorities=2, utilisation=1.0, seed=3
    ),
    "spreading, evictions and budgets": lambda: deployments(12, seed=1, apps=6, demand=1.2),
    "gangs in racks with devices": lambda: racks(1, racks=4, nodes=3, devices=4, gangs=6),
}


def search_of(documents, workers=1):
    problem = build_problem(build_cluster(snapshot_of(documents)))
    model = RoundModel(problem, SolveOptions(workers=workers))
    return problem, model, Near(model, model.options, Bounding(model, model.options).mixing)


def begin(problem, near, names):
    outcome = complete(problem, ())
    assert near.start(names, *counted(problem, outcome), 60.0)
    return outcome


def steps(near, number):
    with closing(near.run(time.monotonic() + 3600)) as run:
        yield from islice(run, number)


def cost(model, names, solution):
    values = [solution.goals[name] for name in names]
    return [-v if model.goals[n].sense == "max" else v for n, v in zip(names, values, strict=True)]


@pytest.mark.parametrize("make", ROUNDS.values(), ids=ROUNDS)
@pytest.mark.parametrize("workers", [1, 2], ids=["one step after the other", "two at once"])
def test_every_step_keeps_all_rows_and_no_step_is_worse(make, workers):
    problem, model, near = search_of(make(), workers)
    names = [tiers.scheduled(level) for level in problem.levels]
    begin(problem, near, names)
    last = cost(model, names, near.solution)
    for gain in steps(near, 30):
        whole = Excerpts(model.rows, near.point)
        assert whole.broken().tolist() == []
        now = cost(model, names, near.solution)
        assert now <= last
        assert gain == (now < last)
        last = now


@pytest.mark.parametrize("make", ROUNDS.values(), ids=ROUNDS)
def test_a_solution_is_what_the_model_reads_of_the_point(make):
    problem, _, near = search_of(make())
    outcome = begin(problem, near, [tiers.scheduled(problem.levels[0])])
    counts, leaving = counted(problem, outcome)
    assert dict(near.solution.counts) == counts
    assert dict(near.solution.leaving) == leaving
    assignment = assign(problem, near.solution)
    assert len(assignment.placed) == len(outcome.placed)


def test_what_is_found_is_better_than_the_start():
    problem, _, near = search_of(ROUNDS["pods that only need room"]())
    name = tiers.scheduled(problem.levels[-1])
    outcome = begin(problem, near, [name])
    assert sum(steps(near, 60)) > 0
    assert near.solution.goals[name] > sum(
        1 for i in outcome.placed if problem.cluster.pods[i].priority == problem.levels[-1]
    )


@pytest.mark.parametrize("seed", range(12))
def test_every_family_of_constraints_is_kept(seed):
    problem = build_problem(build_cluster(generate(Random(seed), SMALL, "mixed")))
    model = RoundModel(problem, SolveOptions(workers=1))
    near = Near(model, model.options)
    begin(problem, near, [tiers.scheduled(level) for level in problem.levels[:1]])
    for _ in steps(near, 6):
        assert Excerpts(model.rows, near.point).broken().tolist() == []


def test_what_hangs_on_a_node_is_free_with_it():
    """Literals of preemptors and violations on the node, and the lowest counts of spreading."""
    problem, model, near = search_of(ROUNDS["spreading, evictions and budgets"]())
    begin(problem, near, [tiers.scheduled(problem.levels[-1])])
    nodes = np.array([problem.victims[0].node])
    free = set(near.free(nodes).tolist())
    names = {v.name.split("[")[0] for k, v in enumerate(model.context.model.proto.variables) if k in free}
    assert {"y", "evicted", "preemptor", "violating", "lowest"} <= names
    decisive = set(near.places.decisive.tolist())
    assert free & decisive == set(near.places.on(nodes).tolist())


def test_a_closure_that_grows_too_large_stays_at_what_is_near(monkeypatch):
    problem, _, near = search_of(ROUNDS["gangs in racks with devices"]())
    begin(problem, near, [tiers.scheduled(problem.levels[-1])])
    nodes = near.places.nodes[:1]
    monkeypatch.setattr(near_search, "MOST_FREE", 0)
    assert near.free(nodes).tolist() == near.places.on(nodes).tolist()


def test_a_search_ends_where_nothing_can_change():
    too_large = cluster(node("a", cpu="1"), pod("p").req(cpu="2"))
    problem = build_problem(build_cluster(too_large))
    model = RoundModel(problem, SolveOptions(workers=1))
    near = Near(model, model.options)
    begin(problem, near, [tiers.scheduled(0)])
    assert list(steps(near, 5)) == []
