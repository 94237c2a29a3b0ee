"""Preemption for a group, in the current form."""

import pytest
from support.builders import budget, group, node, pod
from support.devices import claim, device_class, gpu, slice_on, user
from support.grouped import CURRENT, Grouped, rack

from kubestow.framework.workload.preemption import CONSTRAINED, NO_PLUGIN

TWO = [node("a", cpu="2"), node("b", cpu="2")]
GANG = group("g", gang=2)


def member(name="p", *, priority=10):
    return pod(name).member("g").req(cpu="2").priority(priority)


def low(name, on, *, priority=0, cpu="2"):
    return pod(name).req(cpu=cpu).priority(priority).on(on)


BOTH = (low("v", "a"), low("w", "b"))
DEVICES = [device_class(), slice_on("a", gpu("g0"), gpu("g1")), claim("c0"), claim("c1")]
PAIR = member().times(2)


@pytest.mark.parametrize(
    "objects, steps",
    [
        pytest.param(
            [TWO, GANG, PAIR, *BOTH],
            ["mark v", "mark w", "leave v", "leave w", "bind p-0 a", "bind p-1 b"],
            id="both nodes are cleared, then both members bind",
        ),
        pytest.param(
            [TWO, GANG, PAIR, BOTH[0]],
            ["mark v", "leave v", "bind p-0 a", "bind p-1 b"],
            id="a member that needs no room waits for the other's victim",
        ),
        pytest.param(
            [TWO, GANG, PAIR, BOTH[0], low("peer", "b", priority=10)], [], id="nobody goes for half a gang"
        ),
        pytest.param(
            [TWO, GANG, PAIR, BOTH[0], member("q").times(2)],
            ["mark v", "leave v", "bind p-0 a", "bind p-1 b"],
            id="the two that fit are enough",
        ),
        pytest.param([TWO, GANG, PAIR.never(), *BOTH], [], id="members that do not preempt"),
        pytest.param(
            [
                node("a"),
                GANG,
                *DEVICES,
                claim("held", has=[("r", "a", "g0")], at="a", users=["v"]),
                user("p-0", "c0").member("g").priority(10),
                user("p-1", "c1").member("g").priority(10),
                user("v", "held").on("a"),
            ],
            [],
            id="no victim frees a device",
        ),
        pytest.param(
            [TWO, GANG, member("p"), member("q", priority=0), *BOTH], [], id="a member of no higher priority"
        ),
        pytest.param(
            [
                node("a", cpu="4"),
                GANG,
                PAIR,
                low("x", "a", cpu="1"),
                low("y", "a", cpu="2"),
                low("z", "a", cpu="1"),
            ],
            ["mark x", "mark y", "mark z", "leave x", "leave y", "leave z", "bind p-0 a", "bind p-1 a"],
            id="all of a node",
        ),
        pytest.param(
            [
                node("a", cpu="3"),
                group("g", gang=1),
                member(),
                low("x", "a", cpu="1"),
                low("y", "a", cpu="2"),
            ],
            ["mark y", "leave y", "bind p a"],
            id="who can stay is put back, the first one first",
        ),
        pytest.param(
            [
                node("a", cpu="3"),
                group("g", gang=1),
                member(),
                low("x", "a", cpu="1"),
                low("y", "a", cpu="2", priority=1),
            ],
            ["mark y", "leave y", "bind p a"],
            id="the more important one is tried first, and fits no more",
        ),
        pytest.param(
            [
                TWO,
                GANG,
                PAIR,
                low("v", "a").label(app="v"),
                low("w", "b"),
                budget("keep", app="v", allowed=0),
            ],
            ["mark v", "mark w", "leave v", "leave w", "bind p-0 a", "bind p-1 b"],
            id="a budget does not stop it",
        ),
        pytest.param(
            [
                TWO,
                GANG,
                PAIR,
                low("v", "a").label(app="v").guard(99),
                low("w", "b"),
                budget("keep", app="v", allowed=0),
            ],
            [],
            id="a guarded one stays",
        ),
        pytest.param(
            [TWO, group("g"), PAIR, *BOTH],
            ["mark v", "mark w", "leave v", "leave w", "bind p-0 a", "bind p-1 b"],
            id="a group without a gang of which nobody fits",
        ),
        pytest.param(
            [TWO, group("g"), PAIR, BOTH[0]],
            ["bind p-0 b", "mark v", "leave v", "bind p-1 a"],
            id="and one of which somebody does: room for the rest is made in the next pass",
        ),
        pytest.param(
            [TWO, GANG, pod("r").member("g").req(cpu="2").priority(10).on("b"), member("p"), BOTH[0]],
            ["mark v", "leave v", "bind p a"],
            id="the replacement of a member",
        ),
        pytest.param(
            [
                node("a", cpu="4"),
                GANG,
                PAIR,
                low("v", "a").label(app="v"),
                low("w", "a"),
                low("x", "a", cpu="0").label(app="v"),
                budget("keep", app="v", allowed=1),
            ],
            ["mark v", "mark w", "leave v", "leave w", "bind p-0 a", "bind p-1 a"],
            id="who would break a budget is put back first",
        ),
        pytest.param(
            [
                TWO,
                GANG,
                PAIR.label(app="p").anti("hostname"),
                pod("v").label(app="p").priority(0).on("a"),
                pod("w").label(app="p").priority(0).on("b"),
            ],
            ["mark v", "mark w", "leave v", "leave w", "bind p-0 a", "bind p-1 b"],
            id="pods that keep members away",
        ),
        pytest.param(
            [
                node("a", cpu="2", zone="z"),
                node("b", cpu="2", zone="z"),
                group("g", gang=1),
                member("p").label(app="p").anti("zone", {"app": "v"}).select(hostname="a"),
                pod("v").label(app="v").priority(0).on("b"),
            ],
            ["mark v", "leave v", "bind p a"],
            id="on other nodes, too",
        ),
        pytest.param(
            [node("a", cpu="2"), GANG, PAIR, low("v", "a").terminating()],
            [],
            id="half a gang beside a terminating pod",
        ),
        pytest.param(
            [node("a", cpu="4"), GANG, PAIR, low("v", "a", cpu="4").terminating()],
            ["leave v", "bind p-0 a", "bind p-1 a"],
            id="who terminates is gone for nothing",
        ),
    ],
)
def test_steps(objects, steps):
    assert Grouped(*objects, configuration=CURRENT).steps == steps


