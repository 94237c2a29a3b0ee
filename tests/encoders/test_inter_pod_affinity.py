"""Required affinity and anti-affinity, for the filter InterPodAffinity and for the model.

Where orders and evictions matter the rows are in tests/promises."""

import pytest
from support.builders import cluster, namespace, node, pod
from support.engines import Case, both_engines

web = pod("p").label(app="web")
other = pod("q").label(app="web")
two = ("p", "q")

CASES = [
    Case("no terms", cluster(node("a", zone="z1"), web), {"a"}),
    Case(
        "only where a match is",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            pod("v").label(app="db").on("a"),
            web.affinity("zone", {"app": "db"}),
        ),
        {"a"},
    ),
    Case(
        "the whole domain of a match",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z1"),
            pod("v").label(app="db").on("a"),
            web.affinity("zone", {"app": "db"}),
        ),
        {"a", "b"},
    ),
    Case("nobody matches", cluster(node("a", zone="z1"), web.affinity("zone", {"app": "db"})), set()),
    Case(
        "the first of a group",
        cluster(node("a", zone="z1"), node("b", zone="z2"), web.affinity("zone")),
        {"a", "b"},
    ),
    Case(
        "the first of a group needs the key all the same",
        cluster(node("a"), node("b", zone="z2"), web.affinity("zone")),
        {"b"},
    ),
    Case(
        "not the first: a match runs",
        cluster(node("a", zone="z1"), node("b", zone="z2"), other.named("v").on("a"), web.affinity("zone")),
        {"a"},
    ),
    Case(
        "a match on a node without the key supports nobody, and nobody starts",
        cluster(node("a"), node("b", zone="z2"), other.named("v").on("a"), web.affinity("zone")),
        # a pod on a node without the key adds to no pair, so the cluster has no match and p may start
        {"b"},
    ),
    Case(
        "a terminating match supports",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            pod("v").label(app="db").on("b").terminating(),
            web.affinity("zone", {"app": "db"}),
        ),
        {"b"},
    ),
    Case(
        "two terms want one pod that satisfies both",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            pod("v").label(app="db").on("a"),
            pod("w").label(tier="front").on("a"),
            pod("u").label(app="db", tier="front").on("b"),
            web.affinity("zone", {"app": "db"}).affinity("hostname", {"tier": "front"}),
        ),
        {"b"},
    ),
    Case(
        "a match in another namespace, and a term that looks there",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            pod("v", namespace="other").label(app="db").on("a"),
            web.affinity("zone", {"app": "db"}),
            other.affinity("zone", {"app": "db"}, namespaces=["other"]),
        ),
        set(),
        two,
    ),
    Case(
        "a namespace selector",
        cluster(
            namespace("other", team="blue"),
            node("a", zone="z1"),
            node("b", zone="z2"),
            pod("v", namespace="other").label(app="db").on("a"),
            web.affinity("zone", {"app": "db"}, namespace_selector={"team": "blue"}),
        ),
        {"a"},
    ),
    Case(
        "anti-affinity with what runs",
        cluster(node("a", zone="z1"), node("b", zone="z2"), other.named("v").on("a"), web.anti("zone")),
        {"b"},
    ),
    Case(
        "anti-affinity on a node without the key",
        cluster(
            node("a"),
            node("b", zone="z2"),
            other.named("v").on("a"),
            other.named("w").on("b"),
            web.anti("zone"),
        ),
        {"a"},
    ),
    Case(
        "what runs has anti-affinity",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z1"),
            node("c", zone="z2"),
            pod("v").anti("zone", {"app": "web"}).on("a"),
            web,
        ),
        {"c"},
    ),
    Case(
        "two of a class that repel each other",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z1"),
            node("c", zone="z2"),
            web.anti("zone"),
            other.anti("zone"),
        ),
        {"ac", "bc", "ca", "cb"},
        two,
    ),
    Case(
        "one repels, the other does not mind: both orders fail",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            web.anti("zone", {"app": "db"}),
            pod("q").label(app="db"),
        ),
        {"ab", "ba"},
        two,
    ),
    Case(
        "one supports the other",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            web.affinity("zone", {"app": "db"}),
            pod("q").label(app="db"),
        ),
        {"aa", "bb"},
        two,
    ),
    Case(
        "a group stays together",
        cluster(node("a", zone="z1"), node("b", zone="z2"), web.affinity("zone"), other.affinity("zone")),
        {"aa", "bb"},
        two,
    ),
    Case(
        "a group of two classes stays together",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            web.affinity("zone"),
            other.affinity("zone").req(cpu="1"),
        ),
        {"aa", "bb"},
        two,
    ),
    Case(
        "a namespace selector that accepts no labels at all means everywhere",
        cluster(
            namespace("other", team="blue"),
            node("a", zone="z1"),
            node("b", zone="z2"),
            pod("v", namespace="other").label(app="db").on("a"),
            web.anti(
                "zone",
                {"app": "db"},
                namespace_selector={"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
            ),
        ),
        # upstream asks the kept selector about no labels
        {"b"},
    ),
]


@both_engines
@pytest.mark.parametrize("case", CASES, ids=Case.title)
def test_allowed_nodes(engine, case):
    """Filter and encoder agree on where the pods may stand."""
    assert engine(case) == case.allowed
