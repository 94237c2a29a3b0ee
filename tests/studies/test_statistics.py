"""Each statistic against numbers that were worked out by hand."""

import pytest

from kubestow.models.study_row import StudyRow
from kubestow.studies.results import answers_of, results_of
from kubestow.studies.statistics.bootstrap import Bootstrap
from kubestow.studies.statistics.contests import contests, sign_test
from kubestow.studies.statistics.gaps import gaps
from kubestow.studies.statistics.profiles import profiles
from kubestow.studies.statistics.shares import shares
from kubestow.studies.statistics.survival import survival

TIERS = (("scheduled[priority=10]", "max"), ("evicted[priority=10,victim=0]", "min"))
UNPROVEN = "FEASIBLE"


def run(instance, values, *, variant="v", scheduler="optimal", seed=0, status="OPTIMAL", seconds=1.0, **more):
    """Make the rows of one run whose tiers have these values."""
    about = {
        "run": f"{instance}/{variant}/{scheduler}/{seed}",
        "instance": instance,
        "family": "f",
        "input_hash": "",
        "scheduler": scheduler,
        "variant": variant,
        "seed": seed if scheduler == "optimal" else None,
        "kube_version": "1.36",
        "time_limit": 1.0,
        "threads": 1,
        "kubestow": "",
        "ortools": "",
        "python": "",
        "nodes": 1,
        "pending": 1,
        "running": 0,
        "status": status,
        "admissible": True,
        "seconds": seconds,
    }
    return [
        StudyRow(
            **{**about, "number": n, "tier": name, "sense": sense, "value": value, "bound": value}
            | {"proven": status == "OPTIMAL", **more}
        )
        for n, ((name, sense), value) in enumerate(zip(TIERS, values, strict=True))
    ]


def both(instance, best, greedy, status="OPTIMAL", **more):
    return run(instance, best, status=status, **more) + run(
        instance, greedy, scheduler="greedy", status=UNPROVEN, **more
    )


def results(*runs):
    return results_of(row for rows in runs for row in rows)


# -- where greedy is optimal -----------------------------------------------------------


def test_a_share_lies_between_what_is_proven_and_what_is_not_refuted():
    """Four instances: greedy equals a proven plan, equals an unproven one, and is behind one of each."""
    [share] = shares(
        answers_of(
            results(
                both("proven and equal", (3, 1), (3, 1)),
                both("unproven and equal", (3, 1), (3, 1), status=UNPROVEN),
                both("proven and behind", (3, 1), (2, 0)),
                both("unproven and behind", (3, 1), (3, 2), status=UNPROVEN),
            )
        )
    )
    assert (share.n, share.optimal, share.behind, share.unknown) == (4, 1, 2, 1)
    assert (share.lowest, share.highest) == (0.25, 0.5)


def test_seeds_are_repetitions_of_one_instance():
    """The better plan of two seeds stands for the instance, and one proof is enough."""
    [share] = shares(
        answers_of(
            results(
                run("i", (2, 0), seed=0, status=UNPROVEN),
                run("i", (3, 0), seed=1),
                run("i", (2, 0), scheduler="greedy"),
            )
        )
    )
    assert (share.n, share.behind) == (1, 1)


def test_an_outcome_that_is_no_plan_is_not_compared():
    rows = run("i", (3, 0)) + run("i", (3, 0), scheduler="greedy", admissible=False)
    [share] = shares(answers_of(results(rows)))
    assert (share.n, share.inadmissible, share.lowest) == (0, 1, None)


def test_families_stand_beside_the_whole():
    found = shares(
        answers_of(
            results(both("i", (1, 0), (1, 0), family="left"), both("j", (1, 0), (0, 0), family="right"))
        )
    )
    assert [(share.family, share.n, share.optimal) for share in found] == [
        (None, 2, 1),
        ("left", 1, 1),
        ("right", 1, 0),
    ]


# -- how far greedy is behind ----------------------------------------------------------


def test_a_lower_tier_counts_where_the_tiers_above_agree():
    """Gaps of 2 and 0 in the first tier; the second is compared in the second instance alone."""
    answers = answers_of(results(both("i", (5, 9), (3, 0)), both("j", (5, 1), (5, 4))))
    first, second = gaps(answers, Bootstrap())
    assert (first.n, first.mean, first.largest, first.priority) == (2, 1.0, 2, 10)
    assert (second.n, second.mean, second.low, second.high, second.priority) == (1, 3.0, 3.0, 3.0, 10)


def test_a_gap_to_a_plan_that_is_not_proven_is_counted_as_such():
    answers = answers_of(results(both("i", (5, 0), (3, 0), status=UNPROVEN), both("j", (5, 0), (5, 0))))
    assert [(gap.n, gap.unproven) for gap in gaps(answers, Bootstrap())] == [(2, 1), (1, 0)]


# -- bootstrap -------------------------------------------------------------------------


def test_an_interval_of_two_values_is_that_of_their_three_means():
    """The means 0, 1/2 and 1 have the probabilities 1/4, 1/2 and 1/4: only a narrow level leaves the ends."""
    assert Bootstrap().interval([0, 1]) == (0.0, 1.0)
    assert Bootstrap(confidence=0.4).interval([0, 1]) == (0.5, 0.5)


