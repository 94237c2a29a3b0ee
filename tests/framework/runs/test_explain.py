"""What `explain` says: the scheduler's own verdicts, what is missing in numbers, the order of nodes."""

import re

import pytest
from support import devices
from support.builders import budget, cluster, group, node, pod
from support.paths import DATA
from support.storage import MAKE, WAIT, bound, claim, csi_node, volume

from kubestow.framework.runs.explain import explain
from kubestow.framework.runs.trace import trace
from kubestow.instances.manifests import load_snapshot
from kubestow.models.errors import KubestowError

SAMPLE = DATA / "conformance"
INSTANCES = [path for family in sorted(SAMPLE.iterdir()) for path in sorted(family.glob("*.instance.*"))[::3]]

ZONE = "topology.kubernetes.io/zone"
ONLY = "; only waiting pods are explained"

P = pod("p").req(cpu="2").label(app="web").priority(10)
SMALL = node("n", cpu="1", zone="z1")
BIG = node("n", cpu="8", zone="z1")


def said(*objects, name="p", **more):
    """Node to what is missing there, line by line, in the order of the answer."""
    document = explain(cluster(*objects), name, **more)
    return {
        row["node"]: [
            item["text"] for part in (row, *row.get("also", ())) for item in part.get("missing", ())
        ]
        for row in document["nodes"]
    }


def row(*objects, node="n", name="p", **more):
    return next(row for row in explain(cluster(*objects), name, **more)["nodes"] if row["node"] == node)


# -- what upstream says is said --


