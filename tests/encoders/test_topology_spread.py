"""Hard topology spread, for the filter PodTopologySpread and for the model.

Where orders and evictions matter the rows are in tests/promises."""

import pytest
from support.builders import cluster, node, pod
from support.engines import Case, both_engines

from kubestow.encoders.build import build_problem
from kubestow.encoders.topology_spread import spread_groups
from kubestow.framework.build import build_cluster
from kubestow.framework.rules.spread import fallen_back_constraints, hard_constraints

web = pod("p").label(app="web")
other = pod("q").label(app="web")
two = ("p", "q")

CASES = [
    Case("no constraint", cluster(node("a", zone="z1"), web.named("v").on("a"), web), {"a"}),
    Case(
        "balanced already",
        cluster(node("a", zone="z1"), node("b", zone="z2"), web.spread("zone")),
        {"a", "b"},
    ),
    Case(
        "a soft constraint refuses nobody",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            other.named("v").on("a"),
            web.spread("zone", when="ScheduleAnyway"),
        ),
        {"a", "b"},
    ),
    Case(
        "one more would be too many",
        cluster(node("a", zone="z1"), node("b", zone="z2"), other.named("v").on("a"), web.spread("zone")),
        {"b"},
    ),
    Case(
        "maxSkew 2",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            other.named("v").on("a"),
            web.spread("zone", max_skew=2),
        ),
        {"a", "b"},
    ),
    Case(
        "already skewed: only the empty zone is left",
        cluster(
            node("a", zone="z1"), node("b", zone="z2"), other.named("v").on("a").times(5), web.spread("zone")
        ),
        {"b"},
    ),
    Case(
        "skewed by pods that terminate: not at all",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            other.named("v").on("a").terminating().times(5),
            web.spread("zone"),
        ),
        {"a", "b"},
    ),
    Case(
        "a node without the label is out, and its pods do not count",
        cluster(node("a", zone="z1"), node("b"), other.named("v").on("b"), web.spread("zone")),
        {"a"},
    ),
    Case(
        "with two keys a node that lacks one does not count for the other",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z1").without("hostname"),
            node("c", zone="z2"),
            other.named("v").on("b").times(3),
            web.spread("zone").spread("hostname"),
        ),
        {"a", "c"},
    ),
    Case(
        "fewer domains than minDomains",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            other.named("v").on("a"),
            other.named("w").on("b"),
            web.spread("zone", min_domains=3),
        ),
        set(),
    ),
    Case(
        "as many domains as minDomains",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            other.named("v").on("a"),
            other.named("w").on("b"),
            web.spread("zone", min_domains=2),
        ),
        {"a", "b"},
    ),
    Case(
        "a selector that does not match the pod itself",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            other.named("v").on("a"),
            pod("p").label(app="api").spread("zone", select={"app": "web"}),
        ),
        # 1 + 0 - 0
        {"a", "b"},
    ),
    Case(
        "no selector at all",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            other.named("v").on("a"),
            web.spread("zone", select=None),
        ),
        {"a", "b"},
    ),
    Case(
        "a selector that asks for nothing counts nobody",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            other.named("v").on("a").times(3),
            web.spread("zone", select={}),
            other.spread("zone", select={}),
        ),
        {"aa", "ab", "ba", "bb"},
        two,
    ),
    Case(
        "matchLabelKeys counts the pod's own version only",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            pod("v").label(app="web", version="1").on("a").times(2),
            pod("p")
            .label(app="web", version="2")
            .spread("zone", select={"app": "web"}, match_label_keys=["version"]),
        ),
        {"a", "b"},
    ),
    Case(
        "matchLabelKeys with the gate off counts every version",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            pod("v").label(app="web", version="1").on("a").times(2),
            pod("p")
            .label(app="web", version="2")
            .spread("zone", select={"app": "web"}, match_label_keys=["version"]),
            gates="MatchLabelKeysInPodTopologySpread=false",
        ),
        {"b"},
    ),
    Case(
        "a node that the pod may not use does not count (nodeAffinityPolicy Honor)",
        cluster(
            node("a", zone="z1").label(disk="ssd"),
            node("b", zone="z2").label(disk="hdd"),
            other.named("v").on("a"),
            web.spread("zone").select(disk="ssd"),
        ),
        {"a"},
    ),
    Case(
        "a node that the pod may not use counts (nodeAffinityPolicy Ignore)",
        cluster(
            node("a", zone="z1").label(disk="ssd"),
            node("b", zone="z2").label(disk="hdd"),
            other.named("v").on("a"),
            web.spread("zone", node_affinity="Ignore").select(disk="ssd"),
        ),
        set(),
    ),
    Case(
        "a tainted node counts unless taints are honoured",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2").taint("k"),
            pod("v").label(app="web", tier="x").on("a"),
            web.spread("zone"),
            pod("q").label(app="api", tier="x").spread("zone", node_taints="Honor"),
        ),
        set(),
        two,
    ),
    Case(
        "pods of another namespace do not count",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            pod("v", namespace="other").label(app="web").on("a"),
            web.spread("zone"),
        ),
        {"a", "b"},
    ),
    Case(
        "two newcomers share the room",
        cluster(node("a", zone="z1"), node("b", zone="z2"), web.spread("zone"), other.spread("zone")),
        {"ab", "ba"},
        two,
    ),
    Case(
        "a newcomer without the constraint may come later",
        cluster(node("a", zone="z1"), node("b", zone="z2"), web.spread("zone"), other),
        {"aa", "ab", "ba", "bb"},
        two,
    ),
    Case(
        "a newcomer without the constraint comes first where that helps",
        cluster(
            node("a", zone="z1"), node("b", zone="z2"), other.named("v").on("a"), web.spread("zone"), other
        ),
        # p on a needs q on b before it
        {"ab", "ba", "bb"},
        two,
    ),
]


@both_engines
@pytest.mark.parametrize("case", CASES, ids=Case.title)
def test_allowed_nodes(engine, case):
    """Filter and encoder agree on where the pods may stand."""
    assert engine(case) == case.allowed


def test_the_groups_of_a_problem_are_gathered_once():
    """Decomposition and encoding ask for the same groups; those of other constraints are others."""
    problem = build_problem(build_cluster(cluster(node("a", zone="z1"), web.spread("zone"))))
    groups = spread_groups(problem, hard_constraints)
    assert len(groups) == 1
    assert spread_groups(problem, hard_constraints) is groups
    assert spread_groups(problem, fallen_back_constraints) == ()
