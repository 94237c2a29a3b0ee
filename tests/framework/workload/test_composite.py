"""Greedy's cycle of a tree: placements within placements, children one after another, nobody moved again."""

import pytest
from support.builders import cluster, composite, group, node, pod
from support.moves import in_words

from kubestow.framework.build import build_cluster
from kubestow.framework.runs.diagnosis import diagnose
from kubestow.framework.runs.explain import explain
from kubestow.framework.runs.greedy import run_to_quiescence
from kubestow.framework.runs.trace import trace_cluster


class Planted:
    """A round with trees, and what greedy makes of it."""

    def __init__(self, *objects, release="1.37", **options):
        self.snapshot = cluster(*objects, release=release, **options)
        self.cluster = build_cluster(self.snapshot)
        self.outcome = run_to_quiescence(self.cluster)

    @property
    def steps(self):
        return in_words(self.cluster, self.outcome.steps)

    @property
    def placed(self):
        """Group -> the nodes of its new members."""
        found = {}
        for i, n in self.outcome.node_of_new.items():
            name = self.cluster.pods[i].pod.name.partition("-")[0]
            found.setdefault(name, []).append(self.cluster.node_names[n])
        return {name: sorted(nodes) for name, nodes in found.items()}

    @property
    def left_out(self):
        """Group -> text and plugins of its first member that is left out."""
        found = {}
        for i in self.cluster.pending:
            name = self.cluster.pods[i].pod.name.partition("-")[0]
            if self.outcome.state.node_of[i] < 0 and name not in found:
                told = diagnose(self.cluster, self.outcome.state, i)
                found[name] = (told.message, told.blocked_by)
        return found


def racks(**cpu):
    """One node for each rack, the block is its first letter: ``racks(a1=3, a2=5)``."""
    return [node(name, cpu=str(n)).label(rack=name, block=name[0]) for name, n in cpu.items()]


def leaf(name, count, *keys, least=None, parent="root", cpu="1", minutes=None):
    """A PodGroup and its pods."""
    metadata = group(name, *keys, gang=least or count, parent=parent)
    return [metadata, pod(name).req(cpu=cpu).member(name).times(count)]


STEP_BY_STEP = (racks(a1=3, a2=5, b1=5, b2=5), composite("root", "block", gang=2))

