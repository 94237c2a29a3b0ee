"""Dropping what no model reads changes nothing that one reads."""

import json

import pytest

from kubestow.instances import catalogue
from kubestow.instances.documents import read_documents
from kubestow.instances.files import read_files
from kubestow.instances.lean import lean
from kubestow.instances.unknown_fields import unknown_fields
from kubestow.models.annotations import READ_ANNOTATIONS
from kubestow.models.kinds import find_kind
from kubestow.models.pod import Pod
from kubestow.models.validation import read

META = {"name": "p", "namespace": "n"}


@pytest.mark.parametrize("name", catalogue.names())
def test_what_is_read_of_a_bundled_instance_stays(name):
    for file, content in read_files([catalogue.path(name)]):
        for raw in read_documents(file, content):
            model = find_kind(raw["kind"], raw["apiVersion"])
            before = json.dumps(raw, default=str)
            left = lean(model, raw)
            assert read(model, left, file) == read(model, raw, file)
            assert json.dumps(raw, default=str) == before


def pod(**spec):
    spec = {"containers": [{"name": "c"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": META, "spec": spec}


ROWS = [
    pytest.param(
        {**pod(), "metadata": {**META, "managedFields": [{"manager": "m"}], "finalizers": ["f"]}},
        pod(),
        id="Managed fields and finalizers go",
    ),
    pytest.param(
        pod(containers=[{"name": "c", "image": "i", "env": [{"name": "E", "value": "v"}], "command": ["c"]}]),
        pod(containers=[{"name": "c", "image": "i"}]),
        id="Environments and commands go",
    ),
    pytest.param(
        pod(volumes=[{"name": "v", "secret": {"secretName": "s"}, "hostPath": {"path": "/"}}]),
        pod(volumes=[{"name": "v", "secret": {}, "hostPath": {}}]),
        id="Of sources of volumes that no plugin looks at the names stay",
    ),
    pytest.param(pod(toplogy=1), pod(toplogy=1), id="What is unknown stays, to be told"),
    pytest.param(
        {**pod(), "metadata": {**META, "annotations": {"a": "b", "volume.kubernetes.io/selected-node": "n"}}},
        {**pod(), "metadata": {**META, "annotations": {"volume.kubernetes.io/selected-node": "n"}}},
        id="Annotations that no rule reads go",
    ),
    pytest.param(
        {**pod(), "metadata": {**META, "annotations": {"kubernetes.io/config.mirror": "9f86d0", "a": "b"}}},
        {**pod(), "metadata": {**META, "annotations": {"kubernetes.io/config.mirror": "9f86d0"}}},
        id="A mirror pod stays one",
    ),
    pytest.param(pod(containers=None, volumes="x"), pod(containers=None, volumes="x"), id="Faults stay"),
]


@pytest.mark.parametrize("raw, left", ROWS)
def test_what_is_left(raw, left):
    assert lean(Pod, raw) == left
    assert list(unknown_fields(Pod, left)) == list(unknown_fields(Pod, raw))


def test_annotations_that_rules_read_are_all_of_other_parties():
    assert all("/" in key for key in READ_ANNOTATIONS)
