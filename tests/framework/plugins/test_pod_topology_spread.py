from random import Random

import pytest
from support.builders import budget, key, node, pod
from support.filtering import Look, pass_over, profile

from kubestow.framework.plugins import pod_topology_spread
from kubestow.framework.rules.spread import hard_constraints, soft_constraints
from kubestow.models.controllers import ReplicaSet, Service

SKEWED = "U PodTopologySpread: node(s) didn't match pod topology spread constraints"
UNLABELLED = (
    "UAU PodTopologySpread: node(s) didn't match pod topology spread constraints (missing required label)"
)

WEB = {"app": "web"}
P = pod("p").label(WEB)


def zones(*names):
    """Nodes a, b, c ... in these zones; None is a node without one."""
    return [node(chr(97 + k), zone=name) for k, name in enumerate(names)]


def running(places, *, labels=WEB, namespace="default"):
    """One pod for each letter: `aab` is two on node a, one on node b."""
    return [pod(f"v{k}", namespace=namespace).label(labels).on(name) for k, name in enumerate(places)]


@pytest.mark.parametrize(
    "nodes, others, p, rejected",
    [
        pytest.param(
            zones("z1", "z2"), running("a"), P.spread("zone"), {"a": SKEWED}, id="the fuller domain is closed"
        ),
        pytest.param(
            zones("z1", "z2"), running("a"), P.spread("zone", max_skew=2), {}, id="a larger maxSkew opens it"
        ),
        pytest.param(
            zones("z1", "z2"),
            running("aab"),
            P.spread("zone", max_skew=2),
            {},
            id="the minimum is that of the emptiest domain",
        ),
        pytest.param(
            zones("z1", "z2"),
            running("aa"),
            pod("p").label(app="db").spread("zone", select=WEB, max_skew=2),
            {},
            id="a pod that does not match itself adds nothing",
        ),
        pytest.param(
            zones("z1", "z2"),
            running("aaa"),
            pod("p").label(app="db").spread("zone", select=WEB, max_skew=2),
            {"a": SKEWED},
            id="but it keeps away from what is too full already",
        ),
        pytest.param(
            zones("z1", None),
            [],
            P.spread("zone"),
            {"b": UNLABELLED},
            id="a node without the key is out for good",
        ),
        pytest.param(
            zones("z1", "z2"),
            running("a", namespace="other"),
            P.spread("zone"),
            {},
            id="pods of other namespaces do not count",
        ),
        pytest.param(
            zones("z1", "z2"),
            [v.terminating() for v in running("a")],
            P.spread("zone"),
            {},
            id="terminating pods do not count",
        ),
        pytest.param(
            zones("z1", "z2"),
            running("aa"),
            P.spread("zone", select=None),
            {},
            id="no selector counts nobody",
        ),
        pytest.param(
            zones("z1", "z2"),
            running("aa"),
            P.spread("zone", select={}),
            {},
            id="an empty selector counts nobody but the pod itself",
        ),
        pytest.param(
            [node("a", zone="z1"), node("b", zone="z2"), node("c").label(rack="r")],
            running("ac"),
            P.spread("zone").spread("hostname"),
            {"a": SKEWED, "c": UNLABELLED},
            id="a node that lacks one key is out by it, and its pods count for no constraint",
        ),
        pytest.param(
            [node("a", zone="z1"), node("b", zone="z1"), node("c", zone="z2")],
            running("ac"),
            P.spread("zone").spread("hostname"),
            {"a": SKEWED, "c": SKEWED},
            id="every constraint must hold",
        ),
    ],
)
def test_filter(nodes, others, p, rejected):
    assert Look(*nodes, others, p).rejected == rejected


@pytest.mark.parametrize(
    "nodes, places, p, fits",
    [
        pytest.param(
            zones("z1", "z2"),
            "aabb",
            P.spread("zone", min_domains=3),
            "",
            id="below minDomains the minimum is 0",
        ),
        pytest.param(
            zones("z1", "z2", "z3"),
            "aabb",
            P.spread("zone", min_domains=3),
            "c",
            id="the third domain ends that",
        ),
        pytest.param(
            zones("z1", "z2", "z3"),
            "aabb",
            P.spread("zone", min_domains=3).tolerate("x"),
            "c",
            id="an empty domain counts as one",
        ),
        pytest.param(zones("z1", "z2"), "aabb", P.spread("zone", min_domains=2), "ab", id="enough domains"),
    ],
)
def test_min_domains(nodes, places, p, fits):
    rejected = Look(*nodes, running(places), p).rejected
    assert {n.doc["metadata"]["name"] for n in nodes} - rejected.keys() == set(fits)


