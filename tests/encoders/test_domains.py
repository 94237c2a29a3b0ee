"""The model by domains: what it bounds, which groups are alike in it, and when several are alternatives."""

from collections import Counter
from dataclasses import replace

import pytest
from ortools.sat.python import cp_model
from support.builders import cluster, composite, group, node, pod

from kubestow.encoders.build import build_problem
from kubestow.encoders.domains.group_types import _Shapes
from kubestow.encoders.domains.master import domain_masters
from kubestow.encoders.terms import Terms
from kubestow.framework.build import build_cluster
from kubestow.framework.rules.groups import groups
from kubestow.instances.manifests import snapshot_of
from kubestow.instances.trees import tree
from kubestow.models.kube_version import KubeVersion

NODES = [node(name, cpu="3").label(rack=name, block=name[0]) for name in ("a1", "a2", "b1")]


def leaf(name, count, *keys, cpu="1", parent="root"):
    return [group(name, *keys, gang=count, parent=parent), pod(name).req(cpu=cpu).member(name).times(count)]


def masters(*objects):
    """Each model by domains of a round."""
    problem = build_problem(build_cluster(cluster(NODES, *objects, release="1.37")))
    return [make() for make in domain_masters(problem)]


def optimum(master, model=None):
    """The most pods that a model lets groups place, and the (group, domain) pairs that place them."""
    model = master.model if model is None else model
    terms = next(iter(master.grouped.values()), Terms())
    model.maximize(terms.expression())
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return solver.value(terms.expression()), master.chosen(solver)


def bounds(*objects):
    """Each model's bound of the pods that groups place."""
    return [optimum(master)[0] for master in masters(*objects)]


PAIR = leaf("p", 3, "rack"), leaf("q", 3, "rack")
PAIR_BELOW = leaf("p", 3, "rack", parent="all"), leaf("q", 3, "rack", parent="all")

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
    "where a group below the root has the key, too": (
        (composite("root", gang=1), composite("all", "block", gang=2, parent="root"), *PAIR_BELOW),
        [6, 0],
    ),
    "not where a group is beside it": (
        (
            composite("root", gang=1),
            composite("all", "block", gang=2, parent="root"),
            *PAIR_BELOW,
            leaf("r", 3),
        ),
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
    "what has to be together is not where one of it can only be in another domain": (
        (
            composite("root", gang=1),
            composite("one", "block", gang=2, parent="root"),
            *(group(name, gang=1, parent="one") for name in ("p", "q")),
            pod("p").req(cpu="1").member("p").select(rack="a1"),
            pod("q").req(cpu="1").member("q").select(rack="b1"),
            leaf("r", 1),
        ),
        [1],
    ),
    "a child with running members stands once": (
        (
            composite("root", gang=2),
            group("p", gang=1, parent="root"),
            pod("p").req(cpu="1").member("p"),
            pod("runs").member("p").on("b1"),
            leaf("q", 4, "rack"),
        ),
        [0],
    ),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_what_groups_can_place_at_most(name):
    objects, found = BOUNDS[name]
    assert bounds(*objects) == found


# name -> (objects, the groups of each type)
TYPES = {
    "groups that ask for the same are alike": ((composite("root"), *PAIR), [["p", "q"]]),
    "whoever their parents are": (
        (
            composite("root"),
            composite("one", parent="root"),
            composite("two", parent="root"),
            leaf("p", 2, parent="one"),
            leaf("q", 2, parent="two"),
        ),
        [["p", "q"]],
    ),
    "or without a parent": ((leaf("p", 2, parent=None), leaf("q", 2, parent=None)), [["p", "q"]]),
    "of other numbers they are not": ((composite("root"), leaf("p", 2), leaf("q", 3)), [["p"], ["q"]]),
    "nor of other requests": ((composite("root"), leaf("p", 2), leaf("q", 2, cpu="2")), [["p"], ["q"]]),
    "nor with another quorum": (
        (
            composite("root"),
            leaf("p", 2),
            group("q", gang=1, parent="root"),
            pod("q").req(cpu="1").member("q").times(2),
        ),
        [["p"], ["q"]],
    ),
    "nor with another key": ((composite("root"), leaf("p", 2), leaf("q", 2, "rack")), [["p"], ["q"]]),
    "nor on other nodes": (
        (
            composite("root"),
            leaf("p", 2),
            group("q", gang=2, parent="root"),
            pod("q").req(cpu="1").member("q").times(2).select(rack="a1"),
        ),
        [["p"], ["q"]],
    ),
    "nor below parents that may choose different domains": (
        (
            composite("root"),
            composite("one", "block", parent="root"),
            composite("two", "block", parent="root"),
            leaf("p", 2, "rack", parent="one"),
            leaf("q", 2, "rack", parent="two"),
        ),
        [["p"], ["q"]],
    ),
    "nor where members run": (
        (composite("root"), leaf("p", 2), leaf("q", 2), pod("runs").member("q").on("b1")),
        [["p"], ["q"]],
    ),
    "nor with pods that look at more than room": (
        (
            composite("root"),
            *(
                (group(name, gang=1, parent="root"), pod(name).host_port(80).member(name))
                for name in ("p", "q")
            ),
        ),
        [["p"], ["q"]],
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_which_groups_are_alike(name):
    objects, found = TYPES[name]
    [master] = masters(*objects)
    assert [[group.name for group in kind.groups] for kind in master.types] == found


def test_what_is_excluded_is_excluded_of_all_that_are_alike():
    """Two groups do not fit into one rack each: then not the other way round either."""
    [master] = masters(leaf("p", 1, "rack", parent=None), leaf("q", 1, "rack", parent=None))
    ids = {name: index for index, name in enumerate(group.name for group in groups(master.problem.cluster))}
    model = master.model.clone()
    domains = sorted({domain for _, domain in master.counts})
    for one in domains:
        for other in domains:
            if one < other:
                master.exclude(model, [(ids["p"], one), (ids["q"], other)])
    placed, pairs = optimum(master, model)
    assert placed == 2
    assert len({domain for _, domain in pairs}) == 1
    for domain in domains:
        master.exclude(model, [(ids["p"], domain), (ids["q"], domain)])
    assert optimum(master, model)[0] == 1


@pytest.mark.parametrize("seed", range(12))
def test_counting_groups_that_are_alike_changes_no_bound(seed, monkeypatch):
    """Against the model with a type for each group; and what is chosen is within what each group has."""
    snapshot = replace(snapshot_of(tree(seed, nodes=40)), kube_version=KubeVersion.V1_37)
    problem = build_problem(build_cluster(snapshot))
    counted = [make() for make in domain_masters(problem)]
    monkeypatch.setattr(_Shapes, "of", lambda self, cls: cls.index)
    apart = [make() for make in domain_masters(problem)]
    assert all(kind.size == 1 for master in apart for kind in master.types)
    for ours, theirs in zip(counted, apart, strict=True):
        placed, pairs = optimum(ours)
        assert placed == optimum(theirs)[0]
        assert max(Counter(index for index, _ in pairs).values(), default=1) == 1
        assert {(index, domain) for index, domain in pairs} <= allowed(theirs)


def allowed(master):
    """The (group, domain) pairs of a model with a type for each group."""
    return {(master.types[t].first.index, domain) for t, domain in master.counts}
