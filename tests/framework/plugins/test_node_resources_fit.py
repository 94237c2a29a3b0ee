import pytest
from support.builders import node, pod
from support.filtering import Look, pass_over, profile

from kubestow.framework.plugins.node_resources_fit import shape_table
from kubestow.models.config import UtilizationShapePoint
from kubestow.models.errors import KubestowError

GPU = "example.com/gpu"


def short(*resources, code="U"):
    return {"a": f"{code} NodeResourcesFit: " + "; ".join(f"Insufficient {name}" for name in resources)}


def resources(builder, *, init=(), overhead=None, whole=None):
    """Add init containers as (requests, is it a sidecar), an overhead, and requests of the pod as a whole."""

    def change(doc):
        doc["spec"]["initContainers"] = [
            {"name": f"i{k}", "resources": {"requests": requests}}
            | ({"restartPolicy": "Always"} if sidecar else {})
            for k, (requests, sidecar) in enumerate(init)
        ]
        if overhead:
            doc["spec"]["overhead"] = overhead
        if whole:
            doc["spec"]["resources"] = {"requests": whole}

    return builder.changed(change)


@pytest.mark.parametrize(
    "one, running, p, rejected",
    [
        pytest.param(
            node("a", cpu="2"), [], pod("p").req(cpu="2"), {}, id="a pod may take all that there is"
        ),
        pytest.param(
            node("a", cpu="2"),
            [pod("v").req(cpu="500m")],
            pod("p").req(cpu="2"),
            short("cpu"),
            id="what runs is taken",
        ),
        pytest.param(
            node("a", cpu="2"),
            [],
            pod("p").req(cpu="3"),
            short("cpu", code="UAU"),
            id="more than the whole node is beyond preemption's help",
        ),
        pytest.param(
            node("a", cpu="2", memory="1Gi"),
            [pod("v").req(cpu="1")],
            pod("p").req(cpu="2", memory="2Gi"),
            short("cpu", "memory", code="UAU"),
            id="every shortage is told, and one hopeless one makes the node hopeless",
        ),
        pytest.param(
            node("a").offer({GPU: "2"}),
            [pod("v").req({GPU: "1"})],
            pod("p").req({GPU: "2"}),
            short(GPU),
            id="extended resources are told by name",
        ),
        pytest.param(
            node("a"),
            [],
            pod("p").req({GPU: "1"}),
            short(GPU, code="UAU"),
            id="a node without the resource has none of it",
        ),
        pytest.param(
            node("a").offer({"ephemeral-storage": "1Gi"}),
            [],
            pod("p").req({"ephemeral-storage": "2Gi"}),
            short("ephemeral-storage", code="UAU"),
            id="ephemeral storage counts",
        ),
        pytest.param(
            node("a", pods="1"),
            [pod("v")],
            pod("p"),
            {"a": "U NodeResourcesFit: Too many pods"},
            id="the last slot is taken",
        ),
        pytest.param(
            node("a", cpu="2", pods="1"),
            [pod("v").req(cpu="1")],
            pod("p").req(cpu="2"),
            {"a": "U NodeResourcesFit: Too many pods; Insufficient cpu"},
            id="slots are told first",
        ),
        pytest.param(
            node("a", cpu="1"),
            [pod("v").req(cpu="2")],
            pod("p").req(memory="1Mi"),
            {},
            id="an over-committed resource is no matter for who does not want it",
        ),
        pytest.param(
            node("a", cpu="2"),
            [pod("v").req(cpu="1").terminating()],
            pod("p").req(cpu="2"),
            short("cpu"),
            id="a terminating pod still holds its share",
        ),
        pytest.param(
            node("a", cpu="1"),
            [],
            pod("p").req(cpu="1000000u"),
            {},
            id="quantities are compared, not their spellings",
        ),
        pytest.param(
            node("a", cpu="1"),
            [],
            pod("p").req(cpu="1000001u"),
            short("cpu", code="UAU"),
            id="a request rounds up",
        ),
    ],
)
def test_filter(one, running, p, rejected):
    assert Look(one, *(v.on("a") for v in running), p).rejected == rejected


