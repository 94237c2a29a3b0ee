"""What a search knows of the tiers of placed pods, and whether all plans of a tiny round agree."""

from kubestow.models import tiers
from support.oracle.exhaustive import costs


def placed(state):
    """Value and bound of each tier of placed pods."""
    names = [tiers.scheduled(level) for level in state.problem.levels]
    return [(state.value(name), state.bound(name)) for name in names]


def check_placed(state, best):
    """No plan is better than the best of all, and no bound beats it."""
    assert state.incumbent.valuation.costs >= costs(best.tiers)
    for level in state.problem.levels:
        name = tiers.scheduled(level)
        truth = best.tiers[name][1]
        assert state.bound(name) >= truth
        if state.value(name) != truth:
            break  # bounds below hold of plans that are as good above, and the best one is better
