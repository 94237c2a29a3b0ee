"""An outcome by the names of things, and its value from an end state that is known already."""

import pytest
from support.builders import cluster, node, pod
from support.device_rounds import tiny_mixed
from support.devices import claim, device_class, gpu, slice_on, user
from support.strategies import small

from kubestow.framework.build import build_cluster
from kubestow.framework.dra.index import claim_keys
from kubestow.framework.state.moves import Bind, Deallocate, Leave, Mark
from kubestow.models.tiers import PREFERENCES
from kubestow.solver.plans.greedy_baseline import greedy_outcome
from kubestow.solver.plans.objective import valuate
from kubestow.solver.plans.outcome import Outcome, dump


def test_the_moves_of_a_dump_are_in_names():
    idle = claim("idle", has=[("r", "n", "g0")], at="n")
    snapshot = cluster(
        node("n"),
        device_class(),
        slice_on("n", gpu("g0")),
        claim("x"),
        idle,
        user("p", "x"),
        pod("v").on("n"),
    )
    index = build_cluster(snapshot)
    p, v = index.pod_index["default/p"], index.pod_index["default/v"]
    moves = (Mark(v), Leave(v), Deallocate(claim_keys(index).index("default/idle")), Bind(p, 0))
    assert dump(index, Outcome(moves=moves))["moves"] == [
        ["mark", "default/v", None],
        ["leave", "default/v", None],
        ["deallocate", "default/idle", None],
        ["bind", "default/p", "n"],
    ]


@pytest.mark.parametrize("prefer", PREFERENCES)
def test_greedys_own_end_is_worth_what_its_moves_are(prefer):
    """The run's state has nominations that the moves do not make: no tier looks at them."""
    for make in (small, tiny_mixed):
        for seed in range(20):
            index = build_cluster(make(seed))
            outcome, value = greedy_outcome(index, prefer)
            assert value == valuate(index, outcome, prefer)