def test_min_domains_holds_replicas_back_until_nodes_join():
    ten = pod("r").label(WEB).spread("hostname", max_skew=2, min_domains=5).times(10)
    cycles = pass_over(zones("z1", "z1", "z1"), ten)
    assert [cycle["result"] for cycle in cycles.values()] == ["bound"] * 6 + ["unschedulable"] * 4
    assert sorted(cycle["node"] for cycle in cycles.values() if cycle["node"]) == list("aabbcc")
    joined = pass_over(zones(*["z1"] * 5), ten)
    assert all(cycle["result"] == "bound" for cycle in joined.values())


@pytest.mark.parametrize(
    "c, p, fits",
    [
        pytest.param(
            node("c", zone="z3").taint("x"),
            P.spread("zone"),
            "",
            id="by default a tainted domain without pods holds the minimum at 0",
        ),
        pytest.param(
            node("c", zone="z3").taint("x"),
            P.spread("zone", node_taints="Honor"),
            "ab",
            id="honoured taints take the domain out of the count",
        ),
        pytest.param(
            node("c", zone="z3").label(pool="other"),
            P.spread("zone").select(pool="mine"),
            "ab",
            id="by default the pod's node affinity takes a domain out",
        ),
        pytest.param(
            node("c", zone="z3").label(pool="other"),
            P.spread("zone", node_affinity="Ignore").select(pool="mine"),
            "",
            id="an ignored node affinity leaves it in",
        ),
        pytest.param(
            node("c", zone="z3").cordoned(),
            P.spread("zone"),
            "",
            id="a cordoned node without its taint takes part",
        ),
    ],
)
def test_inclusion_policies(c, p, fits):
    mine = [node("a", zone="z1").label(pool="mine"), node("b", zone="z2").label(pool="mine")]
    rejected = Look(*mine, c, running("ab"), p).rejected
    assert {"a", "b"} - rejected.keys() == set(fits)


REVISION = P.label(rev="2").spread("zone", select=WEB, match_label_keys=("rev",))


@pytest.mark.parametrize(
    "gates, p, rejected",
    [
        pytest.param("", REVISION, {}, id="matchLabelKeys narrow the selector to the pod's own value"),
        pytest.param(
            "",
            P.spread("zone", select=WEB, match_label_keys=("rev",)),
            {"a": SKEWED},
            id="a key that the pod lacks is ignored",
        ),
        pytest.param(
            "MatchLabelKeysInPodTopologySpread=false",
            REVISION,
            {"a": SKEWED},
            id="without the gate they are ignored",
        ),
        pytest.param(
            "",
            P.label(rev="2").spread("zone", select=None, match_label_keys=("rev",)),
            {},
            id="a selector that is absent stays nobody's",
        ),
    ],
)
def test_match_label_keys(gates, p, rejected):
    old = running("a", labels={"app": "web", "rev": "1"})
    assert Look(*zones("z1", "z2"), old, p, gates=gates).rejected == rejected


@pytest.mark.parametrize(
    "gate, p, others, fits",
    [
        pytest.param(
            "MinDomainsInPodTopologySpread",
            P.spread("zone", min_domains=5),
            "ab",
            "ab",
            id="minDomains off: there are never too few domains",
        ),
        pytest.param(
            "NodeInclusionPolicyInPodTopologySpread",
            P.spread("zone", node_taints="Honor"),
            "ab",
            "",
            id="policies off: taints do not take a domain out",
        ),
    ],
)
def test_gates_off(gate, p, others, fits):
    nodes = zones("z1", "z2")
    if "Inclusion" in gate:
        nodes.append(node("c", zone="z3").taint("x"))
    assert {"a", "b"} - Look(*nodes, running(others), p).rejected.keys() != set(fits)
    assert {"a", "b"} - Look(*nodes, running(others), p, gates=f"{gate}=false").rejected.keys() == set(fits)


# -- KEP-3990 --

TRIED = P.spread("zone", fallback=("PreemptionFailed",)).unschedulable()
STOCKOUT = P.spread("zone", fallback=("NodeProvisioningFailed",))
BOTH = P.spread("zone", fallback=("PreemptionFailed", "NodeProvisioningFailed"))
TIMEOUT = profile(args={"PodTopologySpread": {"nodeProvisioningTimeout": "300s", "defaultingType": "List"}})


