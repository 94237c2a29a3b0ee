"""Who leaves for a group of kube-scheduler 1.36.2: for the group as one, or else for its members."""

from random import Random

import numpy as np
import pytest
from support.builders import budget, cluster, group, node, pod
from support.grouped import Grouped

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.budget_ledger import Ledger
from kubestow.framework.rules.groups import groups
from kubestow.framework.workload.choice import variant_for
from kubestow.framework.workload.placement import Placement, info_of
from kubestow.framework.workload.units import opening
from kubestow.framework.workload.v1_36.alike import Alike
from kubestow.framework.workload.v1_36.attempt import attempt, is_steady, take_off, takes_group
from kubestow.framework.workload.v1_36.eviction_units import breaking, units_of
from kubestow.solver.api import solve_greedy

PODWISE = "TopologyAwareWorkloadScheduling=false,WorkloadAwarePreemption=false"
TWO = [node("a", cpu="2"), node("b", cpu="2")]
GANG = group("g", gang=2, priority=10)
TEXT = "0/1 placements are available, first placement status: pod group is unschedulable"


class Round(Grouped):
    """A round of 1.36."""

    def __init__(self, *objects, **options):
        super().__init__(*objects, **{"release": "1.36", **options})

    @property
    def victims(self):
        """Who leaves for group g in the first pass."""
        return " ".join(key.partition("/")[2] for key in self.group_cycles["g"]["victims"])


def member(name="p", *, cpu="2"):
    return pod(name).member("g").req(cpu=cpu)


def low(name, on, *, priority=0, cpu="2", of=None):
    plain = pod(name).req(cpu=cpu).priority(priority).on(on)
    return plain.member(of) if of else plain


PAIR = member().times(2)
BOTH = (low("v", "a"), low("w", "b"))
WHOLE = group("h", disruptionMode="PodGroup")


# -- who leaves --


@pytest.mark.parametrize(
    "objects, victims",
    [
        pytest.param([TWO, GANG, PAIR, *BOTH], "v w", id="both nodes are needed"),
        pytest.param([TWO, GANG, PAIR, BOTH[0]], "v", id="one is free"),
        pytest.param(
            [
                [node("a", cpu="2"), node("b", cpu="2"), group("g", gang=3, priority=10)],
                [member(cpu="1").times(3), low("whole", "a"), low("half", "b", cpu="1")],
            ],
            "whole",
            id="members may stand elsewhere in each try",
        ),
        pytest.param(
            [
                [node("a", cpu="3"), group("g", gang=1, priority=10), member()],
                [low("old", "a", cpu="1").started(9), low("new", "a", cpu="2").started(1)],
            ],
            "new",
            id="of equals who started first is put back first",
        ),
        pytest.param(
            [
                [node("a", cpu="3"), group("g", gang=1, priority=10), member()],
                [low("old", "a", cpu="2").started(9), low("high", "a", cpu="1", priority=1).started(1)],
            ],
            "old",
            id="the more important one before that",
        ),
        pytest.param(
            [
                [node("a", cpu="2"), group("g", gang=1, priority=10), group("h"), member(cpu="1")],
                [low("old", "a", cpu="1").started(9), low("m", "a", cpu="1", of="h").started(1)],
            ],
            "old",
            id="a member of a group before a pod that started earlier",
        ),
        pytest.param(
            [
                [node("a", cpu="2"), group("g", gang=1, priority=10), member(cpu="1")],
                [
                    low("old", "a", cpu="1").label(app="x").started(9),
                    low("kept", "a", cpu="1").label(app="k"),
                ],
                [budget("none", app="k", allowed=0)],
            ],
            "old",
            id="who breaks a budget before all others",
        ),
        pytest.param(
            [
                [node("a", cpu="4"), WHOLE, group("g", gang=1, priority=10), member(cpu="1")],
                [low("m", "a", of="h").times(2)],
            ],
            "m-0 m-1",
            id="a whole group, although one pod would be enough",
        ),
        pytest.param(
            [
                [node("a", cpu="4"), group("h"), group("g", gang=1, priority=10), member(cpu="1")],
                [low("m", "a", of="h").times(2)],
            ],
            "m-1",
            id="one pod of a group that may be split",
        ),
        pytest.param(
            [
                [node("a", cpu="4"), group("h", disruptionMode="PodGroup", priority=10)],
                [group("g", gang=1, priority=10), member(cpu="1"), low("m", "a", of="h").times(2)],
            ],
            "",
            id="nobody of a whole group that is as important, whatever its pods are",
        ),
        pytest.param(
            [
                [node("a", cpu="4"), WHOLE, group("g", gang=1, priority=10), member(cpu="1")],
                [low("m", "a", of="h", priority=99).times(2)],
            ],
            "m-0 m-1",
            id="a whole group without a priority counts as 0",
        ),
        pytest.param(
            [node("a", cpu="2"), group("g", gang=1), member().priority(99), low("v", "a")],
            "",
            id="nobody for a group without a priority, whatever its members' is",
        ),
        pytest.param(
            [node("a", cpu="2"), group("g", gang=1, priority=10), member().priority(-5), low("v", "a")],
            "v",
            id="more important pods for unimportant members of an important group",
        ),
        pytest.param(
            [node("a", cpu="2"), group("g", gang=1, priority=10), member(), low("r", "a", of="g")],
            "r",
            id="a running member of the same group",
        ),
        pytest.param(
            [node("a", cpu="2"), group("g", gang=2, priority=10), member(), low("r", "a", of="g")],
            "r",
            id="which still counts as standing",
        ),
        pytest.param(
            [node("a", cpu="2"), group("g", gang=1, priority=10), member(), low("v", "a").terminating()],
            "v",
            id="one that terminates already",
        ),
        pytest.param([TWO, group("g", priority=10), PAIR, *BOTH], "w", id="a basic group needs one node"),
        pytest.param([TWO, GANG, PAIR.never(), *BOTH], "", id="nobody where a member does not preempt"),
        pytest.param(
            [
                [[node(n, cpu="2").label(rack=n) for n in "ab"], group("g", "rack", gang=1, priority=10)],
                [PAIR, *BOTH],
            ],
            "",
            id="nobody for a constrained group",
        ),
    ],
)
def test_victims(objects, victims):
    assert Round(*objects).victims == victims


