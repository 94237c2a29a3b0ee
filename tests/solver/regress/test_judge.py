"""Vectors beside the best known ones: the verdict, and what is known afterwards."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubestow.models.plan import Tier
from kubestow.models.suite import KnownTier
from kubestow.solver.regress.judge import judged, limits_of
from kubestow.solver.regress.update import best_of, first_known

NAMES = (("scheduled", "max"), ("violations", "min"), ("fallback", "min"))


def vector(*cells):
    """Today's tiers; a cell is a value, or a value and its bound."""
    found = []
    for (name, sense), cell in zip(NAMES, cells, strict=False):
        value, bound = cell if isinstance(cell, tuple) else (cell, None)
        found.append(Tier(name=name, sense=sense, value=value, bound=bound, proven=value == bound))
    return tuple(found)


def known(*cells):
    return first_known(vector(*cells), "1.0")


def verdict(before, now):
    return judged("optimal", before, now, "2.0").verdict


VERDICTS = [
    ("the same values are equal", known(3, 1), vector(3, 1), "equal"),
    ("the first tier that differs decides", known(3, 1), vector(4, 9), "better"),
    ("less of a min tier is better", known(3, 1), vector(3, 0), "better"),
    ("less of a max tier is worse", known(3, 1), vector(2, 0), "worse"),
    ("more of a min tier is worse", known(3, 1), vector(3, 2), "worse"),
    ("a better bound of equal values is tighter", known((3, 5)), vector((3, 4)), "tighter"),
    ("a first bound is tighter than none", known(3), vector((3, 4)), "tighter"),
    ("a looser bound is none the worse", known((3, 4)), vector((3, 5)), "equal"),
    ("a value beyond a stored bound", known((3, 3)), vector(4), "contradiction"),
    ("a stored value beyond a new bound", known(4), vector((3, 3)), "contradiction"),
    ("a min tier below a stored bound", known(3, (2, 2)), vector(3, 1), "contradiction"),
    ("a bound below the tier that differs is of other plans", known(3, (2, 2)), vector(4, 1), "better"),
    ("a tier of which nothing is known", known(3), vector(3, 2), "incomplete"),
    ("a tier of which nothing is known, with the value 0", known(3), vector(3, 0), "incomplete"),
    ("a tier that is no more", known(3, 2), vector(3), "incomplete"),
    ("a tier that is not known below one that is better", known(3), vector(4, 2), "incomplete"),
    ("a tier that is not known below one that is worse", known(3), vector(2, 2), "worse"),
    (
        "a bound below a tier that is not known is of other plans",
        (known(3)[0], known(3, 1, (2, 2))[2]),
        vector(3, 1, 1),
        "incomplete",
    ),
]


@pytest.mark.parametrize(
    "before, now, wanted", [row[1:] for row in VERDICTS], ids=[row[0] for row in VERDICTS]
)
def test_the_verdict(before, now, wanted):
    assert verdict(before, now) == wanted


def test_a_contradiction_is_told_with_both_versions():
    [words] = judged("optimal", known((3, 3)), vector(4), "2.0").contradictions
    assert words == "scheduled is 4 by 2.0, beyond the bound 3 that 1.0 proved"
    [words] = judged("optimal", known(4), vector((3, 3)), "2.0").contradictions
    assert words == "scheduled was 4 by 1.0, beyond the bound 3 that 2.0 proves"


GREEDY = [
    ("greedy attains a bound", known(3), vector(3), known((3, 3)), vector((3, 3)), []),
    (
        "greedy is beyond a stored bound",
        known(3),
        vector(4),
        known((3, 3)),
        vector(4),
        ["greedy's scheduled is 4 by 2.0, beyond the bound 3 that 1.0 proved of any plan"],
    ),
    (
        "greedy was beyond a bound of today",
        known(4),
        vector(3),
        known(4),
        vector((3, 3)),
        ["greedy's scheduled was 4, beyond the bound 3 that 2.0 proves of any plan"],
    ),
    (
        "greedy was beyond a bound that was stored beside it",
        known(4),
        vector(3),
        known((3, 3)),
        vector(3),
        ["greedy's scheduled was 4, beyond the bound 3 that 1.0 proved of any plan"],
    ),
    (
        "a bound that both versions have is told once",
        known(4),
        vector(4),
        known((3, 3)),
        vector((3, 3)),
        ["greedy's scheduled is 4 by 2.0, beyond the bound 3 that 1.0 proved of any plan"],
    ),
    ("a bound is given the tiers above", known(2, 0), vector(2, 0), known(3, (1, 1)), vector(3, (1, 1)), []),
    (
        "greedy is below a bound on a min tier with the same tiers above",
        known(3, 0),
        vector(3, 0),
        known(3, (1, 1)),
        vector(3, 1),
        ["greedy's violations is 0 by 2.0, beyond the bound 1 that 1.0 proved of any plan"],
    ),
]


