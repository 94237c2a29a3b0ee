"""Nominated pods: what is kept about them, and that all nodes at once hear what each node hears alone."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import cluster, node, pod
from support.device_rounds import small_devices
from support.strategies import SMALL, Size, generate
from support.volume_rounds import small_volumes

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.budget_ledger import Ledger
from kubestow.framework.cycle.cycle import apply, schedule_one
from kubestow.framework.cycle.filter_result import STATUS_OUTSIDE
from kubestow.framework.cycle.node_filter import NodeFilter
from kubestow.framework.cycle.runtime import Framework, framework_for
from kubestow.framework.state.nominations import Beside
from kubestow.framework.state.state import State

CROWDED = Size(nodes=(4, 8, 12), running=(10, 30), pending=(16, 24), apps=3, cores=8)
TIGHT = Size(nodes=(3, 5), running=(12, 20), pending=(10, 16), apps=2, cores=3)


def nominated_to(state, i, n):
    """Whom pod i must leave room for on a node, by a look at every nomination."""
    pods, flying = state.cluster.pods, state.nominations.in_flight
    others = [j for j, there in state.nominated.items() if there == n and j != i]
    least = pods[i].priority
    return Beside(
        [j for j in others if j not in flying and pods[j].priority >= least],
        sum(j in flying and least <= 0 for j in others),
    )


def alone(state, i, n):
    """What a node says of a pod, asked by itself, by a framework that remembers nothing."""
    framework = Framework(state.cluster, state.cluster.profile(i))
    cycle = framework.pre_filter(state, i)
    if cycle.rejected is not None:
        return cycle.rejected
    if cycle.outside is not None and cycle.outside[n]:
        return STATUS_OUTSIDE
    return NodeFilter(state.cluster, state, cycle, n).run(nominated_to(state, i, n))


def agree(state, i, *, later=()):
    """Compare pod i's verdicts node by node; return how many nodes a nominated pod closes to it.

    `later` are nominations that are withdrawn between the verdicts and the reading of their reasons.
    """
    members, framework = state.cluster, framework_for(state.cluster, i)
    expected = [alone(state, i, n) for n in range(members.n_nodes)]
    view = framework.view(state, i)
    if view is not None:
        open_to = [n for n, status in enumerate(expected) if status.ok]
        assert framework.passing(view, state, i, None).tolist() == open_to
    result = framework.filter_all(state, i, nominated=True)
    for j in later:
        state.withdraw(j)
    assert result.codes.tolist() == [status.code for status in expected]
    assert [result.status(n) for n in range(members.n_nodes)] == expected
    rejectors = {status.plugin for status in expected} - {""}
    assert result.plugins == rejectors
    for name in rejectors:
        assert result.rejected_by(name) == [n for n, status in enumerate(expected) if status.plugin == name]
    free = framework.filter_all(state, i)
    return sum(free.status(n) != status for n, status in enumerate(expected))


def stirred(members, dice):
    """A state in which pods were placed, marked and nominated anywhere, some more than once."""
    state = State.initial(members, nominations=True)
    for _ in range(2 * len(members.pending)):
        i = dice.choice(members.pending)
        if state.node_of[i] >= 0:
            continue
        match dice.choice(("place", "nominate", "nominate", "nominate", "withdraw", "ask")):
            case "place" if state.volumes is None and state.claims is None:
                state.withdraw(i)
                state.place(i, dice.randrange(members.n_nodes))
            case "nominate":
                state.nominate(i, dice.randrange(members.n_nodes))
            case "withdraw":
                state.withdraw(i)
            case "ask":
                state.nominations.expected(i)
    for j in np.flatnonzero(state.node_of >= 0).tolist():
        if dice.random() < 0.1:
            state.mark(j)
    if dice.random() < 0.5:
        state.fly(j for j in members.pending if dice.random() < 0.4)
    return state


def waiting(state):
    return [i for i in state.cluster.pending if state.node_of[i] < 0]


def look_at(members, dice):
    state = stirred(members, dice)
    return sum(agree(state, i) for i in waiting(state))


def test_random_rounds():
    closed = 0
    for seed in range(40):
        dice = Random(seed)
        size = dice.choice((CROWDED, TIGHT, SMALL))
        closed += look_at(build_cluster(generate(dice, size, f"nominated-{seed}")), dice)
    assert closed > 100  # or the comparison says little


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False))
def test_rounds_that_hypothesis_makes(dice):
    look_at(build_cluster(generate(dice, TIGHT, "nominated")), dice)


@pytest.mark.parametrize("make", [small_volumes, small_devices], ids=["volumes", "devices"])
def test_rounds_with_what_is_shared_between_nodes(make):
    for seed in range(12):
        look_at(build_cluster(make(seed)), Random(seed))


@pytest.mark.parametrize("seed", range(8))
def test_cycles_that_nominate_by_themselves(seed):
    dice = Random(seed)
    members = build_cluster(generate(dice, TIGHT, f"cycles-{seed}"))
    state, ledger = State.initial(members, nominations=True), Ledger(members)
    for i in members.pending:
        agree(state, i)
        apply(state, schedule_one(framework_for(members, i), state, i, ledger), ledger)


@pytest.mark.parametrize("seed", range(10))
def test_reasons_are_those_of_the_moment_of_filtering(seed):
    dice = Random(seed)
    state = stirred(build_cluster(generate(dice, TIGHT, f"later-{seed}")), dice)
    for i in waiting(state):
        agree(state.copy(), i, later=list(state.nominated))


@pytest.mark.parametrize("seed", range(10))
def test_what_is_kept_follows_every_nomination(seed):
    dice = Random(seed)
    members = build_cluster(generate(dice, CROWDED, f"kept-{seed}"))
    state = stirred(members, dice)
    for held in (state, state.copy()):
        for i in waiting(state):
            expected = held.nominations.expected(i)
            beside = held.nominations.all_beside(i)
            assert list(beside) == sorted(beside)
            for n in range(members.n_nodes):
                others, empty = nominated_to(held, i, n)
                assert sorted(beside.get(n, ())) == sorted(others)
                assert expected.count[n] == len(others) + empty
                assert (expected.usage[:, n] == members.usage[others].sum(axis=0)).all()
            chosen = np.array([j for j in range(len(members.pods)) if dice.random() < 0.3], dtype=np.int64)
            named, nodes = held.nominations.among(i, chosen)
            expected_there = {(j, n) for n in beside for j in beside[n] if j in chosen}
            assert set(zip(named.tolist(), nodes.tolist(), strict=True)) == expected_there


def test_more_priorities_than_are_kept():
    members = build_cluster(cluster(node("a"), [pod(f"p{k}").req(cpu="1").priority(k) for k in range(20)]))
    state = State.initial(members)
    for i in members.pending:
        state.nominate(i, 0)
    for i in (*members.pending, *members.pending):
        assert state.nominations.expected(i).count[0] == members.pods[-1].priority - members.pods[i].priority


def test_a_pod_that_is_nominated_elsewhere_comes_last_there():
    members = build_cluster(cluster(node("a"), node("b"), pod("p").times(3)))
    state = State.initial(members)
    for i, n in ((0, 0), (1, 1), (2, 1), (0, 1), (1, 0)):
        state.nominate(i, n)
    assert (state.nominations.on(0), state.nominations.on(1)) == ((1,), (2, 0))
    state.withdraw(1)
    assert (state.nominations.on(0), state.nominated) == ((), {2: 1, 0: 1})


@pytest.mark.parametrize(
    "priority, fits",
    [
        pytest.param(0, False, id="it takes a slot from a pod of its own priority, which is 0"),
        pytest.param(1, True, id="nothing from a more important one, whatever its own priority was"),
    ],
)
def test_a_pod_in_flight_is_an_empty_pod(priority, fits):
    tried = pod("p").req(cpu="2").priority(priority)
    flying = pod("q").req(cpu="2").priority(9).nominated("n")
    for room, taken in ((1, fits), (2, True)):
        members = build_cluster(cluster(node("n", cpu="2", pods=room), tried, flying))
        state = State.initial(members, nominations=True)
        state.fly([members.pod_index["default/q"]])
        i = members.pod_index["default/p"]
        agree(state, i)
        assert framework_for(members, i).filter_all(state, i, nominated=True).status(0).ok == taken


def close(text):
    """The objects of a table row: a node that a nominated pod leaves little of, and pod p."""
    n, p = node("n", cpu="4", memory="8Gi", pods=3), pod("p").req(cpu="2", memory="1Gi").priority(1)
    q = pod("q").req(cpu="3", memory="2Gi").priority(5).nominated("n")
    v = pod("v").req(cpu="1", memory="7Gi").on("n").priority(3)
    return {
        "short with it": [n, q, p],
        "short without it too": [n, q, v, p.req(cpu="4")],
        "never": [n, q, p.req(cpu="5")],
        "of lower priority": [n, q.priority(0), p],
        "no slot": [n, [q.req(cpu="0", memory="0").times(3)], p],
        "a filter before it": [n.cordoned(), q, p],
    }[text]


@pytest.mark.parametrize(
    "text, reasons",
    [
        ("short with it", ("Insufficient cpu",)),
        ("short without it too", ("Insufficient cpu", "Insufficient memory")),
        ("never", ("Insufficient cpu",)),
        ("of lower priority", ()),
        ("no slot", ("Too many pods",)),
        ("a filter before it", ("node(s) were unschedulable",)),
    ],
)
def test_what_is_told(text, reasons):
    members = build_cluster(cluster(*close(text)))
    state = State.initial(members, nominations=True)
    i = members.pod_index["default/p"]
    agree(state, i)
    result = framework_for(members, i).filter_all(state, i, nominated=True)
    assert result.status(0).reasons == reasons
