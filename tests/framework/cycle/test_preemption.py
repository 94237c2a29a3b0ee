import pytest
from support.builders import budget, node, pod
from support.filtering import Look, pass_over, profile

from kubestow.framework.cycle.budget_ledger import Ledger
from kubestow.framework.rules.budgets import budgets_of

BIG = pod("p").req(cpu="2").priority(500)
"""Fills a node of two cores."""


def two(name="n"):
    return node(name, cpu="2")


def small(name, *, on="n", priority=100, app="low"):
    return pod(name).req(cpu="1").priority(priority).label(app=app).on(on)


def outcome(cycle):
    """Write a cycle's result: `n: v, w (1 violates)`, or why there is none."""
    if cycle["result"] != "nominated":
        return cycle.get("message", cycle["result"])
    victims = ", ".join(key.partition("/")[2] for key in cycle["victims"])
    count = cycle["pdbViolations"]
    return f"{cycle['node']}: {victims}" + (f" ({count} violate)" if count else "")


def waits(n, first, then):
    """Write the message of a pod that waits."""
    return f"0/{n} nodes are available: {first}. no new claims to deallocate, preemption: {then}"


def helpless(n, *reasons):
    return f"0/{n} nodes are available: {', '.join(reasons)}."


NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
ONE_SHORT = "1 Insufficient cpu"


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param(
            [two(), small("v"), small("w"), BIG],
            "n: v, w",
            id="everybody of lower priority leaves where all must",
        ),
        pytest.param(
            [two(), small("v", priority=1), small("w", priority=2), BIG.req(cpu="1")],
            "n: v",
            id="the more important pod is put back first",
        ),
        pytest.param(
            [two(), small("v").started(5), small("w").started(50), BIG.req(cpu="1")],
            "n: v",
            id="of equal priority, who started earlier is more important",
        ),
        pytest.param(
            [two(), small("v"), small("w").started(1), BIG.req(cpu="1")],
            "n: v",
            id="who has not started counts as started now",
        ),
        pytest.param(
            [
                node("n", cpu="4"),
                small("v").req(cpu="1"),
                small("w", priority=200).req(cpu="3"),
                BIG.req(cpu="1"),
            ],
            "n: v",
            id="a large important pod that fits again forces out smaller ones",
        ),
        pytest.param(
            [two(), small("v", priority=500), small("w", priority=500), BIG],
            waits(1, ONE_SHORT, helpless(1, f"1 {NO_VICTIMS}")),
            id="pods of equal priority are no victims",
        ),
        pytest.param(
            [two(), small("v"), small("w", priority=900), BIG],
            waits(1, ONE_SHORT, helpless(1, ONE_SHORT)),
            id="where the filter fails without them too, its reason is told",
        ),
        pytest.param(
            [two(), small("v"), small("w"), BIG.never()],
            waits(1, ONE_SHORT, "not eligible due to preemptionPolicy=Never."),
            id="preemptionPolicy Never looks for nobody",
        ),
        pytest.param(
            [two(), two("m").taint("x"), small("v"), small("w"), BIG],
            "n: v, w",
            id="a node that no eviction can help is no candidate",
        ),
        pytest.param(
            [two("a").taint("x"), two("b").taint("x"), BIG],
            waits(2, "2 node(s) had untolerated taint(s)", helpless(2, f"2 {NOT_HELPFUL}")),
            id="no candidate at all",
        ),
        pytest.param(
            [two("a"), two("b").taint("x"), BIG, small("v", on="a", priority=500)],
            waits(
                2,
                "1 Insufficient cpu, 1 node(s) had untolerated taint(s)",
                helpless(2, f"1 {NO_VICTIMS}", f"1 {NOT_HELPFUL}"),
            ),
            id="both kinds of nodes in one message, sorted as text",
        ),
        pytest.param(
            [two(), small("v").terminating(), small("w"), BIG],
            "n: v, w",
            id="who terminates already is a victim like any other",
        ),
    ],
)
def test_victims(objects, expected):
    assert outcome(pass_over(*objects)["p"]) == expected


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param(
            [small("v", on="a"), small("w", on="b", app="x"), budget("keep", allowed=0, app="low")],
            "b: w",
            id="fewest violations come first",
        ),
        pytest.param(
            [small("v", on="a", priority=3), small("w", on="b", priority=2)],
            "b: w",
            id="then the lowest priority of the most important victim",
        ),
        pytest.param(
            [
                small("v", on="a", priority=3).req(cpu="1"),
                small("v2", on="a", priority=2).req(cpu="1"),
                small("w", on="b", priority=3).req(cpu="1"),
                small("w2", on="b", priority=1).req(cpu="1"),
            ],
            "b: w, w2",
            id="then the lowest sum of priorities",
        ),
        pytest.param(
            [
                small("v", on="a", priority=-(2**31)).req(cpu="1"),
                small("v2", on="a", priority=-(2**31)).req(cpu="1"),
                small("w", on="b", priority=-(2**31)).req(cpu="2"),
            ],
            "b: w",
            id="then the fewest victims",
        ),
        pytest.param(
            [small("v", on="a").started(9), small("w", on="b").started(8)],
            "b: w",
            id="then the latest start",
        ),
        pytest.param([small("v", on="b"), small("w", on="a")], "a: w", id="then the smallest node name"),
    ],
)
def test_choice_of_the_node(objects, expected):
    assert outcome(pass_over(two("a"), two("b"), objects, BIG)["p"]) == expected


