"""A plan that is carried out on an API server leaves the cluster as the plan says."""

import shutil
from dataclasses import replace

import pytest
from support.api_server import ApiServer, serving
from support.applying import Client, Unexpected, cluster_of, faults, run_script
from support.builders import budget, cluster, manifest, node, pod
from support.device_rounds import tiny_devices
from support.devices import claim as device_claim
from support.devices import device_class, gpu, request, slice_on, user
from support.group_rounds import tiny_groups
from support.guard_rounds import tiny_guards
from support.rows import high
from support.storage import MAKE, WAIT, claim, volume
from support.strategies import small
from support.volume_rounds import tiny_volumes

from kubestow.apply.requests import requests_of
from kubestow.apply.script import script_of
from kubestow.instances import catalogue
from kubestow.solver.api import solve_both

KUBECTL = shutil.which("kubectl")

web = pod("v").label(app="web").req(cpu="1").priority(0)

ROUNDS = {
    "a volume that is there, and one that is made": cluster(
        node("a"),
        node("b"),
        [WAIT, MAKE, claim("c"), claim("d", storage="make"), volume("there", on=["b"])],
        pod("p").claim("c", "d"),
    ),
    "a volume that is reserved already": cluster(
        node("a"), [WAIT, claim("c"), volume("mine", to="c"), volume("other")], pod("p").claim("c")
    ),
    "a claim of two pods is bound once": cluster(
        node("a"), [WAIT, claim("c"), volume("there")], pod("p").claim("c"), pod("q").claim("c")
    ),
    "devices for two pods, one claim shared": cluster(
        node("a"),
        device_class(),
        slice_on("a", gpu("g0"), gpu("g1")),
        [device_claim("c"), device_claim("own", request("r", tolerate=["x"]))],
        user("p", "c"),
        user("q", "c", "own"),
    ),
    "a victim's devices are free before they are given away": cluster(
        node("a"),
        device_class(),
        slice_on("a", gpu("g0")),
        device_claim("old", has=[("r", "a", "g0")], at="a", users=["v"]),
        device_claim("new"),
        user("v", "old").priority(0).on("a"),
        user("p", "new").priority(100),
    ),
    "an idle claim gives its devices back": cluster(
        node("a"),
        node("b"),
        device_class(),
        slice_on("a", gpu("g0")),
        slice_on("b", gpu("g0")),
        device_claim("c", has=[("r", "a", "g0")], at="a", users=["p"]),
        user("p", "c").nodes("hostname", "In", "b"),
    ),
    "an extended resource that devices serve": cluster(
        node("a"),
        device_class(serves="example.com/gpu"),
        slice_on("a", gpu("g0"), gpu("g1")),
        pod("p").req({"example.com/gpu": "2"}),
    ),
    "of two victims under a budget the second is refused": cluster(
        node("a", cpu="2"),
        web.named("v").on("a"),
        web.named("w").on("a"),
        high.named("p").req(cpu="2"),
        budget("app", app="web", allowed=1),
    ),
    "a victim under two budgets is deleted without being asked for": cluster(
        node("a", cpu="1"),
        web.label(tier="front").on("a"),
        high.named("p").req(cpu="1"),
        budget("app", app="web", allowed=1),
        budget("tier", tier="front", allowed=1),
    ),
    "the eviction API takes an empty selector for all pods": cluster(
        node("a", cpu="1"), web.on("a"), high.named("p").req(cpu="1"), budget("all", allowed=0)
    ),
    "a pod that is paid for counts among the budgets all the same": cluster(
        node("a", cpu="1"),
        web.label(tier="front").on("a"),
        high.named("p").req(cpu="1"),
        budget("app", app="web", allowed=0).disrupted("v"),
        budget("tier", tier="front", allowed=1),
    ),
    "a pod that terminates already is only waited for": cluster(
        node("a", cpu="1"), web.on("a").terminating(), high.named("p").req(cpu="1")
    ),
}


def bundled(name):
    text = catalogue.path(name).read_text()
    return text, {"kube_version": catalogue.describe(name).kube_version}


def solved(text, folder, **changes):
    """Return the objects, and the plans that may be carried out."""
    documents, snapshot = cluster_of(text, folder)
    return documents, [p for p in solve_both(replace(snapshot, **changes)) if p.stats.admissible]


def carry_out(server, plan):
    """Carry a plan out by its documents; return which evictions were refused."""
    with serving(server) as address:
        client = Client(address)
        client.carry_out([item.document() for item in requests_of(plan)])
    return client.refused


def check_carried_out(documents, plan):
    """The end is the plan's, and the eviction API refuses as many as the plan says."""
    server = ApiServer(documents)
    refused = carry_out(server, plan)
    assert not list(faults(server, plan, documents))
    assert len(refused) == sum(touched.refused for touched in plan.objects.pods)


