"""Gangs and required topology keys, for the rules of a round's end and for their rows in the model."""

from dataclasses import dataclass
from itertools import product

import pytest
from support.builders import cluster, group, node, pod, workload
from support.engines import admits

from kubestow.framework.build import build_cluster
from kubestow.framework.measures.group_rules import faults_of_groups
from kubestow.framework.rules.eviction_units import preemptor_nodes
from kubestow.models.snapshot import Snapshot

NODES = [node("a").label(rack="r1", row="w1"), node("b").label(rack="r2", row="w1"), node("x")]
member = pod("m").priority(10).member("g")


@dataclass(frozen=True)
class Case:
    """A row: a round, who leaves, and where its waiting pods may end, in the queue's order.

    Each element of `allowed` is a letter for each pod: its node, or "-" where it is not placed.
    """

    name: str
    snapshot: Snapshot
    allowed: set[str]
    left: tuple[str, ...] = ()

    def title(self):
        """Name the row in pytest's output."""
        return self.name


def by_rules(case):
    """Where the rules of a round's end find no fault, and everyone who leaves has a preemptor."""

    def holds(cluster, placed, left):
        pods = cluster.pods
        return not any(faults_of_groups(cluster, placed, left)) and all(
            any(
                n in preemptor_nodes(cluster, v) and pods[i].priority > pods[v].priority
                for i, n in placed.items()
            )
            for v in left
        )

    return _wherever(case, holds)


def by_encoder(case):
    """Where the model is feasible."""
    return _wherever(case, admits)


def _wherever(case, holds):
    cluster = build_cluster(case.snapshot)
    left = [cluster.pod_index[f"default/{name}"] for name in case.left]
    names = (*cluster.node_names, "-")
    return {
        "".join(names[n] for n in nodes)
        for nodes in product(range(len(names)), repeat=len(cluster.pending))
        if holds(
            cluster,
            {i: n for i, n in zip(cluster.pending, nodes, strict=True) if n < cluster.n_nodes},
            left,
        )
    }


def words(pattern, nodes="abx-"):
    """Give every combination of letters, one set of them for each pod."""
    return {"".join(word) for word in product(*(nodes if letters == "*" else letters for letters in pattern))}


# enough room to evict somebody for whoever is placed
VICTIMS = [pod(f"v{n}").priority(0).member("g").on(n) for n in "ab"]
WHOLE = group("g", disruptionMode="PodGroup")