def in_order():
    """A is more important than B, B than C."""
    return [
        small("a", priority=5).started(9),
        small("b", priority=5).started(8),
        small("c", priority=3).started(7),
    ]


@pytest.mark.parametrize(
    "pdbs, expected",
    [
        pytest.param(
            [budget("k", allowed=1, app="low")], "n: a", id="the most important pays first, so that it goes"
        ),
        pytest.param(
            [budget("k", allowed=0, app="low")],
            "n: c (1 violate)",
            id="all violate: the least important goes",
        ),
        pytest.param(
            [budget("k", allowed=9, app="low")], "n: c", id="none violates: the least important goes"
        ),
        pytest.param(
            [budget("k", allowed=0, app="low").disrupted("c")],
            "n: c",
            id="a disruption that is paid for is free",
        ),
        pytest.param([budget("k", {}, allowed=0)], "n: c", id="an empty selector covers nobody here"),
        pytest.param(
            [budget("k", allowed=0, app="low", namespace="other")],
            "n: c",
            id="a budget covers its own namespace",
        ),
        pytest.param(
            [budget("k", allowed=9, app="low"), budget("l", allowed=0, app="low")],
            "n: c (1 violate)",
            id="every budget that covers a pod must take it",
        ),
    ],
)
def test_budgets(pdbs, expected):
    assert outcome(pass_over(node("n", cpu="3"), in_order(), pdbs, BIG.req(cpu="1"))["p"]) == expected


def test_a_pod_without_labels_is_covered_by_nobody():
    everyone = {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}
    look = Look(
        two(), pod("v").on("n"), pod("w").label(x="y").on("n"), pod("p"), budget("k", everyone, allowed=0)
    )
    v, w, _ = (info.index for info in look.cluster.pods)
    assert budgets_of(look.cluster, v) == ()
    assert [b.key for b in budgets_of(look.cluster, w)] == ["default/k"]


# -- KEP-4664, the worked examples of the proposal: class `low` has priority 100 and the guard 1000 --


def low(name, *, on="n"):
    return small(name, on=on).guard(1000)


