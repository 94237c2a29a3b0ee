"""Nothing in a simulation runs without virtual time passing, and an interrupt ends a run."""

from types import SimpleNamespace

import pytest
from support.simulating import Run, bundled, scenario

from kubestow.models.scenario import SECOND
from kubestow.solver import simulate
from kubestow.solver.simulate import OptimalScheduler

# Two budgets cover the victim, with room: the eviction API answers 500, and its guard forbids to delete it.
TWO_BUDGETS = """
kind: Scenario
duration: 60s
cluster:
  objects:
  - {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 100, allowDisruptionByPriorityGreaterThanOrEqual: 1000}
  - {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 500}
  - {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: one}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: low}}}}
  - {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: two}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: low}}}}
  - {apiVersion: v1, kind: Node, metadata: {name: n-1}, status: {allocatable: {cpu: "2", pods: "9"}}}
  - apiVersion: apps/v1
    kind: ReplicaSet
    metadata: {name: v}
    spec:
      replicas: 1
      selector: {matchLabels: {app: low}}
      template:
        metadata: {labels: {app: low}}
        spec: {priorityClassName: low, containers: [{name: m, resources: {requests: {cpu: "2"}}}]}
events:
- at: 10s
  add:
  - {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priorityClassName: high, containers: [{name: m, resources: {requests: {cpu: "2"}}}]}}
"""  # noqa: E501


def test_a_refused_preemptor_backs_off(tmp_path):
    done = Run(scenario(tmp_path, TWO_BUDGETS))
    assert {e["code"] for e in done.of("EvictionRefused")} == {500}
    # 1, 2, 4, 8, 10, ... seconds, each to the end of its second; nobody else is tried meanwhile
    times = done.times("Attempt", pod="default/p")
    assert times == [10.001, 12.001, 15.001, 20.001, 29.001, 40.001, 51.001]
    assert done.of("PodEvicted") == []


def test_optimal_rounds_go_on_while_evictions_are_refused(tmp_path):
    done = Run(scenario(tmp_path, TWO_BUDGETS), OptimalScheduler)
    times = done.times("Attempt", pod="default/p")
    assert times == sorted(set(times))
    assert done.simulation.world.clock.now == 60 * SECOND


def test_rounds_that_wake_their_own_pods_let_the_clock_go_on(tmp_path):
    class Restless(OptimalScheduler):
        def _apply(self, solved, items):
            for item in items.values():
                self._world.queue.fail(item, ("NodeName",))
                self._world.queue.activate([item.pod])

    done = Run(scenario(tmp_path, TWO_BUDGETS), Restless)
    assert done.simulation.world.clock.now == 60 * SECOND
    assert done.record.rounds == 10 * 13  # every five seconds, from the start to the end


def test_an_interrupt_ends_the_run_and_not_a_round(tmp_path, monkeypatch):
    interrupted = SimpleNamespace(plan=SimpleNamespace(stats=SimpleNamespace(interrupted=True)))
    monkeypatch.setattr(simulate, "solve_round", lambda *given, after: interrupted)
    with pytest.raises(KeyboardInterrupt):
        Run(scenario(tmp_path, TWO_BUDGETS), OptimalScheduler)


def test_a_driver_takes_its_time_in_optimal_rounds_too():
    done = Run(bundled("a-driver-prepares-a-claim"), OptimalScheduler)
    first, second = done.of("Attempt")
    assert (first["result"], first["plugins"]) == ("unschedulable", ["DynamicResources"])
    assert second["result"] == "scheduled"
    assert second["t"] - first["t"] >= done.simulation.world.pace.driver / SECOND > 0
