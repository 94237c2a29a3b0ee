"""What is known of a change beforehand is what everyone would find out: runs are the same either way."""

import random
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import pytest
from support.builders import NOW, node, pod
from support.simulating import Run, bundled

from kubestow.framework.queue.handlers import EventHandlers
from kubestow.models.scenario import SECOND, Arrivals, Cordon, Delete, Kind, Scenario, TimedEvent
from kubestow.models.snapshot import Snapshot
from kubestow.simulation.follower import Follower, Step
from kubestow.simulation.prometheus import prometheus
from kubestow.simulation.world import World


@contextmanager
def all_found_out():
    """Let handlers, index and components find out what a change means."""

    def finish(world, item):
        world.remove_pod(world.edit(item, phase="Succeeded"))

    noted = Follower.note_pod
    patches = (
        patch.object(EventHandlers, "came", lambda self, new: self.change(None, new)),
        patch.object(EventHandlers, "bound", EventHandlers.change),
        patch.object(EventHandlers, "ran", EventHandlers.change),
        patch.object(EventHandlers, "gone", lambda self, old: self.change(old, None)),
        patch.object(Follower, "note_pod", lambda self, key, step: noted(self, key, Step.OTHER)),
        patch.object(World, "finish", finish),
    )
    with ExitStack() as stack:
        for each in patches:
            stack.enter_context(each)
        yield


def outcome(scenario):
    run = Run(scenario)
    return run.log, prometheus({"greedy": run.simulation}), run.simulation.world.follower.rebuilds


def crowded(seed):
    """Half a minute in which more pods of several kinds come than there is room for, and nodes change."""
    chance = random.Random(seed)
    spread = pod("s").req(cpu="1").label(app="s").spread("zone", max_skew=1)
    kinds = (
        pod("a").req(cpu="1"),
        pod("b").req(cpu="3").priority(10),
        spread,
        pod("here").req(cpu="1").on("n0"),
    )
    arriving = tuple(Kind(kind.build(), 1.0, chance.choice((2, 9)) * SECOND) for kind in kinds)
    events = [TimedEvent(0, Arrivals(1.5, 30 * SECOND, arriving))]
    for _ in range(6):
        name = f"n{chance.randrange(3)}"
        change = chance.choice((Cordon(name, on=True), Cordon(name, on=False), Delete("Node", name)))
        events.append(TimedEvent(chance.randrange(30 * SECOND), change))
    nodes = tuple(node(f"n{k}", zone=f"z{k % 2}", cpu="4").build() for k in range(4))
    ordered = tuple(sorted(events, key=lambda event: event.at))
    return Scenario(
        "crowded", Snapshot(name="c", now=NOW, nodes=nodes), 40 * SECOND, seed=seed, events=ordered
    )


@pytest.mark.parametrize("seed", range(6))
def test_runs_are_the_same_when_all_is_found_out(seed):
    scenario = crowded(seed)
    known = outcome(scenario)
    with all_found_out():
        assert outcome(scenario) == known
    events = {entry["event"] for entry in known[0]}
    assert {"PodCreated", "PodBound", "PodFinished", "PodCondition"} <= events


def test_a_group_is_bound_alike():
    scenario = bundled("guarded-training-job")
    known = outcome(scenario)
    with all_found_out():
        assert outcome(scenario) == known
