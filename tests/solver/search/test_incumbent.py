"""A bound that a known plan disproves is an error, whoever told it and whichever of the two came first."""

from dataclasses import replace

import pytest
from support.apart import APART, WHOLE, solved
from support.builders import cluster, node, pod
from support.proof import OPTIONS
from support.search_params import search_with
from support.side_by_side import side_by_side

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.models.errors import BoundContradiction
from kubestow.solver.api import solve
from kubestow.solver.decomposition import search as decomposition
from kubestow.solver.decomposition.part_search import search_part
from kubestow.solver.model.round_model import RoundModel
from kubestow.solver.plans.objective import ObjectiveVector, TierValue
from kubestow.solver.plans.outcome import Outcome
from kubestow.solver.search.domain_relaxation import DomainRelaxation
from kubestow.solver.search.incumbent import Incumbent
from kubestow.solver.search.state import SearchState
from kubestow.solver.search.sum_bounds import SumBounds
from kubestow.solver.search.tier_bounds import Bounding
from kubestow.solver.search.tier_search import Search

NAMES = (("placed", "max"), ("evicted", "min"), ("used", "min"))
EMPTY = build_cluster(cluster())


def valuation(*values, guarded=True):
    tiers = tuple(TierValue(name, sense, v) for (name, sense), v in zip(NAMES, values, strict=True))
    return ObjectiveVector(tiers, {}, guarded)


def incumbent(*values):
    return Incumbent(EMPTY, Outcome(), valuation(*values))


class TestOnePlaceForBoth:
    def test_the_better_plan_is_kept(self):
        known, better = incumbent(3, 1, 0), Outcome(placed={0: 0})
        known.offer(Outcome(), valuation(3, 2, 0))
        assert known.valuation == valuation(3, 1, 0)
        known.offer(better, valuation(4, 9, 9))
        assert (known.best, known.valuation) == (better, valuation(4, 9, 9))

    def test_what_breaks_a_guard_is_no_plan(self):
        known = incumbent(3, 1, 0)
        known.tell("placed", 3)
        known.offer(Outcome(), valuation(4, 0, 0, guarded=False))
        assert known.valuation == valuation(3, 1, 0)

    def test_the_tightest_bound_counts(self):
        known = incumbent(3, 1, 0)
        assert known.bounds() == {}
        for bound in (7, 5, 6):
            known.tell("placed", bound)
        for bound in (-2, 0, -1):
            known.tell("evicted", bound, (-3,))
        assert known.bounds() == {"placed": 5, "evicted": 0}

    def test_a_bound_given_what_the_best_plan_does_not_keep_says_nothing_about_it(self):
        known = incumbent(3, 1, 2)
        known.tell("used", 0)
        known.tell("used", 2, (-3, 1))
        assert known.bound("used") == 2
        known.offer(Outcome(), valuation(4, 5, 1))
        assert known.bound("used") == 0

    @pytest.mark.parametrize(
        "name, bound, given",
        [
            pytest.param("placed", 2, (), id="fewer than the plan places"),
            pytest.param("evicted", 2, (), id="more than the plan evicts"),
            pytest.param("evicted", 2, (-3,), id="more than it evicts, given what it places"),
        ],
    )
    def test_a_bound_that_the_best_plan_disproves(self, name, bound, given):
        known = incumbent(3, 1, 0)
        with pytest.raises(BoundContradiction, match=f"{name}: the plan attains .*, the bound is {bound}"):
            known.tell(name, bound, given)

    def test_a_bound_of_every_plan_that_a_worse_plan_disproves(self):
        known = incumbent(3, 1, 5)
        known.offer(Outcome(), valuation(2, 0, 1))
        known.tell("used", 3, (-3, 1))
        with pytest.raises(BoundContradiction, match="used: the plan attains 1, the bound is 2"):
            known.tell("used", 2)

    @pytest.mark.parametrize(
        "values",
        [
            pytest.param((5, 9, 9), id="a better plan"),
            pytest.param((3, 3, 1), id="a plan no better, as good in the tiers above"),
        ],
    )
    def test_a_plan_that_disproves_a_bound(self, values):
        known = incumbent(3, 3, 3)
        known.tell("placed", 4)
        known.tell("used", 2, (-3, 3))
        with pytest.raises(BoundContradiction) as caught:
            known.offer(Outcome(), valuation(*values))
        assert caught.value.dump["tiers"] == {"placed": 3, "evicted": 3, "used": 3}
        assert caught.value.dump["bounds"] == {"placed": 4, "used": 2}

    def test_a_plan_of_which_the_bound_does_not_speak(self):
        known = incumbent(3, 3, 3)
        known.tell("used", 2, (-3, 3))
        known.offer(Outcome(), valuation(2, 0, 0))
        assert known.bound("used") == 2


