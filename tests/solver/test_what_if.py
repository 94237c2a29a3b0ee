"""A round before and after changes: what becomes of pods, tiers, budgets, daemons."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.what_if import budget, changed, cluster, node, pod, workload

from kubestow.solver.api import SolveOptions, solve, solve_both
from kubestow.solver.what_if import settled, what_if

ONE = SolveOptions(workers=1, time_limit=30)
WEB = "ReplicaSet/web"


def answer(snapshot, *changes, groups=()):
    [found] = what_if(snapshot, [changed(snapshot, *changes, groups=groups)], ONE).scenarios
    return found


def fates(pods):
    return {item.pod.partition("/")[2]: (item.change, item.before, item.after) for item in pods}


FULL = pod("full", "n1", WEB, cpu="4", priority=10)
LOW = pod("low", "n1", WEB, cpu="4", priority=0)
TAKES_ALL = pod("p", cpu="4", priority=5)


@pytest.mark.parametrize(
    "objects, change, expected",
    [
        pytest.param(
            [node("n1"), FULL, TAKES_ALL],
            {"addNodes": "like:n1"},
            {"p": ("starts", None, "n1-new-1")},
            id="a new node lets a pod start",
        ),
        pytest.param(
            [node("n1"), TAKES_ALL],
            {"cordon": "n1"},
            {"p": ("waits", "n1", None)},
            id="a cordon keeps it out",
        ),
        pytest.param(
            [node("n1"), node("n2"), pod("q", "n2", WEB, cpu="4", priority=3)],
            {"remove": "n2"},
            {"q": ("moves", "n2", "n1")},
            id="a pod is made again elsewhere",
        ),
        pytest.param(
            [node("n1"), node("n2"), FULL, pod("q", "n2", WEB, cpu="4", priority=3)],
            {"remove": "n2"},
            {"q": ("waits", "n2", None)},
            id="or waits",
        ),
        pytest.param(
            [node("n1"), node("n2"), LOW, pod("q", "n2", WEB, cpu="4", priority=3)],
            {"remove": "n2"},
            {"q": ("moves", "n2", "n1"), "low": ("evicted", "n1", None)},
            id="or takes another's place",
        ),
        pytest.param(
            [node("n1"), LOW, TAKES_ALL],
            {"addNodes": "like:n1"},
            {"p": ("moves", "n1", "n1-new-1"), "low": ("spared", None, "n1")},
            id="who was evicted may stay",
        ),
        pytest.param(
            [node("n1"), LOW, TAKES_ALL],
            {"set": "pod/p", "field": "spec.priority", "value": 0},
            {"p": ("waits", "n1", None), "low": ("spared", None, "n1")},
            id="a lower priority evicts nobody",
        ),
        pytest.param(
            [node("n1"), node("n2"), pod("q", "n2"), pod("d", "n2", "DaemonSet/agent")],
            {"zoneDown": "n2", "key": "kubernetes.io/hostname"},
            {"q": ("lost", "n2", None), "d": ("removed", "n2", None)},
            id="lost, and gone without loss",
        ),
        pytest.param(
            [node("n1", cpu="3"), workload("Deployment", "web", cpu="2", replicas=0)],
            {"scale": "deploy/web", "replicas": 2},
            {"web-0": ("comes", None, "n1"), "web-1": ("queues", None, None)},
            id="new copies run or wait",
        ),
        pytest.param(
            [node("n1"), LOW, workload("ReplicaSet", "web", replicas=1)],
            {"scale": "rs/web", "replicas": 0},
            {"low": ("removed", "n1", None)},
            id="a copy too many goes",
        ),
    ],
)
def test_what_becomes_of_pods(objects, change, expected):
    found = answer(cluster(*objects), change)
    # Which of two equal copies waits is not the point.
    assert sorted(fates(found.pods).values(), key=str) == sorted(expected.values(), key=str)
    assert sorted(fates(found.greedy_pods).values(), key=str) == sorted(expected.values(), key=str)
    assert found.after.optimal.stats.verified
    assert found.after.greedy.stats.verified


def test_tiers_of_both_rounds_stand_in_one_order():
    before = cluster(node("n1"), LOW, TAKES_ALL)
    found = answer(before, {"set": "pod/p", "field": "spec.priority", "value": 7}, {"addNodes": "like:n1"})
    rows = [
        (tier.name, tier.before and tier.before.optimal, tier.after and tier.after.optimal)
        for tier in found.tiers
    ]
    assert [row for row in rows if row[1] or row[2]] == [
        ("scheduled[priority=7]", None, 1),
        ("scheduled[priority=5]", 1, None),
        ("evicted[priority=5,victim=0]", 1, None),
    ]
    assert found.first_difference == "scheduled[priority=7]"


def test_greedy_s_answer_stands_beside_the_optimum_s():
    # Greedy takes the emptier node, which the second pod needs.
    objects = [
        node("n1", cpu="5"),
        node("n2", cpu="4"),
        node("n3", cpu="9"),
        pod("web", "n3", WEB, cpu="4", priority=9),
        pod("data", cpu="5", priority=1, nodeSelector={"kubernetes.io/hostname": "n1"}),
    ]
    found = answer(cluster(*objects), {"remove": "n3"})
    assert fates(found.pods) == {"web": ("moves", "n3", "n2")}
    assert fates(found.greedy_pods) == {"web": ("moves", "n3", "n1"), "data": ("waits", "n1", None)}
    tier = next(tier for tier in found.tiers if tier.name == "scheduled[priority=1]")
    assert (tier.before.optimal, tier.before.greedy, tier.after.optimal, tier.after.greedy) == (1, 1, 1, 0)
    assert tier.after.bound == 1
    assert tier.after.proven


# -- what controllers add ------------------------------------------------------------


def agent(name, cpu="1", **template):
    return workload("DaemonSet", name, cpu=cpu, template=template)


def test_daemons_take_their_share_of_new_nodes_the_most_important_first():
    objects = [
        node("n1"),
        agent("small", "2", priority=1),
        agent("large", "3", priority=9),
        agent("elsewhere", nodeSelector={"zone": "z"}),
    ]
    before = cluster(*objects)
    after, daemons = settled(before, changed(before, {"addNodes": "like:n1"}))
    assert daemons == ("shop/large-n1-new-1", "shop/small-n1-new-1")
    assert [item.spec.node_name for item in after.pods] == ["n1-new-1", None]


def test_a_pod_goes_only_where_daemons_leave_room():
    objects = [node("n1"), FULL, agent("agent", "1"), pod("p", cpu="4")]
    assert fates(answer(cluster(*objects), {"addNodes": "like:n1"}).pods) == {}
    assert answer(cluster(*objects[:2], objects[3]), {"addNodes": "like:n1"}).pods


@pytest.mark.parametrize(
    "change, allowed",
    [
        pytest.param({"remove": "n1"}, 0, id="fewer healthy pods"),
        pytest.param({"scale": "deploy/web", "replicas": 1}, 0, id="fewer copies"),
        pytest.param({"set": "pdb/keep", "field": "spec.minAvailable", "value": 0}, 2, id="another budget"),
        pytest.param({"set": "pdb/keep", "field": "status.disruptionsAllowed", "value": 7}, 7, id="by hand"),
        pytest.param({"addNodes": "like:n1"}, 1, id="what does not touch it"),
    ],
)
def test_budgets_know_of_the_change(change, allowed):
    pods = [pod("a", "n1", "ReplicaSet/web-1"), pod("b", "n2", "ReplicaSet/web-1")]
    before = cluster(
        node("n1"), node("n2"), workload("Deployment", "web", replicas=2), *pods, budget(minAvailable=1)
    )
    after, _ = settled(before, changed(before, change))
    assert after.pod_disruption_budgets[0].status.disruptions_allowed == allowed


def test_a_status_of_the_api_server_stays_where_nothing_touches_the_budget():
    item = {**budget(minAvailable=1), "status": {"disruptionsAllowed": 5, "currentHealthy": 6}}
    before = cluster(node("n1"), pod("a", "n1", WEB), item)
    after, _ = settled(before, changed(before, {"cordon": "n1"}))
    assert after.pod_disruption_budgets == before.pod_disruption_budgets


# -- Ctrl-C ------------------------------------------------------------


def interrupted(monkeypatch, at, *, within):
    """Solve a round and two scenarios; Ctrl-C comes in the round of that number, before or after its plan."""
    solved = []

    def both(*arguments, **more):
        solved.append(1)
        if len(solved) == at and not within:
            raise KeyboardInterrupt
        plans = solve_both(*arguments, **more)
        if len(solved) < at:
            return plans
        stats = plans[0].stats.model_copy(update={"interrupted": True})
        return plans[0].model_copy(update={"stats": stats}), plans[1]

    monkeypatch.setattr("kubestow.solver.what_if.solve_both", both)
    before = cluster(node("n1"), node("n2"), TAKES_ALL)
    return what_if(before, [changed(before, {"cordon": name}) for name in ("n1", "n2")], ONE)


@pytest.mark.parametrize(
    "at, within, number",
    [
        pytest.param(1, True, 0, id="in the first round: nothing else is solved"),
        pytest.param(2, True, 1, id="in a scenario: its best plan stays"),
        pytest.param(2, False, 0, id="before a scenario has a plan"),
        pytest.param(3, False, 1, id="in the last one: the one before it stays"),
    ],
)
def test_an_interrupt_leaves_what_is_solved(monkeypatch, at, within, number):
    found = interrupted(monkeypatch, at, within=within)
    assert (len(found.scenarios), found.interrupted) == (number, True)


def test_an_interrupt_before_any_plan_is_raised(monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        interrupted(monkeypatch, 1, within=False)


# -- what always holds ------------------------------------------------------------

PODS = st.lists(
    st.tuples(st.sampled_from(["1", "2", "3"]), st.integers(0, 2), st.sampled_from(["", "n1", "n2"])),
    min_size=1,
    max_size=5,
)


def rounds(drawn):
    """Two nodes, and pods of different sizes and priorities, some of which run as far as there is room."""
    room = {"n1": 4, "n2": 4}
    pods = []
    for k, (cpu, priority, wanted) in enumerate(drawn):
        on = wanted if wanted and room[wanted] >= int(cpu) else ""
        if on:
            room[on] -= int(cpu)
        pods.append(pod(f"p{k}", on, WEB, cpu=cpu, priority=priority))
    return cluster(node("n1"), node("n2", "b"), *pods)


@settings(max_examples=15, deadline=None)
@given(PODS)
def test_without_a_change_the_plans_are_the_same(drawn):
    before = rounds(drawn)
    nothing = {"uncordon": "n1"}
    found = what_if(before, [changed(before, nothing)], ONE)
    assert found.scenarios[0].after == found.before
    assert (found.scenarios[0].pods, found.scenarios[0].greedy_pods) == ((), ())
    assert found.scenarios[0].first_difference is None


@settings(max_examples=15, deadline=None)
@given(PODS, st.integers(1, 2))
def test_another_node_never_makes_the_optimum_worse_where_only_room_matters(drawn, number):
    """True without spread, affinity and daemons: every plan of before is one of after."""
    found = answer(rounds(drawn), {"addNodes": "like:n1", "count": number})
    signs = [1 if tier.sense == "max" else -1 for tier in found.tiers]
    old = [sign * tier.before.optimal for sign, tier in zip(signs, found.tiers, strict=True)]
    new = [sign * tier.after.optimal for sign, tier in zip(signs, found.tiers, strict=True)]
    assert new >= old


@settings(max_examples=15, deadline=None)
@given(PODS, st.sampled_from([{"remove": "n1"}, {"zoneDown": "b"}, {"cordon": "n2"}]))
def test_each_round_is_the_one_that_solve_finds(drawn, change):
    before = rounds(drawn)
    scenario = changed(before, change)
    found = what_if(before, [scenario], ONE)
    assert found.before.optimal.vector() == solve(before, ONE).vector()
    after, _ = settled(before, scenario)
    assert found.scenarios[0].after.optimal.vector() == solve(after, ONE).vector()
