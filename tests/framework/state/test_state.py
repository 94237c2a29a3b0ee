"""Properties of the state and of the two ways of filtering, over random rounds that mix every family."""

from random import Random

import numpy as np
import pytest
from support.builders import cluster, node, pod
from support.strategies import small

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.node_filter import NodeFilter
from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.state.state import State

SEEDS = range(25)


def stirred(seed):
    """A state after random moves of pods, and the dice that made it; pods are asked for on the way."""
    dice = Random(seed)
    members = build_cluster(small(seed))
    state = State.initial(members)
    movable = [info.index for info in members.pods]
    for _ in range(30):
        i = dice.choice(movable)
        ask = dice.choice(members.pending) if members.pending else None
        if ask is not None:
            framework_for(members, ask).filter_all(state, ask)
        match dice.choice(("move", "mark", "unmark")):
            case "move" if state.node_of[i] >= 0:
                state.remove(i)
            case "move":
                state.place(i, dice.randrange(members.n_nodes))
            case "mark" if state.node_of[i] >= 0:
                state.mark(i)
            case "unmark" if state.node_of[i] >= 0:
                state.unmark(i)
    return state, dice


def rebuilt(state):
    """The same state put together from nothing."""
    fresh = State(state.cluster)
    for i in np.flatnonzero(state.node_of >= 0).tolist():
        fresh.place(i, int(state.node_of[i]))
        if state.terminating[i]:
            fresh.mark(i)
    return fresh


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_follow_every_change(seed):
    state, _ = stirred(seed)
    fresh = rebuilt(state)
    for sums in ("requested", "nonzero", "pod_count"):
        assert (getattr(state, sums) == getattr(fresh, sums)).all()
    for i in state.cluster.pending:
        ours = framework_for(state.cluster, i).filter_all(state, i)
        theirs = framework_for(state.cluster, i).filter_all(fresh, i)
        assert ours.codes.tolist() == theirs.codes.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_one_node_and_all_nodes_agree(seed):
    state, dice = stirred(seed)
    members = state.cluster
    for i in members.pending:
        framework = framework_for(members, i)
        result = framework.filter_all(state, i)
        for n in range(members.n_nodes):
            assert framework.filter_node(state, i, n) == result.status(n)
        assert not (result.codes[~framework.static_mask(i)] == 0).any()
        some = np.array([dice.random() < 0.5 for _ in range(members.n_nodes)], dtype=bool)
        for within in (None, some):
            looked_at = [n for n in range(members.n_nodes) if within is None or within[n]]
            assert result.rejected(within) == [n for n in looked_at if not result.status(n).ok]
            if result.pre_filter is None:
                assert result.plugins_in(within) == {result.status(n).plugin for n in looked_at} - {""}
        assert result.plugins == result.plugins_in(None)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_dry_run_agrees_with_really_removing(seed):
    """Where nobody terminates; for those the hooks differ from a fresh count, as upstream's do."""
    state, dice = stirred(seed)
    members = state.cluster
    for i in np.flatnonzero(state.terminating).tolist():
        state.unmark(i)
    for i in members.pending:
        n = dice.randrange(members.n_nodes)
        there = [j for j in state.pods_on(n) if j != i]
        if not there or state.node_of[i] >= 0:
            continue
        framework = framework_for(members, i)
        cycle = framework.pre_filter(state, i)
        dry = NodeFilter(members, state, cycle, n)
        gone = dice.sample(there, dice.randint(1, len(there)))
        for j in gone:
            dry.remove(j)
        real = state.copy()
        for j in gone:
            real.remove(j)
        assert dry.check() == framework.filter_node(real, i, n)
        for j in gone:
            dry.add(j)
        assert dry.check() == framework.filter_node(state, i, n)


def test_a_copy_is_independent():
    members = build_cluster(
        cluster(node("a"), node("b"), pod("v").label(app="x").on("a"), pod("p").host_port(80))
    )
    state = State.initial(members)
    v = members.pod_index["default/v"]
    other = state.copy()
    other.mark(v)
    other.remove(v)
    other.nominate(members.pending[0], 1)
    assert (state.node_of[v], state.pods_on(0), state.pod_count.tolist()) == (0, [v], [1, 0])
    assert (other.node_of[v], other.pods_on(0), other.pod_count.tolist()) == (-1, [], [0, 0])
    assert (state.nominated, other.without_nominations().nominated) == ({}, {})


def test_versions_tell_states_apart():
    members = build_cluster(cluster(node("a"), pod("v").on("a"), pod("p")))
    state = State.initial(members)
    seen = {state.version}
    for change in (state.mark, state.unmark, state.remove):
        change(0)
        assert state.version not in seen
        seen.add(state.version)
    assert state.copy().version not in seen


def test_a_copy_is_filtered_on_its_own_counts():
    # What a plugin learnt may be the live counts of a state: no answer about one is given for another.
    members = build_cluster(cluster(node("a"), pod("v").host_port(80), pod("p").host_port(80)))
    v, p = members.pending
    state = State.initial(members)
    framework = framework_for(members, p)
    assert framework.filter_node(state, p, 0).ok
    other = state.copy()
    state.place(v, 0)
    assert framework.filter_node(other, p, 0).ok
    assert not framework.filter_node(state, p, 0).ok


def test_pods_keep_the_order_of_arrival():
    members = build_cluster(cluster(node("a"), pod("v").times(3)))
    state = State(members)
    for i in (2, 0, 1):
        state.place(i, 0)
    state.remove(0)
    state.place(0, 0)
    assert state.pods_on(0) == [2, 1, 0]


def test_classes_ignore_what_no_filter_looks_at():
    twins = build_cluster(
        cluster(
            node("a"),
            pod("p").created(1),
            pod("q").created(2).nominated("a").unschedulable(),
            pod("r").priority(1),
            pod("s").label(x="y"),
        )
    )
    p, q, r, s = (info.cls for info in twins.pods)
    assert p == q
    assert len({p, r, s}) == 3


def test_pods_that_count_nowhere():
    members = build_cluster(
        cluster(
            node("a"),
            pod("ghost").on("gone"),
            pod("done").on("a").changed(lambda d: d["status"].update(phase="Succeeded")),
            pod("going").terminating(),
            pod("p"),
        )
    )
    assert [info.pod.name for info in members.pods] == ["going", "p"]
    assert [members.pods[i].pod.name for i in members.pending] == ["p"]
    assert members.bound == members.gated == members.untried == ()
