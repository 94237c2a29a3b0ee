import pytest

from kubestow.models.defaulting import default_pod
from kubestow.models.pod import Pod
from kubestow.models.quantity import parse_quantity
from kubestow.models.requests import (
    counted_resource,
    in_units,
    pod_requests,
    running_pod_requests,
    running_scoring_requests,
    scoring_requests,
)

MI = 2**20


def container(name="main", **requests):
    return {"name": name, "resources": {"requests": requests}}


def init(name="init", *, sidecar=False, **requests):
    return container(name, **requests) | ({"restartPolicy": "Always"} if sidecar else {})


def pod(*containers, inits=(), status=None, **spec):
    return Pod.model_validate(
        {
            "metadata": {"name": "p"},
            "spec": {"containers": list(containers), "initContainers": list(inits), **spec},
            "status": status or {},
        }
    )


REQUESTS = [
    ("nothing asked, nothing counted", pod(container()), {}),
    (
        "cpu in thousandths, memory in bytes",
        pod(container(cpu="1.5", memory="1Gi")),
        {"cpu": 1500, "memory": 2**30},
    ),
    ("containers add up", pod(container("a", cpu="1"), container("b", cpu="250m")), {"cpu": 1250}),
    (
        "each container's request is rounded up to a thousandth before the sum",
        pod(container("a", cpu="0.4m", memory="0.2m"), container("b", cpu="0.4m", memory="0.2m")),
        {"cpu": 2, "memory": 1},
    ),
    (
        "rounding up to whole bytes comes after the sum",
        pod(container("a", memory="400m"), container("b", memory="400m"), container("c", memory="300m")),
        {"memory": 2},
    ),
    (
        "a limit that becomes the request, and the overhead, are rounded up alike",
        default_pod(
            pod(
                {"name": "a", "resources": {"limits": {"cpu": "0.1m"}}},
                container("b", cpu="1e-9"),
                overhead={"cpu": "0.0001"},
            )
        ),
        {"cpu": 3},
    ),
    (
        "a pod-level request is rounded up to a thousandth",
        pod(container(), resources={"requests": {"cpu": "0.0015"}}, overhead={"cpu": "0.4m"}),
        {"cpu": 3},
    ),
    ("an explicit zero is kept", pod(container(cpu="0")), {"cpu": 0}),
    ("the larger init container counts", pod(container(cpu="1"), inits=[init(cpu="4")]), {"cpu": 4000}),
    (
        "init containers do not add up",
        pod(container(cpu="1"), inits=[init("a", cpu="2"), init("b", cpu="3")]),
        {"cpu": 3000},
    ),
    (
        "an init container raises each resource by itself",
        pod(container(cpu="1", memory="2"), inits=[init(cpu="4", memory="1")]),
        {"cpu": 4000, "memory": 2},
    ),
    (
        "a sidecar before an init container runs beside it",
        pod(container(cpu="1"), inits=[init("s", sidecar=True, cpu="500m"), init("i", cpu="2")]),
        {"cpu": 2500},
    ),
    (
        "a sidecar after an init container does not",
        pod(container(cpu="1"), inits=[init("i", cpu="2"), init("s", sidecar=True, cpu="500m")]),
        {"cpu": 2000},
    ),
    (
        "sidecars add to the containers",
        pod(
            container(cpu="1"), inits=[init("s", sidecar=True, cpu="500m"), init("t", sidecar=True, cpu="1")]
        ),
        {"cpu": 2500},
    ),
    (
        "overhead comes on top",
        pod(container(cpu="1"), overhead={"cpu": "100m", "memory": "1"}),
        {"cpu": 1100, "memory": 1},
    ),
    (
        "a pod-level request replaces the containers', overhead stays on top",
        pod(
            container(cpu="400m", memory="5"), resources={"requests": {"cpu": "1"}}, overhead={"cpu": "100m"}
        ),
        {"cpu": 1100, "memory": 5},
    ),
    (
        "a pod-level request of another resource is ignored",
        pod(container(), resources={"requests": {"example.com/gpu": "1", "hugepages-2Mi": "4Mi"}}),
        {"hugepages-2Mi": 4 * MI},
    ),
    (
        "extended resources count, unknown names do not",
        pod(container(**{"nvidia.com/gpu": "2", "weird": "1", "requests.example.com/x": "1", "pods": "3"})),
        {"nvidia.com/gpu": 2},
    ),
    ("an amount ends at the largest number of the API", pod(container(memory="100E")), {"memory": 2**63 - 1}),
]


@pytest.mark.parametrize("item, expected", [row[1:] for row in REQUESTS], ids=[row[0] for row in REQUESTS])
def test_what_a_pending_pod_asks_for(item, expected):
    assert pod_requests(item) == expected


