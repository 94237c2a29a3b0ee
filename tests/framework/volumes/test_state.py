"""What a round binds, and that every step back leaves no trace."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import cluster, node, pod
from support.storage import MAKE, WAIT, attachment, bound, claim, csi_node, volume
from support.volume_rounds import tiny_volume_rounds

from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.index.cluster import Cluster
from kubestow.framework.state.state import State


def seen(state):
    """Everything that the volume plugins read of a state."""
    volumes = state.volumes
    return (
        {key: count for key, count in volumes.users.items() if count},
        dict(volumes.disks),
        {key: dict(nodes) for key, nodes in volumes.attached.items() if nodes},
        {driver: counts.tolist() for driver, counts in volumes.counts.items()},
        dict(volumes.assumed.volume_of),
        dict(volumes.assumed.taken),
        dict(volumes.assumed.node_of),
    )


@pytest.fixture
def round_():
    return Cluster(
        cluster(
            node("a"),
            node("b"),
            WAIT,
            MAKE,
            volume("small", 1),
            volume("large", 5),
            claim("x"),
            claim("y", storage="make"),
            csi_node("a", volumes=3),
            pod("p").claim("x", "y"),
            pod("q").claim("x", "y"),
        )
    )


def test_placing_binds(round_):
    state = State.initial(round_)
    before = state.bindings()
    state.place(0, 1)
    assert state.volumes.assumed.volume_of == {"default/x": 1}
    assert state.volumes.assumed.node_of == {"default/y": 1}
    assert state.bindings() != before


def test_who_comes_second_binds_nothing_more(round_):
    state = State.initial(round_)
    state.place(0, 1)
    bindings = state.bindings()
    state.place(1, 1)
    assert state.bindings() == bindings
    state.take_back(1)
    assert state.bindings() == bindings
    state.take_back(0)
    assert seen(state) == seen(State.initial(round_))


def test_who_leaves_leaves_claims_bound(round_):
    state = State.initial(round_)
    state.place(0, 1)
    bindings = state.bindings()
    state.remove(0)
    assert state.bindings() == bindings
    assert framework_for(round_, 1).filter_node(state, 1, 1).ok
    assert not framework_for(round_, 1).filter_node(state, 1, 0).ok


def test_a_copy_goes_its_own_way(round_):
    state = State.initial(round_)
    copy = state.copy()
    copy.place(0, 1)
    assert seen(state) == seen(State.initial(round_))
    assert seen(copy) != seen(state)


def test_a_pod_that_runs_binds_nothing():
    snapshot = cluster(node("a"), WAIT, volume("v"), claim("x"), pod("r").claim("x").on("a"))
    assert State.initial(Cluster(snapshot)).volumes.assumed.taken == {}


def test_without_reserve_nothing_is_bound():
    off = {"profiles": [{"plugins": {"reserve": {"disabled": [{"name": "VolumeBinding"}]}}}]}
    snapshot = cluster(node("a"), WAIT, volume("v"), claim("x"), pod("p").claim("x"), configuration=off)
    state = State.initial(Cluster(snapshot))
    state.place(0, 0)
    assert state.volumes.assumed.taken == {}


def test_a_cluster_without_volumes_has_no_such_part():
    state = State.initial(Cluster(cluster(node("a"), pod("p"))))
    assert state.volumes is None


def test_attachments_count_with_pods_and_without():
    snapshot = cluster(
        node("a"),
        csi_node("a", volumes=9),
        [bound(name) for name in "xyz"],
        attachment("a", "y"),
        attachment("a", "z"),
        pod("r").claim("x", "y").on("a"),
        pod("s").claim("x").on("a"),
    )
    state = State.initial(Cluster(snapshot))
    assert state.volumes.counts["csi.test"].tolist() == [3]
    state.remove(0)
    assert state.volumes.counts["csi.test"].tolist() == [3]
    state.remove(1)
    assert state.volumes.counts["csi.test"].tolist() == [2]


@settings(max_examples=60)
@given(snapshot=tiny_volume_rounds, choose=st.randoms(use_true_random=False))
def test_taking_back_is_exact(snapshot, choose):
    """Place what passes, one after the other, then take all of it back."""
    made = Cluster(snapshot)
    state = State.initial(made)
    if state.volumes is None:
        return
    before, done = [], []
    for i in made.pending:
        feasible = framework_for(made, i).filter_all(state, i).feasible.tolist()
        if feasible:
            before.append(seen(state))
            state.place(i, choose.choice(feasible))
            done.append(i)
    for i in reversed(done):
        state.take_back(i)
        assert seen(state) == before.pop()


@settings(max_examples=60)
@given(snapshot=tiny_volume_rounds, choose=st.randoms(use_true_random=False))
def test_one_node_and_all_nodes_are_judged_alike(snapshot, choose):
    """And alike whichever pod of a class is asked for, before and after others of it are bound."""
    made = Cluster(snapshot)
    state = State.initial(made)
    waiting = list(made.pending)
    while waiting:
        verdicts = {}
        for i in waiting:
            framework = framework_for(made, i)
            result = framework.filter_all(state, i)
            statuses = [result.status(n) for n in range(made.n_nodes)]
            state.version += 10**9  # nothing is remembered from one pod to the next
            assert statuses == [framework.filter_node(state, i, n) for n in range(made.n_nodes)]
            assert verdicts.setdefault(made.pods[i].cls, statuses) == statuses
            state.version -= 10**9
        i = waiting.pop(choose.randrange(len(waiting)))
        feasible = framework_for(made, i).filter_all(state, i).feasible.tolist()
        if feasible:
            state.place(i, choose.choice(feasible))