# name -> (objects, nodes of the members of each group)
TREES = {
    "a block is feasible only if every child finds a rack there": (
        (*STEP_BY_STEP, leaf("p", 5, "rack"), leaf("q", 5, "rack")),
        {"p": ["b1"] * 5, "q": ["b2"] * 5},
    ),
    "a child takes the fullest rack that has room for it": (
        (racks(a1=4, a2=5), composite("root", "block", gang=2), leaf("p", 4, "rack"), leaf("q", 5, "rack")),
        {"p": ["a1"] * 4, "q": ["a2"] * 5},
    ),
    "a child without a key spreads over the racks that a later one needs, and is not moved again": (
        (
            racks(a1=4, a2=5),
            composite("root", "block", gang=2),
            leaf("p", 3, cpu="1500m"),
            leaf("q", 4, "rack"),
        ),
        {},
    ),
    "an early child takes more than it needs": (
        (racks(a1=4), composite("root", gang=2), leaf("p", 4, least=2), leaf("q", 2)),
        {},
    ),
    "which is no harm where its sibling is not needed": (
        (racks(a1=4), composite("root", gang=1), leaf("p", 4, least=2), leaf("q", 2)),
        {"p": ["a1"] * 4},
    ),
    "without a gang at the root children are placed as far as they can be": (
        (racks(a1=4), composite("root"), leaf("p", 5), leaf("q", 2)),
        {"q": ["a1"] * 2},
    ),
    "what is below a node that is not feasible is taken back": (
        (
            racks(a1=4),
            composite("root", gang=1),
            composite("left", gang=2, parent="root", minutes=3),
            composite("right", gang=1, parent="root", minutes=2),
            leaf("p", 2, parent="left"),
            leaf("q", 3, parent="left"),
            leaf("r", 4, parent="right"),
        ),
        {"r": ["a1"] * 4},
    ),
    "placements nest: the racks of a child are those of the block that its parent is in": (
        (
            racks(a1=2, b1=2, b2=2),
            composite("root", gang=2),
            composite("left", "block", gang=2, parent="root"),
            leaf("p", 2, "rack", parent="left"),
            leaf("q", 2, "rack", parent="left"),
            leaf("r", 2, "rack"),
        ),
        {"p": ["b1"] * 2, "q": ["b2"] * 2, "r": ["a1"] * 2},
    ),
    "a running member of any child pins the tree": (
        (
            racks(a1=5, b1=9),
            composite("root", "block", gang=2),
            leaf("p", 2),
            leaf("q", 2),
            pod("runs").req(cpu="1").member("p").on("a1"),
        ),
        {"p": ["a1"] * 2, "q": ["a1"] * 2},
    ),
    "a child that runs counts, and needs no new member": (
        (
            racks(a1=4),
            composite("root", gang=2),
            group("p", gang=2, parent="root"),
            pod("runs").req(cpu="1").member("p").on("a1").times(2),
            leaf("q", 2),
        ),
        {"q": ["a1"] * 2},
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_what_greedy_places(name):
    objects, placed = TREES[name]
    assert Planted(*objects).placed == placed


def test_before_the_release_that_serves_trees_groups_are_placed_without_their_parents():
    objects, placed = TREES["an early child takes more than it needs"]
    assert placed == {}
    assert Planted(*objects, release="1.36").placed == {"p": ["a1"] * 4}


HIGH = 10


def urgent(name, count, parent="root"):
    objects = leaf(name, count, parent=parent)
    return [objects[0], objects[1].priority(HIGH)]


def victim(name, cpu, on, priority=0):
    return pod(name).req(cpu=str(cpu)).priority(priority).on(on)


PREEMPTING = {
    "the root makes room for all its children at once, then they bind": (
        (racks(a1=4), composite("root", gang=2), urgent("p", 2), urgent("q", 2), victim("v", 1, "a1")),
        ["mark v", "leave v", "bind p-0 a1", "bind p-1 a1", "bind q-0 a1", "bind q-1 a1"],
    ),
    "in the block where the tree is placed without the victims": (
        (
            racks(a1=4, b1=3),
            composite("root", "block", gang=2),
            urgent("p", 2),
            urgent("q", 2),
            victim("v", 1, "a1"),
            victim("w", 1, "b1"),
        ),
        ["mark v", "leave v", "bind p-0 a1", "bind p-1 a1", "bind q-0 a1", "bind q-1 a1"],
    ),
    "nobody is evicted for a tree that would not fit all the same": (
        (racks(a1=4), composite("root", gang=2), urgent("p", 2), urgent("q", 3), victim("v", 1, "a1")),
        [],
    ),
    "nor for one that lacks groups": (
        (
            racks(a1=4),
            composite("root", gang=1),
            composite("left", gang=2, parent="root"),
            urgent("p", 2, parent="left"),
            group("q", gang=9, parent="left"),
            pod("q").priority(HIGH).member("q"),
            group("r", parent="root"),
            victim("v", 4, "a1"),
        ),
        [],
    ),
}


@pytest.mark.parametrize("name", PREEMPTING)
def test_the_root_preempts(name):
    objects, steps = PREEMPTING[name]
    assert Planted(*objects).steps == steps


FIT = ("0/1 nodes are available: 1 Insufficient cpu.", ("NodeResourcesFit",))
GROUP = ("GangScheduling",)
NO_ROOM = "0/1 placements are available, first placement status: minCount (2) cannot be satisfied: "

# name -> (objects, what the first member of each group is told)
WORDS = {
    "who fits nowhere is told so, the others whose quorum is out of reach": (
        (racks(a1=4), composite("root", gang=2), leaf("p", 4, least=2), leaf("q", 2)),
        {"p": (f"{NO_ROOM}1 scheduled, 0 remaining", GROUP), "q": FIT},
    ),
    "who was not tried is told by the group above": (
        (racks(a1=2), composite("root", gang=2), leaf("p", 3), leaf("q", 2)),
        {
            "p": (f"{NO_ROOM.replace('(2)', '(3)')}2 scheduled, 0 remaining", GROUP),
            "q": (f"{NO_ROOM}0 scheduled, 1 remaining", GROUP),
        },
    ),
}


@pytest.mark.parametrize("name", WORDS)
def test_words(name):
    objects, told = WORDS[name]
    found = Planted(*objects).left_out
    assert found.keys() == told.keys()
    for who, (text, plugins) in told.items():
        assert found[who][0].startswith(text), found
        assert found[who][1] == plugins


def test_a_trace_names_the_group_and_the_placement_of_each_member():
    made = Planted(*TREES["a block is feasible only if every child finds a rack there"][0])
    cycles = trace_cluster(made.cluster)["cycles"]
    seen = {(c["podGroup"], c["placement"], c["node"], c["result"]) for c in cycles}
    assert seen == {("default/p", "b1", "b1", "bound"), ("default/q", "b2", "b2", "bound")}
    assert len(cycles) == 10


def test_a_trace_has_an_entry_for_the_tree_with_the_groups_that_were_tried():
    made = Planted(*STEP_BY_STEP, leaf("p", 5, "rack"), leaf("q", 5, "rack"))
    [entry] = trace_cluster(made.cluster)["groups"]
    assert entry["compositePodGroup"] == "default/root"
    assert (entry["result"], entry["placement"], entry["victims"]) == ("scheduled", "b", [])
    assert [pod["node"] for pod in entry["placements"][0]["members"]] == ["b1"] * 5 + ["b2"] * 5
    assert entry["groups"] == [
        {"compositePodGroup": "default/root", "placement": "b", "status": "Success"},
        {"podGroup": "default/p", "placement": "b1", "status": "Success"},
        {"podGroup": "default/q", "placement": "b2", "status": "Success"},
    ]


def test_a_trace_tells_why_a_tree_and_its_groups_are_not_placed():
    made = Planted(
        racks(a1=3), composite("root", "block", gang=2), leaf("p", 3, "rack"), leaf("q", 3, "rack")
    )
    [entry] = trace_cluster(made.cluster)["groups"]
    assert (entry["result"], entry["reason"]) == ("unschedulable", "Unschedulable")
    assert [(each["status"], "message" in each) for each in entry["groups"]] == [
        ("Unschedulable", True),
        ("Success", False),
        ("Unschedulable", True),
    ]


def test_an_explanation_is_that_of_the_member_s_turn():
    made = Planted(*TREES["a block is feasible only if every child finds a rack there"][0])
    told = explain(made.snapshot, "q-0")
    assert (told["result"], told["podGroup"], told["placement"]) == ("bound", "default/q", "b2")
    (row,) = told["nodes"]
    assert row["node"] == "b2"


def test_members_at_odds_end_the_cycle_of_the_whole_tree():
    p = leaf("p", 1)
    made = Planted(racks(a1=4), composite("root"), p[0], p[1].priority(1), leaf("q", 1))
    cycles = trace_cluster(made.cluster)["cycles"]
    assert {c["message"] for c in cycles} == {
        "all pods in a single pod group should match the priority of the pod group, got: 0 and 1"
    }
    assert all(c["error"] for c in cycles)
    assert made.placed == {}