@pytest.mark.parametrize(
    "p, milli",
    [
        pytest.param(
            resources(pod("p").req(cpu="1"), init=[({"cpu": "500m"}, True), ({"cpu": "2"}, False)]),
            2500,
            id="an init container runs beside the sidecars before it",
        ),
        pytest.param(
            resources(pod("p").req(cpu="1"), init=[({"cpu": "2"}, False), ({"cpu": "500m"}, True)]),
            2000,
            id="a sidecar declared after it does not run yet",
        ),
        pytest.param(
            resources(pod("p").req(cpu="5"), overhead={"cpu": "100m"}, whole={"cpu": "1"}),
            1100,
            id="overhead comes on top of what the pod asks for as a whole",
        ),
    ],
)
def test_request(p, milli):
    look = Look(node("a"), p)
    assert look.cluster.pods[look.pod].request[0] == milli


@pytest.mark.parametrize(
    "gate, p, milli",
    [
        pytest.param(
            "PodLevelResources",
            resources(pod("p").req(cpu="3"), whole={"cpu": "1"}),
            3000,
            id="requests of the pod as a whole are ignored",
        ),
        pytest.param(
            "SidecarContainers",
            resources(pod("p").req(cpu="1"), init=[({"cpu": "500m"}, True)]),
            1000,
            id="a sidecar is an init container like any other",
        ),
    ],
)
def test_gates_off(gate, p, milli):
    look = Look(node("a"), p, gates=f"{gate}=false")
    assert look.cluster.pods[look.pod].request[0] == milli


