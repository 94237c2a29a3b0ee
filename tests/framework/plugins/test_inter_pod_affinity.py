import pytest
from support.builders import namespace, node, pod
from support.filtering import Look, pass_over, profile

AFFINITY = "UAU InterPodAffinity: node(s) didn't match pod affinity rules"
ANTI = "U InterPodAffinity: node(s) didn't match pod anti-affinity rules"
EXISTING = "U InterPodAffinity: node(s) didn't satisfy existing pods anti-affinity rules"

NODES = [node("a", zone="z1"), node("b", zone="z1"), node("c", zone="z2"), node("d")]
WEB = {"app": "web"}
P = pod("p").label(WEB)


def v(name="v", *, ns="default"):
    return pod(name, namespace=ns).label(WEB)


def only(nodes, text):
    return {name: text for name in "abcd" if name not in nodes}


@pytest.mark.parametrize(
    "others, p, rejected",
    [
        pytest.param(
            [], P.affinity("zone"), only("abc", AFFINITY), id="the first of its kind may go where the key is"
        ),
        pytest.param(
            [v().on("a")],
            P.affinity("zone"),
            only("ab", AFFINITY),
            id="the second only into the first one's domain",
        ),
        pytest.param(
            [], pod("p").affinity("zone", WEB), only("", AFFINITY), id="who does not match itself must wait"
        ),
        pytest.param(
            [v().on("d")],
            P.affinity("zone"),
            only("abc", AFFINITY),
            id="a match on a node without the key does not count, not even against being the first",
        ),
        pytest.param(
            [v().on("a").terminating()],
            P.affinity("zone"),
            only("ab", AFFINITY),
            id="a terminating pod counts",
        ),
        pytest.param(
            [v().on("a"), pod("w").label(app="db").on("c")],
            pod("p").affinity("zone", WEB).affinity("zone", {"app": "db"}),
            only("", AFFINITY),
            id="a pod that matches one of two terms counts for neither",
        ),
        pytest.param(
            [v().label(tier="x").on("a")],
            pod("p").affinity("zone", WEB).affinity("hostname", {"tier": "x"}),
            only("a", AFFINITY),
            id="one that matches both counts for both keys",
        ),
        pytest.param(
            [v(ns="other").on("a")],
            P.affinity("zone"),
            only("abc", AFFINITY),
            id="other namespaces do not count",
        ),
        pytest.param(
            [v(ns="other").on("a")],
            P.affinity("zone", namespaces=("other",)),
            only("ab", AFFINITY),
            id="unless they are listed",
        ),
        pytest.param(
            [namespace("other", team="t"), v(ns="other").on("a")],
            P.affinity("zone", namespace_selector={"team": "t"}),
            only("ab", AFFINITY),
            id="or selected",
        ),
        pytest.param(
            [v(ns="other").on("a")],
            P.affinity("zone", namespace_selector={"matchLabels": {}}),
            only("ab", AFFINITY),
            id="an empty namespace selector is everywhere",
        ),
        pytest.param(
            [v(ns="other").on("a")],
            P.affinity("zone", namespace_selector={"kubernetes.io/metadata.name": "other"}),
            only("ab", AFFINITY),
            id="a namespace that is not in the input still has its name as a label",
        ),
        pytest.param(
            [namespace("other", team="t"), v(ns="other").on("a")],
            P.anti(
                "zone", namespace_selector={"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
            ),
            only("cd", ANTI),
            id="as an incoming pod's, a namespace selector that takes no labels is everywhere",
        ),
        pytest.param([v().on("a")], P.anti("zone"), only("cd", ANTI), id="anti-affinity closes the domain"),
        pytest.param([v().on("a")], P.anti("hostname"), only("bcd", ANTI), id="or the node"),
        pytest.param([v().on("d")], P.anti("zone"), {}, id="a node without the key is open to anti-affinity"),
        pytest.param(
            [pod("v").anti("zone", WEB).on("a")],
            P,
            only("cd", EXISTING),
            id="an existing pod keeps its domain free",
        ),
        pytest.param(
            [pod("v").anti("zone", WEB).on("a")],
            pod("p").label(app="db"),
            {},
            id="of those that it means only",
        ),
        pytest.param(
            [pod("v", namespace="other").anti("zone", WEB).on("a")],
            P,
            {},
            id="in the namespaces that it means only",
        ),
        pytest.param(
            [
                namespace("default", team="t"),
                pod("v", namespace="other")
                .anti(
                    "zone",
                    WEB,
                    namespace_selector={"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
                )
                .on("a"),
            ],
            P,
            {},
            id="as an existing pod's, a namespace selector sees the labels of the incoming pod's namespace",
        ),
        pytest.param(
            [v().anti("zone").on("a")],
            P.anti("zone"),
            only("cd", ANTI),
            id="the pod's own anti-affinity is told before the others'",
        ),
        pytest.param(
            [v().anti("zone").on("a")],
            P.affinity("zone", {"app": "none"}),
            only("", AFFINITY),
            id="and its affinity before both",
        ),
    ],
)
def test_filter(others, p, rejected):
    assert Look(*NODES, others, p).rejected == rejected


def test_evicting_who_keeps_others_away_can_help():
    cycle = pass_over(node("a", zone="z1"), pod("v").anti("zone", WEB).on("a"), P.priority(10))["p"]
    assert (cycle["result"], cycle["victims"]) == ("nominated", ["default/v"])


def prefer(builder, kind, *terms):
    """Add preferred terms: (weight, key, labels)."""
    wishes = [
        {"weight": weight, "podAffinityTerm": {"topologyKey": key, "labelSelector": {"matchLabels": labels}}}
        for weight, key, labels in terms
    ]
    return builder.changed(
        lambda d: (
            d["spec"]
            .setdefault("affinity", {})
            .update({kind: {"preferredDuringSchedulingIgnoredDuringExecution": wishes}})
        )
    )


HOST = "kubernetes.io/hostname"
THREE = [node("a"), node("b"), node("c")]


def weight(hard, *, ignore=False):
    return profile(
        args={
            "InterPodAffinity": {"hardPodAffinityWeight": hard, "ignorePreferredTermsOfExistingPods": ignore}
        }
    )


@pytest.mark.parametrize(
    "others, p, configuration, scores",
    [
        pytest.param([v().on("a")], P, None, None, id="no term at all is skipped"),
        pytest.param(
            [], prefer(P, "podAffinity", (5, HOST, WEB)), None, None, id="a term that nobody meets is skipped"
        ),
        pytest.param(
            [v().on("a"), v("w").on("a"), v("x").on("b")],
            prefer(P, "podAffinity", (5, HOST, WEB)),
            None,
            [200, 100, 0],
            id="each match adds the term's weight",
        ),
        pytest.param(
            [v().on("a")],
            prefer(P, "podAntiAffinity", (5, HOST, WEB)),
            None,
            [0, 200, 200],
            id="anti-affinity takes it away",
        ),
        pytest.param(
            [v().on("a"), v("w").on("b"), v("x").on("c")],
            prefer(P, "podAffinity", (5, HOST, WEB)),
            None,
            [0, 0, 0],
            id="equal nodes get no points",
        ),
        pytest.param(
            [prefer(pod("v"), "podAffinity", (5, HOST, WEB)).on("b")],
            P,
            None,
            [0, 200, 0],
            id="existing pods' wishes count",
        ),
        pytest.param(
            [prefer(pod("v"), "podAffinity", (5, HOST, WEB)).on("b")],
            P,
            weight(1, ignore=True),
            None,
            id="unless the profile ignores them for pods without wishes of their own",
        ),
        pytest.param(
            [v().affinity("hostname").on("a"), prefer(pod("w"), "podAffinity", (2, HOST, WEB)).on("b")],
            P,
            None,
            [100, 200, 0],
            id="an existing pod's required affinity weighs 1",
        ),
        pytest.param(
            [v().affinity("hostname").on("a"), prefer(pod("w"), "podAffinity", (2, HOST, WEB)).on("b")],
            P,
            weight(4),
            [200, 100, 0],
            id="or what the profile says",
        ),
        pytest.param([v().affinity("hostname").on("a")], P, weight(0), None, id="which may be nothing"),
        pytest.param(
            [v().on("a"), v("w").on("b").label(tier="x")],
            prefer(P, "podAffinity", (3, HOST, WEB), (1, HOST, {"tier": "x"})),
            None,
            [150, 200, 0],
            id="terms of one key add up",
        ),
    ],
)
def test_score(others, p, configuration, scores):
    found = Look(*THREE, others, p, configuration=configuration).scores("InterPodAffinity")
    assert (found and list(found.values())) == scores
