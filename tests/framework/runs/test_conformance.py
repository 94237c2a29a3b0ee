"""The greedy baseline against fixed samples of cycles recorded from the real kube-scheduler."""

import pytest
from support.paths import DATA
from support.recorded import cycle, group, instances, number, ours, recorded

from kubestow.models.features import FeatureGates
from kubestow.models.kube_version import KubeVersion

OLD = instances(DATA / "conformance")
NEW = instances(DATA / "conformance-1.36")

PODWISE = FeatureGates.parse("TopologyAwareWorkloadScheduling=false,WorkloadAwarePreemption=false")
"""The gates with which a family was recorded where members preempt one by one."""


@pytest.mark.parametrize("path", OLD, ids=number)
def test_every_cycle_is_that_of_the_real_scheduler(path):
    real, mine = recorded(path), ours(path, kube_version=KubeVersion.V1_34)
    assert list(map(cycle, mine["cycles"])) == list(map(cycle, real["cycles"]))


@pytest.mark.parametrize("path", NEW, ids=number)
def test_every_cycle_of_a_group_is_that_of_the_real_scheduler(path):
    gates = PODWISE if path.parent.name == "n-podwise" else FeatureGates()
    mine = ours(path, kube_version=KubeVersion.V1_36, feature_gates=gates)
    real = recorded(path)
    assert list(map(cycle, mine["cycles"])) == list(map(cycle, real["cycles"]))
    assert list(map(group, mine["groups"])) == list(map(group, real.get("groups", [])))
    assert mine["gated"] == real.get("gated", [])


def test_the_samples_are_complete():
    assert (len(OLD), len(NEW)) == (72, 16)
    assert {path.parent.name[0] for path in OLD} == set("abcdefghi")
    assert {path.parent.name[0] for path in NEW} == set("klmn")
