"""The model by domains: what it bounds, and when several of it are alternatives."""

import pytest
from ortools.sat.python import cp_model
from support.builders import cluster, composite, group, node, pod

from kubestow.encoders.build import build_problem
from kubestow.encoders.domains.master import domain_masters
from kubestow.encoders.terms import Terms
from kubestow.framework.build import build_cluster

NODES = [node(name, cpu="3").label(rack=name, block=name[0]) for name in ("a1", "a2", "b1")]


def leaf(name, count, *keys, cpu="1", parent="root"):
    return [group(name, *keys, gang=count, parent=parent), pod(name).req(cpu=cpu).member(name).times(count)]


def bounds(*objects):
    """Each model's bound of the pods that groups place."""
    problem = build_problem(build_cluster(cluster(NODES, *objects, release="1.37")))
    found = []
    for make in domain_masters(problem):
        master = make()
        terms = next(iter(master.grouped.values()), Terms())
        master.model.maximize(terms.expression())
        solver = cp_model.CpSolver()
        assert solver.solve(master.model) == cp_model.OPTIMAL
        found.append(solver.value(terms.expression()))
    return found


PAIR = leaf("p", 3, "rack"), leaf("q", 3, "rack")

# name -> (objects, the bound of each model)
BOUNDS = {
    "each domain of the root is a model of its own, the roomier first": (
        (composite("root", "block", gang=2), *PAIR),
        [6, 0],
    ),
    "without a key at the root there is one": ((composite("root", gang=2), *PAIR), [6]),
    "beside other groups, too": (
        (composite("root", "block", gang=2), *PAIR, leaf("r", 3, "rack", parent=None)),
        [9],
    ),
    "only whole pods fit a node": ((composite("root", "block", gang=1), leaf("p", 3, cpu="2")), [0, 0]),
    "a child that is short of members takes its parent along": (
        (composite("root", "block", gang=2), leaf("p", 3, "rack"), leaf("q", 4, "rack")),
        [0, 0],
    ),
    "a running member that nobody may evict keeps the tree where it is": (
        (composite("root", "block", gang=2), *PAIR, pod("runs").member("p").on("b1")),
        [0, 0],
    ),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_what_groups_can_place_at_most(name):
    objects, found = BOUNDS[name]
    assert bounds(*objects) == found
