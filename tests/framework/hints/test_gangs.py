"""What wakes the members of a group that waits for members, or for its object."""

import pytest
from support.builders import composite, group, node, pod

from kubestow.framework.hints.verdicts import judge
from kubestow.models.features import FeatureGates
from kubestow.models.kube_version import KubeVersion
from kubestow.models.recordings import HintCase
from kubestow.models.scheduling import PodGroup


def member(name, group="g"):
    made = pod(name)
    return made.changed(lambda d: d["spec"].update(schedulingGroup={"podGroupName": group}))


def pod_group(least, name="g"):
    policy = {"basic": {}} if least is None else {"gang": {"minCount": least}}
    return PodGroup.model_validate({"metadata": {"name": name}, "spec": {"schedulingPolicy": policy}})


@pytest.mark.parametrize(
    "old, new, queue",
    [
        pytest.param(None, member("b").build(), True, id="a member comes"),
        pytest.param(None, member("b").on("n").build(), True, id="a member that is on a node comes"),
        pytest.param(None, member("b", "other").build(), False, id="a member of another group"),
        pytest.param(None, pod("b").build(), False, id="a pod of no group"),
        pytest.param(member("b").on("n").build(), None, False, id="a member goes"),
        pytest.param(None, pod_group(2), True, id="the group comes"),
        pytest.param(None, pod_group(2, "other"), False, id="another group comes"),
        pytest.param(pod_group(3), pod_group(2), True, id="it asks for fewer"),
        pytest.param(pod_group(2), pod_group(3), False, id="it asks for more"),
        pytest.param(pod_group(3, "other"), pod_group(2, "other"), False, id="another one asks for fewer"),
        pytest.param(pod_group(None), pod_group(None), False, id="a group that is no gang changes"),
        pytest.param(None, node("n").build(), False, id="a node comes"),
    ],
)
def test_a_member_that_waits(old, new, queue):
    case = HintCase("case", "GangScheduling", member("a").build(), old, new)
    assert judge(case).queue == queue
    for gate in ("GangScheduling", "GenericWorkload"):
        assert not judge(case, FeatureGates.parse(f"{gate}=false")).queue


def test_a_pod_of_no_group_waits_for_none():
    for new in (member("b").build(), pod_group(2)):
        assert not judge(HintCase("case", "GangScheduling", pod("a").build(), None, new)).queue


ROOT, INNER = composite("root"), composite("inner", parent="root")
MINE, BESIDE = group("g", gang=2, parent="inner"), group("beside", gang=3, parent="root")
ALONE, ELSEWHERE = group("alone", gang=2), group("else", gang=2, parent="other")
TREE = (ROOT, INNER, MINE, BESIDE, ALONE, ELSEWHERE, composite("other"))

# what changes (old, new), and whether a member of `g` is tried again where trees are known, and where not
CHANGES = {
    "a pod of the group comes": (None, member("b").build(), True, True),
    "a pod of another group of the tree comes": (None, member("b", "beside").build(), True, False),
    "one that is on a node comes": (None, member("b", "beside").on("n").build(), True, False),
    "a pod of a group of another tree": (None, member("b", "else").build(), False, False),
    "a pod of a group without a tree": (None, member("b", "alone").build(), False, False),
    "a pod of a group that is not there": (None, member("b", "gone").build(), False, False),
    "the group comes": (None, MINE, True, True),
    "another group of the tree comes": (None, BESIDE, True, False),
    "a group of another tree comes": (None, ELSEWHERE, False, False),
    "the root comes": (None, ROOT, True, False),
    "a group of groups above it comes": (None, INNER, True, False),
    "a group of groups of the tree comes elsewhere": (None, composite("new", parent="root"), True, False),
    "the root of another tree comes": (None, composite("other"), False, False),
    "one whose own parent is missing comes": (None, composite("new", parent="gone"), False, False),
    "another group of the tree asks for fewer": (BESIDE, group("beside", gang=1, parent="root"), True, False),
    "it asks for more": (BESIDE, group("beside", gang=4, parent="root"), False, False),
    "a group of groups changes": (composite("root", gang=2), composite("root", gang=1), False, False),
    "a group of groups goes": (composite("new", parent="root"), None, False, False),
}


def others(changed):
    return tuple(
        item for item in TREE if changed is None or (item.kind, item.key) != (changed.kind, changed.key)
    )


@pytest.mark.parametrize("name", CHANGES)
def test_a_member_of_a_tree_waits_for_all_that_comes_to_the_tree(name):
    old, new, in_trees, alone = CHANGES[name]
    case = HintCase("case", "GangScheduling", member("a").build(), old, new, objects=others(new))
    assert judge(case, version=KubeVersion.V1_37).queue == in_trees
    assert judge(case, version=KubeVersion.V1_36).queue == alone
    off = FeatureGates.parse("CompositePodGroup=false")
    assert judge(case, off, KubeVersion.V1_37).queue == alone


def test_the_last_parent_that_was_missing_wakes_the_tree():
    case = HintCase("case", "GangScheduling", member("a").build(), None, ROOT, objects=(INNER, MINE))
    assert judge(case, version=KubeVersion.V1_37).queue
    case = HintCase("case", "GangScheduling", member("a").build(), None, INNER, objects=(MINE,))
    assert not judge(case, version=KubeVersion.V1_37).queue  # the root is not there yet