@pytest.mark.parametrize(
    "p, configuration, soft",
    [
        pytest.param(P.spread("zone").unschedulable(), None, False, id="no criteria never fall back"),
        pytest.param(TRIED, None, True, id="a failed attempt without a nomination is PreemptionFailed"),
        pytest.param(
            P.spread("zone", fallback=("PreemptionFailed",)),
            None,
            False,
            id="the first attempt is always hard",
        ),
        pytest.param(TRIED.nominated("a"), None, False, id="a nomination means that preemption did not fail"),
        pytest.param(
            P.spread("zone", fallback=("PreemptionFailed",)).condition(
                "PodScheduled", "False", reason="SchedulingGated"
            ),
            None,
            False,
            id="a pod that was gated has not been tried",
        ),
        pytest.param(
            STOCKOUT.condition("NodeProvisioningInProgress", "False"),
            None,
            True,
            id="NodeProvisioningInProgress False is NodeProvisioningFailed",
        ),
        pytest.param(
            STOCKOUT.condition("NodeProvisioningInProgress", "True").unschedulable(60),
            TIMEOUT,
            False,
            id="a node that is coming keeps it hard, timeout or not",
        ),
        pytest.param(
            STOCKOUT.unschedulable(60), None, False, id="no condition and no timeout never falls back"
        ),
        pytest.param(
            STOCKOUT.unschedulable(6),
            TIMEOUT,
            True,
            id="the timeout has passed since it became unschedulable",
        ),
        pytest.param(STOCKOUT.unschedulable(4), TIMEOUT, False, id="the timeout has not passed yet"),
        pytest.param(
            STOCKOUT.created(6), TIMEOUT, False, id="a pod that was not rejected yet waits for no node"
        ),
        pytest.param(BOTH.unschedulable(), None, False, id="all criteria must hold"),
        pytest.param(
            BOTH.unschedulable().condition("NodeProvisioningInProgress", "False"),
            None,
            True,
            id="and then it falls back",
        ),
    ],
)
def test_fallback(p, configuration, soft):
    look = Look(*zones("z1", "z2"), running("a"), p, configuration=configuration)
    assert look.rejected == ({} if soft else {"a": SKEWED})
    assert [c.fallen_back for c in soft_constraints(look.cluster, look.pod)] == [True] * soft
    # Without the gate the criteria are ignored and the constraint stays hard.
    off = Look(
        *zones("z1", "z2"),
        running("a"),
        p,
        configuration=configuration,
        gates="PodTopologySpreadFallbackMode=false",
    )
    assert off.rejected == {"a": SKEWED}


def test_a_constraint_that_fell_back_asks_for_no_label_and_scores():
    look = Look(*zones("z1", "z2", None), running("a"), TRIED.spread("hostname"))
    assert look.rejected == {
        "a": SKEWED
    }  # by the hostname constraint, for which node c, without a zone, counts
    assert [c.topology_key for c in hard_constraints(look.cluster, look.pod)] == [key("hostname")]
    scores = look.scores("PodTopologySpread")
    assert scores["a"] < scores["b"]
    assert scores["c"] == 0


# -- scores --

ANYWAY = {"when": "ScheduleAnyway"}


@pytest.mark.parametrize(
    "nodes, places, p, scores",
    [
        pytest.param(
            zones("z1", "z2"),
            "aaab",
            P.spread("zone", **ANYWAY),
            [50, 200],
            id="the emptier domain gets all points",
        ),
        pytest.param(
            zones("z1", "z2"),
            "aaab",
            P.spread("zone", max_skew=5, **ANYWAY),
            [124, 200],
            id="a larger maxSkew flattens the difference",
        ),
        pytest.param(
            zones("z1", "z2"), "", P.spread("zone", **ANYWAY), [200, 200], id="no pods at all: all points"
        ),
        pytest.param(
            zones("z1", None),
            "a",
            P.spread("zone", **ANYWAY),
            [200, 0],
            id="a node without the key gets no points",
        ),
        pytest.param(
            zones("z1", "z1"),
            "aab",
            P.spread("hostname", **ANYWAY),
            [66, 200],
            id="for hostname only the node counts",
        ),
        pytest.param(zones("z1", "z2"), "aab", P.spread("zone"), None, id="a hard constraint does not score"),
        pytest.param(
            zones("z1", "z2"),
            "aab",
            P.spread("zone", select={}, **ANYWAY),
            [200, 200],
            id="an empty selector counts nobody",
        ),
    ],
)
def test_score(nodes, places, p, scores):
    found = Look(*nodes, running(places), p).scores("PodTopologySpread")
    assert (found and list(found.values())) == scores


