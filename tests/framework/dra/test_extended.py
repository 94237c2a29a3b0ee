"""Extended resources that devices serve: what pod `p` gets, and what NodeResourcesFit leaves to devices."""

import pytest
from support.builders import cluster, group, node, pod
from support.devices import allocated, claim, device_class, gpu, request, slice_on, user
from support.filtering import Look, pass_over

from kubestow.framework.build import build_cluster
from kubestow.framework.dra.extended import class_by_resource
from kubestow.framework.state.state import State
from kubestow.solver.api import SolveOptions, solve_both

GPU = "example.com/gpu"
SERVED = device_class("gpu", serves=GPU)
TWO = slice_on("a", gpu("g0"), gpu("g1"))


def asks(*containers, name="p"):
    """A pod whose containers ask for these resources."""
    return pod(name).changed(
        lambda d: d["spec"].update(
            containers=[
                {"name": f"c{k}", "resources": {"requests": wanted}} for k, wanted in enumerate(containers)
            ]
        )
    )


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param(
            [SERVED, TWO, asks({GPU: "2"})],
            {"p-extended-resources": ["container-0-request-0=g0", "container-0-request-0=g1"]},
            id="by the name that the class gives",
        ),
        pytest.param(
            [device_class(), TWO, asks({"deviceclass.resource.kubernetes.io/gpu": "1"})],
            {"p-extended-resources": ["container-0-request-0=g0"]},
            id="by the name of the class",
        ),
        pytest.param(
            [SERVED, TWO, asks({"cpu": "1", GPU: "1"}, {GPU: "1", "memory": "1Gi"})],
            {"p-extended-resources": ["container-0-request-1=g0", "container-1-request-0=g1"]},
            id="each container has a request of its own, numbered by the sorted names of its resources",
        ),
        pytest.param(
            [SERVED, TWO, asks({GPU: "3"})], "UAU DynamicResources: cannot allocate all claims", id="too many"
        ),
        pytest.param(
            [device_class(), TWO, asks({GPU: "1"})],
            "UAU NodeResourcesFit: Insufficient example.com/gpu",
            id="a resource that no class serves",
        ),
        pytest.param(
            [
                SERVED,
                TWO,
                claim("c", request("r")),
                user("p", "c").req({GPU: "1"}),
            ],
            {"c": ["r=g0"], "p-extended-resources": ["container-0-request-0=g1"]},
            id="beside a claim",
        ),
    ],
)
def test_served(objects, expected):
    assert allocated(node("a"), *objects) == expected


def test_a_node_that_offers_the_resource_is_left_to_node_resources_fit():
    look = Look(
        node("a"),
        node("b").offer({GPU: "1"}),
        node("c").offer({GPU: "4"}),
        node("d"),
        SERVED,
        TWO,
        asks({GPU: "2"}),
    )
    assert look.rejected == {
        "b": "UAU NodeResourcesFit: Insufficient example.com/gpu",
        "d": "UAU DynamicResources: cannot allocate all claims",
    }
    assert look.framework.reserve(look.state, look.pod, look.node("c")) == {}


@pytest.mark.parametrize(
    "release, rejected",
    [
        pytest.param("1.34", "ac", id="the device plugin is there, and 1.34 asks no devices"),
        pytest.param("1.36", "c", id="0 is as good as nothing in 1.36: devices serve where there are some"),
    ],
)
def test_a_node_whose_device_plugin_offers_none(release, rejected):
    look = Look(
        node("a").offer({GPU: "0"}),
        node("b"),
        node("c").offer({GPU: "0"}),
        SERVED,
        TWO,
        slice_on("b", gpu("g0"), gpu("g1")),
        asks({GPU: "1"}),
        release=release,
    )
    text = {
        "1.34": "UAU NodeResourcesFit: Insufficient example.com/gpu",
        "1.36": "UAU DynamicResources: cannot allocate all claims",
    }[release]
    assert look.rejected == dict.fromkeys(rejected, text)
    assert list(look.framework.reserve(look.state, look.pod, look.node("b"))) == [
        "default/p-extended-resources"
    ]


@pytest.mark.parametrize("copies", [2, 3, 5, 6])
@pytest.mark.parametrize("release, most", [("1.34", 3), ("1.36", 5)])
def test_both_schedulers_know_the_nodes_whose_device_plugin_offers_none(release, most, copies):
    """Two devices on b and one of c's plugin; those on a are there for 1.36 alone."""
    around = cluster(
        node("a").offer({GPU: "0"}),
        node("b"),
        node("c").offer({GPU: "1"}),
        SERVED,
        TWO,
        slice_on("b", gpu("g0"), gpu("g1")),
        asks({GPU: "1"}).times(copies),
        release=release,
    )
    for plan in solve_both(around, SolveOptions(workers=1)):
        assert len(plan.placed()) == min(copies, most)
        assert release == "1.36" or "a" not in plan.placed().values()
        assert plan.scheduler == "greedy" or plan.status == "OPTIMAL"


