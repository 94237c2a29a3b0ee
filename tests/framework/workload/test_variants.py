"""What differs between the two texts of the workload cycle, and their interfaces."""

from random import Random

import numpy as np
import pytest
from support.builders import cluster, group, node, pod
from support.grouped import CURRENT, Grouped, profile, rack
from support.paths import ROOT

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.budget_ledger import Ledger
from kubestow.framework.measures.group_rules import faults_of_groups
from kubestow.framework.runs.greedy import run_to_quiescence
from kubestow.framework.vocabulary import names
from kubestow.framework.vocabulary.status import SUCCESS, Code, Status
from kubestow.framework.workload.attempt import attempt
from kubestow.framework.workload.cycle import schedule_group
from kubestow.framework.workload.interfaces import PlacementGenerator, PlacementScorer, PlacementState
from kubestow.framework.workload.placement import Placement
from kubestow.framework.workload.proposal import Proposal
from kubestow.framework.workload.v1_37 import V1_37
from kubestow.framework.workload.variants import Candidate
from kubestow.instances.manifests import parse_snapshot
from kubestow.models.errors import KubestowError


def test_the_proposal_is_the_default():
    round_ = Grouped(node("a"), group("g", gang=1), pod("p").member("g"))
    assert isinstance(round_.variant, Proposal)
    assert [
        p.name for p in (*round_.variant.generators, *round_.variant.states, *round_.variant.scorers)
    ] == [
        names.TOPOLOGY_PLACEMENT,
        names.PLACEMENT_BIN_PACKING,
        names.PLACEMENT_POD_COUNT_SCORER,
    ]


def test_a_profile_chooses_the_current_form():
    round_ = Grouped(node("a"), group("g", gang=1), pod("p").member("g"), configuration=CURRENT)
    assert isinstance(round_.variant, V1_37)
    assert [p.name for p in (*round_.variant.generators, *round_.variant.scorers)] == [
        names.TOPOLOGY_PLACEMENT_GENERATOR,
        names.NODE_RESOURCES_FIT,
        names.POD_GROUP_PODS_COUNT,
    ]


def test_each_scheduler_has_the_form_of_its_profile():
    two = {"profiles": [{"schedulerName": "old"}, {"schedulerName": "new", **CURRENT["profiles"][0]}]}
    pods = [pod("p").member("g").scheduler("old"), pod("q").member("h").scheduler("new")]
    round_ = Grouped(node("a"), group("g"), group("h"), pods, configuration=two)
    # The proposal leaves the basic policy to the usual cycle, the current form does not.
    assert ["podGroup" in cycle for cycle in round_.trace.values()] == [False, True]


@pytest.mark.parametrize(
    "fields, fault",
    [
        ("profiles: [{pluginConfig: [{name: GangScheduling, args: {workloadCycle: New}}]}]", "workloadCycle"),
        (
            "profiles: [{pluginConfig: [{name: GangScheduling, args: {placementPlugins: [Mine]}}]}]",
            r"placementPlugins\[0\]",
        ),
        ("percentageOfPlacementsToScore: 101", "percentageOfPlacementsToScore"),
        ("profiles: [{percentageOfPlacementsToScore: -1}]", r"profiles\[0\].percentageOfPlacementsToScore"),
    ],
)
def test_what_no_form_knows_is_refused(fields, fault):
    text = f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{fields}\n"
    with pytest.raises(KubestowError, match=f"KubeSchedulerConfiguration.*{fault}"):
        parse_snapshot([("file.yaml", text.encode())], name="file.yaml")


# -- how many placements are scored --


