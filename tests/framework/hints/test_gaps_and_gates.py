"""What the hints overlook upstream, and what they ignore with a gate off."""

import pytest
from support.builders import node, pod
from support.changing import Queue, hint

from kubestow.models.controllers import Service

QUEUE, SKIP = "Queue", "QueueSkip"
WEB = pod("other").label(app="web").on("n")


PORT = {"name": "i", "restartPolicy": "Always", "ports": [{"containerPort": 80, "hostPort": 80}]}
SIDECAR = pod("other").changed(lambda d: d["spec"].update(initContainers=[PORT]))


def keyed(value):
    return pod("me").label(app="web", v=value).spread("zone", select={"app": "web"}, match_label_keys=["v"])


def test_the_last_pod_of_a_kind_that_wants_to_be_with_itself_goes_unnoticed():
    """The waiting pod could now be the first of its kind, anywhere."""
    assert hint("InterPodAffinity", pod("me").label(app="web").affinity("zone"), WEB, None) == SKIP


def test_a_node_that_leaves_the_count_by_the_selector_goes_unnoticed():
    waiting = pod("me").label(app="web").spread("zone").select(disk="ssd")
    ssd, hdd = (node("n", zone="z1").label(disk=disk) for disk in ("ssd", "hdd"))
    assert hint("PodTopologySpread", waiting, ssd, hdd) == SKIP


@pytest.mark.parametrize(
    "before, after, place",
    [
        pytest.param("hdd", "ssd", "unschedulable", id="only the profile's starts to match: overlooked"),
        pytest.param("none", "ssd", "backoff", id="both do"),
        pytest.param("none", "hdd", "unschedulable", id="the profile's does not"),
    ],
)
def test_added_affinity(before, after, place):
    wanted = [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": wanted}}
    profile = {"pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": required}}]}
    queue = Queue(pod("me").nodes("disk", "In", "hdd", "ssd"), configuration={"profiles": [profile]})
    queue.rejected("NodeAffinity")
    queue.change(node("n").label(disk=before), node("n").label(disk=after))
    assert queue.where("me") == place


def test_default_constraints_of_a_profile_are_looked_at():
    """They select what the pod's services select."""
    hard = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    args = {"defaultingType": "List", "defaultConstraints": [hard]}
    profile = {"pluginConfig": [{"name": "PodTopologySpread", "args": args}]}
    service = Service.model_validate({"metadata": {"name": "s"}, "spec": {"selector": {"app": "web"}}})
    for objects, place in (((service,), "backoff"), ((), "unschedulable")):
        queue = Queue(pod("me").label(app="web"), configuration={"profiles": [profile]}, objects=objects)
        queue.rejected("PodTopologySpread")
        assert queue.remove(WEB).where("me") == place


@pytest.mark.parametrize(
    "plugin, waiting, old, new, gate",
    [
        pytest.param(
            "NodeResourcesFit",
            pod("me").req(cpu="1"),
            pod("other").req(cpu="2").on("n"),
            pod("other").req(cpu="1").on("n"),
            "InPlacePodVerticalScaling",
            id="a pod that shrinks",
        ),
        pytest.param(
            "NodePorts",
            pod("me").host_port(80),
            SIDECAR.on("n"),
            None,
            "SidecarContainers",
            id="a sidecar's port",
        ),
        pytest.param(
            "PodTopologySpread",
            *[pod("me").label(app="web").spread("zone", node_taints="Honor")] * 2,
            pod("me").label(app="web").spread("zone", node_taints="Honor").tolerate("k"),
            "NodeInclusionPolicyInPodTopologySpread",
            id="taints that a constraint honors",
        ),
        pytest.param(
            "PodTopologySpread",
            keyed("1"),
            keyed("1"),
            keyed("2"),
            "MatchLabelKeysInPodTopologySpread",
            id="keys whose own values are selected",
        ),
    ],
)
def test_a_gate_that_is_off(plugin, waiting, old, new, gate):
    assert hint(plugin, waiting, old, new) == QUEUE
    assert hint(plugin, waiting, old, new, gates=f"{gate}=false") == SKIP