@pytest.mark.parametrize("path", INSTANCES, ids=lambda path: f"{path.parent.name}/{path.name[:3]}")
def test_the_scheduler_s_own_words_come_first(path):
    snapshot = load_snapshot([path])
    cycles = trace(snapshot)["cycles"]
    for cycle in {len(cycles) // 3: 0, len(cycles) * 2 // 3: 0, len(cycles) - 1: 0}:
        recorded = cycles[cycle]
        told = explain(snapshot, recorded["pod"])
        assert [told[key] for key in ("result", "node")] == [recorded[key] for key in ("result", "node")]
        assert told["message"] == recorded.get("message", "")
        if recorded.get("error"):
            continue
        rejected = {row["node"]: row for row in told["nodes"] if not row["fits"]}
        assert {
            name: {key: row[key] for key in ("plugin", "code", "reasons")} for name, row in rejected.items()
        } == recorded["filter"]
        assert {row["node"] for row in told["nodes"] if row["fits"]} == set(recorded["feasible"])
        totals = {row["node"]: row["total"] for row in told["nodes"] if row["fits"]}
        assert recorded.get("totals", totals) == totals
        victims = [
            victim["pod"]
            for row in rejected.values()
            if (row["preemption"] or {}).get("chosen")
            for victim in row["preemption"]["victims"]
        ]
        assert victims == recorded["victims"]


# -- what is missing --

TWICE = [node("n", cpu="8", zone="z1"), node("m", cpu="1", zone="z2")]


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param([SMALL, P], ["2 cpu wanted, 1 of 1 free: 1 short"], id="a resource"),
        pytest.param(
            [SMALL, P.req(memory="12Gi"), pod("v").req(memory="1Gi").on("n")],
            ["2 cpu wanted, 1 of 1 free: 1 short", "12Gi memory wanted, 7Gi of 8Gi free: 5Gi short"],
            id="two resources",
        ),
        pytest.param(
            [BIG, P.req({"example.com/gpu": "2"})],
            ["2 example.com/gpu wanted, 0 of 0 free: 2 short"],
            id="a resource that the node does not have",
        ),
        pytest.param(
            [BIG, P.req(memory="17123456789")],
            ["15.95Gi memory wanted, 8Gi of 8Gi free: 7.95Gi short"],
            id="rows of digits are rounded",
        ),
        pytest.param(
            [node("n", pods="1"), pod("v").on("n"), P.req(cpu="1")],
            ["1 pod wanted, 0 of 1 free: 1 short"],
            id="a slot",
        ),
        pytest.param([BIG.cordoned(), P], ["the node is cordoned"], id="a cordoned node"),
        pytest.param(
            [
                BIG.taint("dedicated", "gpu")
                .taint("old", effect="NoExecute")
                .taint("x", effect="PreferNoSchedule"),
                P,
            ],
            ["no toleration of dedicated=gpu:NoSchedule", "no toleration of old:NoExecute"],
            id="every taint, not only the first",
        ),
        pytest.param(
            [BIG.label(disk="hdd"), P.select(disk="ssd", fast="yes")],
            ["disk=ssd wanted, the node has disk=hdd", "fast=yes wanted, the node has no fast"],
            id="labels of a node selector",
        ),
        pytest.param(
            [
                BIG.label(disk="hdd", size="3"),
                P.changed(
                    lambda d: d["spec"].update(
                        affinity={
                            "nodeAffinity": {
                                "requiredDuringSchedulingIgnoredDuringExecution": {
                                    "nodeSelectorTerms": [
                                        {
                                            "matchExpressions": [
                                                {"key": "a", "operator": "Exists"},
                                                {"key": "b", "operator": "Exists"},
                                            ]
                                        },
                                        {
                                            "matchExpressions": [
                                                {
                                                    "key": "disk",
                                                    "operator": "NotIn",
                                                    "values": ["hdd", "tape"],
                                                },
                                                {"key": "size", "operator": "Gt", "values": ["2"]},
                                            ]
                                        },
                                    ]
                                }
                            }
                        }
                    )
                ),
            ],
            ["disk notin (hdd,tape) wanted, the node has disk=hdd"],
            id="the conditions of the nearest term",
        ),
        pytest.param(
            [
                BIG,
                pod("v").host_port(80).on("n"),
                pod("w").host_port(80, protocol="UDP").on("n"),
                P.host_port(80),
            ],
            ["host port 80/TCP is taken by default/v"],
            id="a host port",
        ),
        pytest.param(
            [*TWICE, pod("v").label(app="web").times(3).on("n"), P.spread("zone")],
            [f"skew would be 4 in {ZONE}=z1 (3 there, 0 where fewest are): 3 over maxSkew 1"],
            id="a spread constraint",
        ),
        pytest.param(
            [node("n", cpu="8"), node("m", cpu="1", zone="z2"), P.spread("zone")],
            ["the node has no label topology.kubernetes.io/zone"],
            id="a spread constraint whose label the node lacks",
        ),
        pytest.param(
            [*TWICE, P.affinity("zone", {"app": "db"})],
            ["no pod with app=db in topology.kubernetes.io/zone=z1"],
            id="a pod to be beside",
        ),
        pytest.param(
            [node("n", cpu="8"), P.affinity("zone", {"app": "db"})],
            ["the node has no label topology.kubernetes.io/zone"],
            id="a pod to be beside, where the label is not",
        ),
        pytest.param(
            [*TWICE, pod("v").label(app="db").times(6).on("n"), P.anti("zone", {"app": "db"})],
            ["default/v-0, default/v-1, default/v-2 and 3 more in topology.kubernetes.io/zone=z1"],
            id="pods to stay away from",
        ),
        pytest.param(
            [BIG, pod("v").anti("hostname", {"app": "web"}).on("n"), P],
            ["default/v in kubernetes.io/hostname=n, kept away by its anti-affinity"],
            id="a pod that wants to be alone",
        ),
        pytest.param(
            [BIG, pod("v").disk("d").on("n"), P.disk("d")],
            ["a disk of the pod is held by default/v"],
            id="a disk",
        ),
        pytest.param(
            [SMALL.cordoned(), P],
            ["the node is cordoned", "2 cpu wanted, 1 of 1 free: 1 short"],
            id="every filter is asked, not only the first that rejects",
        ),
    ],
)
def test_what_is_missing_on_n(objects, expected):
    assert said(*objects)["n"] == expected


def test_amounts_are_exact_for_programs():
    [item] = row(BIG, P.req(memory="17123456789"))["missing"]
    assert item == {
        "what": "memory",
        "wanted": "17123456789",
        "free": "8Gi",
        "allocatable": "8Gi",
        "short": "8533522197",
        "text": "15.95Gi memory wanted, 8Gi of 8Gi free: 7.95Gi short",
    }


