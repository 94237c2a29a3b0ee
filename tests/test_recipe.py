"""The recipe of CONTRIBUTING.md, followed to the letter with a family that is no part of the package.

Its plugin and its encoder stand in a folder of their own; beside that there are its three lines in the
registries, and nothing else.
"""

import importlib
import shutil
import sys
from dataclasses import replace

import pytest
from support.builders import cluster, node, pod
from support.filtering import Look
from support.paths import DATA
from support.plugin_table import rows
from support.proof import check_optimal

from kubestow.encoders import ENCODERS, encode
from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.framework.hints.registry import HINT_PLUGINS, check_hints
from kubestow.framework.plugins import FACTORIES, check_factories
from kubestow.framework.runs.explain import explain
from kubestow.framework.vocabulary.default_plugins import FILTER, PLUGINS, PRE_FILTER
from kubestow.framework.vocabulary.registry import PluginEntry
from kubestow.solver.decomposition.components import find_parts
from kubestow.solver.model.component import Component
from kubestow.solver.ordering.components import Relations

NO_LEADER = "node(s) are out of sight of the pod's leader"
A, B = node("a"), node("b")
ONE_EACH = [node("a").label(followers="1"), node("b").label(followers="1")]
LEADER = pod("leader").label(leads="x").select({"kubernetes.io/hostname": "a"})
FOLLOWER = pod("follower").label(follows="x").select({"kubernetes.io/hostname": "b"}).priority(10)
RIVAL = pod("rival").req(cpu="1").select({"kubernetes.io/hostname": "a"}).priority(5)
FOLLOWERS = pod("follower").label(follows="x").req(cpu="1").times(3)
RUNNING = pod("running").label(leads="x").on("a")


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Register the family, and return the name of its plugin."""
    shutil.copytree(DATA / "toy_family", tmp_path / "toy_family")
    monkeypatch.syspath_prepend(tmp_path)
    plugin = importlib.import_module("toy_family.plugin").Followers
    family = importlib.import_module("toy_family.encoder").FAMILY
    # the three lines of the recipe
    entry = PluginEntry(plugin.name, frozenset({PRE_FILTER, FILTER}), hints=False)
    monkeypatch.setitem(PLUGINS, plugin.name, entry)
    monkeypatch.setitem(FACTORIES, plugin.name, plugin)
    ENCODERS.append(family)
    # what an import of the registries does
    check_factories(PLUGINS, FACTORIES)
    check_hints(PLUGINS, HINT_PLUGINS)
    yield family
    ENCODERS.remove(family)
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy_family"]:
        del sys.modules[name]


def problem_of(*objects):
    return build_problem(build_cluster(cluster(*objects)))


def placed(plan):
    return {b.pod.rpartition("/")[2]: b.node for b in plan.bindings}


@pytest.mark.parametrize(
    "objects, rejected",
    [
        pytest.param([A, B, pod("p")], {}, id="a pod that follows nothing goes anywhere"),
        pytest.param([A, B, RUNNING, pod("p").label(follows="x")], {}, id="its leader runs elsewhere"),
        pytest.param(
            [A, B, pod("p").label(follows="x")],
            {"a": f"U Followers: {NO_LEADER}", "b": f"U Followers: {NO_LEADER}"},
            id="it has no leader",
        ),
        pytest.param(
            [*ONE_EACH, RUNNING, pod("q").label(follows="y").on("b"), pod("p").label(follows="x")],
            {"b": "U Followers: node(s) had enough followers"},
            id="a node has enough followers",
        ),
    ],
)
def test_it_is_filtered(toy, objects, rejected):
    assert Look(*objects).rejected == rejected


def test_it_is_encoded(toy):
    context = encode(problem_of(*ONE_EACH, LEADER, FOLLOWERS))
    assert toy.applies(context.problem)
    ENCODERS.remove(toy)
    try:
        without = encode(context.problem)
    finally:
        ENCODERS.append(toy)
    assert len(context.model.proto.constraints) > len(without.model.proto.constraints)


def test_its_limit_is_that_of_the_class(toy):
    [_, followers] = problem_of(node("a").label(followers="2"), B, LEADER, FOLLOWERS).classes
    assert followers.limit.tolist() == [2, 3]


def test_its_tie_joins_two_parts(toy):
    """The relation ties as well, so it is left out on both sides."""
    problem = problem_of(A, B, LEADER, FOLLOWER)
    tied = replace(toy, order_sensitive=lambda problem: ())
    parts = {}
    for family in (tied, replace(tied, ties=lambda problem: ())):
        ENCODERS[-1] = family
        parts[family] = len(find_parts(problem))
    ENCODERS[-1] = toy
    assert list(parts.values()) == [1, 2]


def test_its_relation_is_looked_at_in_order(toy):
    problem = problem_of(A, B, LEADER, FOLLOWER, pod("apart"))
    relations = Relations(problem)
    of = {problem.cluster.pods[c.pod].pod.name: c for c in problem.classes}
    assert relations.components == (
        Component(frozenset({of["leader"].index, of["follower"].index}), frozenset()),
    )
    assert [name for name, cls in of.items() if relations.carries(cls)] == ["follower"]


@pytest.mark.parametrize(
    "objects, optimal, greedy",
    [
        pytest.param(
            [A, B, LEADER, FOLLOWER],
            {"leader": "a", "follower": "b"},
            {"leader": "a", "follower": "b"},
            id="the leader comes first, though the follower is tried first",
        ),
        pytest.param(
            [node("a", cpu="1"), B, RIVAL, LEADER.req(cpu="1"), FOLLOWER],
            {"leader": "a", "follower": "b"},
            {"rival": "a"},
            id="the room for one goes to the leader, for its follower is worth more",
        ),
        pytest.param([A, B, FOLLOWER], {}, {}, id="without a leader none follows"),
    ],
)
def test_it_is_ordered(toy, objects, optimal, greedy):
    """The plan is replayed, and held to the exhaustive search, which knows the filter alone."""
    ours, theirs = check_optimal(cluster(*objects))
    assert (placed(ours), placed(theirs)) == (optimal, greedy)


def test_its_limits_hold_in_both_schedulers(toy):
    ours, theirs = check_optimal(cluster(*ONE_EACH, RUNNING, FOLLOWERS))
    assert len(placed(ours)) == len(placed(theirs)) == 2


def test_it_is_explained(toy):
    document = explain(cluster(A, B, LEADER, FOLLOWER), "follower")
    assert NO_LEADER in document["message"]
    said = {row["node"]: [row["plugin"], *row["reasons"]] for row in document["nodes"]}
    assert said["b"] == ["Followers", NO_LEADER]


def test_it_has_a_row_in_the_table_of_plugins(toy):
    [*_, (name, weight, file)] = rows()
    assert (name, weight) == ("Followers", "–")
    assert file.endswith("toy_family/plugin.py")
