"""Filters that do not depend on what is placed reach the model as a mask, made by the framework's plugins.

Names, taints and node affinity share that mask by design, so these rows only say that it arrives."""

import pytest
from support.builders import cluster, node, pod
from support.engines import Case, both_engines

CASES = [
    Case(
        "a pod without wishes goes everywhere",
        cluster(node("a"), node("b").label(x="y"), pod("p")),
        {"a", "b"},
    ),
    Case("a node selector", cluster(node("a", zone="z1"), node("b"), pod("p").select(zone="z1")), {"a"}),
    Case(
        "required node affinity, terms are alternatives",
        cluster(
            [node(n, zone=f"z-{n}") for n in "abc"],
            pod("p").nodes("zone", "In", "z-a").nodes("zone", "NotIn", "z-a", "z-b"),
        ),
        {"a", "c"},
    ),
    Case("a label that no node has", cluster(node("a"), pod("p").select(disk="ssd")), set()),
    Case(
        "a taint, untolerated and only preferred",
        cluster(
            node("a").taint("k", "v"),
            node("b").taint("k", "v", effect="PreferNoSchedule"),
            node("c"),
            pod("p"),
        ),
        {"b", "c"},
    ),
    Case("a tolerated taint", cluster(node("a").taint("k", "v"), pod("p").tolerate("k", "v")), {"a"}),
    Case("a cordoned node", cluster(node("a").cordoned(), node("b"), pod("p")), {"b"}),
]


@both_engines
@pytest.mark.parametrize("case", CASES, ids=Case.title)
def test_allowed_nodes(engine, case):
    """Filter and encoder agree on where the pods may stand."""
    assert engine(case) == case.allowed