def test_a_group_is_not_kept_from_devices_that_no_node_offers_itself():
    """Whether a rack is worth a try is not judged by a resource that devices serve."""
    around = cluster(
        [node(name).label(rack="r") for name in "ab"],
        SERVED,
        TWO,
        slice_on("b", gpu("h0")),
        group("g", "rack", gang=3),
        asks({GPU: "1"}).member("g").times(3),
    )
    for plan in solve_both(around, SolveOptions(workers=1)):
        assert len(plan.placed()) == 3


def test_without_the_gate_nothing_is_served():
    found = allocated(node("a"), SERVED, TWO, asks({GPU: "1"}), gates="DRAExtendedResource=false")
    assert found == "UAU NodeResourcesFit: Insufficient example.com/gpu"


def test_an_error_names_the_claim_in_memory():
    odd = device_class("odd", 'device.attributes["gpu.example.com"].nothing == 1', serves=GPU)
    twice = slice_on("a", gpu("g0"), of=2), slice_on("a", gpu("g0"), name="other", of=2)
    assert allocated(node("a"), SERVED, *twice, asks({GPU: "1"}), release="1.34") == (
        "error: pool a is invalid: duplicate device name g0"
    )
    assert allocated(node("a"), odd, TWO, asks({GPU: "1"})) == (
        "error: class odd: selector #0: CEL runtime error: no such key: nothing"
    )
    assert allocated(node("a"), SERVED, TWO, asks({GPU: "33"})) == (
        "error: claim default/<extended-resources>: number of requested devices 33 exceeds the claim limit "
        "of 32"
    )


def test_pods_that_split_a_request_differently_are_no_class():
    pods = [asks({GPU: "2"}, {}), asks({GPU: "1"}, {GPU: "1"}, name="q")]
    infos = build_cluster(cluster(node("a"), SERVED, *pods)).pods
    assert infos[0].request == infos[1].request
    assert infos[0].cls != infos[1].cls


def test_pods_take_devices_one_after_another_and_give_them_back():
    whole = cluster(node("a"), SERVED, TWO, asks({GPU: "1"}), asks({GPU: "2"}, name="q"))
    cycles = pass_over(*[item for kind in vars(whole).values() if isinstance(kind, tuple) for item in kind])
    assert cycles["p"]["result"] == "bound"
    assert "cannot allocate all claims" in cycles["q"]["message"]
    index = build_cluster(whole)
    state = State.initial(index)
    look = Look(node("a"), SERVED, TWO, asks({GPU: "1"}))
    look.state.place(look.pod, 0, look.framework.reserve(look.state, look.pod, 0))
    assert list(look.state.claims.allocations) == ["default/p-extended-resources"]
    look.state.remove(look.pod)
    assert look.state.claims.allocations == state.claims.allocations == {}


def left_over(**more):
    notes = {"resource.kubernetes.io/extended-resource-claim": "true"}
    return claim("p-extended-resources-x", owner="p", annotations=notes, **more)


def test_the_claim_of_an_earlier_attempt_is_deleted_first():
    stale = left_over(has=[("r", "a", "g0")], at="a")
    cycle = pass_over(node("a"), SERVED, TWO, asks({GPU: "2"}), stale)["p"]
    assert cycle["message"].startswith(
        "0/1 nodes are available: 1 cannot schedule extended resource claim. deletion of ResourceClaim "
        "completed, "
    )
    assert cycle["deallocated"] == ["default/p-extended-resources-x"]
    look = Look(node("a"), SERVED, TWO, asks({GPU: "2"}), stale)
    look.state.deallocate("default/p-extended-resources-x")
    assert look.rejected == {}


def test_of_two_classes_with_one_resource_the_newest_has_it():
    def aged(item, text):
        stamp = item.metadata.model_validate({"name": item.name, "creationTimestamp": text})
        return item.model_copy(update={"metadata": stamp})

    old, new = device_class("a", serves=GPU), device_class("b", serves=GPU)
    assert class_by_resource([old, new])[GPU] == "a"
    aged_new = aged(new, "2026-03-01T00:00:00Z")
    assert class_by_resource([aged(old, "2026-02-01T00:00:00Z"), aged_new])[GPU] == "b"