@pytest.mark.parametrize(
    "top, own, racks, nodes, enough",
    [
        pytest.param(0, None, 10, 1, 10, id="by default all of a few nodes"),
        pytest.param(0, None, 10, 6, 9, id="99 % at 60"),
        pytest.param(0, None, 10, 250, 5, id="falling with the nodes"),
        pytest.param(0, None, 10, 500, 1, id="10 % at 5,000 nodes"),
        pytest.param(0, None, 40, 250, 2, id="never below 5 %"),
        pytest.param(50, None, 10, 1, 5, id="as configured"),
        pytest.param(50, 20, 10, 1, 2, id="for the profile"),
        pytest.param(50, 0, 10, 250, 5, id="where the profile says 0, by default"),
        pytest.param(3, None, 10, 1, 1, id="at least one"),
        pytest.param(100, None, 10, 250, 10, id="all"),
    ],
)
def test_percentage_of_placements_to_score(top, own, racks, nodes, enough):
    configuration = {
        "percentageOfPlacementsToScore": top,
        "profiles": [{**CURRENT["profiles"][0], "percentageOfPlacementsToScore": own}],
    }
    round_ = Grouped(node("a"), group("g", gang=1), pod("p").member("g"), configuration=configuration)
    placements = [Placement(str(k), np.ones(nodes, dtype=bool)) for k in range(racks)]
    assert round_.variant.enough(placements) == enough


def test_the_search_ends_with_enough_feasible_placements():
    """In the order of the names: r1 does not fit, r2 is found, r3 would be fuller."""
    racks = [*rack("r1", ("a", 1)), *rack("r2", ("b", 8)), *rack("r3", ("c", 2))]
    objects = [racks, group("g", "rack", gang=1), pod("p").member("g").req(cpu="2")]
    one = {**CURRENT, "percentageOfPlacementsToScore": 34}
    assert Grouped(*objects, configuration=one).placed == {"p": "b"}
    assert Grouped(*objects, configuration=CURRENT).placed == {"p": "c"}


# -- plugins of one's own --


class Log:
    """What was called, in order."""

    def __init__(self):
        self.lines = []


def plugins(log, *, refuse=()):
    class OddNodes(PlacementGenerator):
        name = "OddNodes"

        def generate_placements(self, state, info, parents):
            log.lines.append(f"generate {len(parents)}")
            return [
                Placement(f"{parent.name}/{odd}", parent.nodes & (self.parity == odd))
                for parent in parents
                for odd in (0, 1)
            ]

        @property
        def parity(self):
            return np.arange(self.cluster.n_nodes) % 2

    class Assumes(PlacementState):
        name = "Assumes"

        def assume_placement(self, state, info, placement):
            log.lines.append(f"assume {placement.name}")
            if placement.name in refuse:
                return Status(Code.UNSCHEDULABLE, self.name, ("not there",))
            return SUCCESS

        def revert_placement(self, state, info, placement):
            log.lines.append(f"revert {placement.name}")
            return SUCCESS

    class Last(PlacementScorer):
        name = "Last"
        weight = 3

        def score_placement(self, state, info, placement, assignment):
            log.lines.append(f"score {placement.name} {len(assignment)}")
            return float(placement.name[-1])

    return OddNodes, Assumes, Last


def with_plugins(round_, log, **options):
    generator, state, scorer = (make(round_.cluster) for make in plugins(log, **options))
    form = Proposal(round_.cluster, [generator], [state], [scorer])
    round_.cluster.memo(("workload cycle", "default-scheduler"), lambda: form)
    return form


def test_the_interfaces_in_the_order_of_the_phases():
    log = Log()
    round_ = Grouped(node("a"), node("b"), group("g", gang=2), pod("p").member("g").times(2))
    with_plugins(round_, log)
    cycle = round_.cycle()
    assert cycle.attempt.placement.name == "/1"
    assert [line for line in log.lines if not line.startswith("score")] == [
        "generate 1",
        "assume /0",
        "revert /0",
        "assume /1",
        "revert /1",
    ]
    assert {"score /0 2", "score /1 2"} <= set(log.lines)


def test_what_cannot_be_assumed_is_ruled_out():
    log = Log()
    round_ = Grouped(node("a"), node("b"), group("g", gang=2), pod("p").member("g").times(2))
    with_plugins(round_, log, refuse=["/1"])
    assert round_.cycle().attempt.placement.name == "/0"
    assert "revert /1" not in log.lines


