"""Dry runs of many nodes at once find what the dry run of each node finds."""

from random import Random

import numpy as np
import pytest
from support.builders import budget, cluster, node, pod
from support.paths import DATA
from support.strategies import SMALL, Size, generate

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.budget_ledger import Ledger
from kubestow.framework.cycle.candidate_cost import Candidate, cost_of
from kubestow.framework.cycle.cycle import apply, schedule_one
from kubestow.framework.cycle.dry_runs import DryRuns
from kubestow.framework.cycle.preemption import NOT_HELPFUL, dry_run, preempt
from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.state.state import State
from kubestow.framework.vocabulary.message import fit_error
from kubestow.framework.vocabulary.status import Code
from kubestow.instances.manifests import load_snapshot

SAMPLE = DATA / "conformance"
INSTANCES = sorted(SAMPLE.glob("[fhi]*/*.instance.json.gz"))
CROWDED = Size(nodes=(8, 12), running=(40, 60), pending=(10, 16), apps=3, cores=8)


class Attempt:
    """One preemptor in one state."""

    def __init__(self, members, state, i, ledger):
        self.members, self.state, self.i, self.ledger = members, state, i, ledger
        self.framework = framework_for(members, i)
        self.result = self.framework.filter_all(state, i, nominated=True)
        self.potential = np.flatnonzero(self.result.codes == Code.UNSCHEDULABLE).astype(np.int64)

    def each(self, n):
        return dry_run(self.framework, self.state, self.i, n, self.result, self.ledger)

    def one_by_one(self):
        """Best candidate and message by the dry run of every node."""
        tried = {n: self.each(n) for n in self.potential.tolist()}
        found = [one for one in tried.values() if isinstance(one, Candidate)]
        if found:
            return min(found, key=lambda one: cost_of(self.members, one)), ""
        size = self.members.n_nodes
        return None, f"preemption: {fit_error(size, (tried.get(n, NOT_HELPFUL) for n in range(size)))}"

    def at_once(self):
        found = preempt(self.framework, self.state, self.i, self.result, self.ledger)
        return found.best, found.message(self.members.n_nodes)

    def together(self):
        return DryRuns(self.framework, self.state, self.i, self.result, self.ledger, self.potential)

    def agree(self):
        """Compare node by node, then the choice; return how many nodes were candidates together."""
        if not len(self.potential):
            return 0
        runs = self.together()
        for place, n in enumerate(self.potential.tolist()):
            if runs.judged[place]:
                alone = self.each(n)
                assert runs.helps[place] == isinstance(alone, Candidate)
                if runs.helps[place]:
                    assert runs.least([place]) == (cost_of(self.members, alone), place)
                    assert runs.violations[place] == alone.violations
                    assert runs.candidate(place) == alone
        if self.members.pods[self.i].preempts and self.i not in self.state.nominated:
            assert self.at_once() == self.one_by_one()
        return runs.helps.sum()


@pytest.mark.parametrize("path", INSTANCES, ids=lambda path: f"{path.parent.name}/{path.name[:3]}")
def test_every_attempt_of_a_recorded_instance(path):
    members = build_cluster(load_snapshot([path]))
    state, ledger = State.initial(members, nominations=True), Ledger(members)
    for i in members.pending:
        attempt = Attempt(members, state, i, ledger)
        if not attempt.result.error():
            attempt.agree()
        apply(state, schedule_one(attempt.framework, state, i, ledger), ledger)


def test_random_rounds():
    """Crowded ones and small ones, each after some of its pods were placed, marked or nominated anywhere."""
    candidates = 0
    for seed in range(60):
        dice = Random(seed)
        members = build_cluster(generate(dice, dice.choice((CROWDED, SMALL)), f"crowded-{seed}"))
        state, ledger = State.initial(members), Ledger(members)
        for i in members.pending:
            move = dice.choice(("place", "nominate", "nominate", "none", "none"))
            if move == "place":
                state.place(i, dice.randrange(members.n_nodes))
            elif move == "nominate":
                state.nominate(i, dice.randrange(members.n_nodes))
        for j in np.flatnonzero(state.node_of >= 0).tolist():
            if dice.random() < 0.1:
                state.mark(j)
        ledger.pay(dice.sample(range(len(members.pods)), 2))
        for i in members.pending:
            if state.node_of[i] < 0:
                candidates += Attempt(members, state, i, ledger).agree()
    assert candidates > 200