ZONED = node("n", zone="z1")
USER = P.req(cpu="1").claim("c")


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param(
            [bound("c", modes=["ReadWriteOncePod"]), node("m"), pod("w").claim("c").on("m")],
            ["claim default/c is held by default/w"],
            id="a claim for one pod",
        ),
        pytest.param(
            [bound("c", zones=["z2"])], ["claim default/c is bound to a volume"], id="a volume out of reach"
        ),
        pytest.param(
            [claim("c"), volume("v", zones=["z2"])], ["claim default/c is not bound yet"], id="no volume"
        ),
        pytest.param(
            [bound("c", labels={"topology.kubernetes.io/zone": "z2"})],
            [f"volume c is in {ZONE}=z2, the node has {ZONE}=z1"],
            id="a volume of another zone",
        ),
        pytest.param(
            [bound("c"), bound("d"), csi_node("n", volumes=1), pod("w").claim("d").on("n")],
            ["1 more volumes of csi.test, 1 of 1 attached: 1 too many"],
            id="more volumes than the node attaches",
        ),
    ],
)
def test_volumes(objects, expected):
    assert said(ZONED, WAIT, MAKE, *objects, USER)["n"] == expected


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param(
            [devices.claim("c")], ["no free devices here for all of default/c"], id="no device for the claim"
        ),
        pytest.param(
            [node("m"), devices.claim("c", has=[("r", "m", "g")], at="m")],
            ["the devices of claim default/c are not reached from here"],
            id="devices elsewhere",
        ),
    ],
)
def test_devices(objects, expected):
    user = devices.user("p", "c")
    assert (
        said(node("n"), devices.device_class(), devices.slice_on("m", devices.gpu("g")), *objects, user)["n"]
        == expected
    )


def test_a_member_of_a_group_is_seen_beside_the_members_before_it():
    gang = [pod(f"p-{k}").req(cpu="1").member("g") for k in range(3)]
    document = explain(cluster(node("n", cpu="2"), group("g", gang=3), gang), "p-2")
    assert (document["result"], document["podGroup"]) == ("unschedulable", "default/g")
    assert document["message"].startswith("0/1 nodes are available: 1 Insufficient cpu. no new claims")
    [there] = document["nodes"]
    assert [item["text"] for item in there["missing"]] == ["1 cpu wanted, 0 of 2 free: 1 short"]


# -- the order --


@pytest.mark.parametrize(
    "objects, order",
    [
        pytest.param(
            [node("a", cpu="1"), node("b", cpu="1500m"), node("c", cpu="500m"), P],
            "b a c",
            id="who is short of less is nearer",
        ),
        pytest.param(
            [node("a", cpu="1").cordoned(), node("b", cpu="100m"), P],
            "b a",
            id="one filter is nearer than two, however wide its gap",
        ),
        pytest.param(
            [
                node("a", cpu="8").cordoned(),
                node("b", cpu="8"),
                pod("v").req(cpu="8").priority(50).on("b"),
                P,
            ],
            "b a",
            id="what may change is nearer than what is final",
        ),
        pytest.param(
            [node("b", cpu="1"), node("a", cpu="1"), P], "a b", id="of equals the smaller name comes first"
        ),
        pytest.param(
            [node("a", cpu="1"), node("b", cpu="8"), node("c", cpu="4"), P],
            "b c a",
            id="nodes that take it come first, the highest score before the others",
        ),
    ],
)
def test_nearest_first(objects, order):
    assert list(said(*objects)) == order.split()


# -- what evictions would do --


def crowd(*, priority=0, name="v", on="n"):
    return pod(name).req(cpu="1").priority(priority).label(app=name).on(on)


def test_evictions_on_each_node():
    nodes = [node(name, cpu="2") for name in ("n", "m", "o")] + [node("x", cpu="1"), node("y").cordoned()]
    running = [
        crowd(name="a", on="n"), crowd(name="b", on="n", priority=5),
        crowd(name="c", on="m"), crowd(name="d", on="m"),
        crowd(name="e", on="o", priority=20), crowd(name="f", on="o"),
    ]  # fmt: skip
    rows = explain(cluster(nodes, running, budget("k", app="a", allowed=0), P), "p")["nodes"]
    assert {row["node"]: row["preemption"] for row in rows} == {
        "n": {
            "helps": True,
            "victims": [{"pod": "default/b", "priority": 5}, {"pod": "default/a", "priority": 0}],
            "violations": 1,
            "chosen": False,
        },
        "m": {
            "helps": True,
            "victims": [{"pod": "default/c", "priority": 0}, {"pod": "default/d", "priority": 0}],
            "violations": 0,
            "chosen": True,
        },
        "o": {"helps": False, "reasons": ["Insufficient cpu"]},
        "x": {"helps": False, "reasons": ["Preemption is not helpful for scheduling"]},
        "y": {"helps": False, "reasons": ["Preemption is not helpful for scheduling"]},
    }


def test_a_pod_that_may_not_evict_says_so_once():
    document = explain(cluster(node("n", cpu="2"), crowd().req(cpu="2"), P.never()), "p")
    assert document["message"].endswith("preemption: not eligible due to preemptionPolicy=Never.")
    assert [row["preemption"] for row in document["nodes"]] == [None]


# -- where it goes --


