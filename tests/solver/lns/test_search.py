"""Large-neighbourhood search: every step keeps all rows of the model and never makes a tier worse."""

import time
from contextlib import closing
from itertools import islice
from random import Random

import numpy as np
import pytest
from support.builders import cluster, group, node, pod
from support.proof import PLENTY
from support.strategies import SMALL, generate

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.instances.generated import deployments, packing
from kubestow.instances.manifests import snapshot_of
from kubestow.instances.racks import racks
from kubestow.models import tiers
from kubestow.solver.lns.params import DEFAULT, LnsParams
from kubestow.solver.lns.search import LargeNeighbourhoodSearch
from kubestow.solver.model.round_model import RoundModel
from kubestow.solver.model.submodel import Submodels
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


def search_of(documents, workers=1, params=DEFAULT):
    problem = build_problem(build_cluster(snapshot_of(documents)))
    model = RoundModel(problem, SolveOptions(workers=workers))
    return (
        problem,
        model,
        LargeNeighbourhoodSearch(model, model.options, Bounding(model, model.options).recombination, params),
    )


def begin(problem, lns, names):
    outcome = complete(problem, ()).outcome
    assert lns.start(names, *counted(problem, outcome), PLENTY)
    return outcome


def steps(lns, number):
    with closing(lns.run(time.monotonic() + 3600)) as run:
        yield from islice(run, number)


def cost(model, names, solution):
    values = [solution.goals[name] for name in names]
    return [-v if model.goals[n].sense == "max" else v for n, v in zip(names, values, strict=True)]


@pytest.mark.parametrize("make", ROUNDS.values(), ids=ROUNDS)
@pytest.mark.parametrize("workers", [1, 2], ids=["one step after the other", "two at once"])
def test_every_step_keeps_all_rows_and_no_step_is_worse(make, workers):
    problem, model, lns = search_of(make(), workers)
    names = [tiers.scheduled(level) for level in problem.levels]
    begin(problem, lns, names)
    last = cost(model, names, lns.solution)
    for gain in steps(lns, 30):
        whole = Submodels(model.rows, lns.point)
        assert whole.broken().tolist() == []
        now = cost(model, names, lns.solution)
        assert now <= last
        assert gain == (now < last)
        last = now


@pytest.mark.parametrize("make", ROUNDS.values(), ids=ROUNDS)
def test_a_solution_is_what_the_model_reads_of_the_point(make):
    problem, _, lns = search_of(make())
    outcome = begin(problem, lns, [tiers.scheduled(problem.levels[0])])
    counts, leaving = counted(problem, outcome)
    assert dict(lns.solution.counts) == counts
    assert dict(lns.solution.leaving) == leaving
    assignment = assign(problem, lns.solution)
    assert len(assignment.placed) == len(outcome.placed)


def test_what_is_found_is_better_than_the_start():
    by_proof = LnsParams(sub_limit=10.0, max_sub_limit=10.0, max_size=4)
    problem, _, lns = search_of(ROUNDS["pods that only need room"](), params=by_proof)
    name = tiers.scheduled(problem.levels[-1])
    outcome = begin(problem, lns, [name])
    assert sum(steps(lns, 60)) > 0
    assert lns.solution.goals[name] > sum(
        1 for i in outcome.placed if problem.cluster.pods[i].priority == problem.levels[-1]
    )


@pytest.mark.parametrize("seed", range(12))
def test_every_family_of_constraints_is_kept(seed):
    problem = build_problem(build_cluster(generate(Random(seed), SMALL, "mixed")))
    model = RoundModel(problem, SolveOptions(workers=1))
    lns = LargeNeighbourhoodSearch(model, model.options)
    begin(problem, lns, [tiers.scheduled(level) for level in problem.levels[:1]])
    for _ in steps(lns, 6):
        assert Submodels(model.rows, lns.point).broken().tolist() == []


def test_what_hangs_on_a_node_is_free_with_it():
    """Literals of preemptors and violations on the node, and the lowest counts of spreading."""
    problem, model, lns = search_of(ROUNDS["spreading, evictions and budgets"]())
    begin(problem, lns, [tiers.scheduled(problem.levels[-1])])
    nodes = np.array([problem.victims[0].node])
    free = set(lns.free(nodes).tolist())
    names = {v.name.split("[")[0] for k, v in enumerate(model.context.model.proto.variables) if k in free}
    assert {"y", "evicted", "preemptor", "violating", "lowest"} <= names
    decisive = set(lns.variable_index.decisive.tolist())
    assert free & decisive == set(lns.variable_index.on(nodes).tolist())


def test_who_leaves_with_a_pod_on_the_node_is_free_with_it():
    """A group that is evicted whole: one node of three is drawn, and a step evicts members on two."""
    problem = build_problem(
        build_cluster(
            cluster(
                [node(n, cpu="2") for n in "abc"],
                group("g", disruptionMode="PodGroup"),
                [pod(f"m{n}").req(cpu="2").member("g").on(n) for n in "ab"],
                pod("u").req(cpu="2").priority(5).nodes("hostname", "In", "a"),
            )
        )
    )
    model = RoundModel(problem, SolveOptions(workers=1))
    lns = LargeNeighbourhoodSearch(model, model.options)
    begin(problem, lns, [tiers.scheduled(5)])
    free = set(lns.free(np.array([0])).tolist())
    names = {v.name for k, v in enumerate(model.context.model.proto.variables) if k in free}
    assert {"evicted[default/ma]", "evicted[default/mb]", "whole[default/g]"} <= names
    assert any(steps(lns, 5))
    assert sum(lns.solution.leaving.values()) == 2


def test_a_closure_that_grows_too_large_is_the_nodes_alone():
    problem, _, lns = search_of(ROUNDS["gangs in racks with devices"](), params=LnsParams(max_free=0))
    begin(problem, lns, [tiers.scheduled(problem.levels[-1])])
    nodes = lns.variable_index.nodes[:1]
    assert lns.free(nodes).tolist() == lns.variable_index.on(nodes).tolist()


def test_a_search_ends_where_nothing_can_change():
    too_large = cluster(node("a", cpu="1"), pod("p").req(cpu="2"))
    problem = build_problem(build_cluster(too_large))
    model = RoundModel(problem, SolveOptions(workers=1))
    lns = LargeNeighbourhoodSearch(model, model.options)
    begin(problem, lns, [tiers.scheduled(0)])
    assert list(steps(lns, 5)) == []


def test_nodes_that_lack_more_than_64_bits_hold_are_drawn_like_others():
    """Two pods of 7Ei run on one node: what it has free is below -2^63."""
    crowded = cluster(
        [node(n, cpu="4", memory="64Gi") for n in "abc"],
        [pod(f"huge-{k}").req(memory="7Ei").on("a") for k in range(2)],
        [pod(f"p{k}").req(cpu="1", memory="1Gi").priority(5) for k in range(9)],
    )
    problem = build_problem(build_cluster(crowded))
    assert problem.free_now.min() < -(2**63)
    model = RoundModel(problem, SolveOptions(workers=1))
    lns = LargeNeighbourhoodSearch(model, model.options)
    begin(problem, lns, [tiers.scheduled(5)])
    list(steps(lns, 5))
    assert sum(lns.solution.counts.values()) == 9
    assert sum(lns.solution.leaving.values()) == 2
