"""The worked timeline of the queue: backoff, an early pop, a node that wakes the pod."""

from support.simulating import Run, scenario

TEXT = """
kind: Scenario
duration: 5s
scheduler: {cycle: 0s}
pace: {stop: 0s}
cluster:
  nodes: [{count: 1, name: full, allocatable: {cpu: "4"}}]
  objects:
  - apiVersion: v1
    kind: Pod
    metadata: {name: b}
    spec: {nodeName: full-0, containers: [{name: m, resources: {requests: {cpu: "1"}}}]}
    status: {phase: Running}
  - apiVersion: v1
    kind: Pod
    metadata: {name: c}
    spec: {nodeName: full-0, containers: [{name: m, resources: {requests: {cpu: "3"}}}]}
    status: {phase: Running}
events:
- at: 0s
  add: [{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: m, resources: {requests: {cpu: "4"}}}]}}]
- {at: 0.4s, delete: Pod default/b}
- at: 3.2s
  add: [{apiVersion: v1, kind: Node, metadata: {name: free}, status: {allocatable: {cpu: "8", pods: "110"}}}]
"""  # noqa: E501


def test_the_deletion_leads_to_an_early_attempt_and_the_node_to_the_last(tmp_path):
    done = Run(scenario(tmp_path, TEXT))
    assert [(e["t"], e["result"]) for e in done.of("Attempt")] == [
        (0.0, "unschedulable"),
        (0.4, "unschedulable"),
        (3.2, "scheduled"),
    ]


def test_without_early_pops_every_attempt_waits_for_its_backoff(tmp_path):
    text = TEXT.replace("{cycle: 0s}", '{cycle: 0s, featureGates: "SchedulerPopFromBackoffQ=false"}')
    assert [e["t"] for e in Run(scenario(tmp_path, text)).of("Attempt")] == [0.0, 2.0, 5.0]
