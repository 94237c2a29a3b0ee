"""What a reading makes once and shares is what each object would have had by itself."""

import pytest

from kubestow.models.base import Kept
from kubestow.models.errors import InputError
from kubestow.models.pod import Pod
from kubestow.models.validation import read

CONTAINER = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
SPEC = {
    "containers": [CONTAINER],
    "initContainers": [CONTAINER | {"name": "i"}],
    "nodeSelector": {"a": "b"},
    "tolerations": [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}],
    "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}},
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
    ],
}
META = {
    "labels": {"app": "web"},
    "ownerReferences": [{"kind": "ReplicaSet", "name": "r", "controller": True}],
}


def pod(name="p", **spec):
    return {"kind": "Pod", "metadata": META | {"name": name}, "spec": SPEC | spec}


def both(first, second):
    """Read two pods in one reading, and the second by itself."""
    kept = Kept()
    return read(Pod, first, "f", kept), read(Pod, second, "f", kept), read(Pod, second, "f")


@pytest.mark.parametrize(
    "name",
    [
        "containers",
        "init_containers",
        "node_selector",
        "tolerations",
        "affinity",
        "topology_spread_constraints",
    ],
)
def test_an_equal_part_of_another_pod_is_the_same_object(name):
    first, second, alone = both(pod("p"), pod("q"))
    assert second == alone
    assert getattr(second.spec, name) is getattr(first.spec, name)
    assert getattr(alone.spec, name) is not getattr(first.spec, name)


def test_labels_and_owners_are_shared_and_names_are_not():
    first, second, alone = both(pod("p"), pod("q"))
    assert second.metadata == alone.metadata
    assert second.metadata.labels is first.metadata.labels
    assert second.metadata.owner_references is first.metadata.owner_references
    assert (first.name, second.name) == ("p", "q")


def test_containers_that_differ_in_what_is_not_read_are_shared():
    first, second, alone = both(
        pod(containers=[CONTAINER | {"volumeMounts": [{"name": "token-1"}]}]),
        pod(containers=[CONTAINER | {"volumeMounts": [{"name": "token-2"}]}]),
    )
    assert second == alone
    assert second.spec.containers is first.spec.containers


@pytest.mark.parametrize(
    "earlier, later",
    [
        pytest.param(
            {"containers": [CONTAINER]},
            {"containers": [CONTAINER | {"restartPolicy": "Always"}]},
            id="a container of another policy",
        ),
        pytest.param(
            {"containers": [CONTAINER]}, {"containers": [CONTAINER, CONTAINER | {"name": "d"}]}, id="one more"
        ),
        pytest.param({"nodeSelector": {"a": "null"}}, {"nodeSelector": {"a": None}}, id="a null"),
        pytest.param({"nodeSelector": {"a": ""}}, {"nodeSelector": {}}, id="none at all"),
        pytest.param({"affinity": {"nodeAffinity": {}}}, {"affinity": {}}, id="an empty affinity"),
        pytest.param({"affinity": {}}, {"affinity": None}, id="no affinity"),
    ],
)
def test_parts_that_differ_are_not_confused(earlier, later):
    first, second, alone = both(pod(**earlier), pod(**later))
    assert second == alone
    assert second.spec != first.spec


@pytest.mark.parametrize(
    "right, wrong",
    [
        pytest.param({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"a": 1}}, id="a number for a text"),
        pytest.param(
            {"tolerations": [{"tolerationSeconds": 1}]},
            {"tolerations": [{"tolerationSeconds": True}]},
            id="a truth value for a number",
        ),
        pytest.param(
            {"tolerations": [{"tolerationSeconds": 1}]},
            {"tolerations": [{"tolerationSeconds": 1.0}]},
            id="a fraction for a number",
        ),
        pytest.param({"containers": [CONTAINER]}, {"containers": ["c"]}, id="a text for a container"),
        pytest.param({"containers": [CONTAINER]}, {"containers": CONTAINER}, id="a map for a list"),
        pytest.param({"containers": [CONTAINER]}, {"containers": [{}]}, id="a name is missing"),
        pytest.param(
            {"nodeSelector": {"a": None}}, {"nodeSelector": {"a": float("nan")}}, id="what JSON cannot hold"
        ),
    ],
)
def test_a_wrong_part_is_refused_in_the_same_words_after_a_right_one(right, wrong):
    kept = Kept()
    read(Pod, pod(**right), "f", kept)
    with pytest.raises(InputError) as among_others:
        read(Pod, pod(**wrong), "f", kept)
    with pytest.raises(InputError) as alone:
        read(Pod, pod(**wrong), "f")
    assert str(among_others.value) == str(alone.value)
