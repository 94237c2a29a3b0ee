"""Which way a tier is better: as the plans of every kind of round have it."""

import pytest
from support.device_rounds import tiny_mixed
from support.group_rounds import tiny_groups
from support.guard_rounds import tiny_guards
from support.strategies import tiny

from kubestow.framework.build import build_cluster
from kubestow.framework.measures.preferences import PREFERENCE_VALUES
from kubestow.models.tiers import FREE_NODES, MOVED_MEMORY, MOVES, PRICE, sense_of
from kubestow.solver.plans.objective import valuate
from kubestow.solver.plans.outcome import Outcome


@pytest.mark.parametrize("make", [tiny, tiny_groups, tiny_guards, tiny_mixed])
@pytest.mark.parametrize("prefer", PREFERENCE_VALUES)
def test_tiers_of_rounds_have_the_sense_of_their_values(make, prefer):
    for seed in range(5):
        found = valuate(build_cluster(make(seed)), Outcome(), prefer).tiers
        assert {tier.name: sense_of(tier.name) for tier in found} == {t.name: t.sense for t in found}


def test_tiers_of_moves_and_unknown_ones():
    assert [sense_of(n) for n in (FREE_NODES, PRICE, MOVES, MOVED_MEMORY)] == ["max", "min", "min", "min"]
    assert sense_of("scheduled") is None
