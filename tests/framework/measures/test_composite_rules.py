"""The rules of groups of groups in the end of a round, and where one more member may join."""

import numpy as np
import pytest
from support.builders import cluster, composite, group, node, pod

from kubestow.framework.build import build_cluster
from kubestow.framework.measures.group_rules import (
    broken_groups,
    faults_of_groups,
    nodes_for_member,
    placements_of,
)
from kubestow.framework.state.state import State

NODES = [
    node(name).label(rack=name, block=block) for name, block in (("a1", "A"), ("a2", "A"), ("b1", "B"))
] + [node("off")]
PAIR = (
    composite("root", "block", gang=2),
    group("x", gang=1, parent="root"),
    group("y", gang=2, parent="root"),
)


def members(**running):
    """Three pods of each group, and running ones by group and node."""
    waiting = [pod(name).member(name).times(3) for name in ("x", "y")]
    return [*waiting, *(pod(f"{name}-runs").member(name).on(where) for name, where in running.items())]


def read(*objects):
    return build_cluster(cluster(NODES, *objects, release="1.37"))


def numbers(made, placed):
    return {made.pod_index[f"default/{name}"]: made.node_index[n] for name, n in placed.items()}


ALL = {"x-0": "a1", "y-0": "a1", "y-1": "a2"}

# name -> (objects, new pods with their nodes, who has left, faults)
ENDS = {
    "a tree that gains nobody breaks no rule": ([*PAIR, *members(x="a1")], {}, (), []),
    "enough children in one block": ([*PAIR, *members()], ALL, (), []),
    "a child that lacks members does not stand, nor does its parent": (
        [*PAIR, *members()],
        {"x-0": "a1", "y-0": "a1"},
        (),
        [
            "gang default/y stands with 1 of 2 members",
            "composite pod group default/root stands with 1 of 2 groups",
        ],
    ),
    "one child alone is not enough": (
        [*PAIR, *members()],
        {"x-0": "a1"},
        (),
        ["composite pod group default/root stands with 1 of 2 groups"],
    ),
    "a child that runs stands": ([*PAIR, *members(x="a1")], {"y-0": "a1", "y-1": "a2"}, (), []),
    "unless it has left": (
        [*PAIR, *members(x="a1")],
        {"y-0": "a1", "y-1": "a2"},
        ("x-runs",),
        ["composite pod group default/root stands with 1 of 2 groups"],
    ),
    "children in two blocks": (
        [*PAIR, *members()],
        {**ALL, "x-0": "b1"},
        (),
        ["composite pod group default/root is in more than one domain of block: A, B"],
    ),
    "a running member of another child counts": (
        [*PAIR, *members(x="b1")],
        ALL,
        (),
        ["composite pod group default/root is in more than one domain of block: A, B"],
    ),
    "a node without the label": (
        [*PAIR, *members()],
        {**ALL, "x-0": "off"},
        (),
        ["composite pod group default/root: default/x-0 is on off, which lacks the label block"],
    ),
    "the rule holds for every group above": (
        [
            composite("top", gang=2),
            composite("root", parent="top"),
            group("x", gang=1, parent="root"),
            group("y", gang=2, parent="top"),
            *members(),
        ],
        {"x-0": "a1"},
        (),
        ["composite pod group default/top stands with 1 of 2 groups"],
    ),
    "without a gang one child is enough": (
        [composite("root"), *PAIR[1:], *members()],
        {"x-0": "a1"},
        (),
        [],
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_what_the_end_of_a_round_breaks(name):
    objects, placed, gone, faults = ENDS[name]
    made = read(*objects)
    end = numbers(made, placed), [made.pod_index[f"default/{who}"] for who in gone]
    assert list(faults_of_groups(made, *end)) == faults
    assert bool(broken_groups(made, *end)) == bool(faults)


def test_a_composite_has_a_domain_of_its_own():
    made = read(*PAIR[:1], group("x", "rack", gang=1, parent="root"), *PAIR[2:], *members())
    found = placements_of(made, numbers(made, ALL))
    assert [(item.group.name, item.key, item.domain, item.scheduled) for item in found] == [
        ("x", "rack", "a1", 1),
        ("root", "block", "A", 3),
    ]


# name -> (objects, where one more pod of x may join)
JOINING = {
    "nowhere, while a sibling is missing": ([*PAIR, *members()], ""),
    "in the block of the sibling that stands": (
        [*PAIR[:2], group("y", gang=1, parent="root"), *members(y="a1")],
        "a1 a2",
    ),
    "anywhere, where one child is enough": ([composite("root"), *PAIR[1:], *members()], "a1 a2 b1 off"),
}


@pytest.mark.parametrize("name", JOINING)
def test_where_one_more_member_may_join(name):
    objects, nodes = JOINING[name]
    made = read(*objects)
    mask = nodes_for_member(made, State.initial(made), made.pod_index["default/x-0"])
    assert " ".join(np.array(made.node_names)[mask]) == nodes
