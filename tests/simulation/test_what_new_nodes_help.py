"""The autoscaler tries new nodes for pods with claims of devices and volumes."""

import pytest
from support.simulating import Run, scenario

HEAD = """
kind: Scenario
duration: 1m
autoscaler:
  scanInterval: 10s
  groups:
  - {name: big, template: {allocatable: {cpu: "4", pods: "9"}}, max: 3, provisioning: 5s}
cluster:
  objects:
  - {apiVersion: v1, kind: Node, metadata: {name: n-1}, status: {allocatable: {cpu: "2", pods: "9"}}}
  - {apiVersion: v1, kind: Pod, metadata: {name: here}, spec: {nodeName: n-1, containers: [{name: m,
      resources: {requests: {cpu: "1"}}}]}, status: {phase: Running}}
"""
WORK = """
  - apiVersion: v1
    kind: Pod
    metadata: {name: work-%s}
    spec: {containers: [{name: m, resources: {requests: {cpu: "%s"}}}], %s}
"""
DEVICES = """
  - {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: card}}
  - apiVersion: resource.k8s.io/v1
    kind: ResourceSlice
    metadata: {name: cards}
    spec: {driver: d, pool: {name: p, generation: 1, resourceSliceCount: 1}, %s,
      devices: [{name: a}, {name: b}]}
  - apiVersion: resource.k8s.io/v1
    kind: ResourceClaimTemplate
    metadata: {name: one}
    spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: card}}]}}}
"""
CLAIM = "resourceClaims: [{name: c, resourceClaimTemplateName: one}]"
STORAGE = """
  - {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: csi.test,
      volumeBindingMode: WaitForFirstConsumer%s}
  - apiVersion: storage.k8s.io/v1
    kind: CSINode
    metadata: {name: n-1}
    spec: {drivers: [{name: csi.test, nodeID: n-1, allocatable: {count: 3}}]}
  - apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: data}
    spec: {storageClassName: s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
ELSEWHERE = ", allowedTopologies: [{matchLabelExpressions: [{key: host, values: [n-1]}]}]"
VOLUME = "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"


@pytest.mark.parametrize(
    "objects, ordered",
    [
        pytest.param(
            DEVICES % "allNodes: true" + WORK % (0, 2, CLAIM), 1, id="devices that every node reaches"
        ),
        pytest.param(
            DEVICES % "allNodes: true" + "".join(WORK % (k, 4, CLAIM) for k in range(3)),
            2,
            id="two devices are enough for two new nodes, one after the other",
        ),
        pytest.param(DEVICES % "nodeName: n-1" + WORK % (0, 2, CLAIM), 0, id="devices of another node"),
        pytest.param(STORAGE % "" + WORK % (0, 2, VOLUME), 1, id="a volume that is made where its pod goes"),
        pytest.param(STORAGE % ELSEWHERE + WORK % (0, 2, VOLUME), 0, id="a volume that is made elsewhere"),
    ],
)
def test_a_node_is_ordered_where_it_helps(tmp_path, objects, ordered):
    done = Run(scenario(tmp_path, HEAD + objects))
    assert sum(event["nodes"] for event in done.of("ScaleUp")) == ordered
