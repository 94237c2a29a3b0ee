"""Profiles with plugins off, through time."""

import pytest
from support.simulating import Run, scenario

from kubestow.models.resource_api import ResourceClaim

TEXT = """
kind: Scenario
name: switched-off
start: 2026-05-04T08:00:00Z
duration: 1m
cluster:
  objects:
  - apiVersion: v1
    kind: Node
    metadata: {name: a}
    status: {allocatable: {cpu: "4", memory: 4Gi, pods: "9"}}
  - apiVersion: resource.k8s.io/v1
    kind: DeviceClass
    metadata: {name: gpu}
  - apiVersion: resource.k8s.io/v1
    kind: ResourceClaim
    metadata: {name: c, namespace: default}
    spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
  - apiVersion: v1
    kind: Pod
    metadata: {name: p, namespace: default}
    spec: {containers: [{name: m}], resourceClaims: [{name: d, resourceClaimName: c}]}
  - apiVersion: v1
    kind: Pod
    metadata: {name: gated, namespace: default}
    spec: {containers: [{name: m}], schedulingGates: [{name: example.com/wait}]}
  - apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    profiles: [{plugins: {%s}}]
"""


@pytest.mark.parametrize(
    "plugins, bound",
    [
        pytest.param("", [], id="by default a claim without devices keeps the pod waiting"),
        pytest.param(
            "multiPoint: {disabled: [{name: DynamicResources}]}",
            ["default/p"],
            id="without DynamicResources it is bound, and the claim is left as it is",
        ),
        pytest.param(
            "filter: {disabled: [{name: DynamicResources}]}", [], id="without the filter Reserve fails"
        ),
        pytest.param(
            "preEnqueue: {disabled: [{name: SchedulingGates}]}",
            [],
            id="gates hold although nobody asks about them",
        ),
    ],
)
def test_who_is_bound_and_what_becomes_of_the_claim(tmp_path, plugins, bound):
    done = Run(scenario(tmp_path, TEXT % plugins))
    assert [entry["pod"] for entry in done.of("PodBound")] == bound
    left = done.simulation.world.objects.get(ResourceClaim, "default/c")
    assert left.status.reserved_for == ()
    assert left.status.allocation is None
