"""KEP-3990 in time, at the second: the five worked timelines."""

import pytest
from support.simulating import Run, bundled, scenario

CLUSTER = """
kind: Scenario
duration: 7m
{extra}
cluster:
  nodes:
  - {{count: 1, name: a, zones: [a], allocatable: {{cpu: "8"}}}}
  - {{count: 1, name: b, zones: [b], allocatable: {{cpu: "{room}"}}}}
  objects:
  - apiVersion: v1
    kind: Pod
    metadata: {{name: first, labels: {{app: mart}}}}
    spec: {{nodeName: a-0, containers: [{{name: m, resources: {{requests: {{cpu: "2"}}}}}}]}}
    status: {{phase: Running}}
events:
- at: {at}
  add:
  - apiVersion: v1
    kind: Pod
    metadata: {{name: second, labels: {{app: mart}}}}
    spec:
      containers: [{{name: m, resources: {{requests: {{cpu: "2"}}}}}}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        fallbackCriteria: [{criteria}]
        labelSelector: {{matchLabels: {{app: mart}}}}
"""
SOLD_OUT = """
autoscaler:
  groups:
  - {name: b, template: {zone: b, allocatable: {cpu: "4"}}, soldOut: true, refusal: 30s}
"""
TIMEOUT = """
scheduler:
  configuration:
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    profiles:
    - pluginConfig:
      - {{name: PodTopologySpread, args: {{nodeProvisioningTimeout: {timeout}}}}}
"""


def run(tmp_path, criteria, *, extra="", room="1", at="0s"):
    return Run(scenario(tmp_path, CLUSTER.format(criteria=criteria, extra=extra, room=room, at=at)))


@pytest.mark.parametrize(
    "criteria",
    [
        pytest.param("NodeProvisioningFailed", id="a: the autoscaler's answer alone decides"),
        pytest.param("NodeProvisioningFailed, PreemptionFailed", id="c: both have to hold"),
        pytest.param("PreemptionFailed, NodeProvisioningFailed", id="c: in whatever order"),
    ],
)
def test_a_stock_out_is_known_after_fifty_seconds(tmp_path, criteria):
    done = run(tmp_path, criteria, extra=SOLD_OUT)
    assert done.times("ScaleUp") == [10]
    assert done.times("StockOut") == [40]
    assert done.times("PodCondition", type="NodeProvisioningInProgress", status="True") == [10]
    assert done.times("PodCondition", type="NodeProvisioningInProgress", status="False") == [50]
    when, node = done.bound("second")
    assert (int(when), node) == (50, "a-0")
    assert [int(t) for t in done.times("Attempt")] == [0, 50]
    assert done.record.fallbacks == 1


def test_b_failed_preemption_falls_back_on_the_second_attempt(tmp_path):
    done = run(tmp_path, "PreemptionFailed")
    assert done.bound("second") == (0.002, "a-0")  # nobody else waits, so it need not back off
    assert done.record.fallbacks == 1


def test_b_without_early_pops_the_second_attempt_waits_for_the_backoff(tmp_path):
    gates = "scheduler: {featureGates: SchedulerPopFromBackoffQ=false}"
    assert 1 <= run(tmp_path, "PreemptionFailed", extra=gates).bound("second")[0] <= 2.001


def test_b_a_victim_means_no_fallback():
    done = Run(bundled("balloons-make-room"))
    assert done.bound("mart-1") == (10.002, "b-1")
    assert done.times("Fallback", pod="default/mart-1") == []


@pytest.mark.parametrize(
    "timeout, second",
    [
        pytest.param("2m", 150, id="d: two minutes after 0.001 s are noticed at 150 s"),
        pytest.param("5m", 330, id="d: five minutes at 330 s, as the flush of leftovers"),
    ],
)
def test_d_the_timeout_is_noticed_on_a_grid_of_thirty_seconds(tmp_path, timeout, second):
    done = run(tmp_path, "NodeProvisioningFailed", extra=TIMEOUT.format(timeout=timeout))
    when, node = done.bound("second")
    assert (int(when), node) == (second, "a-0")
    assert len(done.of("Attempt")) == 2


def test_d_without_a_timeout_nothing_falls_back(tmp_path):
    done = run(tmp_path, "NodeProvisioningFailed")
    assert done.record.waiting == 1
    assert done.record.fallbacks == 0


def test_e_a_node_that_comes_leaves_the_constraint_hard(tmp_path):
    coming = SOLD_OUT.replace("soldOut: true, refusal: 30s", "provisioning: 70s")
    done = run(tmp_path, "NodeProvisioningFailed", extra=coming, at="11s")
    assert done.times("PodCondition", type="NodeProvisioningInProgress", status="True") == [20]
    assert done.times("NodeAdded", node="b-0") == [0]
    when, node = done.bound("second")
    assert int(when) == 90
    assert node.startswith("b")
    assert done.record.fallbacks == 0


def test_the_gate_off_means_hard_for_ever():
    done = Run(bundled("stockout-falls-back", "PodTopologySpreadFallbackMode=false"))
    assert done.record.waiting == 1


DEFAULT_CONSTRAINT = """
scheduler:
  configuration:
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    profiles:
    - pluginConfig:
      - name: PodTopologySpread
        args:
          defaultingType: List
          defaultConstraints:
          - {{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, fallbackCriteria: [{criteria}]}}
"""  # noqa: E501
SERVICE = (
    "  - {apiVersion: v1, kind: Service, metadata: {name: mart}, spec: {selector: {app: mart}}}\nevents:"
)


def test_a_default_constraint_falls_back_as_well(tmp_path):
    text = CLUSTER.format(
        criteria="", extra=DEFAULT_CONSTRAINT.format(criteria="PreemptionFailed"), room="1", at="0s"
    )
    text = text[: text.index("      topologySpreadConstraints:")].replace("events:", SERVICE)
    done = Run(scenario(tmp_path, text))
    when, node = done.bound("second")
    assert (int(when), node) == (0, "a-0")
    assert len(done.of("Attempt", pod="default/second")) == 2
    assert done.of("Fallback")[0]["topologyKeys"] == ["topology.kubernetes.io/zone"]


def test_the_timeout_counts_from_the_rejection_and_not_from_the_gate(tmp_path):
    gated = """status:
      conditions:
      - {type: PodScheduled, status: "False", reason: SchedulingGated,
         lastTransitionTime: "2026-01-01T00:00:00Z"}
    spec:
      schedulingGates: [{name: later}]
"""
    text = CLUSTER.format(
        criteria="NodeProvisioningFailed", extra=TIMEOUT.format(timeout="1m"), room="1", at="0s"
    )
    first = text.partition("events:\n")[2]
    text = text.replace("    spec:\n      containers", f"    {gated}      containers")
    done = Run(scenario(tmp_path, text + first.replace("at: 0s", "at: 2m")))
    when, node = done.bound("second")
    # Two minutes behind its gate, one after its rejection, and the next time event after that.
    assert (int(when), node) == (210, "a-0")