@pytest.mark.parametrize("seed", range(6))
def test_what_is_kept_of_a_class_follows_every_change(seed):
    """Cycles one after another by one framework, beside nominations, marks and payments that come between."""
    dice = Random(seed)
    members = build_cluster(generate(dice, CROWDED, f"kept-{seed}"))
    state, ledger = State.initial(members), Ledger(members)
    for i in members.pending:
        attempt = Attempt(members, state, i, ledger)
        attempt.agree()
        apply(state, schedule_one(attempt.framework, state, i, ledger), ledger)
        match dice.choice(("mark", "pay", "nominate", "withdraw", "none", "none")):
            case "mark":
                state.mark(int(dice.choice(np.flatnonzero(state.node_of >= 0))))
            case "pay":
                ledger.pay([dice.randrange(len(members.pods))])
            case "nominate" if state.node_of[i] < 0:
                state.nominate(i, dice.randrange(members.n_nodes))
            case "withdraw" if state.nominated:
                state.withdraw(dice.choice(list(state.nominated)))
        for j in members.pending:
            if state.node_of[j] < 0 and members.pods[j].cls == members.pods[i].cls:
                Attempt(members, state, j, ledger).agree()
                break


def look(*objects, name="p"):
    members = build_cluster(cluster(*objects))
    state = State.initial(members, nominations=True)
    i = members.pod_index[f"default/{name}"]
    return Attempt(members, state, i, Ledger(members))


def v(name, **labels):
    return pod(name).req(cpu="1").label(labels).on("n")


BIG = pod("p").req(cpu="2").priority(10)
TWO = node("n", cpu="2")
ZONED = node("n", cpu="2", zone="a")
EXPECTED = pod("r").priority(20).label(app="x").nominated("n")
ELSEWHERE = [
    node("full", zone="a").cordoned(),
    node("free", zone="b").cordoned(),
    pod("r").label(app="x").on("full").times(2),
]
ANTI = pod("w").req(cpu="1").on("n").label(app="x").anti("hostname", {"app": "y"})


@pytest.mark.parametrize(
    "objects, judged",
    [
        pytest.param([TWO, v("v"), v("w"), BIG], True, id="requests and nothing else"),
        pytest.param(
            [TWO, v("v"), v("w"), BIG.label(app="x").spread("hostname")],
            True,
            id="a constraint that counts nobody there",
        ),
        pytest.param(
            [TWO, v("v", app="x"), v("w"), BIG.label(app="x").spread("hostname")],
            False,
            id="a constraint that counts somebody who could leave",
        ),
        pytest.param(
            [TWO, v("v"), ANTI, BIG.label(app="y")], False, id="a pod that keeps the preemptor away"
        ),
        pytest.param([TWO, v("v").host_port(80), v("w"), BIG.host_port(80)], False, id="its port in the way"),
        pytest.param([TWO, v("v").host_port(80), v("w"), BIG.host_port(90)], True, id="a port beside it"),
        pytest.param(
            [ZONED, v("v", app="x"), v("w"), *ELSEWHERE, BIG.label(app="x").spread("zone")],
            True,
            id="a constraint that fails whoever leaves",
        ),
        pytest.param(
            [TWO, v("v"), v("w"), EXPECTED, BIG.label(app="x").spread("hostname")],
            True,
            id="a constraint that counts somebody who is nominated",
        ),
        pytest.param(
            [TWO, v("v"), v("w"), EXPECTED, BIG.anti("hostname", {"app": "x"})],
            True,
            id="somebody who is nominated and whom the preemptor avoids",
        ),
        pytest.param(
            [TWO, v("v"), v("w"), EXPECTED, BIG.host_port(80)],
            True,
            id="somebody who is nominated and not in the way",
        ),
        pytest.param([TWO, v("v").guard(100), v("w"), BIG], False, id="a guarded pod"),
        pytest.param([TWO, v("v").guard(5), v("w"), BIG], True, id="a guard that the preemptor is above"),
        pytest.param(
            [TWO, v("v", app="x"), v("w"), budget("b", app="x", allowed=0), BIG], True, id="one budget"
        ),
        pytest.param(
            [TWO, v("v", app="x"), v("w"), *(budget(b, app="x", allowed=0) for b in ("b", "c")), BIG],
            False,
            id="two budgets over one pod",
        ),
    ],
)  # fmt: skip
def test_what_is_a_matter_of_room(objects, judged):
    attempt = look(*objects)
    assert attempt.together().judged.tolist() == [judged]
    attempt.agree()


def test_the_early_end_counts_candidates_in_input_order():
    """With one candidate wanted, the first node that costs no violation is taken, not the best one."""
    nodes = [node(name, cpu="2") for name in ("a", "b", "c")]
    running = [pod(f"v-{name}").req(cpu="2").priority(k).on(name).label(app=name)
               for k, name in ((3, "a"), (2, "b"), (1, "c"))]  # fmt: skip
    configuration = {
        "profiles": [
            {
                "pluginConfig": [
                    {
                        "name": "DefaultPreemption",
                        "args": {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 1},
                    }
                ]
            }
        ]
    }
    members = build_cluster(
        cluster(nodes, running, budget("b", app="a", allowed=0), BIG, configuration=configuration)
    )
    attempt = Attempt(members, State.initial(members), members.pod_index["default/p"], Ledger(members))
    best, _ = attempt.at_once()
    assert (members.node_names[best.node], best.violations) == ("b", 0)
