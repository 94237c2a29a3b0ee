"""Trees of groups in the queue: who waits, and who is popped together."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import cluster, composite, group, node, pod
from support.tree_table import TREES

from kubestow.framework.events.objects import ObjectStore
from kubestow.framework.hints.group_trees import GroupTrees
from kubestow.framework.index.group_names import GroupName, TreeName
from kubestow.framework.queue.clock import VirtualClock
from kubestow.framework.queue.handlers import EventHandlers
from kubestow.framework.queue.scheduling_queue import SchedulingQueue
from kubestow.models.features import FeatureGates
from kubestow.models.kube_version import KubeVersion
from kubestow.simulation.snapshots import objects_of


def queue_of(*objects, release=KubeVersion.V1_37):
    """A queue that was told of objects, pods last."""
    queue = SchedulingQueue(ObjectStore(), VirtualClock(), version=release)
    handlers = EventHandlers(queue)
    snapshot = cluster(*objects)
    for item in sorted(objects_of(snapshot), key=lambda item: item.kind == "Pod"):
        handlers.change(None, item)
    return queue, handlers


def keys(items):
    return sorted(item.key.removeprefix("default/") for item in items)


@pytest.mark.parametrize("name", TREES)
def test_the_queue_waits_for_what_a_round_waits_for(name):
    objects, text = TREES[name]
    queue, _ = queue_of(node("a"), *objects)
    if text is None or text.startswith("all pods"):  # a cycle finds that out, and ends in an error
        assert queue.active
        assert not any(item.gating_plugin == "GangScheduling" for item in queue.unschedulable)
    else:
        assert {queue.gate_reason(item) for item in queue.unschedulable} == {text}
        assert not queue.active


PARTS = (
    composite("root", gang=2),
    composite("inner", parent="root"),
    group("x", gang=2, parent="inner"),
    group("y", gang=1, parent="root"),
    group("z", gang=1),
)
PODS = [pod(name).member(name[0]).build() for name in ("x1", "x2", "y1", "z1")]


def test_whatever_completes_a_tree_wakes_all_of_it():
    for last in range(len(PARTS) - 1):
        queue, handlers = queue_of(*PARTS[:last], *PARTS[last + 1 :], *PODS)
        assert keys(queue.active) == ["z1"]
        handlers.change(None, PARTS[last])
        assert keys(queue.active) == ["x1", "x2", "y1", "z1"], PARTS[last].name
    for last in range(3):
        queue, handlers = queue_of(*PARTS, *PODS[:last], *PODS[last + 1 :])
        assert keys(queue.active) == ["z1"]
        handlers.change(None, PODS[last])
        assert keys(queue.active) == ["x1", "x2", "y1", "z1"], PODS[last].name


def test_a_tree_leaves_the_queue_as_one():
    queue, _ = queue_of(*PARTS, *PODS)
    popped = queue.pop()
    assert keys([popped.item, *queue.pull_group(popped.item)]) == ["x1", "x2", "y1"]
    assert keys(queue.active) == ["z1"]


def test_before_trees_each_group_leaves_by_itself():
    queue, _ = queue_of(*PARTS, *PODS, release=KubeVersion.V1_36)
    popped = queue.pop()
    assert keys([popped.item, *queue.pull_group(popped.item)]) == ["x1", "x2"]


def test_a_group_of_groups_is_no_event_to_a_scheduler_that_knows_none():
    for release, known in ((KubeVersion.V1_36, False), (KubeVersion.V1_37, True)):
        _, handlers = queue_of(release=release)
        assert bool(handlers.change(None, PARTS[0])) == known


NAMES = ["a", "b", "c", "d"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from(NAMES), st.sampled_from([None, *NAMES]), st.booleans()),
        max_size=14,
    )
)
def test_a_store_that_changed_knows_the_trees_of_what_is_left(changes):
    store = ObjectStore()
    trees = GroupTrees(store, FeatureGates())
    left = {}
    for is_group, name, parent, stays in changes:
        item = (group if is_group else composite)(name, parent=parent, workloadRef={"workloadName": "w"})
        (store.put if stays else store.remove)(item)
        left.pop((item.kind, item.key), None)
        if stays:
            left[item.kind, item.key] = item
    fresh = GroupTrees(ObjectStore(left.values()), FeatureGates())
    for name in NAMES:
        here = GroupName("default", "", name, "")
        assert trees.unit_of(here) == fresh.unit_of(here)
        assert trees.is_part(here) == fresh.is_part(here)
        if trees.is_part(here):
            assert trees.waits(here) == fresh.waits(here)
            assert isinstance(trees.unit_of(here), TreeName) or trees.waits(here)
        assert sorted(trees.groups(trees.unit_of(here))) == sorted(fresh.groups(fresh.unit_of(here)))
