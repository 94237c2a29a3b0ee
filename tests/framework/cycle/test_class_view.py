"""What a class keeps from cycle to cycle decides as a look at everything from nothing would."""

from random import Random

import numpy as np
import pytest
from support.builders import cluster, node, pod
from support.devices import device_class, gpu, slice_on
from support.paths import DATA
from support.strategies import Size, generate

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle import loads
from kubestow.framework.cycle.budget_ledger import Ledger
from kubestow.framework.cycle.class_view import ClassViews
from kubestow.framework.cycle.cycle import apply, complete, find_node, schedule_one
from kubestow.framework.cycle.loads import Loads
from kubestow.framework.cycle.runtime import Framework, framework_for
from kubestow.framework.state.dirty_nodes import NEVER, DirtyNodes
from kubestow.framework.state.state import State
from kubestow.framework.vocabulary.status import Status
from kubestow.instances.manifests import load_snapshot

SAMPLE = DATA / "conformance"
INSTANCES = sorted(SAMPLE.glob("[adeh]*/*.instance.json.gz"))
WIDE = Size(nodes=(20, 40), running=(30, 60), pending=(10, 20), apps=3, cores=6)


def from_nothing(members, state, i, within=None):
    """Node (None for none), feasible nodes and totals by a framework and a state that remember nothing."""
    framework, state = Framework(members, members.profile(i)), state.copy()
    there = state.nominated.get(i)
    wanted = there is not None and (within is None or within[there])
    if wanted and framework.filter_nominated(state, i, there).ok:
        return there, [there], {}
    result = framework.filter_all(state, i, nominated=True)
    if result.error(within):
        return None, [], {}
    feasible = [n for n in result.feasible.tolist() if within is None or within[n]]
    if len(feasible) < 2:
        return (feasible or [None])[0], feasible, {}
    scores = framework.score(state, i, np.array(feasible, dtype=np.int64))
    if isinstance(scores, Status):
        return None, feasible, {}
    totals = dict(zip(feasible, sum(scores.values()).tolist(), strict=True))
    best = min(totals, key=lambda n: (-totals[n], members.node_names[n]))
    return best, feasible, totals


def found(members, state, i, within=None):
    """The same by a cycle."""
    framework = framework_for(members, i)
    cycle = find_node(framework, state, i, within)
    passing = None
    if cycle.brief:
        assert not len(cycle.feasible)
        passing = framework.passing(framework.view(state, i), state, i, within).tolist()
    complete(framework, state, cycle)
    assert not cycle.brief
    feasible = cycle.feasible.tolist()
    assert passing in (None, feasible)
    totals = dict(zip(feasible, cycle.totals.tolist(), strict=True)) if cycle.scores else {}
    return (cycle.node if cycle.outcome == "bound" else None), feasible, totals


@pytest.mark.parametrize("path", INSTANCES, ids=lambda path: f"{path.parent.name}/{path.name[:3]}")
def test_every_cycle_of_a_recorded_instance(path):
    members = build_cluster(load_snapshot([path]))
    state, ledger = State.initial(members, nominations=True), Ledger(members)
    for i in members.pending:
        assert found(members, state, i) == from_nothing(members, state, i)
        apply(state, schedule_one(framework_for(members, i), state, i, ledger), ledger)


@pytest.mark.parametrize("seed", range(15))
def test_after_any_moves_of_pods(seed):
    dice = Random(seed)
    members = build_cluster(generate(dice, WIDE, f"wide-{seed}"))
    state = State.initial(members, nominations=True)
    free = list(members.pending)
    for _ in range(60):
        i = dice.choice(members.pending)
        if state.node_of[i] < 0:
            within = np.array([dice.random() < 0.5 for _ in range(members.n_nodes)])
            within = dice.choice((None, within))
            assert found(members, state, i, within) == from_nothing(members, state, i, within)
        j = dice.randrange(len(members.pods))
        match dice.choice(("move", "move", "mark", "nominate", "copy")):
            case "move" if state.node_of[j] >= 0:
                state.remove(j)
            case "move":
                state.withdraw(j)
                state.place(j, dice.randrange(members.n_nodes))
            case "mark" if state.node_of[j] >= 0:
                state.mark(j)
            case "nominate":
                k = dice.choice(free)
                if state.node_of[k] < 0:
                    state.nominate(k, dice.randrange(members.n_nodes))
            case "copy":
                state = state.copy()


def test_amounts_beyond_64_bits():
    nodes = [node(f"n{k}", memory=str(2**62 + k), cpu="64") for k in range(6)]
    members = build_cluster(cluster(nodes, pod("p").req(cpu="1", memory=str(2**58)).times(12)))
    assert members.dtype is object
    state = State.initial(members)
    for i in members.pending:
        node_of, feasible, totals = found(members, state, i)
        assert (node_of, feasible, totals) == from_nothing(members, state, i)
        state.place(i, node_of)
    assert state.pod_count.tolist() == [2] * 6


