"""What kube-scheduler-simulator exports is an instance; what only looks like it is refused as before."""

import json

import pytest

from kubestow.instances.manifests import parse_snapshot
from kubestow.models.errors import InputError


def meta(name, **more):
    return {"name": name, "uid": f"uid-{name}", "resourceVersion": "7", **more}


EXPORT = {
    "pods": [
        {
            "metadata": meta("web", namespace="shop"),
            "spec": {
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
                "priorityClassName": "high",
                "priority": 100,
                "schedulerName": "default-scheduler",
                "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
            },
            "status": {"phase": "Pending"},
        }
    ],
    "nodes": [{"metadata": meta("n"), "spec": {}, "status": {"allocatable": {"cpu": "2", "pods": "9"}}}],
    "pvs": [
        {
            "metadata": meta("disk"),
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": "1Gi"},
                "hostPath": {"path": "/d"},
            },
        }
    ],
    "pvcs": [
        {
            "metadata": meta("data", namespace="shop"),
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }
    ],
    "storageClasses": [{"metadata": meta("slow"), "provisioner": "example.com/slow"}],
    "priorityClasses": [{"metadata": meta("high"), "value": 100}],
    "schedulerConfig": {"profiles": [{"schedulerName": "default-scheduler"}]},
    "namespaces": [{"metadata": meta("shop")}],
}


def load(document):
    return parse_snapshot([("export.json", json.dumps(document).encode())], name="export")


def test_every_kind_is_read():
    found = load(EXPORT)
    kinds = (
        *(found.pods, found.nodes, found.persistent_volumes, found.persistent_volume_claims),
        *(found.storage_classes, found.priority_classes, found.namespaces),
    )
    assert [[item.name for item in items] for items in kinds] == [
        ["web"], ["n"], ["disk"], ["data"], ["slow"], ["high"], ["shop"],
    ]  # fmt: skip
    assert found.pods[0].spec.priority == 100
    assert found.configuration is not None
    assert not found.notes


def test_what_is_null_is_empty():
    found = load(dict.fromkeys(EXPORT) | {"nodes": EXPORT["nodes"]})
    assert (len(found.nodes), found.pods, found.configuration) == (1, (), None)


BARE = {"metadata": {"name": "a"}, "spec": {}}
REFUSED = {
    "a field that is no list": (EXPORT | {"pods": {}}, "pods", "must be a list"),
    "an object that would be refused": (EXPORT | {"pods": [BARE]}, "Pod default/a", "containers"),
    "a field that no export has": (EXPORT | {"jobs": []}, "kind", "required"),
    "nodes alone": ({"nodes": []}, "kind", "required"),
}


@pytest.mark.parametrize("document, field, words", REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_told_in_one_line(document, field, words):
    with pytest.raises(InputError) as refused:
        load(document)
    assert field in str(refused.value)
    assert words in str(refused.value)
