"""What a person reads of an upgrade, to the letter."""

import io

import pytest
from support.builders import cluster, node, pod

from kubestow.models.kube_version import KubeVersion
from kubestow.reports.layout import show
from kubestow.reports.upgrade import upgrade_report
from kubestow.solver.upgrade import upgrade

EVEN = [
    node("a", cpu="10", memory="10Gi"),
    node("b", cpu="10", memory="10Gi"),
    pod("r").req(cpu="2", memory="2Gi").on("a"),
    pod("s").req(cpu="1", memory="3Gi").on("b"),
]
P = pod("p").req(cpu="2", memory="1Gi").priority(10)
Q = pod("q").req(cpu="8").priority(5).select({"kubernetes.io/hostname": "b"})

NOTHING = """\
test
  kube-scheduler 1.34: 0 of 0 pods scheduled, 0 evictions, 0 budget violations
  kube-scheduler 1.36: 0 of 0 pods scheduled, 0 evictions, 0 budget violations

The upgrade changes nothing here: every pod is treated alike.
"""
EVICTED = """\
test
  kube-scheduler 1.34: 2 of 2 pods scheduled, 0 evictions, 0 budget violations
  kube-scheduler 1.36: 2 of 2 pods scheduled, 1 eviction, 0 budget violations

After the upgrade 1 pod would move, 1 pod would be evicted.

Tiers, most important first
  tier                           1.34   1.36
  ────────────────────────────────────────────────────────────────
  scheduled[priority=10]            1      1
  scheduled[priority=5]             1      1
  evicted[priority=5,victim=0]      0      1   <- first difference

Pods that differ
  pod         1.34   1.36
  ──────────────────────────────────────────────────────────────
  default/s   runs   evicted   is evicted only after the upgrade
  default/p   a      b         goes to another node
"""


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param(EVEN, NOTHING, id="nothing changes"),
        pytest.param([*EVEN, P, Q], EVICTED, id="one pod moves, and another one is evicted for a third"),
    ],
)
def test_the_whole_report(objects, expected):
    file = io.StringIO()
    show(upgrade_report(upgrade(cluster(*objects, release="1.34"), KubeVersion.V1_36)), file)
    assert file.getvalue() == expected