@pytest.mark.parametrize(
    "objects, code, why",
    [
        pytest.param(
            [TWO, GANG, PAIR.never(), *BOTH],
            "Unschedulable",
            "not eligible due to preemptionPolicy=Never.",
            id="a member does not preempt",
        ),
        pytest.param(
            [TWO, GANG, PAIR, low("v", "a", priority=10), low("w", "b", priority=10)],
            "UnschedulableAndUnresolvable",
            "No preemption victims found for incoming preemptor",
            id="nobody is less important",
        ),
        pytest.param(
            [TWO, GANG, PAIR, low("v", "a"), low("w", "b", priority=10)],
            "Unschedulable",
            TEXT,
            id="it would not help",
        ),
    ],
)
def test_why_nobody_leaves(objects, code, why):
    entry = Round(*objects).group_cycles["g"]
    assert (entry["result"], entry["message"]) == ("unschedulable", f"{TEXT}, {why}")
    assert (entry["preemption"]["code"], entry["preemption"]["message"]) == (code, why)


def test_without_the_plugin_nobody_leaves():
    off = {"profiles": [{"plugins": {"postFilter": {"disabled": [{"name": "DefaultPreemption"}]}}}]}
    entry = Round(TWO, GANG, PAIR, *BOTH, configuration=off).group_cycles["g"]
    why = "default preemption plugin is not registered, workload aware preemption is disabled"
    assert entry["message"] == f"{TEXT}, {why}"


def test_what_a_waiting_group_is_told():
    """The member that fits at once is nominated there, the other one, which needs the victim, is not."""
    round_ = Round(TWO, GANG, PAIR, BOTH[0])
    assert [(c["result"], c["node"], c["victims"]) for c in round_.trace.values()] == [
        ("nominated", "b", []),
        ("unschedulable", None, []),
    ]
    assert round_.trace["p-0"]["message"] == TEXT
    assert round_.trace["p-1"]["message"].startswith("0/2 nodes are available: 2 Insufficient cpu. no new")
    entry = round_.group_cycles["g"]
    assert (entry["result"], entry["message"], entry["placement"]) == ("waitingOnPreemption", TEXT, None)
    assert entry["preemption"] == {"code": "Success", "tries": 2}  # without all, and with v


# -- units and budgets --


def units(*objects):
    run = build_cluster(cluster(*objects))
    state = opening(run)
    return run, sorted(units_of(run, state), key=lambda unit: unit.rank)


