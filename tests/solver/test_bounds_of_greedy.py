"""Bounds where greedy's outcome, though no plan, is better than every plan that was found."""

import pytest

from kubestow.solver.api import _bounds_of_greedy
from kubestow.solver.plans.objective import ObjectiveVector, TierValue

NAMES = (("placed", "max"), ("violations", "min"), ("evicted", "min"))


def valuation(*values):
    tiers = tuple(TierValue(name, sense, v) for (name, sense), v in zip(NAMES, values, strict=True))
    return ObjectiveVector(tiers, {}, True)


@pytest.mark.parametrize(
    "ours, theirs, bounds, expected",
    [
        pytest.param(
            (5, 3, 9),
            (5, 2, 9),
            (5, 3, 0),
            [(5, True), (2, True), (9, True)],
            id="a proven value that greedy beats leaves greedy alone",
        ),
        pytest.param(
            (5, 3, 9),
            (5, 2, 7),
            (5, 1, 4),
            [(5, True), (1, False), (4, False)],
            id="bounds that admit greedy's values stay",
        ),
        pytest.param(
            (5, 3, 9),
            (5, 2, 7),
            (5, 2, 8),
            [(5, True), (2, True), (7, True)],
            id="a bound that greedy attains, or goes beyond, is proven for it",
        ),
        pytest.param(
            (4, 3, 9),
            (5, 0, 0),
            (7, 3, 9),
            [(7, False), (0, True), (0, True)],
            id="bounds of tiers that greedy is better in give way",
        ),
    ],
)
def test_what_is_merged(ours, theirs, bounds, expected):
    mine = {name: (b, b == v) for (name, _), b, v in zip(NAMES, bounds, ours, strict=True)}
    merged = _bounds_of_greedy(mine, valuation(*ours), valuation(*theirs))
    assert [merged[name] for name, _ in NAMES] == expected