def test_a_pod_that_fits_says_where_and_with_which_scores():
    document = explain(cluster(node("a", cpu="8"), node("b", cpu="4"), node("c", cpu="1"), P), "p")
    assert (document["result"], document["node"], document["message"]) == ("bound", "a", "")
    first, second, third = document["nodes"]
    assert (first["node"], first["chosen"], second["chosen"], third["fits"]) == ("a", True, False, False)
    assert first["total"] == sum(first["scores"].values()) > second["total"]


def test_a_single_node_needs_no_scores():
    [only] = explain(cluster(BIG, P), "p")["nodes"]
    assert only == {"node": "n", "fits": True, "scores": None, "total": None, "chosen": True}


def test_the_nominated_node_is_taken_without_scores():
    document = explain(cluster(node("a", cpu="8"), node("b", cpu="8"), P.nominated("b")), "p")
    assert [(r["node"], r["chosen"], r["scores"]) for r in document["nodes"]] == [
        ("a", False, None),
        ("b", True, None),
    ]


# -- its turn --


def test_pods_before_it_in_the_queue_are_placed_first():
    two = cluster(node("n", cpu="3"), P.named("first").priority(20), P)
    assert explain(two, "p")["place"] == 2
    assert [
        said_there for said_there in said(node("n", cpu="3"), P.named("first").priority(20), P).values()
    ] == [["2 cpu wanted, 1 of 3 free: 1 short"]]


def test_alone_it_comes_before_all_others():
    document = explain(cluster(node("n", cpu="3"), P.named("first").priority(20), P), "p", alone=True)
    assert (document["place"], document["queue"], document["result"]) == (None, 2, "bound")


def test_room_that_is_promised_to_a_nominated_pod_is_told():
    nominated = P.named("first").priority(20).nominated("n")
    there = row(node("n", cpu="2"), crowd(), nominated, P)
    assert there["nominated"] == ["default/first"]
    assert there["missing"][0]["text"] == "2 cpu wanted, -1 of 2 free: 3 short"


# -- pods that are not tried --


@pytest.mark.parametrize(
    "one, result, message",
    [
        pytest.param(
            P.gated("example.com/wait"),
            "gated",
            "waiting for scheduling gates: [example.com/wait]",
            id="gates",
        ),
        pytest.param(
            P.scheduler("other"),
            "untried",
            "no profile of the configuration is called 'other', the pod's schedulerName",
            id="no profile",
        ),
        pytest.param(
            P.member("nobody"),
            "untried",
            'waiting for pod\'s pod group "nobody" to appear in scheduling queue',
            id="a pod group that is not there",
        ),
        pytest.param(
            P.member("pair"),
            "untried",
            "waiting for minCount pods from a gang to appear in scheduling queue",
            id="too few members",
        ),
    ],
)
def test_pods_that_nobody_tries(one, result, message):
    others = (group("pair", gang=2), P.named("other"))
    document = explain(cluster(BIG, *others, one), "p")
    assert (document["place"], document["queue"]) == (None, 1)
    assert (document["result"], document["message"], document["nodes"]) == (result, message, [])


def test_no_nodes_at_all():
    document = explain(cluster(P), "p")
    assert (document["message"], document["nodes"]) == ("no nodes available to schedule pods", [])


@pytest.mark.parametrize(
    "name, line",
    [
        pytest.param(
            "default/q",
            "there is no pod 'default/q'; did you mean default/p or default/twin?",
            id="a key nobody has",
        ),
        pytest.param(
            "web-7", "there is no pod 'web-7'; did you mean web-0, web-1 or web-2?", id="a name nobody has"
        ),
        pytest.param("xyz", "there is no pod 'xyz'", id="nothing like it"),
        pytest.param(
            "twin", "'twin' is the name of 2 pods: default/twin, other/twin", id="a name that two have"
        ),
        pytest.param("r", f"Pod default/r is on node n already{ONLY}", id="a running pod"),
        pytest.param(
            "lost",
            f"Pod default/lost is on node gone already, which is not in the input{ONLY}",
            id="a pod on a node that is not there",
        ),
        pytest.param("done", f"Pod default/done has finished (Succeeded){ONLY}", id="finished"),
        pytest.param("going", f"Pod default/going is being deleted{ONLY}", id="deleted"),
    ],
)
def test_names_that_mean_no_waiting_pod(name, line):
    snapshot = cluster(
        BIG, P, pod("web").times(3), pod("twin"), pod("twin", namespace="other"), pod("r").on("n"),
        pod("lost").on("gone"), pod("going").terminating(),
        pod("done").changed(lambda d: d["status"].update(phase="Succeeded")),
    )  # fmt: skip
    with pytest.raises(KubestowError, match=f"^test: {re.escape(line)}$"):
        explain(snapshot, name)