@pytest.mark.parametrize("name", catalogue.names())
def test_bundled_instances_end_as_planned(name, tmp_path):
    text, changes = bundled(name)
    documents, plans = solved(text, tmp_path, **changes)
    assert plans
    for plan in plans:
        check_carried_out(documents, plan)


@pytest.mark.parametrize("name", ROUNDS)
def test_rounds_end_as_planned(name, tmp_path):
    documents, plans = solved(manifest(ROUNDS[name]), tmp_path)
    assert plans[0].steps
    for plan in plans:
        check_carried_out(documents, plan)


@pytest.mark.parametrize("make", [tiny_guards, tiny_groups, tiny_volumes, tiny_devices, small])
@pytest.mark.parametrize("seed", [3, 6, 13])
def test_random_rounds_end_as_planned(make, seed, tmp_path):
    snapshot = make(seed)
    gates, release = snapshot.feature_gates, snapshot.kube_version
    documents, plans = solved(manifest(snapshot), tmp_path, feature_gates=gates, kube_version=release)
    for plan in plans:
        check_carried_out(documents, plan)


def test_rounds_touch_everything_that_a_plan_can(tmp_path):
    """Every action that there is occurs in the rounds of this file."""
    actions = set()
    for number, snapshot in enumerate(ROUNDS.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, plans = solved(manifest(snapshot), folder)
        actions |= {item.action for plan in plans for item in requests_of(plan)}
    assert actions == {
        *("check", "nominate", "evict", "mark", "delete", "wait", "bind"),
        *("deallocate", "protect", "allocate", "reserve", "create", "tell", "provision"),
    }


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
@pytest.mark.parametrize(
    "name",
    [
        "of two victims under a budget the second is refused",
        "a volume that is there, and one that is made",
        "a victim's devices are free before they are given away",
        "an extended resource that devices serve",
    ],
)
def test_the_script_does_the_same_with_kubectl(name, tmp_path):
    documents, [plan, *_] = solved(manifest(ROUNDS[name]), tmp_path)
    server = ApiServer(documents)
    text = script_of(plan.instance, requests_of(plan))
    with serving(server) as address:
        dry = run_script(text, address, tmp_path, KUBECTL, apply=False)
        assert dry.returncode == 0, dry.stderr
        assert server.log == []
        real = run_script(text, address, tmp_path, KUBECTL, apply=True)
    assert real.returncode == 0, real.stderr
    assert not list(faults(server, plan, documents))


def change(documents, kind, name, **fields):
    for item in documents:
        if (item["kind"], item["metadata"]["name"]) == (kind, name):
            for part, values in fields.items():
                item.setdefault(part, {}).update(values)


BUDGET = "of two victims under a budget the second is refused"
CHANGED = [
    pytest.param(BUDGET, "Pod", "v", {"metadata": {"uid": "other"}}, 0, id="a victim is another pod now"),
    pytest.param(BUDGET, "Pod", "p", {"metadata": {"uid": "other"}}, 0, id="so is a pod that waited"),
    pytest.param(BUDGET, "Pod", "p", {"spec": {"nodeName": "a"}}, 0, id="a pod that waited runs already"),
    pytest.param(
        BUDGET,
        "PodDisruptionBudget",
        "app",
        {"status": {"disruptionsAllowed": 0}},
        1,
        id="a budget that honoured a victim refuses it",
    ),
    pytest.param(
        "a volume that is there, and one that is made",
        "PersistentVolume",
        "there",
        {"spec": {"claimRef": {"name": "x"}}},
        0,
        id="a volume is somebody else's",
    ),
    pytest.param(
        "an idle claim gives its devices back",
        "ResourceClaim",
        "c",
        {"status": {"reservedFor": [{"resource": "pods", "name": "x", "uid": "x"}]}},
        0,
        id="an idle claim is in use",
    ),
    pytest.param(
        "devices for two pods, one claim shared",
        "ResourceClaim",
        "c",
        {"status": {"allocation": {"devices": {}, "nodeSelector": {}}}, "metadata": {"finalizers": []}},
        1,
        id="a claim has other devices",
    ),
]


@pytest.mark.parametrize("name, kind, changed, fields, done", CHANGED)
def test_what_has_changed_meanwhile_ends_it(name, kind, changed, fields, done, tmp_path):
    """And nothing is done after the request that is refused."""
    documents, [plan, *_] = solved(manifest(ROUNDS[name]), tmp_path)
    change(documents, kind, changed, **fields)
    server = ApiServer(documents)
    with pytest.raises(Unexpected):
        carry_out(server, plan)
    assert len(server.log) == done
