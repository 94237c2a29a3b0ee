"""Plugins switched off at one of their extension points, or altogether: what kube-scheduler does then."""

import pytest
from support.builders import cluster, node, pod
from support.devices import claim, device_class, gpu, request, slice_on, user
from support.filtering import Look, pass_over, profile
from support.storage import DRIVER, MAKE, NOW, WAIT, bound, csi_node, volume
from support.storage import claim as volume_claim

from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.index.cluster import Cluster
from kubestow.framework.rules.supported import unsupported
from kubestow.framework.runs.explain import explain
from kubestow.framework.state.state import State

Z2 = {"topology.kubernetes.io/zone": "z2"}


def off(*names, **points):
    """Switch plugins off altogether, or at points."""
    plugins = {point: {"disabled": [{"name": name} for name in given]} for point, given in points.items()}
    if names:
        plugins["multiPoint"] = {"disabled": [{"name": name} for name in names]}
    return profile(**plugins)


REJECTED = [
    pytest.param("NodeUnschedulable", [node("a").cordoned(), pod("p")], id="NodeUnschedulable"),
    pytest.param("TaintToleration", [node("a").taint("k", "v"), pod("p")], id="TaintToleration"),
    pytest.param("NodeAffinity", [node("a"), pod("p").select(disk="ssd")], id="NodeAffinity"),
    pytest.param(
        "NodePorts", [node("a"), pod("v").host_port(80).on("a"), pod("p").host_port(80)], id="NodePorts"
    ),
    pytest.param("NodeResourcesFit", [node("a", cpu="1"), pod("p").req(cpu="2")], id="NodeResourcesFit"),
    pytest.param(
        "NodeResourcesFit", [node("a", pods="1"), pod("v").on("a"), pod("p")], id="NodeResourcesFit, slots"
    ),
    pytest.param(
        "VolumeRestrictions",
        [
            node("a"),
            MAKE,
            *bound("x", modes=("ReadWriteOncePod",)),
            pod("v").claim("x").on("a"),
            pod("p").claim("x"),
        ],
        id="VolumeRestrictions",
    ),
    pytest.param(
        "NodeVolumeLimits",
        [
            node("a"),
            csi_node("a", **{DRIVER: 0}),
            MAKE,
            volume_claim("x", storage="make"),
            pod("p").claim("x"),
        ],
        id="NodeVolumeLimits",
    ),
    pytest.param(
        "VolumeBinding",
        [node("a"), WAIT, volume_claim("x", storage="wait"), pod("p").claim("x")],
        id="VolumeBinding",
    ),
    pytest.param(
        "VolumeZone",
        [node("a", zone="z1"), MAKE, *bound("x", labels=Z2), pod("p").claim("x")],
        id="VolumeZone",
    ),
    pytest.param(
        "PodTopologySpread",
        [
            node("a", zone="z1"),
            node("b", zone="z2").cordoned().taint("k", "v"),
            pod("v").label(app="web").on("a"),
            pod("p").label(app="web").spread("zone", max_skew=1, node_taints="Ignore"),
        ],
        id="PodTopologySpread",
    ),
    pytest.param(
        "InterPodAffinity",
        [node("a"), pod("v").label(app="web").on("a"), pod("p").label(app="web").anti("hostname")],
        id="InterPodAffinity",
    ),
]


def rejectors(look):
    result = look.framework.filter_all(look.state, look.pod)
    return result.plugins, result.feasible.tolist()


@pytest.mark.parametrize("plugin, objects", REJECTED)
def test_a_filter_that_is_off_rejects_nobody(plugin, objects):
    """It rejects node a by default, and not where it is off, at filter alone or altogether."""
    found, feasible = rejectors(Look(*objects))
    assert plugin in found
    assert 0 not in feasible
    more = ("VolumeZone",) if plugin == "VolumeZone" else ()
    for configuration in (off(plugin), off(filter=(plugin, *more))):
        look = Look(*objects, configuration=configuration)
        assert 0 in rejectors(look)[1]
        assert look.framework.static_mask(look.pod)[0]


NEEDS_PRE_FILTER = [
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "VolumeBinding",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
]


