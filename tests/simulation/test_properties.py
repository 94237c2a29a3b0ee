"""What holds for every run: it can be repeated, the index follows the cluster, nobody waits for nothing."""

import random
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import NOW, node, pod
from support.simulating import Run, bundled

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.cycle import find_node
from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.state.state import State
from kubestow.models.node import Taint
from kubestow.models.scenario import SECOND, Cordon, Delete, Put, Scenario, TimedEvent
from kubestow.models.snapshot import Snapshot
from kubestow.simulation.greedy import GreedyScheduler
from kubestow.simulation.prometheus import prometheus
from kubestow.simulation.snapshots import snapshot_of_store

ZONES = ("z1", "z2", "z3")


def random_scenario(seed):
    """Two minutes of nodes and pods that come, go and change, then seven of quiet."""
    chance = random.Random(seed)
    nodes = [node(f"n{k}", zone=ZONES[k % 3], cpu="4").build() for k in range(4)]
    events = []
    for k in range(30):
        at = chance.randrange(120 * SECOND)
        pick = chance.random()
        if pick < 0.55:
            new = pod(f"p{k}").req(cpu=chance.choice(["1", "2", "3"])).label(app=chance.choice("xy"))
            new = new.priority(chance.choice([0, 0, 10]))
            if chance.random() < 0.4:
                new = new.spread("zone", max_skew=1)
            events.append(TimedEvent(at, Put((new.build(),))))
        elif pick < 0.7:
            events.append(TimedEvent(at, Delete("Pod", f"default/p{chance.randrange(30)}")))
        elif pick < 0.8:
            extra = node(f"m{k}", zone=chance.choice(ZONES), cpu="4").build()
            events.append(TimedEvent(at, Put((extra,))))
        elif pick < 0.9:
            events.append(TimedEvent(at, Cordon(f"n{chance.randrange(4)}", on=chance.random() < 0.5)))
        else:
            events.append(TimedEvent(at, Delete("Node", f"n{chance.randrange(4)}")))
    events.sort(key=lambda event: event.at)
    snapshot = Snapshot(name="random", now=NOW, nodes=tuple(nodes))
    return Scenario("random", snapshot, 540 * SECOND, events=tuple(events))


def instant(run):
    """Return a cluster and a state indexed from nothing, of the end of a run."""
    world = run.simulation.world
    snapshot = snapshot_of_store(world.objects, world.scenario.snapshot, world.now + timedelta(seconds=0))
    cluster = build_cluster(snapshot)
    return cluster, State.initial(cluster, nominations=True)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
@pytest.mark.slow
def test_nobody_waits_while_it_fits(seed):
    # The end comes more than five minutes after the last event: even what a hint cannot see was retried.
    run = Run(random_scenario(seed))
    cluster, state = instant(run)
    for item in run.simulation.world.queue.unschedulable:
        i = cluster.pod_index[item.key]
        feasible = framework_for(cluster, i).filter_all(state, i, nominated=True).feasible
        assert not len(feasible), f"{item.key} fits"


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_the_index_that_follows_equals_one_made_anew(seed):
    run = Run(random_scenario(seed))
    world = run.simulation.world
    followed, now = world.follower.look()
    cluster, state = instant(run)
    assert followed.node_names == cluster.node_names
    assert (followed.allocatable == cluster.allocatable).all()
    assert (now.requested == state.requested).all()
    assert (now.pod_count == state.pod_count).all()
    for info in cluster.pods:
        i = world.follower.number(info.key)
        assert now.node_of[i] == state.node_of[info.index]
        assert now.terminating[i] == state.terminating[info.index]
        if now.node_of[i] < 0 and info.key in {cluster.pods[j].key for j in cluster.pending}:
            mine = framework_for(followed, i).filter_all(now, i, nominated=True)
            other = framework_for(cluster, info.index).filter_all(state, info.index, nominated=True)
            assert (mine.codes == other.codes).all()


def closing_scenario(seed):
    """A minute in which nodes are cordoned, tainted and grown again and again while pods come."""
    chance = random.Random(seed)
    taints = (
        Taint(key="maintenance", effect="NoSchedule"),
        Taint(key="old", value="yes", effect="NoExecute"),
        Taint(key="busy", effect="PreferNoSchedule"),
    )
    policy = chance.choice(["Ignore", "Honor", "Honor"])
    events = []
    for k in range(40):
        at, n = chance.randrange(60 * SECOND), chance.randrange(5)
        if chance.random() < 0.5:
            new = pod(f"p{k}").req(cpu=chance.choice(["1", "2"])).label(app=chance.choice("xy"))
            if chance.random() < 0.4:
                new = new.tolerate("maintenance")
            if chance.random() < 0.7:
                new = new.spread("zone", max_skew=1, node_taints=policy)
            events.append(TimedEvent(at, Put((new.build(),))))
        else:
            changed = node(f"n{n}", zone=ZONES[n % 3], cpu=chance.choice(["4", "4", "6"])).build()
            spec = changed.spec.model_copy(
                update={
                    "unschedulable": chance.random() < 0.3,
                    "taints": tuple(taint for taint in taints if chance.random() < 0.3),
                }
            )
            events.append(TimedEvent(at, Put((changed.model_copy(update={"spec": spec}),))))
    events.sort(key=lambda event: event.at)
    nodes = tuple(node(f"n{k}", zone=ZONES[k % 3], cpu="4").build() for k in range(5))
    snapshot = Snapshot(name="closing", now=NOW, nodes=nodes)
    return Scenario("closing", snapshot, 60 * SECOND, events=tuple(events))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_a_cycle_decides_as_on_an_index_made_anew(seed):
    class Checked(GreedyScheduler):
        def _cycle(self, cluster, state, i):
            mine = super()._cycle(cluster, state, i)
            base = self._world.scenario.snapshot
            anew = build_cluster(snapshot_of_store(self._world.objects, base, self._world.now))
            j = anew.pod_index[cluster.pods[i].key]
            other = find_node(framework_for(anew, j), State.initial(anew, nominations=True), j)
            assert (mine.outcome == "bound") == (other.outcome == "bound")
            if mine.outcome == "bound":
                assert cluster.node_names[mine.node] == anew.node_names[other.node]
            return mine

    assert Run(closing_scenario(seed), Checked).record.metrics.attempts["scheduled"]


@pytest.mark.parametrize("name", ["guarded-service", "zone-outage", "stockout-falls-back"])
def test_a_run_is_repeated_to_the_byte(name):
    first, second = Run(bundled(name)), Run(bundled(name))
    assert repr(first.log) == repr(second.log)
    assert prometheus({"greedy": first.simulation}) == prometheus({"greedy": second.simulation})


def test_events_that_wake_nobody_cost_no_attempts():
    with_hints = Run(bundled("a-matching-node-comes"))
    assert with_hints.record.metrics.attempts["unschedulable"] == 2
    without = Run(bundled("a-matching-node-comes", "SchedulerQueueingHints=false"))
    assert without.record.metrics.attempts["scheduled"] == 2
