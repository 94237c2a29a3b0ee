"""What must not matter does not: a changed round, and one that is searched otherwise, has the same bounds.

No value of one run beats a bound of another, as far as the bound speaks about it; proven tiers agree.
Compared are admissible plans, whatever each run had time for, so that no test hangs on how fast a machine is.
"""

from dataclasses import replace
from random import Random

import pytest
from support.device_rounds import small_mixed, tiny_devices, tiny_mixed
from support.group_rounds import small_groups, tiny_groups
from support.metamorphic import padded, read, renamed, scaled, shuffled, written
from support.proof import SHORT, told
from support.side_by_side import side_by_side
from support.strategies import small, tiny
from support.sweeps import few_or_all
from support.volume_rounds import tiny_volumes

from kubestow.solver.api import solve

MAKERS = {
    tiny: few_or_all(6, 12),
    small: few_or_all(4, 8),
    tiny_groups: few_or_all(5, 10),
    small_groups: few_or_all(3, 5),
    tiny_devices: few_or_all(5, 10),
    tiny_mixed: few_or_all(4, 8),
    small_mixed: few_or_all(2, 4),
    tiny_volumes: few_or_all(4, 8),
}
"""Maker of rounds to the number of its rounds that are in the suite."""

ROUNDS = [pytest.param(make, seed, id=make(seed).name) for make, n in MAKERS.items() for seed in range(n)]

CHANGES = [shuffled, renamed, scaled, padded]

OTHERWISE = {
    "another seed": replace(SHORT, seed=17),
    "three workers": replace(SHORT, workers=3),
    "hardly any time": replace(SHORT, time_limit=0.03),
}


def hold(snapshot, what, one, other):
    """Hold the values of each of two plans to the bounds of the other.

    The bound of a tier holds of every plan that is no worse in the tiers above.
    """
    names = [tier.name for tier in one.tiers]
    assert names == [tier.name for tier in other.tiers], told(snapshot, f"{what}: other tiers", plan=other)
    for mine, theirs in ((one, other), (other, one)):
        for k, (bound, value) in enumerate(zip(costs(mine, "bound"), costs(theirs, "value"), strict=True)):
            above = zip(costs(theirs, "value")[:k], costs(mine, "value")[:k], strict=True)
            if not all(their <= my for their, my in above):
                break
            assert value >= bound, told(
                snapshot, f"{what}: {mine.tiers[k]} and {theirs.tiers[k]}", plan=theirs
            )
    for a, b in zip(one.tiers, other.tiers, strict=True):
        if not (a.proven and b.proven):
            break
        assert a.value == b.value, told(snapshot, f"{what}: {a} and {b}", plan=other)


def costs(plan, what):
    return [getattr(tier, what) * (-1 if tier.sense == "max" else 1) for tier in plan.tiers]


@pytest.mark.parametrize("make, seed", ROUNDS)
def test_changes_that_must_not_matter(make, seed):
    check_changes(make(seed), Random(seed))


def check_changes(snapshot, rng, changes=CHANGES):
    before = solve(snapshot, SHORT)
    documents = written(snapshot)
    for change in changes:
        after = solve(read(change(documents, rng), snapshot), SHORT)
        if before.stats.admissible and after.stats.admissible:
            hold(snapshot, change.__name__, before, after)


@pytest.mark.parametrize("make, seed", ROUNDS)
def test_other_searches_of_the_same_round(make, seed):
    check_searches(make(seed))


def check_searches(snapshot, otherwise=OTHERWISE):
    plans = {"usual": solve(snapshot, SHORT)}
    plans |= {what: solve(snapshot, options) for what, options in otherwise.items()}
    for what, plan in plans.items():
        for other in plans.values():
            if plan.stats.admissible and other.stats.admissible:
                hold(snapshot, what, plan, other)


def disjoint(snapshot):
    """Whether two copies of a round have nothing to do with each other.

    A constraint that looks at nodes where the pod may not be, an affinity term over all namespaces, and a
    device that other nodes reach as well tie them.
    """
    text = str(written(snapshot))
    local = all(item.spec.node_name for item in snapshot.resource_slices)
    common = ("'nodeAffinityPolicy': 'Ignore'", "'namespaceSelector'", "DeviceTaintRule")
    return local and not any(word in text for word in common)


def check_copies(snapshot):
    """Hold the plan of two copies to twice the values and bounds of one, as long as all above is proven."""
    twice = side_by_side(snapshot, snapshot, name=f"twice {snapshot.name}")
    one, two = solve(snapshot, SHORT), solve(twice, SHORT)
    if not (one.stats.admissible and two.stats.admissible):
        return False
    for single, both in zip(one.tiers, two.tiers, strict=True):
        assert single.name == both.name
        sign = -1 if single.sense == "max" else 1
        assert sign * both.value >= sign * 2 * single.bound, told(twice, f"{single} and {both}", plan=two)
        assert sign * 2 * single.value >= sign * both.bound, told(twice, f"{single} and {both}", plan=two)
        if not (single.proven and both.proven):
            break
    return True


COPIED = [
    (make, seed)
    for make in (tiny, small, tiny_groups, tiny_devices)
    for seed in range(few_or_all(12, 20))
    if disjoint(make(seed))
]


@pytest.mark.parametrize("make, seed", COPIED)
def test_two_copies_are_worth_twice_as_much(make, seed):
    check_copies(make(seed))


def test_most_of_the_rounds_are_compared():
    """Few rounds have an inadmissible outcome of greedy's as their answer, and many have copies."""
    plans = [solve(make(seed), SHORT) for make, n in MAKERS.items() for seed in range(n)]
    assert sum(plan.stats.admissible and plan.tiers[0].proven for plan in plans) >= 0.9 * len(plans)
    assert len(COPIED) >= 25
