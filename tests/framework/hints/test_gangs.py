"""What wakes the members of a group that waits for members, or for its object."""

import pytest
from support.builders import node, pod

from kubestow.framework.hints.verdicts import judge
from kubestow.models.features import FeatureGates
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
