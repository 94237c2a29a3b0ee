"""What a headline says beyond upstream's words: guards, pods on their way out, exhausted counters."""

import pytest
from support.builders import budget, cluster, node, pod
from support.devices import claim, device_class, gpu, request, slice_on, user

from kubestow.framework.runs.explain import explain

GATES = "DRAPartitionableDevices=true"
BIG = pod("p").req(cpu="2").priority(10)
FULL = node("n", cpu="2")
HALF = {"cards": {"memory": "20"}}
WHOLE = {"cards": {"memory": "40"}}


def low(name):
    return pod(name).req(cpu="2").label(app="low").on("n")


def card(*claims):
    return [
        node("n"),
        device_class("gpu"),
        slice_on(
            "n",
            gpu("whole", takes=WHOLE, model="whole"),
            gpu("half", takes=HALF, model="half"),
            counters={"cards": {"memory": "40"}},
        ),
        *claims,
    ]


HELD = [claim("held", has=[("r", "n", "half")], at="n", users=["w"]), user("w", "held").on("n")]
ALL = 'device.attributes["gpu.example.com"].model == "whole"'


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param(
            [FULL, low("v").guard(1000), budget("k", allowed=0, app="low"), BIG],
            [
                "less important pods on n are guarded: beyond their budgets only priority 1000 or higher may "
                "evict them"
            ],
            id="a guard that keeps the room is named",
        ),
        pytest.param(
            [FULL, low("v").guard(1000), budget("k", allowed=1, app="low"), BIG],
            [],
            id="a guard whose budget has something left keeps nothing",
        ),
        pytest.param(
            [FULL, low("v").priority(10).terminating(), BIG],
            ["n takes it once default/v, which is being deleted, is gone"],
            id="a pod that is being deleted and holds the room is named",
        ),
        pytest.param(
            [FULL, low("v").priority(10).terminating(), low("w").priority(10), BIG],
            [],
            id="a pod that is being deleted beside another one that is enough by itself is not",
        ),
        pytest.param(
            [node("n"), low("v").priority(10).terminating(), BIG], [], id="a pod that fits has none"
        ),
        pytest.param(
            [*card(claim("c", request("r", ALL)), *HELD), user("p", "c")],
            ["counter memory of cards has 20 of 40 left: too little"],
            id="the counter that keeps a device from a claim is named",
        ),
    ],
)
def test_what_stands_behind_a_rejection(objects, expected):
    assert [cause["text"] for cause in explain(cluster(*objects, gates=GATES), "p")["causes"]] == expected
