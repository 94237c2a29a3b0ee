"""KEP-4664 in time: what the eviction API answers, and what the scheduler makes of it."""

import pytest
from support.simulating import Run, scenario

HEAD = """
kind: Scenario
duration: 2m
scheduler: {preemptionDelay: 2s}
cluster:
  objects:
  - {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 100, allowDisruptionByPriorityGreaterThanOrEqual: 1000}
  - {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 500}
  - {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: keep}, spec: {minAvailable: 1, selector: {matchLabels: {app: low}}}}
"""  # noqa: E501
MIDDLE = "  - {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: middle}, value: 200}\n"


def node(name, cpu=2):
    return (
        f"  - {{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: "
        f'{{kubernetes.io/hostname: {name}}}}}, status: {{allocatable: {{cpu: "{cpu}", pods: "9"}}}}}}\n'
    )


def pod(name, app, cls, where="", cpu=2):
    node = f"nodeName: {where}, " if where else ""
    spec = f'priorityClassName: {cls}, containers: [{{name: m, resources: {{requests: {{cpu: "{cpu}"}}}}}}]'
    phase = ", status: {phase: Running}" if where else ""
    return (
        f"  - {{apiVersion: v1, kind: Pod, metadata: {{name: {name}, labels: {{app: {app}}}}}, spec: {{{node}"
        f"{spec}}}{phase}}}\n"
    )


def test_a_refused_eviction_leads_to_another_candidate(tmp_path):
    # The drain uses the budget up before the preemptor's call comes; the pod on n-3 has no guard.
    text = (
        HEAD
        + MIDDLE
        + node("n-1")
        + node("n-2")
        + node("n-3")
        + pod("v-1", "low", "low", "n-1")
        + pod("v-2", "low", "low", "n-2")
        + pod("w", "other", "middle", "n-3")
        + "events:\n- at: 10s\n  add:\n"
        + pod("p", "p", "high")
        + "- {at: 11s, drain: n-2}\n"
    )
    done = Run(scenario(tmp_path, text))
    assert [e["node"] for e in done.of("PodNominated")] == ["n-1", "n-3"]
    assert [e["code"] for e in done.of("EvictionRefused", preemptor="default/p")] == [429]
    assert [e["pod"] for e in done.of("PodEvicted", preemptor="default/p")] == ["default/w"]
    assert done.bound("p") == (42.002, "n-3")


def test_a_refused_eviction_without_another_candidate_deletes_nothing(tmp_path):
    text = (
        HEAD
        + node("n-1")
        + node("n-2")
        + pod("v-1", "low", "low", "n-1")
        + pod("v-2", "low", "low", "n-2")
        + "events:\n- at: 10s\n  add:\n"
        + pod("p", "p", "high")
        + "- {at: 11s, drain: n-2}\n"
    )
    done = Run(scenario(tmp_path, text))
    assert done.of("Attempt", result="nominated")[0]["node"] == "n-1"
    assert [e["code"] for e in done.of("EvictionRefused", preemptor="default/p")] == [429]
    assert done.times("PreemptionGivenUp") == [12.001]
    assert [e["by"] for e in done.of("PodEvicted")] == ["drain"]
    assert done.simulation.world.pod("default/v-1") is not None
    assert done.record.waiting == 1


def test_a_drain_asks_again_until_the_budget_allows_it(tmp_path):
    text = (
        HEAD
        + node("n-1")
        + pod("v-1", "low", "low", "n-1")
        + "events:\n- {at: 10s, drain: n-1}\n- at: 21s\n  add:\n"
        + node("n-2")
        + pod("v-2", "low", "low", "n-2")
    )
    done = Run(scenario(tmp_path, text))
    assert done.times("EvictionRefused") == [10, 15, 20]
    assert done.times("PodEvicted", pod="default/v-1") == [25]
    assert done.times("PodGone", pod="default/v-1") == [55]


def test_two_budgets_are_an_error_of_the_api(tmp_path):
    second = HEAD.splitlines()[-1].replace("name: keep", "name: keep-too")
    text = HEAD + second + "\n" + node("n-1") + pod("v", "low", "low", "n-1")
    done = Run(scenario(tmp_path, text + "events:\n- {at: 10s, drain: n-1}\n"))
    assert {e["code"] for e in done.of("EvictionRefused")} == {500}


@pytest.mark.parametrize(
    "where, phase, victims", [("n-1", "Succeeded", ["default/v-1"]), ("gone", "Running", [])]
)
def test_a_pod_that_ended_after_its_eviction_is_no_victim_of_the_next_preemptor(
    where, phase, victims, tmp_path
):
    """Its budget still has its name: it ended, or is on a node that is no more."""
    paid = "status: {disruptedPods: {v-0: '2026-01-01T00:00:00Z'}}"
    text = (
        HEAD.replace("scheduler:", "start: '2026-01-01T00:00:10Z'\nscheduler:")
        .replace("minAvailable: 1", "maxUnavailable: 1")
        .replace("{app: low}}}}", "{app: low}}}, " + paid + "}")
        + node("n-1")
        + pod("v-0", "low", "low", where).replace("Running", phase)
        + pod("v-1", "low", "low", "n-1")
        + "events:\n- at: 10s\n  add:\n"
        + pod("p", "p", "high")
    )
    done = Run(scenario(tmp_path, text))
    assert [e["pod"] for e in done.of("PodEvicted", preemptor="default/p")] == victims