NOTHING_LEFT = budget("k", allowed=0, app="low")
GUARDED = "1 node(s) had pods guarded by allowDisruptionByPriorityGreaterThanOrEqual: {}"
KEPT = waits(1, ONE_SHORT, helpless(1, GUARDED.format(1000)))


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param(
            [two(), low("v"), low("w"), NOTHING_LEFT, BIG],
            KEPT,
            id="1: guarded pods whose budget is spent stay, and the guard is the reason",
        ),
        pytest.param(
            [two(), low("v"), low("w"), NOTHING_LEFT, BIG.priority(1000)],
            "n: v, w (2 violate)",
            id="2: a preemptor of the guard's priority may break the budget",
        ),
        pytest.param(
            [
                two(),
                low("v").started(1),
                low("w").started(9),
                budget("k", allowed=1, app="low"),
                BIG.req(cpu="1"),
            ],
            "n: v",
            id="3: the less important of two uses the last disruption",
        ),
        pytest.param(
            [two(), low("v"), low("w"), budget("k", allowed=1, app="low"), BIG],
            KEPT,
            id="4: a second one would break the budget",
        ),
        pytest.param(
            [
                two(),
                two("m"),
                low("v"),
                low("w"),
                NOTHING_LEFT,
                small("x", on="m", app="batch").req(cpu="2"),
                budget("b", allowed=0, app="batch"),
                BIG,
            ],
            "m: x (1 violate)",
            id="5: an unguarded pod goes, though its budget is spent too",
        ),
        pytest.param(
            [
                two(),
                small("v").guard(2_000_000_000).req(cpu="2"),
                NOTHING_LEFT,
                BIG.priority(1_999_999_999),
            ],
            waits(1, ONE_SHORT, helpless(1, GUARDED.format(2_000_000_000))),
            id="7: with the highest guard not even the highest user priority may",
        ),
        pytest.param(
            [two(), small("v").guard(2_000_000_000).req(cpu="2"), NOTHING_LEFT, BIG.priority(2_000_000_000)],
            "n: v (1 violate)",
            id="7: only the system's own",
        ),
        pytest.param(
            [two(), small("v").guard(101).req(cpu="2"), NOTHING_LEFT, BIG.priority(101)],
            "n: v (1 violate)",
            id="8: a guard just above the own priority changes nothing",
        ),
        pytest.param([two(), low("v"), low("w"), BIG], "n: v, w", id="without a budget nothing is guarded"),
        pytest.param(
            [
                two(),
                low("v").started(9),
                low("w").started(1).terminating(),
                budget("k", allowed=1, app="low"),
                BIG,
            ],
            "n: v, w (1 violate)",
            id="who terminates already leaves the budget to the others",
        ),
        pytest.param(
            [two(), low("v").terminating(), low("w").terminating(), NOTHING_LEFT, BIG],
            "n: v, w (2 violate)",
            id="who terminates already is not evicted again",
        ),
        pytest.param(
            [
                node("n", cpu="3"),
                low("v").priority(5),
                small("w", priority=9),
                small("x", priority=9),
                budget("k", allowed=1, app="low"),
                BIG.req(cpu="3"),
            ],
            "n: w, x, v (2 violate)",
            id="a guarded victim keeps the budget, the others break it",
        ),
        pytest.param(
            [
                two(),
                low("v").priority(50),
                small("w", priority=5),
                budget("k", allowed=1, app="low"),
                BIG,
            ],
            KEPT,
            id="walking up from the least important, an unguarded pod may use the disruption first",
        ),
    ],
)
def test_guards(objects, expected):
    assert outcome(pass_over(*objects)["p"]) == expected


def test_guards_are_ignored_without_the_gate():
    objects = [two(), low("v"), low("w"), NOTHING_LEFT, BIG]
    off = pass_over(*objects, gates="DisruptionPolicyInPriorityClass=false")["p"]
    assert outcome(off) == "n: v, w (2 violate)"


def test_guarded_victims_draw_on_budgets_at_once():
    # 6: what the first preemptor took is gone for the second; an unguarded victim is taken anyway.
    objects = [two("a"), two("b"), budget("k", allowed=1, app="low"), BIG, BIG.named("q")]
    victims = [small("v", on="a").req(cpu="2"), small("w", on="b").req(cpu="2")]
    guarded = pass_over(*objects, [victim.guard(1000) for victim in victims])
    assert outcome(guarded["p"]) == "a: v"
    assert guarded["q"]["result"] == "unschedulable"
    plain = pass_over(*objects, victims)
    assert [outcome(cycle) for cycle in plain.values()] == ["a: v", "b: w"]