def words(run, found):
    return [" ".join(run.pods[j].pod.name for j in unit.pods) for unit in found]


def test_the_order_of_units():
    run, found = units(
        node("a", cpu="64"),
        node("b", cpu="64"),
        group("h", disruptionMode="PodGroup", priority=5),
        group("i", disruptionMode="PodGroup", priority=5),
        group("j", priority=5),
        low("late", "a", priority=5).started(1),
        low("early", "b", priority=5).started(9),
        low("one", "a", of="j", priority=5).started(2),
        low("two", "b", of="j", priority=5).started(8),
        [low(f"h-{k}", "b", of="h").started(3) for k in range(2)],
        [low(f"i-{k}", "ab"[k], of="i").started(9 - k) for k in range(2)],
        low("top", "a", priority=6),
    )
    assert words(run, found) == ["top", "i-0 i-1", "h-0 h-1", "two", "one", "early", "late"]


@pytest.mark.parametrize(
    "allowed, pods, broken",
    [
        pytest.param({"x": 1, "y": 1}, ["x", "x"], [1], id="the second of one budget"),
        pytest.param({"x": 0, "y": 1}, ["x y", "y"], [0], id="a pod stops at the first empty budget"),
        pytest.param({"x": 1, "y": 0}, ["x y", "x"], [0, 1], id="what it drew on before that is gone"),
        pytest.param({"x": 1, "y": 1}, ["", "y", "x"], [], id="who has no budget breaks none"),
    ],
)
def test_budgets_of_units(allowed, pods, broken):
    objects = [
        low(f"p-{k}", "a").label({name: "1" for name in named.split()}) for k, named in enumerate(pods)
    ]
    run, found = units(
        node("a"), objects, [budget(n, allowed=left, **{n: "1"}) for n, left in allowed.items()]
    )
    assert sorted(breaking(found, Ledger(run))) == broken


def test_a_unit_stops_at_its_first_pod_that_breaks_a_budget():
    members = [low("m-0", "a", of="h").label(x="1"), low("m-1", "a", of="h").label(y="1")]
    lone = low("z", "a", priority=-1).label(y="1")
    run, found = units(
        node("a"), WHOLE, members, lone, budget("none", allowed=0, x="1"), budget("one", allowed=1, y="1")
    )
    assert words(run, found) == ["m-0 m-1", "z"]
    assert breaking(found, Ledger(run)) == {0}  # m-1 has not drawn on the budget that z needs


# -- to quiescence --


@pytest.mark.parametrize(
    "objects, steps",
    [
        pytest.param(
            [TWO, GANG, PAIR, *BOTH],
            ["mark v", "mark w", "leave v", "leave w", "bind p-0 a", "bind p-1 b"],
            id="the group binds in its next cycle",
        ),
        pytest.param(
            [TWO, GANG, PAIR, BOTH[0]],
            ["mark v", "leave v", "bind p-0 b", "bind p-1 a"],
            id="with the nominated member on its node",
        ),
        pytest.param(
            [node("a", cpu="2"), GANG, PAIR, low("v", "a").terminating()], [], id="half a gang waits"
        ),
        pytest.param(
            [node("a", cpu="4"), GANG, PAIR, low("v", "a", cpu="4").terminating()],
            ["leave v", "bind p-0 a", "bind p-1 a"],
            id="who terminates is gone for nothing",
        ),
        pytest.param(
            [node("a", cpu="2"), group("g", priority=10), PAIR.priority(10), low("v", "a")],
            ["mark v", "leave v", "bind p-0 a"],
            id="a basic group starts with one",
        ),
        pytest.param(
            [node("a", cpu="2"), group("g", priority=10), PAIR],
            ["bind p-0 a", "mark p-0", "leave p-0", "bind p-1 a"],
            id="members of lower priority than their group make way for each other",
        ),
        pytest.param(
            [node("a", cpu="4"), WHOLE, GANG, PAIR, low("m", "a", of="h").times(2)],
            ["mark m-0", "mark m-1", "leave m-0", "leave m-1", "bind p-0 a", "bind p-1 a"],
            id="a whole group leaves",
        ),
    ],
)
def test_steps(objects, steps):
    assert Round(*objects).steps == steps


# -- members on their own --


