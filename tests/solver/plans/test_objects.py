"""What a plan says of the objects that it touches, and that the replay looks at it."""

import json
from dataclasses import replace

import pytest
from support.builders import budget, cluster, node, pod
from support.devices import alternative, claim, device_class, first_of, gpu, request, slice_on, user
from support.rows import high

from kubestow.framework.build import build_cluster
from kubestow.models.plan import Step, asked
from kubestow.models.resource_api import DeviceClass, ResourceClaim
from kubestow.solver.api import solve_both
from kubestow.solver.plans.replay import ReplayFailure, replay

web = pod("v").label(app="web").req(cpu="1").priority(0)


def objects(*parts):
    optimal, _ = solve_both(cluster(*parts))
    return optimal.objects


def refusals(*parts):
    """Return evicted pod -> (its budgets, whether the eviction API refuses)."""
    return {
        touched.pod.partition("/")[2]: ([key.partition("/")[2] for key in touched.budgets], touched.refused)
        for touched in objects(*parts).pods
        if not touched.pod.endswith("/p")
    }


@pytest.mark.parametrize(
    "parts, found",
    [
        pytest.param([web.on("a")], {"v": ([], False)}, id="a victim without a budget"),
        pytest.param(
            [web.on("a"), budget("app", app="web", allowed=1)],
            {"v": (["app"], False)},
            id="a budget that honours it",
        ),
        pytest.param(
            [web.on("a"), budget("app", app="web", allowed=0)],
            {"v": (["app"], True)},
            id="a budget that refuses it",
        ),
        pytest.param(
            [web.on("a"), budget("app", app="web", allowed=0).disrupted("v")],
            {"v": (["app"], False)},
            id="a budget that has paid for it",
        ),
        pytest.param(
            [web.on("a"), budget("all", allowed=0)],
            {"v": (["all"], True)},
            id="an empty selector, which takes all pods for the eviction API and none for preemption",
        ),
        pytest.param(
            [
                web.label(tier="x").on("a"),
                budget("app", app="web", allowed=0),
                budget("x", tier="x", allowed=9),
            ],
            {"v": (["app", "x"], False)},
            id="several budgets: the eviction API is not asked",
        ),
        pytest.param(
            [web.on("a"), budget("app", app="web", allowed=0, namespace="other")],
            {"v": ([], False)},
            id="a budget of another namespace",
        ),
    ],
)
def test_what_the_eviction_api_says_of_a_victim(parts, found):
    assert refusals(node("a", cpu="1"), high.named("p").req(cpu="1"), *parts) == found


def step(text):
    kind, name = text.split()
    return Step(**{kind: name}, **({"node": "n"} if kind == "bind" else {}))


@pytest.mark.parametrize(
    "given, wanted",
    [
        pytest.param("mark v, mark w", "mark w, mark v", id="honoured marks come first"),
        pytest.param("mark w, mark x", "mark w, mark x", id="among equals the order of the plan holds"),
        pytest.param("mark v, bind p, mark w", "mark v, bind p, mark w", id="not across a binding"),
        pytest.param("mark v, leave v, mark w", "mark v, leave v, mark w", id="nor across a departure"),
        pytest.param("bind p, bind q", "bind p, bind q", id="bindings keep their order"),
    ],
)
def test_neighbouring_marks_are_asked_in_the_order_of_their_budgets(given, wanted):
    """v violates its budget."""
    steps, found = ([step(text) for text in line.split(", ")] for line in (given, wanted))
    assert asked(steps, {"v"}) == found


def opaque(driver, **more):
    return {**more, "opaque": {"driver": driver, "parameters": {"of": driver}}}


def configured(item, kind, *config):
    document = json.loads(item.model_dump_json(by_alias=True, exclude_defaults=True))
    at = document["spec"] if kind is DeviceClass else document["spec"]["devices"]
    at["config"] = list(config)
    return kind.model_validate(document)


def test_an_allocation_is_written_as_the_api_has_it():
    """Tolerations of the request, the configuration of what is served, and the node of local devices."""
    wanted = first_of(
        "r",
        alternative("big", 'device.attributes["gpu.example.com"].model == "b"'),
        alternative("any", of="other", tolerate=["x"]),
    )
    [touched] = objects(
        node("a"),
        configured(device_class(), DeviceClass, opaque("class")),
        configured(device_class("other"), DeviceClass, opaque("alternative's")),
        slice_on("a", gpu("g0", model="a", taints=[("x", "NoSchedule")])),
        configured(
            *(claim("c", wanted), ResourceClaim, opaque("all")),
            *(opaque("r", requests=["r"]), opaque("no", requests=["r/big"])),
        ),
        user("p", "c"),
    ).claims  # fmt: skip
    result = {"request": "r/any", "driver": "gpu.example.com", "pool": "a", "device": "g0"}
    by_name = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    assert json.loads(json.dumps(touched.allocation)) == {
        "devices": {
            "results": [{**result, "tolerations": [{"key": "x", "operator": "Exists"}]}],
            "config": [
                opaque("alternative's", source="FromClass", requests=["r/any"]),
                opaque("all", source="FromClaim"),
                opaque("r", source="FromClaim", requests=["r"]),
            ],
        },
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [by_name]}]},
    }
    assert (touched.api_version, touched.allocated, touched.consumers) == ("resource.k8s.io/v1", False, ())


def test_configurations_do_not_change_what_is_chosen():
    parts = [
        node("a"),
        device_class(),
        slice_on("a", gpu("g0"), gpu("g1"), gpu("g2")),
        user("p", "c"),
        user("q", "d"),
    ]
    plain = [claim("c", request("r", count=2)), claim("d")]
    told = [configured(item, ResourceClaim, opaque(item.name)) for item in plain]
    (one, _), (other, _) = (solve_both(cluster(*parts, *claims)) for claims in (plain, told))
    assert one.allocations == other.allocations
    assert one.vector() == other.vector()


def test_a_plan_whose_objects_are_others_fails_its_replay():
    snapshot = cluster(node("a", cpu="1"), web.on("a"), high.named("p").req(cpu="1"))
    plan, _ = solve_both(snapshot)
    lie = plan.objects.model_copy(
        update={"pods": tuple(p.model_copy(update={"uid": "other"}) for p in plan.objects.pods)}
    )
    with pytest.raises(ReplayFailure, match="objects are not those that the steps touch"):
        replay(build_cluster(snapshot), plan.model_copy(update={"objects": lie}))
    replay(build_cluster(replace(snapshot)), plan.model_copy(update={"objects": None}))
