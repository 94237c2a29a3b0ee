"""Moves may go with bindings of pods that wait: the replay takes them where it is told to, and no others."""

import pytest
from support.builders import group, node, pod
from support.moving import moving_of, steps

from kubestow.solver.moves.replay import replay
from kubestow.solver.plans.replay import ReplayFailure

ROUND = (
    node("a", cpu="2"),
    node("b", cpu="2"),
    node("c", cpu="1"),
    pod("v").owned().req(cpu="1").on("a"),
    pod("p").req(cpu="2"),
    *(pod(name).req(cpu="1").member("g") for name in ("m", "n")),
    group("g", gang=2),
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("bind p b", id="a pod that waits, without any move"),
        pytest.param("mark v, leave v, bind v' c, bind p a", id="after a pod that made room"),
        pytest.param("bind m b, bind n b", id="a gang, whole in the end"),
    ],
)
def test_pods_that_wait_are_bound(text):
    replay(moving_of(*ROUND), steps(text), admit=True)


@pytest.mark.parametrize(
    "text, admit, fault",
    [
        pytest.param(
            "bind p b", False, "step 0 binds default/p to b, which replaces no pod", id="not told to"
        ),
        pytest.param("bind p a", True, "NodeResourcesFit: Insufficient cpu", id="no room"),
        pytest.param("bind p b, bind p a", True, "step 1 binds default/p to a, which replaces", id="twice"),
        pytest.param("cordon b, bind p b", True, "which takes no pods now", id="a closed node"),
        pytest.param("bind m b", True, "gang default/g stands with 1 of 2 members", id="a part of a gang"),
    ],
)
def test_what_does_not_hold(text, admit, fault):
    with pytest.raises(ReplayFailure) as caught:
        replay(moving_of(*ROUND), steps(text), admit=admit)
    assert fault in str(caught.value)
