"""What pod groups wish for: the tiers `desiredCount` and `preferredTopology`.

Three give the same number for every way to place the waiting pods: the framework on the end state, the
definition, and the least that the model admits.
"""

from itertools import count, product

import pytest
from support.builders import cluster, group, node, pod
from support.engines import admits
from support.oracle.group_valuation import desired_shortfall, is_broken, preferred_excess

from kubestow.framework.index.cluster import Cluster
from kubestow.framework.measures.group_preferences import desired_count_shortfall, preferred_topology_excess
from kubestow.framework.state.state import State
from kubestow.models import tiers

RACKS = [
    node(n, cpu=cpu).label(rack=r) for n, cpu, r in (("a", "4", "r1"), ("b", "1", "r2"), ("c", "2", "r2"))
]
member = pod("m").req(cpu="1").priority(10).member("g")
WISH = {"schedulingConstraints": {"topology": [{"key": "rack", "mode": "Preferred"}]}}

ROUNDS = {
    "desiredCount: more than there is room for": cluster(
        RACKS, group("g", "rack", desired=5), member.times(2)
    ),
    "desiredCount: of members that are larger": cluster(
        RACKS, group("g", "rack", desired=4), member.req(cpu="2").times(2)
    ),
    "desiredCount: with members that run": cluster(
        RACKS, group("g", "rack", desired=4), member.named("old").on("c"), member
    ),
    "desiredCount: beside other pods that wait and run": cluster(
        RACKS,
        group("g", "rack", desired=4),
        pod("other").req(cpu="2").on("a"),
        member,
        pod("p").req(cpu="1"),
    ),
    "desiredCount: slots run out before cpu": cluster(
        node("a", cpu="9", pods="2").label(rack="r1"),
        node("b", cpu="9", pods="4").label(rack="r2"),
        group("g", "rack", desired=4),
        member,
        pod("p"),
    ),
    "desiredCount: nodes that the members may not use have no room": cluster(
        node("a", cpu="9").label(rack="r1").taint("off"),
        node("b", cpu="2").label(rack="r1"),
        node("c", cpu="3").label(rack="r2"),
        group("g", "rack", desired=4),
        member,
    ),
    "desiredCount: without a key it means nothing": cluster(RACKS, group("g", desired=9), member),
    "desiredCount: a gang has none": cluster(RACKS, group("g", "rack", gang=1), member),
    "desiredCount: members without requests take slots": cluster(
        node("a", pods="1").label(rack="r1"),
        node("b", pods="3").label(rack="r2"),
        group("g", "rack", desired=4),
        pod("m").member("g"),
    ),
    "desiredCount: a freed place is room": cluster(
        node("a", cpu="2").label(rack="r1"),
        node("b", cpu="1").label(rack="r2"),
        group("g", "rack", desired=3),
        member,
        pod("v").req(cpu="1").priority(0).on("a"),
    ),
    "preferred: two racks": cluster(RACKS, group("g", **WISH), member.times(3)),
    "preferred: beside a running member": cluster(
        RACKS, group("g", **WISH), member.named("old").on("a"), member.times(2)
    ),
    "preferred: nodes without the label are one domain": cluster(
        RACKS[:1], node("x"), node("y"), group("g", **WISH), member.times(2)
    ),
    "preferred: two groups, two keys": cluster(
        [node("a").label(rack="r1", row="w1"), node("b").label(rack="r2", row="w1")],
        group("g", **WISH),
        group(
            "h",
            gang=2,
            schedulingConstraints={
                "topology": [{"key": "rack", "mode": "Preferred"}, {"key": "row", "mode": "Preferred"}]
            },
        ),
        member,
        pod("n").member("h").times(2),
    ),
    "preferred: a group that gains nobody may be torn": cluster(
        RACKS, group("g", **WISH), [member.named(f"old-{n}").on(n) for n in "ac"], member
    ),
}


def ends(cluster):
    """Yield every way to place the pods or not that no rule forbids, with its end state."""
    nodes = range(cluster.n_nodes + 1)
    for chosen in product(nodes, repeat=len(cluster.pending)):
        placed = {i: n for i, n in zip(cluster.pending, chosen, strict=True) if n < cluster.n_nodes}
        if is_broken(cluster, placed, ()) or not admits(cluster, placed):
            continue
        state = State.initial(cluster)
        for i, n in placed.items():
            state.place(i, n)
        yield placed, state


@pytest.mark.parametrize("name", ROUNDS)
def test_the_least_cost_of_every_end(name):
    cluster = Cluster(ROUNDS[name])
    tier, value, defined = (
        (tiers.DESIRED_COUNT, desired_count_shortfall, desired_shortfall)
        if name.startswith("desiredCount")
        else (tiers.PREFERRED_TOPOLOGY, preferred_topology_excess, preferred_excess)
    )
    found = []
    for placed, end in ends(cluster):
        cost = value(cluster, end, placed)
        assert cost == defined(cluster, placed, ())
        assert cost == next(k for k in count() if admits(cluster, placed, (), {tier: k})), placed
        found.append(cost)
    assert found


def test_the_values_differ_where_they_should():
    """No table of zeros: the rounds above have ends that cost nothing and ends that cost something."""
    for name in ("desiredCount: more than there is room for", "preferred: two racks"):
        cluster = Cluster(ROUNDS[name])
        value = desired_count_shortfall if name.startswith("d") else preferred_topology_excess
        assert len({value(cluster, end, placed) for placed, end in ends(cluster)}) > 1


# name -> (round, pods and their nodes, who leaves, shortfall)
SHORTFALLS = {
    "nobody comes": (RACKS, {}, 0),
    "r1 has room for four": (RACKS, {"m-0": "a"}, 1),
    "r2 for three": (RACKS, {"m-0": "b"}, 2),
    "who came took room that he would have had": (RACKS, {"m-0": "a", "m-1": "a"}, 1),
}


@pytest.mark.parametrize("name", SHORTFALLS)
def test_shortfalls_by_number(name):
    nodes, placed, shortfall = SHORTFALLS[name]
    cluster_ = Cluster(cluster(nodes, group("g", "rack", desired=5), member.times(2)))
    end = State.initial(cluster_)
    where = {cluster_.pod_index[f"default/{p}"]: cluster_.node_index[n] for p, n in placed.items()}
    for i, n in where.items():
        end.place(i, n)
    assert desired_count_shortfall(cluster_, end, where) == shortfall


@pytest.mark.parametrize(
    "nodes, excess",
    [("", 0), ("a", 0), ("bc", 0), ("ab", 1), ("abc", 1)],
    ids=["none", "one", "r2", "two", "three"],
)
def test_domains_beyond_the_first(nodes, excess):
    cluster_ = Cluster(cluster(RACKS, group("g", **WISH), member.times(3)))
    end = State.initial(cluster_)
    where = {i: cluster_.node_index[n] for i, n in zip(cluster_.pending, nodes, strict=False)}
    for i, n in where.items():
        end.place(i, n)
    assert preferred_topology_excess(cluster_, end, where) == excess
