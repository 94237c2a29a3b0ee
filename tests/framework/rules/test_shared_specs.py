"""What the encoders read beside the plugins: constraints, terms and budgets, parsed."""

import pytest
from support.builders import budget, key, namespace, node, pod
from support.filtering import Look, profile

from kubestow.framework.index.affinity import required_affinity, required_anti_affinity
from kubestow.framework.rules.budgets import budgets
from kubestow.framework.rules.spread import (
    constraints_of,
    eligible_nodes,
    fallen_back_constraints,
    group_key,
    hard_constraints,
    spread_matches,
)

WEB = {"app": "web"}
P = pod("p").label(WEB)
NODES = [
    node("a", zone="z1"),
    node("b", zone="z2").without("hostname"),
    node("c"),
    node("d", zone="z1").taint("x"),
]


def eligible(p, index):
    look = Look(*NODES, p)
    return eligible_nodes(look.cluster, look.pod, constraints_of(look.cluster, look.pod)[index]).tolist()


@pytest.mark.parametrize(
    "p, index, expected",
    [
        pytest.param(P.spread("zone"), 0, [True, True, False, True], id="nodes with the key"),
        pytest.param(
            P.spread("zone").spread("hostname"),
            0,
            [True, False, False, True],
            id="with the keys of all hard constraints",
        ),
        pytest.param(
            P.spread("zone", node_taints="Honor"),
            0,
            [True, True, False, False],
            id="that the policies let take part",
        ),
        pytest.param(
            P.spread("zone").spread("hostname", fallback=("PreemptionFailed",)).unschedulable(),
            0,
            [True, True, False, True],
            id="a constraint that fell back asks the others for nothing",
        ),
        pytest.param(
            P.spread("zone").spread("hostname", fallback=("PreemptionFailed",)).unschedulable(),
            1,
            [True, False, False, True],
            id="its own nodes have the keys of all constraints as written",
        ),
    ],
)
def test_eligible_nodes(p, index, expected):
    assert eligible(p, index) == expected


@pytest.mark.parametrize(
    "one, other, same",
    [
        pytest.param(P.spread("zone"), P.named("q").spread("zone"), True, id="equal constraints"),
        pytest.param(
            P.spread("zone"),
            pod("q").label(app="db").spread("zone", select=WEB),
            True,
            id="whether the pod matches itself does not matter",
        ),
        pytest.param(P.spread("zone"), P.named("q").spread("zone", max_skew=2), False, id="another maxSkew"),
        pytest.param(
            P.spread("zone"), P.named("q").spread("zone", min_domains=2), False, id="another minDomains"
        ),
        pytest.param(P.spread("zone"), P.named("q").spread("hostname"), False, id="another key"),
        pytest.param(
            P.spread("zone"), P.named("q").spread("zone", select={"app": "db"}), False, id="another selector"
        ),
        pytest.param(
            P.spread("zone"), P.named("q").spread("zone").spread("hostname"), False, id="other eligible nodes"
        ),
    ],
)
def test_group_key(one, other, same):
    look = Look(*NODES, one, other)
    first, second = (
        group_key(look.cluster, i, hard_constraints(look.cluster, i)[0]) for i in look.cluster.pending
    )
    assert (first == second) == same


def test_spread_matches_counts_pods_of_the_namespace_that_the_selector_names():
    look = Look(
        node("a", zone="z1"),
        P.spread("zone").spread("zone", select={}).spread("zone", select=None),
        pod("w").label(WEB).on("a"),
        pod("x", namespace="other").label(WEB).on("a"),
        pod("y").on("a"),
    )
    matched = [
        [
            look.cluster.pods[j].pod.name
            for j in look.cluster.bound
            if spread_matches(look.cluster, c, look.pod, j)
        ]
        for c in hard_constraints(look.cluster, look.pod)
    ]
    assert matched == [["w"], [], []]


def test_a_profile_without_the_plugin_has_no_constraints():
    off = profile(multiPoint={"disabled": [{"name": "PodTopologySpread"}]})
    look = Look(node("a"), P.spread("zone"), configuration=off)
    assert constraints_of(look.cluster, look.pod) == ()
    only_scores = profile(filter={"disabled": [{"name": "PodTopologySpread"}]})
    look = Look(node("a"), P.spread("zone"), configuration=only_scores)
    assert hard_constraints(look.cluster, look.pod) == ()
    assert fallen_back_constraints(look.cluster, look.pod) == ()


def test_a_term_looks_different_from_its_two_sides():
    unlabelled = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
    look = Look(
        namespace("default", team="t"),
        node("a"),
        P.anti("hostname", namespace_selector=unlabelled).affinity("zone"),
        pod("w").label(WEB).on("a"),
    )
    (away,) = required_anti_affinity(look.cluster, look.pod)
    (to,) = required_affinity(look.cluster, look.pod)
    w = look.cluster.pod_index["default/w"]
    assert away.matches_incoming(look.cluster, w)
    assert not away.matches_existing(look.cluster, w)
    assert to.matches_incoming(look.cluster, w)
    assert to.matches_existing(look.cluster, w)
    assert (away.topology_key, to.topology_key) == (key("hostname"), key("zone"))


def test_budgets_without_a_selector_are_left_out():
    look = Look(node("a"), pod("p"), budget("all", {}, allowed=1), budget("web", WEB, allowed=-1))
    assert [(b.key, b.allowed) for b in budgets(look.cluster)] == [("default/web", 0)]
