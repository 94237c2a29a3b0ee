import pytest
from support.builders import cluster, composite, group, node, pod

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


def quorum(name):
    return f'waiting for composite pod group "{name}" tree to meet quorum'


def invalid(text):
    return f"invalid pod group hierarchy: {text}"


def pods(name, count):
    return pod(f"{name}-pod").member(name).times(count)


TWO = composite("root", gang=2)
ONE_OF_TWO = (
    group("x", gang=2, parent="root"),
    group("y", gang=2, parent="root"),
    pods("x", 2),
    pods("y", 1),
)
CHAIN = (composite("a"), composite("b", parent="a"), composite("c", parent="b"))

# name -> (objects, what every PodGroup waits for)
TREES = {
    "a tree with as many ready children as its root needs is tried": (
        (composite("root", gang=1), *ONE_OF_TWO),
        None,
    ),
    "a tree with too few ready children waits, the ready ones with it": ((TWO, *ONE_OF_TWO), quorum("root")),
    "without a gang at the root one ready child is enough": ((composite("root"), *ONE_OF_TWO), None),
    "a group without a gang is always ready": (
        (TWO, group("x", gang=2, parent="root"), group("y", parent="root"), pods("x", 2)),
        None,
    ),
    "a child that no pod names is not ready if it is a gang": (
        (TWO, group("x", gang=2, parent="root"), group("y", gang=1, parent="root"), pods("x", 2)),
        quorum("root"),
    ),
    "running and gated members count": (
        (
            TWO,
            group("x", gang=2, parent="root"),
            group("y", gang=2, parent="root"),
            pods("x", 2),
            pod("runs").member("y").on("a"),
            pod("gated").member("y").gated(),
        ),
        None,
    ),
    "readiness is counted level by level": (
        (
            TWO,
            composite("left", gang=2, parent="root"),
            composite("right", parent="root"),
            group("x", gang=1, parent="left"),
            group("y", gang=1, parent="left"),
            group("z", gang=1, parent="right"),
            pods("x", 1),
            pods("z", 1),
        ),
        quorum("root"),
    ),
    "a parent that does not exist is waited for": ((group("x", parent="gone"), pods("x", 1)), quorum("gone")),
    "so is one further up": (
        (composite("root", parent="gone"), group("x", parent="root"), pods("x", 1)),
        quorum("gone"),
    ),
    "parents in a circle are no tree": (
        (
            composite("up", parent="down"),
            composite("down", parent="up"),
            group("x", parent="up"),
            pods("x", 1),
        ),
        invalid('the parents of composite pod group "up" form a circle'),
    ),
    "four levels are a tree": ((*CHAIN, group("x", parent="c"), pods("x", 1)), None),
    "five are none, nor is what hangs higher": (
        (
            *CHAIN,
            composite("d", parent="c"),
            group("x", parent="d"),
            group("y", parent="a"),
            pods("x", 1),
            pods("y", 1),
        ),
        invalid('composite pod group "a" has more than 4 levels'),
    ),
    "groups of two workloads are no tree": (
        (
            composite("root", workloadRef={"workloadName": "v", "templateName": "t"}),
            group("x", parent="root"),
            pods("x", 1),
        ),
        invalid('composite pod group "root" refers to several workloads: "v", "w"'),
    ),
    "pods of two priorities are at odds across groups": (
        (
            composite("root"),
            group("x", parent="root"),
            group("y", parent="root"),
            pods("x", 1).priority(1),
            pods("y", 1).priority(2),
        ),
        "all pods in a single pod group should match the priority of the pod group, got: 1 and 2",
    ),
    "so are pods and the root": (
        (composite("root", priority=3), group("x", parent="root"), pods("x", 1).priority(1)),
        "all pods in a single pod group should match the priority of the pod group, got: 1 and 3",
    ),
    "pods of two schedulers are at odds across groups": (
        (
            composite("root"),
            group("x", parent="root"),
            group("y", parent="root"),
            pods("x", 1),
            pods("y", 1).scheduler("other"),
        ),
        "all pods in a single pod group should have the same .spec.schedulerName set, "
        'got: "other" and "default-scheduler"',
    ),
}
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