CROWDED = cluster(
    [node(name, cpu="3") for name in "ab"],
    pod("large").req(cpu="2").created(9).times(2),
    pod("small").req(cpu="1").created(1).times(4),
)
"""Six pods wait, kube-scheduler's order places four of them, and five is best."""

ROOMY = cluster([node(name) for name in "ab"], pod("p").req(cpu="1").times(3))
"""All pods are placed, and that is proven without a search."""

SCHEDULED = "scheduled[priority=0]"


def less(bound):
    """A bound of what is placed that the plan known beats."""
    return None if bound is None else bound - 3


def wrong_trivial_bound(monkeypatch):
    right = SearchState.trivial_bound
    monkeypatch.setattr(
        SearchState, "trivial_bound", lambda self, name: right(self, name) - (3 if name == SCHEDULED else 0)
    )


def wrong_domains(monkeypatch):
    monkeypatch.setattr(
        DomainRelaxation, "bounds", lambda self, values, until: {SCHEDULED: values[SCHEDULED] - 1}
    )


def wrong_sums(monkeypatch):
    search_with(monkeypatch, quick_share=0.0)
    right = SumBounds.of
    monkeypatch.setattr(SumBounds, "of", lambda self, *given: less(right(self, *given)))


def without_sums(monkeypatch, quick_share=0.0):
    """Sums say nothing, nodes are not counted, and by default no whole model comes first."""
    search_with(monkeypatch, quick_share=quick_share, node_count_share=0.0)
    monkeypatch.setattr(SumBounds, "of", lambda self, *given: None)


def wrong_relaxation(monkeypatch):
    without_sums(monkeypatch)
    right = Bounding.relax
    monkeypatch.setattr(Bounding, "relax", lambda self, name, seconds: less(right(self, name, seconds)))


def wrong_enumeration(monkeypatch):
    without_sums(monkeypatch)
    monkeypatch.setattr(Bounding, "relax", lambda self, name, seconds: None)
    monkeypatch.setattr(Bounding, "by_enumeration", lambda self, name, value, bound, until: (value - 1, None))


def wrong_columns(monkeypatch):
    without_sums(monkeypatch)
    monkeypatch.setattr(Bounding, "relax", lambda self, name, seconds: None)
    monkeypatch.setattr(Bounding, "by_enumeration", lambda self, name, value, bound, until: (bound, None))
    monkeypatch.setattr(Bounding, "by_columns", lambda self, name, until: (3, None))


def wrong_search(monkeypatch):
    without_sums(monkeypatch, quick_share=0.1)
    right = RoundModel.search

    def search_(self, names, *arguments):
        result = right(self, names, *arguments)
        return result if names[0] != SCHEDULED else replace(result, bound=less(result.bound))

    monkeypatch.setattr(RoundModel, "search", search_)


def wrong_optimum(monkeypatch):
    """CP-SAT calls a solution the best one which is not."""
    without_sums(monkeypatch, quick_share=0.1)
    right = RoundModel.search

    def search_(self, names, *arguments):
        result = right(self, names, *arguments)
        if names[0] != SCHEDULED:
            return result
        goals = {**result.solution.goals, SCHEDULED: result.solution.goals[SCHEDULED] - 1}
        return replace(result, bound=None, solution=replace(result.solution, goals=goals))

    monkeypatch.setattr(RoundModel, "search", search_)


