"""The patches of the tests' API server are those of Kubernetes: kubectl applies the same ones by itself."""

import json
import os
import shutil
import subprocess

import pytest
from support.patches import TestFailed, json_patch, strategic_merge

KUBECTL = shutil.which("kubectl")
P, Q = ({"resource": "pods", "name": name, "uid": name} for name in "pq")


def claim(*consumers):
    status = {"reservedFor": list(consumers)} if consumers else {}
    meta = {"name": "c", "namespace": "d", "uid": "u", "finalizers": ["a/b"]}
    spec = {"devices": {}}
    return {
        **{"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim"},
        **{"metadata": meta, "spec": spec, "status": status},
    }


def volume(**spec):
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "v", "uid": "u"},
        "spec": spec,
    }


FREE = {"capacity": {"storage": "1Gi"}}
TAKEN = {"namespace": "d", "name": "c"}
POD = {
    **{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "d"}},
    **{"spec": {}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
}


def holds(path, value):
    return {"op": "test", "path": path, "value": value}


REMOVE = {"op": "remove", "path": "/status/reservedFor"}
CASES = [
    pytest.param(
        volume(**FREE),
        [
            holds("/metadata/uid", "u"),
            holds("/spec/claimRef", None),
            {"op": "add", "path": "/spec/claimRef", "value": TAKEN},
        ],
        id="a missing field is null",
    ),
    pytest.param(
        volume(**FREE, claimRef=TAKEN), [holds("/spec/claimRef", None)], id="one that is there is not"
    ),
    pytest.param(
        volume(**FREE, claimRef=TAKEN), [holds("/spec/claimRef/name", "c")], id="a field of a field"
    ),
    pytest.param(
        claim(P), [holds("/status/reservedFor", [P]), REMOVE], id="a list is compared entry by entry"
    ),
    pytest.param(claim(P, Q), [holds("/status/reservedFor", [P]), REMOVE], id="and as a whole"),
    pytest.param(claim(), [holds("/status/reservedFor", None)], id="a missing list is null, too"),
    pytest.param(claim(), [REMOVE], id="what is not there cannot be removed"),
    pytest.param(
        claim(P),
        {"metadata": {"finalizers": ["c/d"]}, "status": {"reservedFor": [Q], "allocation": {"devices": {}}}},
        id="finalizers are united and consumers are merged by uid",
    ),
    pytest.param(
        POD,
        {"status": {"conditions": [{"type": "X", "status": "True"}], "nominatedNodeName": "n"}},
        id="conditions are merged by type",
    ),
    pytest.param(
        POD,
        {"status": {"conditions": [{"type": "Ready", "status": "False"}]}},
        id="one of the same type is replaced",
    ),
]


def settled(value):
    """Sort lists, whose order a merge does not settle."""
    if isinstance(value, dict):
        return {name: settled(item) for name, item in value.items() if item != {}}
    return sorted(map(settled, value), key=json.dumps) if isinstance(value, list) else value


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
@pytest.mark.parametrize("document, patch", CASES)
def test_a_patch_does_what_it_does_in_kubernetes(document, patch, tmp_path):
    file = tmp_path / "object.json"
    file.write_text(json.dumps(document))
    kind = "json" if isinstance(patch, list) else "strategic"
    words = [KUBECTL, "patch", "--local", "-f", file, "--type", kind, "-p", json.dumps(patch), "-o", "json"]
    settings = {"HOME": str(tmp_path), "KUBECONFIG": "/dev/null", "PATH": os.environ["PATH"]}
    run = subprocess.run(words, capture_output=True, text=True, env=settings, timeout=60, check=False)
    try:
        ours = json_patch(document, patch) if kind == "json" else strategic_merge(document, patch)
    except TestFailed:
        assert run.returncode != 0
        return
    assert run.returncode == 0, run.stderr
    assert settled(json.loads(run.stdout)) == settled(ours)