def test_an_interval_of_many_values_is_about_that_of_the_normal_distribution():
    """A hundred zeros and ones, half each: 0.5 ∓ 1.96 · 0.5 / 10 is 0.402 to 0.598."""
    low, high = Bootstrap(resamples=4000).interval([0, 1] * 50)
    assert low == pytest.approx(0.402, abs=0.015)
    assert high == pytest.approx(0.598, abs=0.015)


def test_an_interval_has_a_seed():
    values = [0, 1, 5, 7, 20]
    assert Bootstrap(seed=1).interval(values) == Bootstrap(seed=1).interval(values)
    assert Bootstrap(seed=1, resamples=50).interval(values) != Bootstrap(seed=2, resamples=50).interval(
        values
    )


def test_equal_values_have_an_interval_without_width():
    assert Bootstrap().interval([4, 4, 4]) == (4.0, 4.0)


# -- variants against each other -------------------------------------------------------


@pytest.mark.parametrize(
    "wins, losses, p",
    [
        pytest.param(0, 0, None, id="nothing is decided"),
        pytest.param(1, 0, 1.0, id="one case says nothing"),
        pytest.param(5, 0, 0.0625, id="five of five: 2 / 32"),
        pytest.param(1, 7, 0.0703125, id="one of eight: 2 · (1 + 8) / 256"),
        pytest.param(4, 4, 1.0, id="even"),
    ],
)
def test_the_sign_test(wins, losses, p):
    assert sign_test(wins, losses) == p


def test_an_instance_goes_to_the_variant_that_wins_more_seeds():
    """`i`: two wins and a loss; `j`: a win and a loss; `k`: equal; `l`: other tiers."""
    values = {"i": [(3, 0), (3, 0), (2, 0)], "j": [(3, 0), (2, 0), (2, 1)], "k": [(2, 1)] * 3}
    others = {"i": [(2, 0), (3, 1), (3, 0)], "j": [(2, 0), (3, 0), (2, 1)], "k": [(2, 1)] * 3}
    runs = [
        run(instance, vector, variant=variant, seed=seed)
        for variant, table in (("a", values), ("b", others))
        for instance, vectors in table.items()
        for seed, vector in enumerate(vectors)
    ]
    runs += [run("l", (1, 1), variant="a")[:1], run("l", (1, 1), variant="b")]
    [contest] = contests(results(*runs))
    assert (contest.first, contest.second, contest.n) == ("a", "b", 3)
    assert (contest.wins, contest.ties, contest.losses, contest.incomparable) == (1, 2, 0, 1)
    assert contest.p == 1.0


# -- time to proof ---------------------------------------------------------------------


def test_runs_without_a_proof_are_censored_when_they_end():
    """Proofs at 1 and 3, censored at 2 and 3, a proof at 5: 4/5, then 4/5 · 2/3, then 0."""
    times = [(1.0, True), (2.0, False), (3.0, True), (3.0, False), (5.0, True)]
    runs = [
        run(f"i{k}", (1, 0), seconds=seconds, status="OPTIMAL" if proven else UNPROVEN)
        for k, (seconds, proven) in enumerate(times)
    ]
    [curve] = survival(results(*runs))
    assert (curve.n, curve.proven, curve.median) == (5, 3, 5.0)
    assert [(step.seconds, step.at_risk, step.proofs) for step in curve.steps] == [
        (1.0, 5, 1),
        (3.0, 3, 1),
        (5.0, 1, 1),
    ]
    assert [step.unproven for step in curve.steps] == pytest.approx([0.8, 0.8 * 2 / 3, 0.0])


def test_a_curve_without_a_proof_has_no_median():
    [curve] = survival(results(run("i", (1, 0), status=UNPROVEN)))
    assert (curve.n, curve.proven, curve.median, curve.steps) == (1, 0, None, ())


# -- performance profiles --------------------------------------------------------------


def test_a_profile_is_a_share_of_all_problems():
    """Seconds of a: 1, 4, none, none; of b: 2, 1, 3, none. Ratios of a: 1, 4; of b: 2, 1, 1."""
    times = {"a": [1.0, 4.0, None, None], "b": [2.0, 1.0, 3.0, None]}
    runs = [
        run(
            f"i{k}",
            (1, 0),
            variant=variant,
            seconds=t or 9.0,
            status="OPTIMAL" if t is not None else UNPROVEN,
        )
        for variant, row in times.items()
        for k, t in enumerate(row)
    ]
    a, b = profiles(results(*runs))
    assert (a.n, a.proven, b.n, b.proven) == (4, 2, 4, 3)
    assert [(point.ratio, point.share) for point in a.points] == [(1.0, 0.25), (4.0, 0.5)]
    assert [(point.ratio, point.share) for point in b.points] == [(1.0, 0.5), (2.0, 0.75)]


def test_a_problem_that_one_variant_has_not_run_is_no_problem():
    runs = [run("i", (1, 0), variant="a"), run("i", (1, 0), variant="b"), run("j", (1, 0), variant="a")]
    assert [profile.n for profile in profiles(results(*runs))] == [1, 1]


def test_one_variant_has_no_profile():
    assert profiles(results(run("i", (1, 0)))) == ()


def test_what_failed_is_in_no_statistic():
    failed = [run("i", (1, 0), variant=variant, status="ERROR")[:1] for variant in ("a", "b")]
    found = results(*failed)
    assert (answers_of(found), contests(found), survival(found)) == ([], (), ())
    assert profiles(found) == ()
