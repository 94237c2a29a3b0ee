"""How long words and replay will take, told from a few steps of greedy's."""

import gc

import pytest
from support.builders import cluster, node, pod
from support.device_rounds import small_devices

from kubestow.framework.build import build_cluster
from kubestow.instances.manifests import snapshot_of
from kubestow.instances.racks import racks
from kubestow.solver.plans import effort
from kubestow.solver.plans.effort import Spent, seconds_to_finish
from kubestow.solver.plans.greedy_baseline import greedy_outcome
from kubestow.solver.plans.replay import follow

MANY = (10 + 256) * 600 / 256
"""Seconds for 600 steps of which 256 are rehearsed, with what is there once."""


def round_of(snapshot):
    index = build_cluster(snapshot)
    return index, greedy_outcome(index)[0]


@pytest.fixture
def clock(monkeypatch):
    """A processor that takes a second for each step of a rehearsal, and ten for what is there once.

    To say why a pod is left out takes it three.
    """
    now = [0.0]

    def rehearse(index, outcome, moves):
        now[0] += 10 + len(moves)

    def diagnose(index, end, i):
        now[0] += 3

    monkeypatch.setattr(effort, "_rehearse", rehearse)
    monkeypatch.setattr(effort, "diagnose", diagnose)
    monkeypatch.setattr(effort.time, "thread_time", lambda: now[0])
    monkeypatch.setattr(effort, "_SHARE", 1)


@pytest.mark.parametrize(
    "pods, room, greedy, seconds",
    [
        pytest.param(10, 10, Spent(1, 1), 10 + 10, id="as many steps as are rehearsed"),
        pytest.param(600, 600, Spent(1, 1), MANY, id="more steps than are rehearsed"),
        pytest.param(600, 600, Spent(12, 3), 4 * MANY, id="others use the machine"),
        pytest.param(600, 450, Spent(80, 80), MANY * 495 / 600, id="a quarter is left out, a tenth comes in"),
        pytest.param(10, 9, Spent(80, 80), 10 + 9 + 3, id="one is left out, and to say why is more work"),
        pytest.param(10, 9, Spent(20, 20), 10 + 9 + 2, id="greedy took less to find out why"),
    ],
)
def test_the_estimate(clock, pods, room, greedy, seconds):
    nodes = node("a", cpu=str(room), pods="1000")
    index, outcome = round_of(cluster(nodes, pod("p").req(cpu="1").times(pods)))
    assert seconds_to_finish(index, outcome, greedy) == pytest.approx(seconds)


def test_pods_for_whom_room_would_be_left_are_taken_to_be_placed(clock):
    """Half of the pods ask for a node that is not there: their room is free elsewhere."""
    placed = pod("p").req(cpu="1").times(300)
    stuck = pod("q").req(cpu="1").nodes("zone", "In", "z").times(300)
    index, outcome = round_of(cluster(node("a", cpu="600", pods="1000"), placed, stuck))
    assert len(outcome.placed) == 300
    assert seconds_to_finish(index, outcome, Spent(80, 80)) == pytest.approx(MANY)


@pytest.mark.parametrize("greedy, asked", [(1e6, 5), (900, 3), (100, 1)])
def test_kinds_of_pods_are_asked_about_for_a_hundredth_of_greedys_time(clock, greedy, asked, monkeypatch):
    diagnose, told = effort.diagnose, []

    def heard(index, end, i):
        told.append(index.pods[i].key)
        diagnose(index, end, i)

    monkeypatch.setattr(effort, "diagnose", heard)
    left_out = [pod(f"p{k}").req(cpu=str(k)).times(2) for k in range(2, 7)]
    index, outcome = round_of(cluster(node("a", cpu="1"), *left_out))
    assert seconds_to_finish(index, outcome, Spent(greedy, greedy)) == pytest.approx(10 + 5 * 3)
    assert len(told) == asked


def test_a_machine_that_is_alone_stretches_nothing():
    assert [Spent(*each).stretch for each in ((2, 1), (1, 1), (0.9, 1), (0, 0))] == [2, 1, 1, 1]


@pytest.mark.parametrize(
    "snapshot",
    [small_devices(3), snapshot_of(racks(1, racks=2, nodes=2, devices=2, gangs=4))],
    ids=["claims", "gangs with claims in racks"],
)
def test_what_is_rehearsed_holds_its_replay(snapshot, monkeypatch):
    """Otherwise it would end at the first fault, and tell too little."""
    faults, index, outcome = [], *round_of(snapshot)

    def heard(*arguments):
        faults.append(follow(*arguments).fault)

    monkeypatch.setattr(effort, "follow", heard)
    seconds_to_finish(index, outcome, Spent(1, 1))
    assert outcome.allocations
    assert faults == ["", ""]


def test_no_garbage_collection_comes_amid_what_is_measured(monkeypatch):
    """It would be counted once more for each further sample."""
    index, outcome = round_of(cluster(node("a"), pod("p").req(cpu="1")))
    told = []
    monkeypatch.setattr(effort, "_processor", lambda work: told.append(gc.isenabled()) or 1.0)
    seconds_to_finish(index, outcome, Spent(1, 1))
    assert told == [False, False]
    assert gc.isenabled()