CASES = [
    Case("the basic policy asks for nothing", cluster(NODES, group("g"), member.times(2)), words("**")),
    Case(
        "a gang starts whole or not at all",
        cluster(NODES, group("g", gang=2), member.times(2)),
        words(["abx", "abx"]) | {"--"},
    ),
    Case(
        "more than minCount is welcome, less is not",
        cluster(NODES[:1], group("g", gang=2), member.times(3)),
        {"---", "aa-", "a-a", "-aa", "aaa"},
    ),
    Case(
        "running members count",
        cluster(NODES[:1], group("g", gang=2), member.named("old").on("a"), member.times(2)),
        {"--", "a-", "-a", "aa"},
    ),
    Case(
        "terminating ones too, until they are gone",
        cluster(NODES[:1], group("g", gang=2), member.named("old").on("a").terminating(), member.times(2)),
        {"--", "a-", "-a", "aa"},
    ),
    Case(
        "gated ones do not",
        cluster(NODES[:1], group("g", gang=2), member.named("held").gated(), member),
        {"-"},
    ),
    Case(
        "those of another scheduler are known and never come",
        cluster(NODES[:1], group("g", gang=2), member.named("other").scheduler("other"), member),
        {"-"},
    ),
    Case(
        "a group that waits for its object gains nobody",
        cluster(NODES[:1], member),
        {"-"},
    ),
    Case(
        "nor does one with too few members",
        cluster(NODES[:1], group("g", gang=3), member.times(2)),
        {"--"},
    ),
    Case(
        "nor one whose members are at odds",
        cluster(
            NODES[:1],
            group("g", version="v1beta1"),
            member,
            member.named("n").priority(9),
            release="1.37",
        ),
        {"--"},
    ),
    Case(
        "one rack for all, and none without the label",
        cluster(NODES, group("g", "rack"), member.times(2)),
        {"--", "a-", "-a", "aa", "b-", "-b", "bb"},
    ),
    Case(
        "a gang in one rack",
        cluster(NODES, group("g", "rack", gang=2), member.times(2)),
        {"--", "aa", "bb"},
    ),
    Case(
        "the rack of the running member",
        cluster(NODES, group("g", "rack"), member.named("old").on("b"), member),
        {"-", "b"},
    ),
    Case(
        "no rack where it runs off the key",
        cluster(NODES, group("g", "rack"), member.named("old").on("x"), member),
        {"-"},
    ),
    Case(
        "no rack where they run in two",
        cluster(NODES, group("g", "rack"), [member.named(f"old-{n}").on(n) for n in "ab"], member),
        {"-"},
    ),
    Case(
        "a wider key beside a narrower one",
        cluster(NODES, group("g", "rack", "row"), member.times(2)),
        {"--", "a-", "-a", "aa", "b-", "-b", "bb"},
    ),
    Case(
        "crossing keys meet in single nodes",
        cluster(
            [node(n).label(rack=r, row=w) for n, r, w in (("a", "1", "1"), ("b", "1", "2"), ("c", "2", "1"))],
            group("g", "rack", "row", gang=2),
            member.times(2),
        ),
        {"--", "aa", "bb", "cc"},
    ),
    Case(
        "a preferred key forbids nothing",
        cluster(
            NODES[:2],
            group("g", schedulingConstraints={"topology": [{"key": "rack", "mode": "Preferred"}]}),
            member.times(2),
        ),
        words("**", "ab-"),
    ),
    Case(
        "each replica of a Workload's group for itself",
        cluster(
            NODES[:2],
            workload(
                "w",
                {
                    "name": "g",
                    "policy": {"gang": {"minCount": 1}},
                    "schedulingConstraints": {"topologyConstraints": [{"level": "rack"}]},
                },
            ),
            [pod(f"m-{key}").replica("w", "g", key) for key in ("x", "y")],
        ),
        words("**", "ab-"),
    ),
    Case(
        "two gangs for themselves",
        cluster(NODES[:1], [[group(g, gang=2), pod(g).member(g).times(2)] for g in "gh"]),
        {"----", "aa--", "--aa", "aaaa"},
    ),
    Case(
        "an evicted member counts no more",
        cluster(NODES[:1], group("g", gang=2), VICTIMS[0], member.times(2)),
        {"aa"},
        ("va",),
    ),
    Case(
        "nor does it hold the rack",
        cluster(NODES[:2], group("g", "rack"), *VICTIMS, pod("p").priority(20), member),
        {"b-", "ba"},
        ("vb",),
    ),
    Case(
        "a group is evicted whole for a pod on any of its nodes",
        cluster(NODES, WHOLE, *VICTIMS, pod("p").priority(20)),
        {"a", "b"},
        ("va", "vb"),
    ),
    Case("and not in part", cluster(NODES, WHOLE, *VICTIMS, pod("p").priority(20)), set(), ("va",)),
    Case(
        "several members on a node leave together",
        cluster(NODES, WHOLE, VICTIMS[0].times(2), pod("p").priority(20)),
        set(),
        ("va-0",),
    ),
    Case(
        "nor where one member is too important",
        cluster(NODES, WHOLE, VICTIMS[0], VICTIMS[1].priority(20), pod("p").priority(20)),
        set(),
        ("va", "vb"),
    ),
    Case(
        "each member needs a preemptor of higher priority",
        cluster(
            NODES, WHOLE, VICTIMS[0], VICTIMS[1].priority(15), [pod(f"p{k}").priority(k) for k in (10, 20)]
        ),
        words(["ab", "abx-"]),
        ("va", "vb"),
    ),
    Case(
        "a terminating member makes way alone",
        cluster(NODES, WHOLE, VICTIMS[0].terminating(), VICTIMS[1], pod("p").priority(20)),
        {"a"},
        ("va",),
    ),
    Case(
        "who is evicted whole gains nobody",
        cluster(NODES[:2], WHOLE, *VICTIMS, pod("p").priority(20), member),
        {"a-", "b-"},
        ("va", "vb"),
    ),
    Case(
        "without its gate who is evicted whole is evicted pod by pod",
        cluster(NODES, WHOLE, *VICTIMS, pod("p").priority(20), gates="WorkloadAwarePreemption=false"),
        {"a"},
        ("va",),
    ),
    Case(
        "without its gate a gang is none",
        cluster(NODES[:1], group("g", gang=2), member.times(2), gates="GangScheduling=false"),
        {"--", "a-", "-a", "aa"},
    ),
    Case(
        "without its gate a key is none",
        cluster(
            NODES[:2], group("g", "rack"), member.times(2), gates="TopologyAwareWorkloadScheduling=false"
        ),
        words("**", "ab-"),
    ),
]


@pytest.mark.parametrize("engine", [by_rules, by_encoder])
@pytest.mark.parametrize("case", CASES, ids=Case.title)
def test_allowed_ends(engine, case):
    """Rules and encoder agree on where a group's members may end."""
    assert engine(case) == case.allowed
