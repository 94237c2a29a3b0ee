"""The cheapest steps, held against every set of steps and all plans of tiny rounds."""

import pytest
from support.suggest_rounds import asked, faults

QUICK = (14, 17, 22, 205, 206, 208, 215, 221, 225, 230, 232, 235)


@pytest.mark.parametrize("seed", QUICK)
def test_the_cheapest_steps_are_what_all_sets_and_all_plans_say(seed):
    assert faults(asked(seed))[0] == []