def service(**selector):
    return Service.model_validate(
        {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": selector}}
    )


def replica_set(**labels):
    return ReplicaSet.model_validate(
        {"metadata": {"name": "rs", "namespace": "default"}, "spec": {"selector": {"matchLabels": labels}}}
    )


OWNED = P.changed(
    lambda d: d["metadata"].update(
        ownerReferences=[
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "u", "controller": True}
        ]
    )
)
HARD_DEFAULT = profile(
    args={
        "PodTopologySpread": {
            "defaultingType": "List",
            "defaultConstraints": [
                {"maxSkew": 1, "topologyKey": key("zone"), "whenUnsatisfiable": "DoNotSchedule"}
            ],
        }
    }
)
NO_DEFAULT = profile(args={"PodTopologySpread": {"defaultingType": "List", "defaultConstraints": []}})


@pytest.mark.parametrize(
    "p, extra, configuration, rejected, scored",
    [
        pytest.param(P, [], None, {}, False, id="a bare pod without a service has no default"),
        pytest.param(
            P, [service(app="web")], None, {}, True, id="a service gives it the system's soft defaults"
        ),
        pytest.param(P, [service(app="db")], None, {}, False, id="a service that selects others does not"),
        pytest.param(OWNED, [replica_set(app="web")], None, {}, True, id="and so does its ReplicaSet"),
        pytest.param(OWNED, [], None, {}, False, id="an owner that is not in the input gives nothing"),
        pytest.param(
            P.spread("hostname", max_skew=9),
            [service(app="web")],
            None,
            {},
            False,
            id="one constraint of its own switches the defaults off",
        ),
        pytest.param(
            P,
            [service(app="web")],
            HARD_DEFAULT,
            {"a": SKEWED},
            False,
            id="a profile's list may hold a hard one",
        ),
        pytest.param(P, [service(app="web")], NO_DEFAULT, {}, False, id="an empty list is no default"),
        pytest.param(
            OWNED.label(rev="2"),
            [service(app="web"), replica_set(rev="2")],
            HARD_DEFAULT,
            {},
            False,
            id="service and owner select together",
        ),
    ],
)
def test_default_constraints(p, extra, configuration, rejected, scored):
    look = look_with(*zones("z1", "z2"), running("a"), p, extra=extra, configuration=configuration)
    assert look.rejected == rejected
    assert (look.scores("PodTopologySpread") is not None) == scored


def look_with(*objects, extra, configuration=None):
    """Look at a cluster with services and controllers."""
    services = tuple(item for item in extra if isinstance(item, Service))
    sets = tuple(item for item in extra if isinstance(item, ReplicaSet))
    return Look(*objects, configuration=configuration, services=services, replica_sets=sets)


def test_system_defaults_do_not_leave_a_node_without_a_zone_out():
    look = look_with(*zones("z1", None), running("a"), P, extra=[service(app="web")])
    scores = look.scores("PodTopologySpread")
    assert scores["b"] == 200 > scores["a"]


def test_preemption_counts_terminating_victims_through_its_hooks():
    # The victim terminates: the count of z1 is 0 with it and, by the hook, -1 without it. Upstream has it so.
    cycle = pass_over(
        node("a", zone="z1", cpu="1"),
        node("b", zone="z2", cpu="1"),
        pod("v").label(WEB).req(cpu="1").on("a").terminating(),
        pod("w").label(WEB).req(cpu="1").priority(20).on("b"),
        P.req(cpu="1").priority(10).spread("zone"),
        budget("keep", allowed=0, app="web"),
    )["p"]
    assert cycle["result"] == "nominated"
    assert cycle["victims"] == ["default/v"]


@pytest.mark.parametrize("few", [0, 32], ids=["with arrays", "with plain numbers"])
def test_few_domains_are_judged_as_many_are(few, monkeypatch):
    monkeypatch.setattr(pod_topology_spread, "_FEW_DOMAINS", few)
    dice = Random(7)
    for _ in range(30):
        places = dice.choices("abcdef", k=dice.randrange(9))
        p = P.spread("zone", max_skew=dice.choice((1, 2)), min_domains=dice.choice((1, 4)))
        p = p.spread("hostname", max_skew=3)
        look = Look(*zones("z1", "z2", "z1", None, "z3", "z2"), running(places), p)
        state, i = look.state, look.pod
        [(plugin, data)] = [
            entry
            for entry in look.framework.pre_filter(state, i).entries
            if entry[0].name == "PodTopologySpread"
        ]
        alone = [plugin.check(plugin.fork(data, state, i, n)) == 0 for n in range(6)]
        assert (plugin.filter_all(data, state, i) == 0).tolist() == alone
        for _ in range(2):  # the second answer is one that was kept
            assert plugin.passing(data, state, i).tolist() == alone
