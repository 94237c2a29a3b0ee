"""Orders of steps: found, or proven not to exist."""

import pytest
from support.builders import cluster, group, node, pod

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.framework.state.moves import Bind, Leave
from kubestow.solver.ordering.assignment import Assignment
from kubestow.solver.ordering.greedy_order import GreedyOrder
from kubestow.solver.ordering.sequencer import Sequencer

SPREAD = [
    node("a", zone="z1"),
    node("b", zone="z2"),
    pod("p").label(app="x").spread("zone").times(3),
]
FAR = 1e12


def ordered(sequencer, *nodes):
    return sequencer.order(
        Assignment(dict(zip(sequencer.context.cluster.pending, nodes, strict=True)), frozenset()), FAR
    )


def sequencer_of(*objects):
    return Sequencer(build_problem(build_cluster(cluster(*objects))))


def test_an_order_is_found():
    assert len(ordered(sequencer_of(*SPREAD), 0, 1, 0).moves) == 3


def test_without_an_order_the_related_are_blamed():
    result = ordered(sequencer_of(*SPREAD), 0, 0, 0)
    assert result.moves is None
    assert result.conflict.classes == frozenset({0})


def test_who_was_thought_to_fit_in_any_order_is_looked_at_once_more():
    """What relations miss costs time and no proof: all steps are tried together."""
    sequencer = sequencer_of(*SPREAD, pod("q"))
    sequencer.context.relations.components = ()
    sequencer.context.relations.component_of_class = {}
    assert len(ordered(sequencer, 0, 1, 0, 0).moves) == 4
    result = ordered(sequencer, 0, 0, 0, 0)
    assert result.moves is None
    assert result.conflict.classes == frozenset(c.index for c in sequencer.context.problem.classes)


def test_an_order_that_the_quick_sequence_misses_is_found_by_looking_at_all():
    sequencer = sequencer_of(
        node("a", cpu="2"),
        pod("v").label(app="x").req(cpu="1").priority(-10).on("a"),
        pod("w").req(cpu="500m").priority(-10).on("a"),
        pod("p").req(cpu="1").priority(-5).affinity("hostname", {"app": "x"}),
        pod("q").req(cpu="500m").priority(10),
    )
    index = sequencer.context.cluster.pod_index
    placed = {index["default/p"]: 0, index["default/q"]: 0}
    both = Assignment(placed, frozenset({index["default/v"], index["default/w"]}))
    assert sequencer.order(both, FAR).moves is not None
    sequencer.context.relations.components = ()
    sequencer.context.relations.component_of_class = {}
    sequencer.context.relations.component_of_victim = {}
    assert sequencer.order(both, FAR).moves is not None


WHOLE = [
    [node(n, cpu="2") for n in "ab"],
    group("g", disruptionMode="PodGroup"),
    [pod(f"m{n}").label(app="x").req(cpu="2").member("g").on(n) for n in "ab"],
]


def all_leave(sequencer, **placed):
    index = sequencer.context.cluster.pod_index
    victims = frozenset(index[f"default/m{n}"] for n in "ab")
    nodes = {index[f"default/{name}"]: n for name, n in placed.items()}
    return sequencer.order(Assignment(nodes, victims), FAR)


@pytest.mark.parametrize("stuck", [False, True], ids=["by the greedy order", "by the search"])
def test_members_of_a_whole_group_leave_for_a_pod_on_the_node_of_one(monkeypatch, stuck):
    """Both leave before the pod binds, though nothing comes to the other node."""
    if stuck:
        monkeypatch.setattr(GreedyOrder, "run", lambda _: False)
    urgent = pod("u").req(cpu="2").priority(5).anti("hostname", {"app": "x"})
    kinds = [type(move) for move in all_leave(sequencer_of(*WHOLE, urgent), u=0).moves]
    assert kinds.count(Leave) == 2
    assert kinds.index(Bind) == len(kinds) - 1


def test_the_last_preemptor_of_a_whole_group_waits_for_all_of_it():
    """It needs no room and could bind beside the members, but would then be the preemptor of neither."""
    sequencer = sequencer_of(*WHOLE, pod("p").req(cpu="0").priority(5))
    moves = all_leave(sequencer, p=0).moves
    assert isinstance(moves[-1], Bind)
