"""`--prefer`: the last tier is optimal too, given all tiers above it."""

from dataclasses import replace

import pytest
from support.proof import OPTIONS, check_optimal
from support.strategies import tiny
from support.sweeps import few_or_all


@pytest.mark.parametrize("prefer", ["pack", "spread", "scores"])
@pytest.mark.parametrize("seed", range(few_or_all(40, 120)))
def test_the_preferred_plan_equals_the_exhaustive_search(seed, prefer):
    check_optimal(tiny(seed), replace(OPTIONS, prefer=prefer))