def test_a_cycle_leaves_the_state_alone():
    round_ = Grouped(rack("r1", ("a", 4)), group("g", "rack", gang=2), pod("p").member("g").times(2))
    before = round_.state.version, round_.state.node_of.tolist()
    assert round_.cycle().placed
    assert (round_.state.version, round_.state.node_of.tolist()) == before


# -- properties --


def random_round(seed):
    """Racks of unequal nodes, some in use, and groups of members that may differ."""
    rng = Random(seed)
    racks = [
        node(f"n{k}", cpu=str(rng.randint(1, 6)), memory=f"{rng.randint(2, 8)}Gi").label(
            {} if rng.random() < 0.1 else {"rack": f"r{rng.randint(1, 3)}"}
        )
        for k in range(rng.randint(2, 6))
    ]
    objects = list(racks)
    for k in range(rng.randint(1, 3)):
        name, size = f"g{k}", rng.randint(1, 5)
        keys = ["rack"] if rng.random() < 0.7 else []
        gang = rng.randint(1, size) if rng.random() < 0.7 else None
        desired = rng.randint(1, 6) if gang is None and rng.random() < 0.5 else None
        objects.append(group(name, *keys, gang=gang, desired=desired))
        for j in range(size):
            member = pod(f"{name}-{j}").member(name).req(cpu=str(rng.randint(1, 2)), memory="1Gi")
            if rng.random() < 0.15:
                member = member.on(rng.choice(racks).doc["metadata"]["name"])
            if rng.random() < 0.2:
                member = member.priority(5)
            objects.append(member.created(rng.randint(1, 9)))
    objects += [pod(f"lone-{k}").req(cpu="1").created(rng.randint(1, 9)) for k in range(rng.randint(0, 3))]
    objects += [pod(f"low-{k}").req(cpu="2").priority(-1).on("n0") for k in range(rng.randint(0, 2))]
    return objects


@pytest.mark.parametrize("configuration", [None, CURRENT], ids=["proposal", "current"])
@pytest.mark.parametrize("seed", range(60))
def test_greedy_keeps_the_rules_of_groups(seed, configuration):
    run = build_cluster(cluster(*random_round(seed), configuration=configuration))
    outcome = run_to_quiescence(run)
    gone = [victim for victim, _, _ in outcome.victims]
    if set(gone) <= set(run.bound):
        assert list(faults_of_groups(run, outcome.node_of_new, gone)) == []


@pytest.mark.parametrize("seed", range(60))
def test_what_is_not_tried_could_not_have_won(seed):
    """The best of all placements, each tried, is the one that the cycle finds."""
    round_ = Grouped(*random_round(seed))
    run, state, ledger = round_.cluster, round_.state, Ledger(round_.cluster)
    for one in round_.groups:
        if one.waits is not None or not one.pending or not one.constrained:
            continue
        found = schedule_group(run, state, one, ledger)
        placements = [round_.everywhere()]
        for generator in found.variant.generators:
            placements = generator.generate_placements(state, found.info, placements)
        if isinstance(placements, Status):
            assert not found.placed
            continue
        tried = [attempt(found.variant, state, found.info, p, ledger) for p in placements]
        feasible = [Candidate(t.placement, t.assignment) for t in tried if not t.refusal]
        assert found.placed == bool(feasible)
        if feasible:
            best = found.variant.choose(state, found.info, feasible)
            assert (found.attempt.placement.name, found.attempt.assignment) == (
                best.placement.name,
                best.assignment,
            )


def test_forms_of_one_profile_are_made_once():
    round_ = Grouped(node("a"), group("g", gang=1), pod("p").member("g"), configuration=profile())
    assert round_.variant is round_.variant


def test_the_configuration_in_the_documentation_is_accepted():
    page = (ROOT / "docs" / "groups.md").read_text()
    text = page.partition("```yaml\n")[2].partition("```")[0]
    found = parse_snapshot([("groups.md", text.encode())], name="groups.md").configuration
    assert found.percentage_of_placements_to_score == 50
    assert found.profiles[0].args(names.GANG_SCHEDULING).workload_cycle == "Current"