@pytest.mark.parametrize("plugin", NEEDS_PRE_FILTER)
def test_a_filter_without_its_pre_filter_ends_every_attempt_in_an_error(plugin):
    """It does not find what it would have written down: a pod that asks for nothing is no exception."""
    cycles = pass_over(node("a"), node("b"), pod("p"), configuration=off(preFilter=(plugin,)))
    assert cycles["p"]["result"] == "unschedulable"
    state = f'error reading "PreFilter{plugin}" from cycleState: not found'
    if plugin in ("VolumeBinding", "DynamicResources"):
        state = "not found"
    assert cycles["p"]["message"] == f'running "{plugin}" filter plugin: {state}'
    look = Look(node("a"), pod("p"), configuration=off(preFilter=(plugin,)))
    assert not look.framework.static_mask(look.pod).any()


def test_an_earlier_filter_may_still_reject_all_nodes():
    objects = [node("a").cordoned(), pod("p")]
    look = Look(*objects, configuration=off(preFilter=("NodeResourcesFit",)))
    assert look.rejected == {"a": "UAU NodeUnschedulable: node(s) were unschedulable"}


_TERM = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
ONLY_A = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_TERM]}}}


@pytest.mark.parametrize(
    "plugin, objects, rejected",
    [
        pytest.param(
            "NodeAffinity",
            [node("a"), node("b"), pod("p").changed(lambda d: d["spec"].update(affinity=ONLY_A))],
            {"b": "UAU NodeAffinity: node(s) didn't match Pod's node affinity/selector"},
            id="NodeAffinity names no nodes, and rejects the others one by one",
        ),
        pytest.param(
            "NodeVolumeLimits",
            [
                node("a"),
                node("b"),
                csi_node("a", **{DRIVER: 0}),
                MAKE,
                volume_claim("x", storage="make"),
                pod("p").claim("x"),
            ],
            {"a": "U NodeVolumeLimits: node(s) exceed max volume count"},
            id="NodeVolumeLimits looks at the volumes",
        ),
        pytest.param(
            "VolumeZone",
            [
                node("a", zone="z1"),
                node("b", zone="z2"),
                MAKE,
                *bound("x", labels=Z2),
                pod("p").claim("x"),
            ],
            {"a": "UAU VolumeZone: node(s) had no available volume zone"},
            id="VolumeZone looks at the volumes",
        ),
        pytest.param(
            "VolumeZone",
            [node("a"), NOW, volume_claim("x", storage="now"), pod("p").claim("x")],
            {"a": "UAU VolumeZone: PersistentVolume had no name"},
            id="VolumeZone says of every node what PreFilter says of the pod",
        ),
    ],
)
def test_a_filter_that_needs_no_pre_filter_judges_the_same(plugin, objects, rejected):
    configuration = off(preFilter=(plugin,))
    if plugin == "VolumeZone":
        configuration = off("VolumeBinding", preFilter=(plugin,))
    assert Look(*objects, configuration=configuration).rejected == rejected