@pytest.mark.parametrize(
    "before, now, optimal_before, optimal_now, words",
    [row[1:] for row in GREEDY],
    ids=[row[0] for row in GREEDY],
)
def test_greedy_is_held_against_the_bounds_of_any_plan(before, now, optimal_before, optimal_now, words):
    limits = limits_of(optimal_before, optimal_now, "2.0")
    found = judged("greedy", before, now, "2.0", limits)
    assert list(found.contradictions) == words
    assert (found.verdict == "contradiction") == bool(words)


def tiers(found):
    return [(tier.value, tier.by, tier.bound, tier.bound_by) for tier in found]


UPDATES = [
    (
        "what is equal stays as it is",
        (known((3, 5), (1, 0)), vector((3, 6), (1, 0)), False),
        [(3, "1.0", 5, "1.0"), (1, "1.0", 0, "1.0")],
    ),
    (
        "a tighter bound has its own version",
        (known((3, 5)), vector((3, 4)), False),
        [(3, "1.0", 4, "2.0")],
    ),
    (
        "a better vector is taken from the tier on that differs, with the tighter bound of that tier",
        (known((3, 3), (5, 2), (0, 0)), vector((3, 3), (4, 1), (7, 3)), False),
        [(3, "1.0", 3, "1.0"), (4, "2.0", 2, "1.0"), (7, "2.0", 3, "2.0")],
    ),
    (
        "of a worse vector only its bounds are taken, down to the tier that differs",
        (known((3, 9), (5, 2)), vector((2, 4), (0, 0)), False),
        [(3, "1.0", 4, "2.0"), (5, "1.0", 2, "1.0")],
    ),
    (
        "a worse vector is taken where that is accepted",
        (known((3, 9), (5, 2)), vector((2, 9), (0, 0)), True),
        [(2, "2.0", 9, "1.0"), (0, "2.0", 0, "2.0")],
    ),
    (
        "a tier that is new has the new version",
        (known((3, 3)), vector((3, 3), (0, 0)), False),
        [(3, "1.0", 3, "1.0"), (0, "2.0", 0, "2.0")],
    ),
]


@pytest.mark.parametrize("arguments, wanted", [row[1:] for row in UPDATES], ids=[row[0] for row in UPDATES])
def test_what_is_known_afterwards(arguments, wanted):
    before, now, accept = arguments
    assert tiers(best_of(before, now, "2.0", accept_worse=accept)) == wanted


@st.composite
def truths(draw):
    """Two runs over one round: plans are all vectors of a small set, and bounds hold of it."""
    plans = draw(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=6))

    def run():
        plan = draw(st.sampled_from(plans))
        cells = []
        for k, (_, sense) in enumerate(NAMES):
            beside = [other[k] for other in plans if other[:k] == plan[:k]]
            slack = draw(st.integers(0, 2))
            cells.append((plan[k], max(beside) + slack if sense == "max" else min(beside) - slack))
        return vector(*cells)

    return run(), run()


def order(found):
    return [-tier.value if tier.sense == "max" else tier.value for tier in found]


@given(truths())
def test_two_true_runs_never_contradict_and_the_better_one_stays(runs):
    first, second = runs
    before = first_known(first, "1.0")
    assert verdict(before, second) != "contradiction"
    after = best_of(before, second, "2.0", accept_worse=False)
    assert order(after) == min(order(first), order(second))
    assert verdict(after, first) != "contradiction"
    assert verdict(after, second) != "contradiction"
    assert verdict(after, first) in ("equal", "worse")
    # greedy's plan is one of the round's, too: no bound of the others contradicts it
    assert not judged("greedy", before, first, "2.0", limits_of(before, second, "2.0")).contradictions
    assert best_of(after, second, "2.0", accept_worse=False) == after


def test_the_best_is_the_same_whoever_comes_first():
    one, other = vector((3, 5), (1, 0)), vector((3, 4), (0, 0))
    ways = [
        best_of(first_known(a, "1.0"), b, "1.0", accept_worse=False) for a, b in ((one, other), (other, one))
    ]
    assert ways[0] == ways[1]
    assert ways[0] == (
        KnownTier(name="scheduled", sense="max", value=3, by="1.0", bound=4, bound_by="1.0"),
        KnownTier(name="violations", sense="min", value=0, by="1.0", bound=0, bound_by="1.0"),
    )
