"""Gaps and oddities of the real hints, each of which a cleverer implementation would get wrong."""

import pytest
from support.builders import node, pod
from support.changing import Queue, events, hint, with_uid

QUEUE, SKIP = "Queue", "QueueSkip"
NOTHING = {"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}


def row(said, plugin, waiting, old=None, new=None, *, sentence):
    return pytest.param(said, plugin, waiting, old, new, id=sentence)


def keyed(**labels):
    return pod("me").label(labels).spread("zone", select={"app": "web"}, match_label_keys=["v"])


NOMINATED = pod("gone").label(app="web").host_port(80).claim("c").nominated("n")
WEB = pod("other").label(app="web").on("n")
APART = pod("me").anti("zone", {"app": "web"})
SPREAD = pod("me").label(app="web").spread("zone")
ALIEN = pod("other", namespace="team-a").label(app="web").on("n")
TAINTED = node("n", cpu="1", zone="z1").taint("k")
CLEAN = node("n", cpu="1", zone="z1")


@pytest.mark.parametrize(
    "said, plugin, waiting, old, new",
    [
        row(
            QUEUE,
            "InterPodAffinity",
            APART,
            WEB,
            WEB.label(app="db"),
            sentence="1: a pod that stops matching the only anti-affinity term wakes the pod",
        ),
        *(
            row(
                QUEUE,
                plugin,
                pod("me").req(cpu="64"),
                CLEAN,
                TAINTED,
                sentence=f"2: any change of taints wakes what {plugin} rejected, also on a hopeless node",
            )
            for plugin in (
                "NodeName",
                "NodePorts",
                "NodeResourcesFit",
                "NodeAffinity",
                "InterPodAffinity",
                "VolumeRestrictions",
                "VolumeBinding",
                "VolumeZone",
                "DynamicResources",
            )
        ),
        row(
            SKIP,
            "NodeVolumeLimits",
            pod("me").claim("c"),
            CLEAN,
            TAINTED,
            sentence="2: but not what NodeVolumeLimits rejected, which waits for no node",
        ),
        row(
            SKIP,
            "InterPodAffinity",
            pod("me").affinity("zone", {"app": "web"}, namespace_selector={"team": "a"}),
            None,
            ALIEN,
            sentence="3: a namespace selector that asks for a label selects no namespace",
        ),
        row(
            QUEUE,
            "InterPodAffinity",
            pod("me").affinity("zone", {"app": "web"}, namespace_selector={}),
            None,
            ALIEN,
            sentence="3: an empty namespace selector selects every namespace",
        ),
        row(
            QUEUE,
            "InterPodAffinity",
            pod("me").affinity(
                "zone",
                {"app": "web"},
                namespace_selector={"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
            ),
            None,
            ALIEN,
            sentence="3: one that asks for the absence of a label selects every namespace",
        ),
        row(
            QUEUE,
            "InterPodAffinity",
            pod("me").affinity("zone", {"app": "web"}, namespaces=["team-a"]),
            None,
            ALIEN,
            sentence="3: listed namespaces are selected",
        ),
        row(
            SKIP,
            "InterPodAffinity",
            pod("me"),
            WEB.anti("zone", {}),
            None,
            sentence="4: a pod without terms is not woken when the pod that repelled it goes",
        ),
        row(
            SKIP,
            "InterPodAffinity",
            pod("me"),
            None,
            CLEAN,
            sentence="4: nor by a new node",
        ),
        row(
            QUEUE,
            "InterPodAffinity",
            pod("me"),
            CLEAN,
            TAINTED,
            sentence="4: only by a change of taints",
        ),
        row(
            SKIP,
            "InterPodAffinity",
            APART.anti("zone", {"tier": "front"}),
            WEB,
            None,
            sentence="4: with two anti-affinity terms a deleted pod must match both: one is not enough",
        ),
        row(
            QUEUE,
            "InterPodAffinity",
            APART.anti("zone", {"tier": "front"}),
            WEB.label(tier="front"),
            None,
            sentence="4: with two anti-affinity terms a deleted pod must match both: it does",
        ),
        *(
            row(
                said,
                plugin,
                waiting,
                NOMINATED,
                None,
                sentence=f"5: {plugin} and a nominated pod that is deleted: {said}",
            )
            for said, plugin, waiting in (
                (QUEUE, "NodeResourcesFit", pod("me")),
                (QUEUE, "NodePorts", pod("me").host_port(80)),
                (QUEUE, "VolumeRestrictions", pod("me").claim("c")),
                (QUEUE, "NodeVolumeLimits", pod("me").claim("c")),
                (SKIP, "InterPodAffinity", APART),
                (SKIP, "PodTopologySpread", SPREAD),
            )
        ),
        row(
            QUEUE,
            "NodeResourcesFit",
            pod("me").nominated("n"),
            pod("me").nominated("n"),
            pod("me"),
            sentence="6: a pod's loss of its own nomination wakes it",
        ),
        row(
            SKIP,
            "NodeUnschedulable",
            pod("me"),
            TAINTED.cordoned(),
            CLEAN.cordoned(),
            sentence="7: removing the taint of a cordon alone helps nobody",
        ),
        row(
            QUEUE,
            "NodeUnschedulable",
            pod("me"),
            TAINTED.cordoned(),
            TAINTED,
            sentence="7: lifting the cordon does, although the taint stays",
        ),
        *(
            row(
                QUEUE,
                "TaintToleration",
                old,
                old,
                new,
                sentence=f"8: the number of own tolerations changes: one {verb}",
            )
            for verb, old, new in (
                ("comes", pod("me"), pod("me").tolerate("k")),
                ("goes", pod("me").tolerate("k"), pod("me")),
                ("for PreferNoSchedule comes", pod("me"), pod("me").tolerate("k", effect="PreferNoSchedule")),
            )
        ),
        row(
            SKIP,
            "TaintToleration",
            pod("me").tolerate("k"),
            pod("me").tolerate("k"),
            pod("me").tolerate("j"),
            sentence="8: a toleration that takes another's place is noticed by nobody",
        ),
        row(
            SKIP,
            "PodTopologySpread",
            SPREAD,
            SPREAD,
            SPREAD.tolerate("k"),
            sentence="8: spreading ignores own tolerations",
        ),
        row(
            QUEUE,
            "PodTopologySpread",
            pod("me").label(app="web").spread("zone", node_taints="Honor"),
            pod("me").label(app="web").spread("zone", node_taints="Honor"),
            pod("me").label(app="web").spread("zone", node_taints="Honor").tolerate("k"),
            sentence="8: unless a constraint honors taints",
        ),
        row(
            QUEUE,
            "PodTopologySpread",
            pod("me"),
            None,
            node("n").without("hostname"),
            sentence="9: a pod without constraints is woken by every node",
        ),
        row(
            SKIP,
            "PodTopologySpread",
            pod("me").label(app="web"),
            WEB,
            None,
            sentence="9: and by no pod",
        ),
        row(
            QUEUE,
            "PodTopologySpread",
            pod("me").spread("zone", when="ScheduleAnyway"),
            None,
            node("n"),
            sentence="9: soft constraints are none",
        ),
        row(
            SKIP,
            "PodTopologySpread",
            pod("me").spread("zone", select=None),
            WEB,
            None,
            sentence="9: a constraint without a selector counts nobody",
        ),
        row(
            QUEUE,
            "PodTopologySpread",
            SPREAD,
            CLEAN,
            TAINTED.cordoned(),
            sentence="9: a cordon with a taint wakes what spreading rejected",
        ),
        row(
            QUEUE,
            "PodTopologySpread",
            keyed(app="web", v="1"),
            keyed(app="web", v="1"),
            keyed(app="web", v="2"),
            sentence="10: matchLabelKeys take the pod's new labels: before or after, it counts itself",
        ),
        row(
            SKIP,
            "PodTopologySpread",
            keyed(app="db", v="1"),
            keyed(app="db", v="1"),
            keyed(app="db", v="2"),
            sentence="10: a pod that counts itself neither before nor after stays",
        ),
        *(
            row(
                SKIP,
                plugin,
                waiting,
                WEB,
                WEB.terminating(),
                sentence=f"11: a pod that begins to terminate wakes nothing that {plugin} rejected",
            )
            for plugin, waiting in (("NodeResourcesFit", pod("me")), ("PodTopologySpread", SPREAD))
        ),
        row(
            QUEUE,
            "NodeResourcesFit",
            pod("me").select(zone="z9"),
            pod("other").on("n"),
            None,
            sentence="12: any pod that leaves a node wakes a pod that could not go there",
        ),
        row(
            SKIP,
            "NodeResourcesFit",
            pod("me").req(cpu="2"),
            None,
            node("n", cpu="1"),
            sentence="12: a node that is too small even when empty does not",
        ),
        row(
            SKIP,
            "NodeResourcesFit",
            pod("me").req(cpu="1"),
            pod("other").req(memory="2Gi").on("n"),
            pod("other").req(memory="1Gi").on("n"),
            sentence="12: a pod that shrinks in what the waiting pod does not ask for does not",
        ),
        row(
            QUEUE,
            "NodeResourcesFit",
            pod("me").req(memory="1Gi"),
            pod("other").req(memory="2Gi").on("n"),
            pod("other").req(memory="1Gi").on("n"),
            sentence="12: in what it asks for it does",
        ),
        row(
            QUEUE,
            "NodeAffinity",
            pod("me").nodes("zone", "In"),
            None,
            CLEAN,
            sentence="17: a term without values cannot be parsed, so the pod is woken",
        ),
        row(
            QUEUE,
            "NodeAffinity",
            pod("me").nodes("zone", "In").nodes("zone", "In", "z1"),
            None,
            CLEAN,
            sentence="17: a sibling that matches hides it",
        ),
        row(
            QUEUE,
            "InterPodAffinity",
            pod("me").affinity("zone", NOTHING),
            None,
            WEB,
            sentence="17: a pod affinity term without values cannot be parsed",
        ),
        row(
            QUEUE,
            "PodTopologySpread",
            pod("me").spread("zone", select=NOTHING),
            None,
            CLEAN,
            sentence="17: a spread constraint without values cannot be parsed",
        ),
        row(
            SKIP,
            "DefaultPreemption",
            pod("me"),
            WEB,
            None,
            sentence="19: preemption waits for deletions and skips them",
        ),
    ],
)
def test_fact(said, plugin, waiting, old, new):
    assert hint(plugin, waiting, old, new) == said


def test_7_uncordoning_with_the_taint_is_the_same_event_twice():
    assert events(TAINTED.cordoned(), CLEAN) == ["NodeUpdateNodeTaint", "NodeUpdateNodeTaint"]


def test_7_cordoning_by_the_field_alone_is_no_event():
    assert events(CLEAN, CLEAN.cordoned()) == []


def test_8_a_replaced_toleration_is_a_general_update():
    assert events(pod("me").tolerate("k"), pod("me").tolerate("j")) == ["UnschedulablePodUpdate"]


def test_11_the_beginning_of_termination_is_a_general_update():
    assert events(WEB, WEB.terminating()) == ["AssignedPodUpdate"]


@pytest.mark.parametrize("change", [lambda p: p.label(app="db"), lambda p: p.tolerate("k")])
def test_1_updates_of_assigned_pods_are_offered_to_all(change):
    """The hint of every waiting pod is asked, whoever rejected it and in whatever namespace."""
    queue = Queue(with_uid(pod("me", namespace="far").anti("zone", {"app": "web"}, namespaces=["default"])))
    queue.rejected("InterPodAffinity", "TaintToleration")
    queue.change(WEB, change(WEB))
    assert queue.queue.counts.hints