def test_a_ledger_pays_each_victim_once_and_never_below_zero():
    look = Look(two(), low("v"), low("w"), BIG, budget("k", allowed=1, app="low"))
    ledger = Ledger(look.cluster)
    v, w = (look.cluster.pod_index[f"default/{name}"] for name in "vw")
    ledger.pay([v, v])
    assert (ledger.allowed, ledger.charges(v), ledger.charges(w)) == ([0], [], [0])
    ledger.pay([w])
    assert ledger.allowed == [0]


# -- nominations --


def test_a_nominated_pod_holds_its_room_against_no_higher_priority():
    objects = [two(), small("v").req(cpu="2"), BIG, BIG.named("q"), BIG.named("z").priority(50)]
    cycles = pass_over(*objects)
    assert outcome(cycles["p"]) == "n: v"
    assert outcome(cycles["q"]) == waits(1, ONE_SHORT, helpless(1, ONE_SHORT))
    assert outcome(cycles["z"]) == waits(1, ONE_SHORT, helpless(1, f"1 {NO_VICTIMS}"))


def test_who_waits_for_its_victims_may_not_look_again():
    gone = (
        small("v")
        .req(cpu="2")
        .terminating()
        .condition("DisruptionTarget", "True", reason="PreemptionByScheduler")
    )
    cycle = pass_over(two(), two("m"), gone, small("w", on="m").req(cpu="2"), BIG.nominated("n"))["p"]
    assert outcome(cycle) == waits(
        2, "2 Insufficient cpu", "not eligible due to a terminating pod on the nominated node."
    )


def test_a_pod_that_terminates_for_another_reason_does_not_block():
    cycle = pass_over(
        two(),
        two("m"),
        small("v").req(cpu="2").terminating(),
        small("w", on="m", priority=1).req(cpu="2"),
        BIG.nominated("n"),
    )["p"]
    assert outcome(cycle) == "m: w"


def test_a_nominated_node_that_is_out_for_good_does_not_block():
    gone = (
        small("v")
        .req(cpu="2")
        .terminating()
        .condition("DisruptionTarget", "True", reason="PreemptionByScheduler")
    )
    cycle = pass_over(two().taint("x"), two("m"), gone, small("w", on="m").req(cpu="2"), BIG.nominated("n"))[
        "p"
    ]
    assert outcome(cycle) == "m: w"


def test_the_nominated_node_is_tried_first_and_alone():
    cycle = pass_over(two("a"), two("b"), BIG.nominated("b"))["p"]
    assert (cycle["node"], cycle["feasible"], cycle["filter"]) == ("b", ["b"], {})
    assert "scores" not in cycle


def test_a_preemptor_takes_the_nomination_of_lower_pods():
    cycles = pass_over(two(), small("v").req(cpu="2"), BIG, BIG.named("q").priority(200).nominated("n"))
    assert cycles["p"]["clearedNominations"] == ["default/q"]


def test_but_not_where_all_victims_were_leaving_anyway():
    cycles = pass_over(
        two(), small("v").req(cpu="2").terminating(), BIG, BIG.named("q").priority(200).nominated("n")
    )
    assert outcome(cycles["p"]) == "n: v"
    assert "clearedNominations" not in cycles["p"]


def test_a_profile_may_do_without_preemption():
    off = profile(postFilter={"disabled": [{"name": "DefaultPreemption"}]})
    cycle = pass_over(two(), small("v").req(cpu="2"), BIG, configuration=off)["p"]
    assert cycle["message"] == "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate"


def test_the_search_ends_with_enough_candidates():
    few = profile(
        args={"DefaultPreemption": {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 1}}
    )
    objects = [
        two("a"),
        two("b"),
        small("v", on="a").req(cpu="2"),
        small("w", on="b", priority=1).req(cpu="2"),
        BIG,
    ]
    assert outcome(pass_over(*objects)["p"]) == "b: w"
    assert outcome(pass_over(*objects, configuration=few)["p"]) == "a: v"
