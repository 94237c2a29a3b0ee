"""Disks and ReadWriteOncePod claims, for the filter VolumeRestrictions and for its rows in the model."""

import pytest
from support.builders import cluster, node, pod
from support.engines import Case, admits, both_engines
from support.storage import MAKE, bound, claim

from kubestow.framework.index.cluster import Cluster

two = ("p", "q")
A, B = node("a"), node("b")
EXCLUSIVE = bound("x", modes=("ReadWriteOncePod",))

CASES = [
    Case(
        "a disk on another node is free", cluster(A, B, pod("v").disk("d").on("a"), pod("p").disk("d")), {"b"}
    ),
    Case(
        "two of one class whose disk is written",
        cluster(A, B, pod("p").disk("d"), pod("q").disk("d")),
        {"ab", "ba"},
        two,
    ),
    Case(
        "two of one class whose disk is read",
        cluster(A, B, pod("p").disk("d", read_only=True), pod("q").disk("d", read_only=True)),
        {"aa", "ab", "ba", "bb"},
        two,
    ),
    Case(
        "two classes, one of which writes",
        cluster(A, B, pod("p").disk("d", read_only=True), pod("q").disk("d").req(cpu="1")),
        {"ab", "ba"},
        two,
    ),
    Case("an exclusive claim", cluster(A, B, EXCLUSIVE, pod("p").claim("x")), {"a", "b"}),
    Case(
        "an exclusive claim in use anywhere",
        cluster(A, B, EXCLUSIVE, pod("v").claim("x").on("a"), pod("p").claim("x")),
        set(),
    ),
    Case(
        "two of one class that want an exclusive claim",
        cluster(A, B, EXCLUSIVE, pod("p").claim("x"), pod("q").claim("x")),
        set(),
        two,
    ),
    Case(
        "two classes that want an exclusive claim",
        cluster(A, B, EXCLUSIVE, pod("p").claim("x"), pod("q").claim("x").req(cpu="1")),
        set(),
        two,
    ),
    Case(
        "exclusive claims of one name in two namespaces",
        cluster(
            A,
            EXCLUSIVE,
            bound("x", namespace="other", handle="y", modes=("ReadWriteOncePod",)),
            pod("v", namespace="other").claim("x").on("a"),
            pod("p").claim("x"),
        ),
        {"a"},
    ),
    Case(
        "an exclusive claim that is bound with its pod",
        cluster(
            A,
            B,
            MAKE,
            claim("x", storage="make", modes=("ReadWriteOncePod",)),
            pod("p").claim("x"),
            pod("q").claim("x"),
        ),
        set(),
        two,
    ),
]


@both_engines
@pytest.mark.parametrize("case", CASES, ids=Case.title)
def test_allowed_nodes(engine, case):
    """Filter and encoder agree on where the pods may stand."""
    assert engine(case) == case.allowed


@pytest.mark.parametrize(
    "claimed, left, there",
    [
        pytest.param(pod("v").disk("d").on("a"), (), "b", id="a disk stays with its pod"),
        pytest.param(pod("v").disk("d").on("a"), ("v",), "ab", id="and goes with it"),
        pytest.param(pod("v").disk("d").times(2).on("a"), ("v-0",), "b", id="every one that has it must go"),
        pytest.param(pod("v").claim("x").on("a"), (), "", id="an exclusive claim stays with its pod"),
        pytest.param(pod("v").claim("x").on("a"), ("v",), "ab", id="and is free everywhere once it goes"),
    ],
)
def test_victims(claimed, left, there):
    made = Cluster(
        cluster(
            A,
            B,
            EXCLUSIVE,
            claimed.priority(0),
            pod("p").disk("d").claim("x").priority(10),
            pod("q").priority(10),
        )
    )
    index = {info.pod.name: info.index for info in made.pods}
    # q is a preemptor wherever p is none
    admitted = {
        name
        for name, n in made.node_index.items()
        if admits(made, {index["p"]: n, index["q"]: 0}, [index[v] for v in left])
    }
    assert admitted == set(there)