def test_members_that_preempt_one_by_one():
    round_ = Round(TWO, GANG, PAIR.priority(10), *BOTH, gates=PODWISE)
    assert [(c["result"], c["node"], c["victims"]) for c in round_.trace.values()] == [
        ("nominated", "a", ["default/v"]),
        ("nominated", "b", ["default/w"]),
    ]
    entry = round_.group_cycles["g"]
    waits = "pod group is unschedulable, pod group is waiting for preemption to complete"
    assert (entry["result"], entry["message"], entry["victims"]) == ("waitingOnPreemption", waits, [])
    assert round_.steps == ["mark v", "mark w", "leave v", "leave w", "bind p-0 a", "bind p-1 b"]


def test_a_member_that_fits_waits_for_the_others_victims():
    objects = [TWO, GANG, member("p").priority(10).created(9), member("q").priority(10).created(8), BOTH[0]]
    cycles = Round(*objects, gates=PODWISE).trace
    assert cycles["p"]["message"] == (
        "pod group is unschedulable, pod group is waiting for preemption to complete"
    )
    assert cycles["q"]["message"] == "0/2 nodes are available: 2 Insufficient cpu."
    assert [(c["result"], c["node"]) for c in cycles.values()] == [("nominated", "b"), ("nominated", "a")]


def test_victims_are_gone_though_the_group_then_fails():
    objects = [node("a", cpu="2"), GANG, PAIR.priority(10), low("v", "a")]
    round_ = Round(*objects, gates=PODWISE)
    first, second = round_.trace.values()
    assert (first["result"], first["node"], first["victims"]) == ("unschedulable", None, ["default/v"])
    assert first["message"].startswith("pod group is unschedulable, waiting for minCount pods")
    assert second["result"] == "unschedulable"
    assert round_.group_cycles["g"]["message"] == "pod group is unschedulable"
    assert round_.steps == ["mark v", "leave v"]


def test_a_member_that_makes_room_takes_nominations_away():
    """Of a less important pod outside, and of another member: in flight it counts as of priority 0."""
    other = member("q", cpu="1").priority(10).created(1).nominated("a")
    outside = pod("lone").req(cpu="1").priority(5).nominated("a").never()
    members = [member("p").priority(10).created(9), other]
    round_ = Round(TWO, GANG, members, outside, *BOTH, gates=PODWISE)
    assert round_.trace["p"]["clearedNominations"] == ["default/q", "default/lone"]


# -- properties --


def random_round(seed):
    """A few nodes full of pods and groups, whole ones among them, and a gang that wants room."""
    rng = Random(seed)
    names = [f"n{k}" for k in range(rng.randint(2, 4))]
    objects = [node(name, cpu=str(rng.randint(2, 6))).label(zone=f"z{k % 2}") for k, name in enumerate(names)]
    for name in ("h", "i"):
        mode = rng.choice(["Pod", "PodGroup"])
        objects.append(group(name, disruptionMode=mode, priority=rng.choice([None, 0, 5])))
    for k in range(rng.randint(3, 8)):
        there = low(f"v{k}", rng.choice(names), cpu=str(rng.randint(1, 2)))
        there = there.priority(rng.choice([-1, 0, 5, 50])).started(rng.randint(1, 5))
        if rng.random() < 0.4:
            there = there.member(rng.choice("ghi"))
        if rng.random() < 0.2:
            there = there.label(app="x").anti("zone", {"app": "p"})
        if rng.random() < 0.2:
            there = there.terminating()
        objects.append(there)
    size = rng.randint(1, 4)
    objects.append(group("g", gang=rng.choice([None, rng.randint(1, size)]), priority=rng.choice([None, 10])))
    for k in range(size):
        one = member(f"p{k}", cpu=str(rng.randint(1, 3))).label(app="p").priority(rng.choice([0, 3, 10]))
        if rng.random() < 0.2:
            one = one.nominated(rng.choice(names))
        if rng.random() < 0.2:
            one = one.anti("hostname", {"app": "p"})
        objects.append(one)
    objects += [pod(f"lone{k}").req(cpu="1").priority(rng.choice([0, 7])) for k in range(rng.randint(0, 2))]
    return objects


