"""A plan can be carried out: the eviction API, asked step by step, refuses whom the plan names, no others."""

import pytest
from support.builders import budget, cluster, node, pod
from support.group_rounds import small_groups
from support.guard_rounds import tiny_guards
from support.proof import OPTIONS, SHORT, solve_and_replay
from support.rows import high, low
from support.strategies import small
from support.sweeps import few_or_all

from kubestow.framework.build import build_cluster
from kubestow.framework.rules.budgets import budgets


def refused(snapshot, plan, word):
    """Evict in the order of one kind of step; return each pod that is refused, with the budgets to blame.

    A pod that is granted uses one disruption of each of its budgets; one that is refused is deleted, and uses
    none. Pods that terminate in the input are not asked for.
    """
    cluster = build_cluster(snapshot)
    left = {b.key: b.allowed for b in budgets(cluster)}
    found = {}
    for step in plan.steps:
        key = getattr(step, word)
        if key is None or cluster.pods[cluster.pod_index[key]].terminating:
            continue
        mine = [b.key for b in budgets(cluster) if b.charges(cluster, cluster.pod_index[key])]
        if empty := tuple(b for b in mine if left[b] == 0):
            found[key] = empty
        else:
            left.update({b: left[b] - 1 for b in mine})
    return found


def check_carried_out(snapshot, options=OPTIONS):
    optimal, _ = solve_and_replay(snapshot, options)
    stated = {e.pod: e.violates for e in optimal.evictions if e.violates}
    if optimal.stats.admissible:
        assert refused(snapshot, optimal, "mark") == stated
    return stated


web = pod("v").label(app="web").req(cpu="1").priority(0)
one = budget("app", app="web", allowed=1)

ROUNDS = [
    pytest.param(
        cluster(node("a", cpu="2"), web.named("v").on("a"), web.named("w").on("a"), high.req(cpu="2"), one),
        id="of two like victims the second is refused",
    ),
    pytest.param(
        cluster(
            [node(name, cpu="1") for name in "ab"],
            web.named("v").on("a"),
            web.named("w").priority(60).on("b"),
            high.named("p").nodes("hostname", "In", "b"),
            high.named("q").priority(50).nodes("hostname", "In", "a"),
            one,
        ),
        id="the victim that belongs to the lesser priority is refused",
    ),
    pytest.param(
        cluster(
            node("a", cpu="3"),
            web.named("u").on("a"),
            low.named("v").label(tier="front").on("a"),
            web.named("w").label(tier="front").on("a"),
            high.req(cpu="3"),
            one,
            budget("tier", tier="front", allowed=1),
        ),
        id="the victim under two budgets is refused by both, and comes last",
    ),
    pytest.param(
        cluster(
            node("a", cpu="2"),
            web.named("v").label(tier="front").on("a"),
            web.named("w").on("a"),
            high.req(cpu="2"),
            one,
            budget("tier", tier="front", allowed=2),
        ),
        id="a budget that has something left is not to blame",
    ),
]


@pytest.mark.parametrize("snapshot", ROUNDS)
def test_who_is_refused_is_named(snapshot):
    assert check_carried_out(snapshot)


@pytest.mark.parametrize("make", [tiny_guards, small, small_groups])
@pytest.mark.parametrize("seed", range(few_or_all(30, 80)))
def test_nobody_else_is_refused(make, seed):
    """Whatever plan is found in a short time."""
    check_carried_out(make(seed), SHORT)


def test_the_filters_have_the_first_word():
    """p passes its spread constraint only while h runs, and needs v gone: nothing lets h go first."""
    snapshot = cluster(
        node("a", zone="z1", cpu="1"),
        node("b", zone="z2", cpu="1"),
        node("c", zone="z1", cpu="0"),
        web.named("v").on("a"),
        web.named("h").priority(60).label(tier="front").on("b"),
        pod("x").label(tier="front").on("c"),
        high.named("p").priority(50).label(tier="front").spread("zone", select={"tier": "front"}),
        high.named("q").nodes("hostname", "In", "b"),
        one,
    )
    optimal, _ = solve_and_replay(snapshot)
    # v counts at priority 50, h would at 100
    assert {e.pod: e.violates for e in optimal.evictions} == {
        "default/v": ("default/app",),
        "default/h": (),
    }
    assert refused(snapshot, optimal, "mark") == {"default/h": ("default/app",)}