def wrong_goal(monkeypatch):
    right = RoundModel.__post_init__

    def made(self):
        right(self)
        self.goals["pack"] = replace(self.goals["pack"], low=5)

    monkeypatch.setattr(RoundModel, "__post_init__", made)


@pytest.mark.parametrize(
    "snapshot, inject, prefer",
    [
        pytest.param(ROOMY, wrong_trivial_bound, "none", id="what can be placed at all, before any search"),
        pytest.param(
            CROWDED, wrong_trivial_bound, "none", id="what can be placed at all, beaten by a search"
        ),
        pytest.param(CROWDED, wrong_domains, "none", id="the relaxation to domains"),
        pytest.param(CROWDED, wrong_sums, "none", id="sums over the nodes"),
        pytest.param(CROWDED, wrong_relaxation, "none", id="the linear relaxation"),
        pytest.param(CROWDED, wrong_enumeration, "none", id="enumerated patterns"),
        pytest.param(CROWDED, wrong_columns, "none", id="column generation"),
        pytest.param(CROWDED, wrong_search, "none", id="CP-SAT's bound"),
        pytest.param(CROWDED, wrong_optimum, "none", id="CP-SAT's optimum"),
        pytest.param(ROOMY, wrong_goal, "pack", id="the trivial bound of a preference"),
    ],
)
def test_a_wrong_bound_is_not_overwritten(snapshot, inject, prefer, monkeypatch):
    options = replace(OPTIONS, prefer=prefer)
    right = solve(snapshot, options)
    assert right.status == "OPTIMAL"
    inject(monkeypatch)
    with pytest.raises(BoundContradiction, match="the plan attains") as caught:
        solve(snapshot, options)
    assert {"tiers", "bounds", "moves"} <= caught.value.dump.keys()


BESIDE = side_by_side(CROWDED, ROOMY, name="beside")


@pytest.mark.parametrize(
    "above", [True, False], ids=["bound given the tiers above", "trivial bound of a tier"]
)
def test_a_wrong_bound_of_a_part_is_no_bound_of_the_round(above, monkeypatch):
    def wrong(*arguments):
        answer = search_part(*arguments)
        if above:
            return replace(answer, bounds={**answer.bounds, SCHEDULED: answer.values[SCHEDULED] - 1})
        # the first tier is open, so that of the second only what holds of every plan adds up
        bounds = {**answer.bounds, SCHEDULED: answer.values[SCHEDULED] + 1}
        return replace(answer, bounds=bounds, trivial_bounds=dict.fromkeys(answer.trivial_bounds, 1))

    monkeypatch.setattr(decomposition, "search_part", wrong)
    with pytest.raises(BoundContradiction, match="the plan attains"):
        solved(BESIDE, APART)
    assert solved(BESIDE, WHOLE).status == "OPTIMAL"


FALLING = cluster(
    [node(f"{zone}{k}", zone=zone, cpu="2") for zone in "ab" for k in (1, 2)],
    [pod(f"old{k}").on(f"b{k}").req(cpu="2").priority(50) for k in (1, 2)],
    pod("p")
    .label(app="p")
    .req(cpu="1")
    .spread("zone", fallback=["PreemptionFailed"])
    .unschedulable()
    .wish_nodes(10, "hostname", "In", "a1")
    .times(4),
)
"""Pods that fit by breaking a constraint that fell back."""


class Hurried(Search):
    """Has no plan to start from, and no time for the first tier."""

    def _construct(self):
        pass

    def _solve(self, names, k):
        if k == 0:
            self.state.settle(names[k])
            return 1
        return super()._solve(names, k)


def test_a_better_plan_that_breaks_what_is_held_opens_the_tiers_below_again():
    """A search below a tier that was left open may come by a plan that is better there and worse between."""
    options = replace(OPTIONS, prefer="scores")
    best = {tier.name: (tier.value, True) for tier in solve(FALLING, options).tiers}
    assert best[SCHEDULED][0] == 4
    assert best["fallback"][0] > 0
    hurried = Hurried(build_problem(build_cluster(FALLING)), options)
    hurried.run([])
    assert hurried.proven() == best
