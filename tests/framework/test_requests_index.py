"""Requests that are computed once for pods with equal parts are those of each pod by itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubestow.framework.index.podinfo import RequestsIndex
from kubestow.models.base import Kept
from kubestow.models.features import FeatureGates
from kubestow.models.pod import Pod
from kubestow.models.validation import read

CPU = st.sampled_from(["1", "2", "500m"])


@st.composite
def pods(draw):
    """Pods of few kinds, so that equal parts are frequent, resized and not."""
    wanted = {"requests": {"cpu": draw(CPU)}}
    spec = {"containers": [{"name": "main", "resources": wanted}]}
    if draw(st.booleans()):
        policy = {"restartPolicy": "Always"} if draw(st.booleans()) else {}
        spec["initContainers"] = [{"name": "init", "resources": {"requests": {"cpu": draw(CPU)}}, **policy}]
    if draw(st.integers(0, 4)) == 0:
        spec["overhead"] = {"cpu": draw(CPU)}
    if draw(st.integers(0, 4)) == 0:
        spec["resources"] = {"requests": {"memory": "1Gi"}}
    status = {}
    if draw(st.booleans()):
        given_ = {"name": draw(st.sampled_from(["main", "init"])), "allocatedResources": {"cpu": draw(CPU)}}
        if draw(st.booleans()):
            given_["resources"] = {"requests": {"cpu": draw(CPU)}}
        status["containerStatuses"] = [given_]
    if draw(st.integers(0, 2)) == 0:
        reason = draw(st.sampled_from(["Infeasible", "Deferred"]))
        status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]
    return {"kind": "Pod", "metadata": {"name": "p"}, "spec": spec, "status": status}


@settings(max_examples=100, deadline=None)
@given(
    raws=st.lists(st.tuples(pods(), st.booleans()), min_size=2, max_size=12),
    off=st.sampled_from([frozenset(), frozenset({"InPlacePodVerticalScaling"})]),
)
def test_requests_of_many_are_those_of_each(raws, off):
    kept, gates = Kept(), FeatureGates(off)
    read_together = [(read(Pod, raw, "f", kept), on_node) for raw, on_node in raws]
    index = RequestsIndex(gates)
    for pod, on_node in read_together:
        assert index.of(pod, on_node=on_node) == RequestsIndex(gates).of(pod, on_node=on_node)


def running(*, spec=(), conditions=(), **changes):
    """A pod whose container has less on its node than it asks for."""
    has = {"name": "main", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "1"}}}
    containers = [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]
    return {
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": containers, **dict(spec)},
        "status": {"containerStatuses": [has | changes], "conditions": list(conditions)},
    }


INFEASIBLE = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}


@pytest.mark.parametrize(
    "other, shared",
    [
        pytest.param(running(), True, id="pods that are equal share their requests"),
        pytest.param(running(containerID="x"), True, id="what does not count makes no difference"),
        pytest.param(running(allocatedResources={"cpu": "3"}), False, id="a pod with more on its node"),
        pytest.param(running(resources={"requests": {"cpu": "3"}}), False, id="a pod that was resized"),
        pytest.param(running(conditions=[INFEASIBLE]), False, id="a pod that is not to be resized"),
        pytest.param(running(spec={"overhead": {"cpu": "1"}}), False, id="a pod with overhead"),
        pytest.param(
            running(spec={"resources": {"requests": {"cpu": "5"}}}),
            False,
            id="a pod with requests as a whole",
        ),
    ],
)
def test_requests_are_shared_where_pods_are_alike(other, shared):
    kept, index = Kept(), RequestsIndex(FeatureGates())
    first, second = (read(Pod, raw, "f", kept) for raw in (running(), other))
    found = index.of(first, on_node=True), index.of(second, on_node=True)
    assert (found[0] is found[1]) == shared
    assert (found[0] == found[1]) == shared
