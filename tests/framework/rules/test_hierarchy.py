import pytest
from support.builders import cluster, composite, group, node
from support.tree_table import ONE_OF_TWO, TREES, TWO, pods, quorum

from kubestow.framework.build import build_cluster
from kubestow.framework.rules.composites import above, composites, gang_of, tree_of
from kubestow.framework.rules.groups import groups
from kubestow.framework.rules.hierarchy import overlooked_parents
from kubestow.framework.runs.diagnosis import diagnose
from kubestow.framework.state.state import State


def read(*objects, release="1.37", **options):
    return build_cluster(cluster(node("a"), *objects, release=release, **options))


def waits(made):
    """What each PodGroup waits for."""
    return {group.name: group.waits for group in groups(made)}


PROFILES = {"profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": "other"}]}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_waits_as_a_whole(name):
    objects, text = TREES[name]
    made = read(*objects, configuration=PROFILES)
    assert set(waits(made).values()) == {text}
    assert all(root.waits == text for root in composites(made))


def test_who_waits_for_a_tree_is_told_so():
    made = read(TWO, *ONE_OF_TWO)
    state = State.initial(made)
    told = [diagnose(made, state, i) for i in made.pending]
    assert {(item.message, item.blocked_by) for item in told} == {(quorum("root"), ("GangScheduling",))}


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"release": "1.36"}, id="in a release that serves none"),
        pytest.param({"release": "1.34"}, id="in an older one"),
        pytest.param({"gates": "CompositePodGroup=false"}, id="with the gate off"),
    ],
)
def test_without_trees_every_group_is_by_itself(options):
    made = read(TWO, *ONE_OF_TWO, **options)
    assert waits(made) == {
        "x": None,
        "y": "waiting for minCount pods from a gang to appear in scheduling queue",
    }
    assert composites(made) == ()
    assert not any(item.parent for item in groups(made))


def test_children_come_in_the_order_of_their_creation_then_by_name():
    made = read(
        composite("root", gang=2, minutes=9),
        group("late", parent="root"),
        composite("young", parent="root", minutes=1),
        composite("old", parent="root", minutes=5),
        group("y", parent="young"),
        group("x", parent="old"),
        pods("late", 1),
        pods("y", 1),
        pods("x", 1),
    )
    (root,) = composites(made)
    assert [child.name for child in root.children] == ["late", "old", "young"]
    assert [item.name for item in root.inner()] == ["old", "young", "root"]
    assert [leaf.name for leaf in root.leaves()] == ["late", "x", "y"]


def test_what_starts_as_one_is_the_topmost_gang():
    made = read(
        composite("root"),
        composite("whole", gang=1, parent="root"),
        group("x", gang=1, parent="whole"),
        group("y", gang=1, parent="root"),
        group("z", parent="root"),
        group("alone", gang=1),
        *(pods(name, 1) for name in ("x", "y", "z", "alone")),
    )
    by_name = {item.name: item for item in groups(made)}
    of_group = {info.pod.name.removesuffix("-pod-0"): gang_of(made, info.index) for info in made.pods}
    (whole,) = (item for item in above(made, by_name["x"]) if item.gang)
    assert of_group == {
        "x": whole.index,
        "y": by_name["y"].index,
        "z": None,
        "alone": by_name["alone"].index,
    }
    assert tree_of(made, by_name["alone"]) is None
    assert tree_of(made, by_name["z"]) is tree_of(made, by_name["x"])
    numbers = [item.index for item in (*groups(made), *composites(made)[0].inner())]
    assert numbers == list(range(len(numbers)))


def test_a_release_without_trees_says_what_it_overlooks():
    parts = group("x", parent="root"), group("y", parent="root"), group("alone")
    (note,) = overlooked_parents(cluster(*parts))
    assert note == (
        "kube-scheduler 1.36 knows no CompositePodGroups: 2 PodGroups are scheduled without the parent; "
        "trees of groups need --kube-version 1.37"
    )
    assert overlooked_parents(cluster(*parts, release="1.37")) == []
    assert overlooked_parents(cluster(group("alone"))) == []