def test_the_proposal_makes_no_room_for_groups():
    assert Grouped(TWO, GANG, PAIR, *BOTH).steps == []


def test_victims_are_with_the_member_on_their_node():
    round_ = Grouped(TWO, GANG, PAIR, *BOTH, configuration=CURRENT)
    nominations = {
        round_.name(i): [round_.name(j) for j in victims]
        for i, (_, victims) in round_.outcome.nominations.items()
    }
    assert nominations == {"p-0": ["v"], "p-1": ["w"]}
    assert {round_.name(v): round_.name(p) for v, _, p in round_.outcome.victims} == {"v": "p-0", "w": "p-1"}


def test_cycles_of_a_group_that_preempts():
    objects = [
        TWO,
        GANG,
        PAIR,
        low("v", "a").label(app="v"),
        low("w", "b"),
        budget("keep", app="v", allowed=0),
    ]
    cycles = Grouped(*objects, configuration=CURRENT).trace
    assert [(c["result"], c["node"], c["victims"], c["pdbViolations"]) for c in cycles.values()] == [
        ("nominated", "a", ["default/v"], 1),
        ("nominated", "b", ["default/w"], 0),
    ]
    assert {c["message"] for c in cycles.values()} == {"pod group is waiting for preemption to complete"}


def test_a_nominated_group_holds_its_nodes():
    """A later pod of the same priority finds no room, one more important takes it."""
    objects = [TWO, GANG, PAIR.created(9), *BOTH]
    same = Grouped(*objects, pod("late").req(cpu="1").priority(10).created(1), configuration=CURRENT)
    assert same.placed == {"p-0": "a", "p-1": "b"}
    assert same.trace["late"]["result"] == "unschedulable"


def without_preemption():
    return {
        "profiles": [{**CURRENT["profiles"][0], "plugins": {"postFilter": {"disabled": [{"name": "*"}]}}}]
    }


HELPLESS = "pod group preemption: Preemption is not helpful for scheduling"


@pytest.mark.parametrize(
    "objects, configuration, text",
    [
        pytest.param(
            [rack("r1", ("a", 2)), group("g", "rack", gang=1), member(), low("v", "a")],
            CURRENT,
            CONSTRAINED,
            id="a constrained group",
        ),
        pytest.param([TWO, GANG, PAIR, *BOTH], without_preemption(), NO_PLUGIN, id="no plugin"),
        pytest.param(
            [TWO, GANG, PAIR.never(), *BOTH],
            CURRENT,
            "pod group preemption: not eligible due to preemptionPolicy=Never.",
            id="members that do not preempt",
        ),
        pytest.param(
            [TWO, GANG, PAIR, low("v", "a", priority=10), low("w", "b", priority=10)],
            CURRENT,
            "pod group preemption: No preemption victims found for incoming pod",
            id="nobody is less important",
        ),
        pytest.param(
            [TWO, GANG, PAIR, low("v", "a"), low("w", "b", priority=10)],
            CURRENT,
            HELPLESS,
            id="not enough of them",
        ),
    ],
)
def test_why_no_room_is_made(objects, configuration, text):
    refusal = Grouped(*objects, configuration=configuration).cycle().refusal
    assert refusal.startswith("0/1 placements are available, first placement status: minCount (")
    assert refusal.endswith(f", {text}")