def test_without_in_place_resize_the_status_of_a_container_does_not_count():
    status = {"name": "main", "resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "3"}}
    resized = pod("v").req(cpu="1").on("a").changed(lambda d: d["status"].update(containerStatuses=[status]))
    around = (node("a", cpu="4"), resized, pod("p").req(cpu="2"))
    assert Look(*around).rejected == short("cpu")
    assert Look(*around, gates="InPlacePodVerticalScaling=false").rejected == {}


def test_ignored_resources_are_not_checked():
    ignoring = profile(
        args={"NodeResourcesFit": {"ignoredResources": [GPU], "ignoredResourceGroups": ["acme.org"]}}
    )
    p = pod("p").req({GPU: "1", "acme.org/tpu": "1"})
    assert Look(node("a"), p, configuration=ignoring).rejected == {}
    assert Look(node("a"), p).rejected == short(GPU, "acme.org/tpu", code="UAU")


def strategy(kind, *, names=("cpu", "memory"), weights=(1, 1), shape=None):
    pairs = zip(names, weights, strict=True)
    chosen = {"type": kind, "resources": [{"name": name, "weight": weight} for name, weight in pairs]}
    if shape:
        points = [{"utilization": x, "score": y} for x, y in shape]
        chosen["requestedToCapacityRatio"] = {"shape": points}
    return profile(args={"NodeResourcesFit": {"scoringStrategy": chosen}})


UP = ((0, 0), (100, 10))


@pytest.mark.parametrize(
    "configuration, running, p, score",
    [
        pytest.param(None, [], pod("p"), 97, id="no request counts a tenth of a core and 200Mi"),
        pytest.param(
            None, [], pod("p").req(cpu="1", memory="2Gi"), 75, id="LeastAllocated likes what stays free"
        ),
        pytest.param(
            None,
            [pod("v").req(cpu="3")],
            pod("p").req(cpu="2", memory="0"),
            48,
            id="over-committed cpu is worth nothing",
        ),
        pytest.param(
            strategy("LeastAllocated", weights=(3, 1)),
            [],
            pod("p").req(cpu="2", memory="0"),
            62,
            id="weights shift the mean",
        ),
        pytest.param(
            strategy("MostAllocated"),
            [],
            pod("p").req(cpu="1", memory="2Gi"),
            25,
            id="MostAllocated likes what is taken",
        ),
        pytest.param(
            strategy("MostAllocated"),
            [pod("v").req(cpu="3", memory="0")],
            pod("p").req(cpu="2", memory="0"),
            50,
            id="MostAllocated counts over-commitment as full",
        ),
        pytest.param(
            strategy("RequestedToCapacityRatio", shape=UP),
            [pod("v").req(cpu="3", memory="0")],
            pod("p").req(cpu="2", memory="0"),
            100,
            id="the shape takes over-commitment as utilisation 100, and a resource worth 0 does not count",
        ),
        pytest.param(
            strategy("RequestedToCapacityRatio", shape=UP, weights=(1, 2)),
            [],
            pod("p").req(cpu="1", memory="4Gi"),
            42,
            id="the shape's mean is rounded",
        ),
        pytest.param(
            strategy("LeastAllocated", names=("cpu", GPU)),
            [],
            pod("p").req(cpu="1"),
            75,
            id="an extended resource that nobody asks for does not count",
        ),
        pytest.param(
            strategy("LeastAllocated", names=("cpu", GPU)),
            [],
            pod("p").req({"cpu": "1", GPU: "1"}),
            62,
            id="one that is asked for does",
        ),
    ],
)
def test_score(configuration, running, p, score):
    one = node("a", cpu="4", memory="8Gi").offer({GPU: "2"})
    look = Look(one, *(v.on("a") for v in running), p, configuration=configuration)
    assert look.scores("NodeResourcesFit") == {"a": score}


def test_a_node_without_any_of_the_resources_scores_zero():
    bare = strategy("LeastAllocated", names=(GPU,), weights=(1,))
    assert Look(node("a"), pod("p").req({GPU: "1"}), configuration=bare).scores("NodeResourcesFit") == {
        "a": 0
    }


@pytest.mark.parametrize(
    "shape, used, score",
    [
        pytest.param(((20, 2), (80, 9)), 0, 20, id="before the first point the score is the first one's"),
        pytest.param(((20, 2), (80, 9)), 100, 90, id="after the last point it is the last one's"),
        pytest.param(((20, 2), (80, 9)), 50, 55, id="between points it is linear"),
        pytest.param(((0, 10), (100, 0)), 33, 67, id="a falling line"),
        pytest.param(((0, 10), (3, 0)), 1, 67, id="a falling line truncates toward zero"),
    ],
)
def test_shape(shape, used, score):
    points = [UtilizationShapePoint(utilization=x, score=y) for x, y in shape]
    assert shape_table(points)[used] == score


def test_a_ratio_without_a_shape_is_refused():
    with pytest.raises(KubestowError, match="shape"):
        Look(node("a"), pod("p"), configuration=strategy("RequestedToCapacityRatio"))


EIB = 2**60


def test_exbibytes_are_counted_to_the_byte():
    look = Look(
        node("a", memory=str(7 * EIB)),
        node("b", memory=str(7 * EIB - 1)),
        *(pod(f"v{k}").req(memory=str(3 * EIB)).on(name) for k, name in enumerate("aabb")),
        pod("p").req(memory=str(EIB)),
    )
    assert look.rejected == {"b": "U NodeResourcesFit: Insufficient memory"}


def test_scores_of_exbibytes_are_exact():
    look = Look(node("a", cpu="4", memory=str(8 * EIB - 1)), pod("p").req(cpu="1", memory=str(2 * EIB)))
    assert look.scores("NodeResourcesFit") == {
        "a": 74
    }  # (75 + 74) // 2: memory lacks one byte of three quarters
    assert look.scores("NodeResourcesBalancedAllocation") == {"a": 75}


def test_a_hopeless_node_is_no_candidate_for_preemption():
    cycle = pass_over(
        node("a", cpu="2"),
        node("b", cpu="2"),
        pod("v").req(cpu="2").on("a"),
        pod("p").req(cpu="3").priority(10),
    )["p"]
    assert cycle["message"] == (
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )
