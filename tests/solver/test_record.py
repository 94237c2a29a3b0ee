"""What a search knew when: every point is true of its moment, and the last one is what the plan says."""

import time

import pytest
from support.apart import APART, WHOLE
from support.builders import cluster, node, pod
from support.proof import OPTIONS

from kubestow.framework.build import build_cluster
from kubestow.models.plan import Plan, Tier
from kubestow.models.search_point import SearchPoint
from kubestow.solver.api import solve
from kubestow.solver.decomposition.records import PartRecord, added_up
from kubestow.solver.decomposition.search import search_round
from kubestow.solver.plans.greedy_baseline import greedy_outcome
from kubestow.solver.plans.objective import TierValue
from kubestow.solver.record import MOST_POINTS, Record, progress_of, thinned


def point(seconds, value, bound=9, tier="t"):
    return SearchPoint(seconds=seconds, tier=tier, value=value, bound=bound)


def tier(value, bound, name="t"):
    return Tier(name=name, sense="max", value=value, bound=bound, proven=value == bound)


def test_a_point_is_added_where_something_changed():
    moments = iter((1.0, 2.0, 3.00049, 4.0, 5.0))
    record = Record(1.0, lambda: next(moments))
    for value, bound in ((3, None), (3, None), (3, 5), (3, 5), (4, 5)):
        record.note({"t": (value, bound)})
    assert record.points() == (point(0.0, 3, None), point(2.0, 3, 5), point(4.0, 4, 5))


@pytest.mark.parametrize(
    "points, left",
    [
        pytest.param([], [], id="none"),
        pytest.param([(3, 1), (3, 2), (3, 3), (3, 4)], [(3, 1), (3, 4)], id="all of one moment"),
        pytest.param([(3, 1), (3, 2)], [(3, 1), (3, 2)], id="few of one moment"),
        pytest.param([(0, 1), (1, 2), (9, 3)], [(0, 1), (1, 2), (9, 3)], id="as many as there may be"),
        pytest.param(
            [(0, 1), (0, 2), (1, 3), (1, 4)],
            [(0, 1), (0, 2), (1, 4)],
            id="the first, and the last of each half",
        ),
        pytest.param(
            [(0, 1), (1, 2), (2, 3), (9, 4), (10, 5)],
            [(0, 1), (2, 3), (10, 5)],
            id="halves of the time, not of the points",
        ),
    ],
)
def test_a_tier_has_at_most_so_many_points(points, left):
    assert thinned([point(*item) for item in points], 3) == [point(*item) for item in left]


def test_however_many_there_were_the_first_and_the_last_are_there():
    found = thinned([point(k / 1000, k) for k in range(5000)])
    assert (found[0].value, found[-1].value, len(found)) == (0, 4999, MOST_POINTS)
    assert [p.seconds for p in found] == sorted(p.seconds for p in found)


@pytest.mark.parametrize(
    "points, plan, told",
    [
        pytest.param([point(1, 9)], tier(9, 9), [], id="nothing where all was known from the beginning"),
        pytest.param([], tier(9, 9), [], id="nothing of a tier that was not followed"),
        pytest.param([point(1, 8)], tier(8, 9), [point(1, 8), point(5, 8)], id="the end of a vain search"),
        pytest.param(
            [point(1, 8), point(2, 9)], tier(9, 9), [point(1, 8), point(2, 9), point(5, 9)], id="all"
        ),
        pytest.param([point(1, 8)], tier(9, 9), [point(1, 8), point(5, 9)], id="what only the plan has"),
    ],
)
def test_a_plan_has_the_points_of_tiers_with_something_to_find(points, plan, told):
    assert list(progress_of(points, [plan], 5.0004)) == told


def test_points_are_in_the_order_of_time_and_of_tiers():
    points = [point(1, 1, tier="b"), point(2, 2, tier="b"), point(1, 1, tier="a"), point(3, 2, tier="a")]
    found = progress_of(points, [tier(2, 9, "a"), tier(2, 9, "b")], 3)
    assert [(p.seconds, p.tier) for p in found] == [(1, "a"), (1, "b"), (2, "b"), (3, "a"), (3, "b")]


def test_parts_add_up_and_lower_tiers_have_bounds_only_below_proven_ones():
    base = [TierValue("t", "max", 1), TierValue("cost", "min", 0)]
    first = [point(1, 3, 5), point(1, 7, 2, "cost"), point(2, 5, 5)]
    second = [point(3, 4, 4), point(3, 6, 1, "cost")]
    parts = [
        PartRecord(first, {"t": 1, "cost": 0}, {"t": 6, "cost": 0}),
        PartRecord(second, {"t": 2, "cost": 0}, {"t": 9, "cost": 0}),
    ]
    assert added_up(base, parts) == [
        # 1 is there without any plan, and each part has it: 3 + 2 - 1, at most 5 + 9 - 1
        *(point(1, 4, 13), point(1, 7, 0, "cost")),
        point(2, 6, 13),
        # both parts have proven the first tier: now their bounds of the second hold together
        *(point(3, 8, 8), point(3, 13, 3, "cost")),
    ]


def packed(rack):
    """Two nodes of a rack, on which greedy spreads what should stand together."""
    nodes = [node(f"{rack}{k}", cpu="4").label(rack=rack) for k in range(2)]
    pods = [pod(f"{rack}-p{k}").req(cpu="2").priority(5) for k in range(2)]
    return [*nodes, *(p.select({"rack": rack}) for p in [*pods, pod(f"{rack}-q").req(cpu="4").priority(5)])]


ROUND = cluster(*packed("r"), *packed("s"))


@pytest.mark.parametrize("least", [WHOLE, APART], ids=["as a whole", "by its parts"])
def test_every_point_is_true_of_its_moment(least):
    index = build_cluster(ROUND)
    greedy, _ = greedy_outcome(index, "none")
    found = search_round(index, greedy, OPTIONS, None, time.monotonic(), least=least)
    tiers = found.valuation.tiers
    best = {t.name: t.value for t in tiers}
    known, vectors = {}, []
    for moment in sorted({p.seconds for p in found.points}):
        known |= {p.tier: (p.value, p.bound) for p in found.points if p.seconds == moment}
        vectors.append([replaced(t, known[t.name][0]).cost for t in tiers])
        for t in tiers:
            value, bound = known[t.name]
            # the bound of a tier holds of the best plan, which has these values in the tiers above
            assert replaced(t, bound).cost <= replaced(t, best[t.name]).cost
            if value != best[t.name]:
                break
    assert vectors == sorted(vectors, reverse=True)
    assert {name: known[name] for name in best} == {
        name: (best[name], found.bounds[name][0]) for name in best
    }
    assert best["scheduled[priority=5]"] == 6


def replaced(tier_value, value):
    return TierValue(tier_value.name, tier_value.sense, value)


def test_a_plan_says_how_its_search_went():
    plan = solve(ROUND, OPTIONS)
    last = {p.tier: (p.value, p.bound) for p in plan.stats.progress}
    assert last == {t.name: (t.value, t.bound) for t in plan.tiers if t.name in last}
    assert "scheduled[priority=5]" in last
    document = plan.model_dump(by_alias=True)
    assert set(document["stats"]["progress"][0]) == {"seconds", "tier", "value", "bound"}
    assert Plan.model_validate(document) == plan


def test_a_plan_without_a_search_to_tell_of_says_nothing():
    plan = solve(cluster(node("n"), pod("p").req(cpu="1")), OPTIONS)
    assert "progress" not in plan.model_dump(by_alias=True)["stats"]
