"""The violating set: the best of all sets, by trying them."""

from itertools import combinations
from random import Random

import pytest

from kubestow.solver.plans.budget_violations import Charge, in_turn, violating_victims

PRICES = ((0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, -1), (1, 2, -1))
"""A violation at each of three levels; a guarded one takes its eviction along to a higher level."""


def drawn(rng):
    """Some victims under some of three budgets, and what these allow."""
    charges = [
        Charge(pod, tuple(sorted(rng.sample(range(3), rng.choice((1, 1, 2))))), rng.choice(PRICES), may)
        for pod, may in enumerate(rng.choices((True, True, True, False), k=rng.randint(1, 8)))
    ]
    return charges, [rng.randint(0, 2) for _ in range(3)]


def fits(charges, allowed, chosen):
    rest = [c for c in charges if c.pod not in chosen]
    return all(sum(b in c.budgets for c in rest) <= n for b, n in enumerate(allowed))


def price(charges, chosen):
    return tuple(map(sum, zip((0, 0, 0), *(c.price for c in charges if c.pod in chosen), strict=True)))


@pytest.mark.parametrize("seed", range(300))
def test_no_set_changes_the_tiers_by_less(seed):
    charges, allowed = drawn(Random(seed))
    free = [c.pod for c in charges if c.may_violate]
    sets = [set(s) for k in range(len(free) + 1) for s in combinations(free, k) if fits(charges, allowed, s)]
    found = violating_victims(charges, allowed)
    if not sets:
        assert found is None
        return
    assert found is not None
    assert found in sets
    assert price(charges, found) == min(price(charges, s) for s in sets)
    refused = {c.pod for c, refusing in in_turn(charges, allowed) if refusing}
    if refused in sets and price(charges, refused) == price(charges, found):
        assert found == refused


@pytest.mark.parametrize("seed", range(100))
def test_behind_the_others_exactly_the_violating_ones_are_refused(seed):
    charges, allowed = drawn(Random(seed))
    found = violating_victims(charges, allowed)
    if found is not None:
        order = sorted(charges, key=lambda c: c.pod in found)
        assert {c.pod for c, refusing in in_turn(order, allowed) if refusing} == found


def test_budgets_that_nothing_ties_are_looked_at_apart():
    """Two kinds of victims under each of many budgets: trying them all together would never end."""
    charges = [Charge(2 * b + k, (b,), PRICES[k], may_violate=True) for b in range(60) for k in (0, 1)]
    assert violating_victims(charges, [1] * 60) == frozenset(range(0, 120, 2))


def test_a_chain_of_budgets_is_searched_within_bounds():
    """Every victim ties two budgets; the dearer half alone would do, with one victim less."""
    cheap = [Charge(k, (k, k + 1), PRICES[0], may_violate=True) for k in range(0, 24, 2)]
    dear = [Charge(k, (k, k + 1), PRICES[2], may_violate=True) for k in range(1, 23, 2)]
    assert violating_victims([*cheap, *dear], [1] * 24) == {c.pod for c in cheap}