@pytest.mark.parametrize(
    "plugin, objects, refusal",
    [
        pytest.param(
            "VolumeBinding",
            [NOW, volume_claim("x", storage="now"), pod("p").claim("x")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="VolumeBinding",
        ),
        pytest.param(
            "DynamicResources",
            [device_class(), user("p", "c")],
            'could not find ResourceClaim "default/c"',
            id="DynamicResources",
        ),
    ],
)
def test_pre_filter_refuses_although_the_filter_is_off(plugin, objects, refusal):
    more = ("VolumeZone",) if plugin == "VolumeBinding" else ()
    configuration = profile(
        filter={"disabled": [{"name": plugin}]},
        multiPoint={"disabled": [{"name": name} for name in more]},
    )
    look = Look(node("a"), *objects, configuration=configuration)
    assert look.rejected == {"a": f"UAU {plugin}: {refusal}"}
    assert not look.framework.static_mask(look.pod).any()


@pytest.mark.parametrize(
    "plugin, errs",
    [
        pytest.param("TaintToleration", "failed to read", id="TaintToleration"),
        pytest.param("PodTopologySpread", "error reading", id="PodTopologySpread"),
        pytest.param("InterPodAffinity", "failed to read", id="InterPodAffinity"),
        pytest.param("NodeAffinity", "", id="NodeAffinity works it out"),
        pytest.param("NodeResourcesFit", "", id="NodeResourcesFit works it out"),
        pytest.param(
            "NodeResourcesBalancedAllocation", "", id="NodeResourcesBalancedAllocation works it out"
        ),
    ],
)
def test_a_score_without_its_pre_score(plugin, errs):
    """Where there is a choice of nodes the attempt ends in an error; a single node is not scored."""
    configuration = off(preScore=(plugin,))
    found = pass_over(node("a"), node("b"), pod("p").req(cpu="1"), configuration=configuration)["p"]
    text = f'{errs} "PreScore{plugin}" from cycleState: not found'
    assert found.get("message", "") == (
        f'running Score plugins: plugin "{plugin}" failed with: {text}' if errs else ""
    )
    assert pass_over(node("a"), pod("p"), configuration=configuration)["p"]["node"] == "a"


# -- Reserve and PreBind --

STORED = [node("a"), node("b"), WAIT, volume_claim("x"), volume("v")]


@pytest.mark.parametrize(
    "configuration, objects, error",
    [
        pytest.param(
            off(preFilter=("VolumeBinding",), filter=("VolumeBinding",)),
            [pod("p")],
            'running Reserve plugin "VolumeBinding": not found',
            id="VolumeBinding's Reserve finds no state, with claims or without",
        ),
        pytest.param(
            off(preFilter=("VolumeBinding",), filter=("VolumeBinding",), reserve=("VolumeBinding",)),
            [pod("p")],
            'running PreBind plugin "VolumeBinding": not found',
            id="nor does its PreBind",
        ),
        pytest.param(
            off(reserve=("VolumeBinding",)),
            [pod("p")],
            'running PreBind plugin "VolumeBinding": no pod volumes found for node',
            id="without Reserve, VolumeBinding's PreBind waits for volumes of a pod that has none",
        ),
        pytest.param(
            off(reserve=("VolumeBinding",)),
            [*STORED[2:], pod("p").claim("x")],
            'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded',
            id="and for bindings that were never assumed",
        ),
        pytest.param(
            off(reserve=("VolumeBinding",)),
            [MAKE, *bound("y"), pod("p").claim("y")],
            "",
            id="a pod whose claims are all bound passes",
        ),
        pytest.param(
            off(preFilter=("DynamicResources",), filter=("DynamicResources",)),
            [pod("p")],
            'running Reserve plugin "DynamicResources": not found',
            id="DynamicResources' Reserve finds no state",
        ),
        pytest.param(
            off(filter=("DynamicResources",)),
            [device_class(), claim("c", request("r")), user("p", "c")],
            'running Reserve plugin "DynamicResources": claim allocation not found for node',
            id="Reserve of DynamicResources fails without its filter",
        ),
        pytest.param(
            off(filter=("DynamicResources",), reserve=("DynamicResources",)),
            [device_class(), claim("c", request("r")), user("p", "c")],
            'running PreBind plugin "DynamicResources": status.reservedFor: Forbidden: may not be specified '
            "when `allocated` is not set",
            id="so does its PreBind",
        ),
        pytest.param(
            off(filter=("DynamicResources",), reserve=("DynamicResources",), preBind=("DynamicResources",)),
            [device_class(), claim("c", request("r")), user("p", "c")],
            "",
            id="a pod whose claims are only looked up is bound",
        ),
        pytest.param(
            off("DynamicResources"),
            [user("p", "c")],
            "",
            id="without DynamicResources a claim that does not exist keeps nobody away",
        ),
    ],
)
def test_binding_fails_without_what_came_before(configuration, objects, error):
    look = Look(node("a"), node("b"), *objects, configuration=configuration)
    assert rejectors(look)[1] == [0, 1], "the filters let the pod pass"
    assert look.message == error
    assert look.framework.filter_node(look.state, look.pod, 0).ok == (not error)
    assert look.framework.static_mask(look.pod).all() == (not error)


@pytest.mark.parametrize(
    "configuration, taken",
    [
        pytest.param(profile(), True, id="by default"),
        pytest.param(off("VolumeBinding"), False, id="not where VolumeBinding is off"),
        pytest.param(
            off(filter=("VolumeBinding",)), False, id="not where its filter found nothing to assume"
        ),
        pytest.param(off(preBind=("VolumeBinding",)), True, id="though it is never written down"),
        pytest.param(
            off(reserve=("VolumeBinding",), preBind=("VolumeBinding",)), False, id="not without Reserve"
        ),
    ],
)
def test_who_takes_volumes(configuration, taken):
    look = Look(*STORED, pod("p").claim("x"), configuration=configuration)
    look.state.place(look.pod, 0)
    assert bool(look.state.volumes.assumed.taken) == taken


DEVICES = [node("a"), device_class(), slice_on("a", gpu("d0")), claim("c", request("r"))]


@pytest.mark.parametrize(
    "configuration, allocates",
    [
        pytest.param(profile(), True, id="by default"),
        pytest.param(off("DynamicResources"), False, id="not where DynamicResources is off"),
        pytest.param(
            off(filter=("DynamicResources",), reserve=("DynamicResources",), preBind=("DynamicResources",)),
            False,
            id="not where it only looks claims up",
        ),
    ],
)
def test_who_gets_devices(configuration, allocates):
    look = Look(*DEVICES, user("p", "c"), configuration=configuration)
    look.state.place(look.pod, 0, look.framework.reserve(look.state, look.pod, 0))
    assert ("default/c" in look.state.claims.allocations) == allocates
    assert ("default/c" in look.state.claims.reserved) == allocates


@pytest.mark.parametrize(
    "configuration, helps",
    [
        pytest.param(profile(), True, id="by default"),
        pytest.param(off(postFilter=("DefaultPreemption",)), False, id="not without PostFilter"),
        pytest.param(off("DefaultPreemption"), False, id="not where DefaultPreemption is off"),
        pytest.param(off("DynamicResources"), True, id="whatever else is off"),
        pytest.param(
            off(
                preFilter=("DynamicResources",),
                filter=("DynamicResources",),
                reserve=("DynamicResources",),
                preBind=("DynamicResources",),
            ),
            False,
            id="not after a PostFilter that finds no state",
        ),
    ],
)
def test_who_preempts(configuration, helps):
    objects = [node("a", cpu="1"), pod("v").req(cpu="1").on("a"), pod("p").priority(9).req(cpu="1")]
    assert pass_over(*objects, configuration=configuration)["p"]["result"] == (
        "nominated" if helps else "unschedulable"
    )
    made = Look(*objects, configuration=configuration).cluster
    assert made.pods[made.pod_index["default/p"]].preempts == helps


@pytest.mark.parametrize(
    "points, refused",
    [
        pytest.param({"preBind": ("DynamicResources",)}, "plugins.preBind", id="devices never written down"),
        pytest.param({"reserve": ("DynamicResources",)}, "plugins.reserve", id="devices never assumed"),
        pytest.param({"reserve": ("*",), "preBind": ("*",)}, "plugins.reserve", id="devices only looked for"),
        pytest.param(
            {"filter": ("DynamicResources",), "preBind": ("DynamicResources",)},
            "",
            id="devices not looked for",
        ),
    ],
)
def test_devices_that_are_found_and_not_kept_are_refused_by_name(points, refused):
    needs = unsupported(Look(*DEVICES, user("p", "c"), configuration=off(**points)).cluster)
    assert [refused in need for need in needs] == ([True] if refused else [])
    assert all("profile default-scheduler" in need and "Pod default/p" in need for need in needs)
    assert unsupported(Look(*DEVICES, pod("p"), configuration=off(**points)).cluster) == []


def test_each_pod_is_judged_by_its_own_profile():
    configuration = {
        "profiles": [
            {"schedulerName": "default-scheduler"},
            {
                "schedulerName": "careless",
                "plugins": {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}},
            },
        ]
    }
    big = pod("p").req(cpu="9")
    look = Look(node("a"), big, big.named("q").scheduler("careless"), configuration=configuration)
    state = State.initial(look.cluster)
    assert isinstance(look.cluster, Cluster)
    fits = {
        info.pod.name: framework_for(look.cluster, info.index).filter_node(state, info.index, 0).ok
        for info in look.cluster.pods
    }
    assert fits == {"p": False, "q": True}


@pytest.mark.parametrize(
    "objects, plugin, missing",
    [
        pytest.param(
            [node("a"), pod("p").select(disk="ssd")],
            "NodeAffinity",
            ["ssd"],
            id="a node that the pod's selector does not match",
        ),
        pytest.param(
            [node("a"), NOW, volume_claim("x", storage="now"), pod("p").claim("x")],
            "VolumeZone",
            [],
            id="a node that is no better than any other",
        ),
    ],
)
def test_what_is_missing_is_told_without_pre_filter_too(objects, plugin, missing):
    more = ("VolumeBinding",) if plugin == "VolumeZone" else ()
    configuration = off(*more, preFilter=(plugin,))
    [row] = explain(cluster(*objects, configuration=configuration), "p")["nodes"]
    assert row["plugin"] == plugin
    assert len(row["missing"]) == len(missing)
    assert all(part in str(item) for part, item in zip(missing, row["missing"], strict=True))
