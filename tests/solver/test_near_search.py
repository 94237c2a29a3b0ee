"""Near the best plan: a search that frees a few nodes only finds what is better there and keeps the rest."""

from kubestow.encoders.problem import build_problem
from kubestow.framework.cluster import Cluster
from kubestow.instances.generated import packing
from kubestow.instances.manifests import snapshot_of
from kubestow.models import tiers
from kubestow.solver.model import RoundModel
from kubestow.solver.options import SolveOptions


def round_model():
    cluster = Cluster(snapshot_of(packing(nodes=4, pods_per_node=4, priorities=1, utilisation=1.0, seed=3)))
    return RoundModel(build_problem(cluster), SolveOptions(workers=1))


def placed_on(solution, nodes):
    return sum(count for (_, node), count in solution.counts.items() if node in nodes)


def test_only_the_free_nodes_change():
    model = round_model()
    solution = model.search_near([tiers.scheduled(0)], {0, 1}, {}, {}, 5.0)
    assert placed_on(solution, {0, 1}) > 0
    assert placed_on(solution, {2, 3}) == 0


def test_what_stands_elsewhere_stays():
    model = round_model()
    first = model.search_near([tiers.scheduled(0)], {0, 1}, {}, {}, 5.0)
    second = model.search_near([tiers.scheduled(0)], {2, 3}, first.counts, first.leaving, 5.0)
    kept = {key: n for key, n in second.counts.items() if key[1] in (0, 1)}
    assert kept == dict(first.counts)
    assert second.goals[tiers.scheduled(0)] >= first.goals[tiers.scheduled(0)]


def test_where_everything_is_free_it_is_the_whole_search():
    model = round_model()
    near = model.search_near([tiers.scheduled(0)], {0, 1, 2, 3}, {}, {}, 20.0)
    whole = model.search([tiers.scheduled(0)], 20.0, lambda value, bound: None)
    assert near.goals[tiers.scheduled(0)] == whole.solution.goals[tiers.scheduled(0)]