def resized(*, actual, allocated=None, infeasible=False):
    status = {"name": "main", "resources": {"requests": actual}, "allocatedResources": allocated or {}}
    conditions = (
        [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}] if infeasible else []
    )
    return {"containerStatuses": [status], "conditions": conditions}


RUNNING = [
    ("without a status the spec counts", pod(container(cpu="1")), {"cpu": 1000}),
    (
        "what it has counts while it shrinks",
        pod(container(cpu="1"), status=resized(actual={"cpu": "2"})),
        {"cpu": 2000},
    ),
    (
        "what it wants counts while it grows",
        pod(container(cpu="3"), status=resized(actual={"cpu": "2"})),
        {"cpu": 3000},
    ),
    (
        "what it was promised counts",
        pod(container(cpu="1"), status=resized(actual={"cpu": "1"}, allocated={"cpu": "4"})),
        {"cpu": 4000},
    ),
    (
        "an infeasible wish does not count",
        pod(container(cpu="9"), status=resized(actual={"cpu": "2"}, allocated={"cpu": "1"}, infeasible=True)),
        {"cpu": 2000},
    ),
    (
        "a status without resources leaves the spec",
        pod(
            container(cpu="1"),
            status={"containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "7"}}]},
        ),
        {"cpu": 1000},
    ),
    (
        "a sidecar is resized too",
        pod(
            container(cpu="1"),
            inits=[init("s", sidecar=True, cpu="1")],
            status={"initContainerStatuses": [{"name": "s", "resources": {"requests": {"cpu": "2"}}}]},
        ),
        {"cpu": 3000},
    ),
    (
        "a plain init container is not",
        pod(
            container(cpu="1"),
            inits=[init("i", cpu="2")],
            status={"initContainerStatuses": [{"name": "i", "resources": {"requests": {"cpu": "5"}}}]},
        ),
        {"cpu": 2000},
    ),
]


@pytest.mark.parametrize("item, expected", [row[1:] for row in RUNNING], ids=[row[0] for row in RUNNING])
def test_what_a_pod_on_a_node_takes(item, expected):
    assert running_pod_requests(item) == expected


DEFAULT = {"cpu": 100, "memory": 200 * MI}

SCORING = [
    ("a container without requests gets both defaults", pod(container()), DEFAULT, DEFAULT),
    (
        "an explicit zero stays",
        pod(container(cpu="0", memory="1")),
        {"cpu": 0, "memory": 1},
        {"cpu": 0, "memory": 1},
    ),
    (
        "each container gets its own default",
        pod(container("a", cpu="1"), container("b", memory="1")),
        {"cpu": 1100, "memory": 200 * MI + 1},
        {"cpu": 1100, "memory": 200 * MI + 1},
    ),
    (
        "init containers take part through the maximum",
        pod(container(cpu="50m", memory="1"), inits=[init()]),
        {"cpu": 100, "memory": 200 * MI},
        {"cpu": 100, "memory": 200 * MI},
    ),
    (
        "pod-level requests count on the node but not for the pending pod",
        pod(container(), resources={"requests": {"cpu": "2"}}),
        DEFAULT,
        {"cpu": 2000, "memory": 200 * MI},
    ),
    (
        "beside a pod-level request no default joins what a container asks for",
        pod(container("a", memory="1"), container("b"), resources={"requests": {"cpu": "2"}}),
        {"cpu": 200, "memory": 200 * MI + 1},
        {"cpu": 2000, "memory": 1},
    ),
]


@pytest.mark.parametrize(
    "item, pending, running", [row[1:] for row in SCORING], ids=[row[0] for row in SCORING]
)
def test_what_counts_in_scores(item, pending, running):
    assert scoring_requests(item) == pending
    assert running_scoring_requests(item) == running


@pytest.mark.parametrize(
    "name, counts",
    [
        ("cpu", True),
        ("memory", True),
        ("ephemeral-storage", True),
        ("pods", True),
        ("hugepages-1Gi", True),
        ("attachable-volumes-aws-ebs", True),
        ("nvidia.com/gpu", True),
        ("kubernetes.io/batch-cpu", True),
        ("sub.kubernetes.io/thing", True),
        ("requests.nvidia.com/gpu", False),
        ("storage", False),
        ("gpu", False),
    ],
)
def test_which_resources_count(name, counts):
    assert counted_resource(name) is counts


def test_allocatable_in_units_drops_what_does_not_count():
    amounts = {name: parse_quantity("1.5") for name in ("cpu", "memory", "storage")}
    assert in_units(amounts) == {"cpu": 1500, "memory": 2}
