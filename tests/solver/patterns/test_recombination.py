"""Recombination: solutions made of the nodes of others."""

from itertools import combinations_with_replacement
from math import inf

import numpy as np
import pytest
from support.builders import cluster, node, pod
from support.proof import PLENTY

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.models import tiers
from kubestow.solver.model.round_model import Completion, RoundModel
from kubestow.solver.model.submodel import Submodels
from kubestow.solver.options import SolveOptions
from kubestow.solver.patterns.params import PatternParams
from kubestow.solver.search.params import SearchParams
from kubestow.solver.search.tier_bounds import Bounding

AT_ONCE = PatternParams(recombination_delay=0.0, recombination_share=inf)
"""No attempt waits for its time."""


def bounding_of(model, patterns=AT_ONCE):
    return Bounding(model, model.options, SearchParams(patterns=patterns))


@pytest.fixture
def model():
    """Two nodes of 4 cores; pods of 3, 2, 2 and 1: the best round fills both."""
    pods = [pod(f"p{k}").req(cpu=str(cpu)) for k, cpu in enumerate((3, 2, 2, 1))]
    problem = build_problem(build_cluster(cluster(node("a", cpu="4"), node("b", cpu="4"), *pods)))
    return RoundModel(problem, SolveOptions(workers=1))


def point(model, *on_nodes):
    """Values of all variables where nodes have pods that ask for so many cores."""
    classes = model.problem.classes
    index = model.problem.cluster.resources.index("cpu")
    cores = {int(c.request[index]) // 1000: c.index for c in classes}
    counts = {}
    for n, asked in enumerate(on_nodes):
        for cpu in asked:
            key = (cores[cpu], n)
            counts[key] = counts.get(key, 0) + 1
    assert model.complete(counts, {}, [tiers.scheduled(0)], PLENTY) is Completion.COMPLETE
    return model.values


def put_together(recombination, model):
    attempt = recombination.attempt(model.cost(tiers.scheduled(0)), PLENTY)
    return None if attempt is None else attempt.search()


def placed(model, values):
    return model.solution(values).goals[tiers.scheduled(0)]


def test_the_best_nodes_of_two_solutions_make_one_that_is_better_than_both(model):
    recombination = bounding_of(model).recombination()
    recombination.see(point(model, [3, 1], []))
    recombination.see(point(model, [], [2, 2]))
    found = put_together(recombination, model)
    assert placed(model, found) == 4
    assert Submodels(model.rows, found).broken().tolist() == []


def test_what_is_found_is_the_best_choice_of_one_known_pattern_for_each_node(model):
    seen = [point(model, [2], [1]), point(model, [3], [2]), point(model, [1, 2], [])]
    recombination = bounding_of(model).recombination()
    for values in seen:
        recombination.see(values)
    found = put_together(recombination, model)
    nodes = [model.variable_index.on(np.array([n])) for n in (0, 1)]
    patterns = {tuple(values[mine]) for values in seen for mine in nodes}
    best = 0
    for pair in combinations_with_replacement(patterns, 2):
        values = np.zeros_like(found)
        for mine, pattern in zip(nodes, pair, strict=True):
            values[mine] = pattern
        if not len(Submodels(model.rows, values).broken()):
            best = max(best, placed(model, values))
    assert placed(model, found) == best


def test_no_attempt_is_made_where_nothing_new_was_seen_or_one_is_under_way(model):
    recombination, cost = bounding_of(model).recombination(), model.cost(tiers.scheduled(0))
    assert recombination.attempt(cost, PLENTY) is None
    recombination.see(point(model, [3, 1], []))
    first = recombination.attempt(cost, PLENTY)
    recombination.see(point(model, [], [2, 2]))
    assert recombination.attempt(cost, PLENTY) is None
    first.stop()
    assert recombination.attempt(cost, PLENTY).search() is not None
    recombination.see(point(model, [2, 2], []))
    assert recombination.attempt(cost, PLENTY) is None, "nodes are alike: this is no new pattern"


def test_a_stopped_attempt_finds_nothing(model):
    recombination = bounding_of(model).recombination()
    recombination.see(point(model, [3, 1], []))
    attempt = recombination.attempt(model.cost(tiers.scheduled(0)), PLENTY)
    attempt.stop()
    assert attempt.search() is None


@pytest.mark.parametrize("limit", ["max_priced_types", "max_recombined_variables"])
def test_nothing_is_put_together_where_that_takes_too_many_patterns(model, limit):
    assert bounding_of(model, PatternParams(**{limit: 0})).recombination() is None


def test_a_model_that_was_given_a_row_is_put_together_with_it(model):
    bounds = bounding_of(model)
    first = bounds.recombination()
    assert bounds.recombination() is first
    model.bound(tiers.scheduled(0), 3)
    recombination = bounds.recombination()
    recombination.see(point(model, [3], []))
    recombination.see(point(model, [], [2, 2]))
    found = put_together(recombination, model)
    assert placed(model, found) == 3
