"""Orders of steps: found, or proven not to exist."""

from support.builders import cluster, node, pod

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.solver.ordering.assignment import Assignment
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
