"""The cheapest steps, held against every set of steps and all plans of tiny rounds."""

import pytest
from support.suggest_rounds import asked, faults

QUICK = ()


@pytest.mark.parametrize("seed", QUICK)
def test_the_cheapest_steps_are_what_all_sets_and_all_plans_say(seed):
    assert faults(asked(seed))[0] == []