def test_wishes_about_nodes_are_relative_to_the_nodes_that_pass():
    """A preferred term and a soft taint, of which only some nodes that pass know anything."""
    wish = {"weight": 7, "preference": {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}}

    def prefer(doc):
        doc["spec"]["affinity"] = {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}
        }

    nodes = [
        node("a", cpu="1").label(tier="x"),
        node("b", cpu="3").taint("slow", effect="PreferNoSchedule"),
        node("c", cpu="3"),
        node("d", cpu="2").label(tier="y").taint("slow", effect="PreferNoSchedule"),
    ]
    members = build_cluster(cluster(nodes, pod("p").req(cpu="1").changed(prefer).times(9)))
    state = State.initial(members)
    homes = []
    for i in members.pending:
        one = found(members, state, i)
        assert one == from_nothing(members, state, i)
        homes.append(one[0])
        state.place(i, one[0])
    assert sorted(homes) == [0, 1, 1, 1, 2, 2, 2, 3, 3]


def test_views_of_many_classes_stay_within_their_share_of_memory():
    members = build_cluster(cluster(node("a"), [pod(f"p{k}").req(cpu=f"{k + 1}m") for k in range(20)]))
    state = State.initial(members)
    views = ClassViews([], members.profile(0), members.name_ranks, most_bytes=17 * 8)
    for i in members.pending:
        assert views.of(members.pods[i].cls, framework_for(members, i).pre_filter(state, i), state).open[0]
    assert len(views) == 8


def test_a_log_tells_what_changed_since():
    log = DirtyNodes()
    start = log.moment
    log.note(3)
    log.note(5)
    between = log.moment
    log.note(3)
    assert log.since(start) == [3, 5, 3]
    assert log.since(between) == [3]
    assert log.since(log.moment) == []


def test_a_log_that_has_forgotten_says_so():
    log = DirtyNodes()
    start = log.moment
    for n in range(10_000):
        log.note(n)
    assert log.since(start) is None
    assert DirtyNodes().since(start) is None
    assert log.since(NEVER) is None


def test_a_cycle_that_was_brief_says_the_same_when_completed():
    members = build_cluster(
        cluster(node("a"), node("b", cpu="1"), node("c").cordoned(), pod("p").req(cpu="2"))
    )
    state = State.initial(members)
    [i] = members.pending
    framework = framework_for(members, i)
    cycle = find_node(framework, state, i)
    assert (cycle.brief, cycle.result, cycle.scores) == (True, None, {})
    complete(framework, state, cycle)
    assert cycle.result.codes.tolist() == [0, 2, 2]


class TestLoads:
    """Three nodes, two of them alike, and a class that is asked about them."""

    def setup_method(self):
        nodes = [node("a", cpu="4"), node("b", cpu="4"), node("c", cpu="8")]
        self.members = build_cluster(cluster(nodes, pod("p").req(cpu="1").times(4)))
        self.state = State.initial(self.members)
        self.loads = Loads()
        self.asked = []

    def ask(self, nodes):
        """Answer by what is taken, and write down that it was asked."""
        self.asked.append(nodes.tolist())
        taken = self.state.requested[0, nodes]
        return taken < 2000, self.members.allocatable[0, nodes] - taken

    def answers(self, *nodes, cls=0):
        found = self.loads.answers(cls, self.state, nodes, self.ask)
        passes, points = self.ask(np.array(nodes))
        self.asked.pop()
        assert found == [
            sum_ if passed else None for passed, sum_ in zip(passes.tolist(), points.tolist(), strict=True)
        ]
        asked, self.asked = self.asked, []
        return asked

    def test_a_load_that_was_there_before_is_looked_up(self):
        assert self.answers(0) == [[0]]
        assert self.answers(0, 1) == []  # b is as a
        self.state.place(0, 0)
        assert self.answers(0, 1, 2) == [[0, 2]]
        self.state.place(1, 1)
        assert self.answers(0, 1, 2) == []
        self.state.remove(0)
        assert self.answers(0) == []

    def test_another_class_is_asked_anew(self):
        self.answers(0)
        assert self.answers(0, cls=1) == [[0]]

    def test_what_is_too_much_is_forgotten(self, monkeypatch):
        monkeypatch.setattr(loads, "_MOST", 2)
        self.answers(0, 2)
        self.state.place(0, 0)
        assert self.answers(0, 1) == [[0, 1]]
        assert len(self.loads) == 2


def test_where_devices_may_serve_a_resource_a_load_says_not_everything():
    asking = pod("p").req(cpu="1", **{"example.com/gpu": "1"})
    served = device_class("gpu", serves="example.com/gpu")
    members = build_cluster(cluster(node("a"), slice_on("a", gpu("gpu-0")), served, asking))
    [i] = members.pending
    [(plugin, data)] = [
        (plugin, data)
        for plugin, data in framework_for(members, i).pre_filter(State.initial(members), i).entries
        if plugin.name == "NodeResourcesFit"
    ]
    assert not plugin.by_load(data)
