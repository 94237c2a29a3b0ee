"""Volumes to bind, for the filter VolumeBinding and for the flow of volumes in the model."""

import pytest
from support.builders import cluster, node, pod
from support.engines import Case, admits, both_engines, by_filter
from support.storage import MAKE, WAIT, bound, claim, csi_driver, free, storage_class, volume

from kubestow.framework.index.cluster import Cluster

two, three = ("p", "q"), ("p", "q", "r")
A, B = node("a", zone="z1"), node("b", zone="z2")
P, Q, R = (pod(name).claim(claimed) for name, claimed in zip("pqr", "xyz", strict=True))


def round_(*objects):
    return cluster(A, B, WAIT, MAKE, objects)


CASES = [
    Case("a bound volume's reach", round_(bound("x", on="a"), P), {"a"}),
    Case("a volume to bind", round_(claim("x"), volume("v", on="b"), P), {"b"}),
    Case("none to bind, and none can be made", round_(claim("x"), P), set()),
    Case("one is made", round_(claim("x", storage="make"), P), {"a", "b"}),
    Case(
        "one is made where the class allows",
        round_(storage_class("zoned", zones=["z2"]), claim("x", storage="zoned"), P),
        {"b"},
    ),
    Case(
        "one is made where enough is free",
        round_(csi_driver(capacity=True), free(1, zone="z1"), claim("x", storage="make"), P),
        {"a"},
    ),
    Case(
        "free storage is not used up",
        round_(
            csi_driver(capacity=True),
            free(1, zone="z1"),
            [claim(name, storage="make") for name in "xy"],
            P,
            Q,
        ),
        {"aa"},
        two,
    ),
    Case(
        "a volume is taken once, by pods of one class",
        round_(claim("x"), claim("y"), volume("v", on="a"), volume("w", on="b"), P, Q),
        {"ab", "ba"},
        two,
    ),
    Case(
        "a volume is taken once, by pods of two classes",
        round_(claim("x", 1), claim("y", 2), volume("v", 2, on="a"), volume("w", 1, on="b"), P, Q),
        {"ba"},
        two,
    ),
    Case(
        "volumes within reach of all nodes",
        round_([claim(name) for name in "xyz"], volume("v"), volume("w"), P, Q, R),
        set(),
        three,
    ),
    Case(
        "two on one node and one for both",
        round_(
            [claim(name) for name in "xyz"], volume("u", on="a"), volume("v", on="b"), volume("w"), P, Q, R
        ),
        {"aab", "aba", "baa", "bba", "bab", "abb"},
        three,
    ),
    Case(
        "two claims of one pod",
        round_(
            claim("x"),
            claim("y", 5),
            volume("v", 5, on="a"),
            volume("w", 5, on="a"),
            pod("p").claim("x", "y"),
        ),
        {"a"},
    ),
    Case(
        "two claims of one pod need two volumes",
        round_(claim("x"), claim("y"), volume("v", on="a"), volume("w", on="b"), pod("p").claim("x", "y")),
        set(),
    ),
    Case(
        "a claim that both use has one volume",
        round_(claim("x"), volume("v", on="a"), volume("w", on="b"), P, pod("q").claim("x").req(cpu="1")),
        {"aa", "bb"},
        two,
    ),
    Case(
        "a claim that both use has its volume made once",
        round_(claim("x", storage="make"), P, pod("q").claim("x")),
        {"aa", "bb"},
        two,
    ),
    Case(
        "a claim that both use may have a volume within reach of both nodes",
        round_(claim("x"), volume("v"), P, pod("q").claim("x")),
        {"aa", "ab", "ba", "bb"},
        two,
    ),
    Case(
        "a volume reserved for one is not for the other",
        round_(claim("x"), claim("y"), volume("v", on="a", to="default/y"), volume("w", on="b"), P, Q),
        {"ba"},
        two,
    ),
    Case(
        "where a volume is being made",
        round_(claim("x", storage="make", selected="b"), P),
        {"b"},
    ),
    Case(
        "who can have a volume made leaves the others theirs only if it comes later",
        round_(
            storage_class("both"),
            claim("x", storage="both"),
            volume("v", storage="both", on="a"),
            claim("y"),
            volume("w", on="a"),
            P,
            Q,
        ),
        {"aa", "ba"},
        two,
    ),
    Case(
        "the small claim may come second",
        round_(claim("x", 1), claim("y", 5), volume("v", 1, on="a"), volume("w", 5, on="a"), P, Q),
        {"aa"},
        two,
    ),
]


@both_engines
@pytest.mark.parametrize("case", CASES, ids=Case.title)
def test_allowed_nodes(engine, case):
    """Filter and encoder agree on where the pods may stand."""
    assert engine(case) == case.allowed


def test_the_model_admits_what_smallest_first_cannot_have():
    """x may take either volume and takes v, the only one for y: there is a matching, and no order has it."""
    x = claim("x", 1, modes=("ReadWriteMany",))
    y = claim("y", 1, select={"media": "ssd"})
    v = volume("v", 1, labels={"media": "ssd"}, modes=("ReadWriteOnce", "ReadWriteMany"))
    w = volume("w", 2, modes=("ReadWriteMany",))
    case = Case("", cluster(node("a"), WAIT, x, y, v, w, P, Q), set(), two)
    assert by_filter(case) == {"aa"}  # y first, then x takes w
    z = claim("z", 1, modes=("ReadWriteMany",))
    # now p brings x and z: the smaller volumes go to the first in order of size, whatever the order of pods
    both = pod("p").claim("x", "y")
    alone = cluster(node("a"), WAIT, x, y, z, v, w, both)
    made = Cluster(alone)
    assert admits(made, {made.pod_index["default/p"]: 0})
    assert by_filter(Case("", alone, set())) == set()