@pytest.mark.parametrize("seed", range(60))
def test_a_run_that_ends_early_says_what_a_whole_run_says(seed):
    """Whoever is taken away, and in one state after the other, as the reprieve does it."""
    rng = Random(seed)
    run = build_cluster(cluster(*random_round(seed)))
    state, ledger = opening(run), Ledger(run)
    one = next(g for g in groups(run) if g.name == "g")
    if not one.enqueued:
        return
    info, variant = info_of(run, state, one), variant_for(run, one.pending[0])
    everywhere = Placement("", np.ones(run.n_nodes, dtype=bool))
    trial = take_off(state, info)
    before = trial.node_of.copy()
    for steady in (False, is_steady(variant, trial, info)):
        for j in np.flatnonzero(trial.node_of >= 0).tolist():
            if rng.random() < 0.5:
                trial.remove(j, devices=False)
            whole = attempt(variant, trial, info, everywhere, ledger, post=False)
            kept = trial.node_of.copy()
            assert takes_group(variant, trial, info, everywhere, ledger, steady=steady) == whole.feasible
            assert (trial.node_of == kept).all()
    assert (state.node_of == before).all()


def alike_round(seed):
    """Members that differ in nothing, among pods that keep away from them, nominated ones and full nodes."""
    rng = Random(seed)
    names = [f"n{k}" for k in range(rng.randint(2, 5))]
    objects = [
        node(name, cpu=str(rng.randint(2, 9)), pods=rng.randint(2, 8)).label(zone=f"z{k % 2}")
        for k, name in enumerate(names)
    ]
    for k in range(rng.randint(3, 10)):
        there = low(f"v{k}", rng.choice(names), cpu=str(rng.randint(1, 2)), priority=rng.choice([0, 5, 50]))
        objects.append(there.anti("zone", {"app": "p"}) if rng.random() < 0.2 else there)
    size = rng.randint(2, 6)
    priority = rng.choice([0, 6])
    one = member(cpu=str(rng.randint(1, 3))).label(app="p").priority(priority)
    objects += [group("g", gang=rng.randint(1, size), priority=10), one.times(size)]
    objects += [
        pod(f"lone{k}").req(cpu="1").priority(rng.choice([0, 7])).nominated(rng.choice(names))
        for k in range(rng.randint(0, 3))
    ]
    return objects


def test_members_that_are_alike_are_counted_as_they_would_be_placed():
    answers = []
    for seed in range(80):
        rng = Random(seed)
        run = build_cluster(cluster(*alike_round(seed)))
        state, ledger = opening(run), Ledger(run)
        (one,) = groups(run)
        info, variant = info_of(run, state, one), variant_for(run, one.pending[0])
        everywhere = Placement("", np.ones(run.n_nodes, dtype=bool))
        trial = take_off(state, info)
        alike = Alike.of(variant, trial, info)
        for j in np.flatnonzero(trial.node_of >= 0).tolist():
            if rng.random() < 0.2:
                trial.remove(j, devices=False)
            whole = attempt(variant, trial, info, everywhere, ledger, post=False).feasible
            answers.append(whole)
            assert alike.fit(trial) == whole
    assert 0.2 < sum(answers) / len(answers) < 0.8  # or the comparison says little


@pytest.mark.parametrize(
    "members, alike",
    [
        pytest.param(PAIR, True, id="equal members"),
        pytest.param([member("p"), member("q", cpu="1")], False, id="of two sizes"),
        pytest.param([member("p"), member("q").nominated("a")], False, id="one with a node of its own"),
        pytest.param(PAIR.host_port(80), False, id="on ports that they take from each other"),
        pytest.param(PAIR.label(app="p").anti("hostname", {"app": "p"}), False, id="that keep apart"),
        pytest.param(PAIR.label(app="p").spread("hostname"), False, id="that spread"),
    ],
)
def test_who_is_counted(members, alike):
    run = build_cluster(cluster(TWO, GANG, members))
    state = opening(run)
    (one,) = groups(run)
    info = info_of(run, state, one)
    found = Alike.of(variant_for(run, one.pending[0]), take_off(state, info), info)
    assert (found is not None) == alike


@pytest.mark.parametrize("gates", ["", PODWISE], ids=["as one", "one by one"])
@pytest.mark.parametrize("seed", range(40))
def test_greedy_ends_and_its_steps_can_be_followed(seed, gates):
    """A replay of the steps would fail where one of them is not possible; nobody evicted comes back."""
    plan = solve_greedy(cluster(*random_round(seed), gates=gates))
    gone = {eviction.pod for eviction in plan.evictions}
    assert plan.stats.verified
    assert not gone & {*plan.placed()}
    assert len(gone) == len(plan.evictions)
