import pytest
from support.builders import budget, group, node, pod, workload
from support.grouped import CURRENT, Grouped, profile, rack

from kubestow.framework.vocabulary import names

FORMS = pytest.mark.parametrize("configuration", [None, CURRENT], ids=["proposal", "current"])


def workers(count, cpu="2", **more):
    return pod("p").member("g").req(cpu=cpu, **more).times(count)


# -- all or nothing --

A4_B3 = [node("a", cpu="4"), node("b", cpu="3")]


@FORMS
@pytest.mark.parametrize(
    "nodes, placed",
    [
        pytest.param(A4_B3, {"p-0": "a", "p-1": "a", "p-2": "b"}, id="three of four start, the fourth waits"),
        pytest.param([node("a", cpu="4"), node("b", cpu="1")], {}, id="two of four do not"),
    ],
)
def test_gang_of_three_with_four_members(nodes, placed, configuration):
    """The worked example: free cpu 4 and 3, or 4 and 1; members ask for 2."""
    # The first node fills up first: it is the only one that takes a member's affinity.
    members = workers(4).nodes("hostname", "In", "a", "b")
    round_ = Grouped(nodes, group("g", gang=3), members, configuration=configuration)
    assert sorted(round_.placed) == sorted(placed)
    assert sorted(round_.placed.values()) == sorted(placed.values())


ONE_RACK_EACH = [*rack("r1", ("a", 6)), *rack("r2", ("b", 8))]


@FORMS
@pytest.mark.parametrize(
    "objects, placed",
    [
        pytest.param(
            [ONE_RACK_EACH, group("g", "rack", gang=4), workers(4)], {"b": 4}, id="the rack that takes all"
        ),
        pytest.param([ONE_RACK_EACH, group("g", "rack", gang=5), workers(5)], {}, id="no rack takes all"),
        pytest.param(
            [ONE_RACK_EACH, group("g", "rack", gang=4), workers(5)],
            {"b": 4},
            id="no rack takes all, one takes enough",
        ),
        pytest.param(
            [rack("r1", ("a", 6)), rack("r2", ("b", 4)), group("g", "rack", gang=2), workers(3)],
            {"a": 3},
            id="the rack that takes more members",
        ),
        pytest.param(
            [
                ONE_RACK_EACH,
                group("g", "rack", gang=3),
                pod("r").member("g").req(cpu="2").on("a"),
                workers(2),
            ],
            {"a": 2},
            id="where a member runs",
        ),
        pytest.param(
            [
                ONE_RACK_EACH,
                group("g", "rack", gang=4),
                pod("r").member("g").req(cpu="2").on("a"),
                workers(3),
            ],
            {},
            id="where a member runs, and too few fit",
        ),
        pytest.param(
            [
                ONE_RACK_EACH,
                group("g", "rack", gang=1),
                pod("r").member("g").on("a"),
                pod("s").member("g").on("b"),
                workers(1),
            ],
            {},
            id="members run in two racks",
        ),
        pytest.param(
            [node("x", cpu="9"), group("g", "rack", gang=1), workers(1)], {}, id="no node has the label"
        ),
        pytest.param(
            [node("x", cpu="9"), rack("r1", ("a", 2)), group("g", "rack", gang=2), workers(2)],
            {},
            id="nodes without the label are out",
        ),
        pytest.param([A4_B3, group("g", gang=3), workers(2)], {}, id="too few members"),
        pytest.param(
            [A4_B3, group("g", gang=2), workers(1), workers(1).named("q").gated()], {}, id="one is gated"
        ),
        pytest.param([A4_B3, workers(1)], {}, id="no such group"),
        pytest.param(
            [A4_B3, group("g", gang=2), pod("r").member("g").on("a"), workers(1).build()],
            {"a": 1},
            id="a replacement joins a gang that runs",
        ),
        pytest.param(
            [
                rack("r1", ("a", 6)),
                rack("r2", ("b", 6)),
                workload(
                    "w",
                    {
                        "name": "half",
                        "policy": {"gang": {"minCount": 3}},
                        "schedulingConstraints": {"topologyConstraints": [{"level": "rack"}]},
                    },
                ),
                [pod(f"p{key}").replica("w", "half", key).req(cpu="2").times(3) for key in "xy"],
            ],
            {"a": 3, "b": 3},
            id="each replica has a rack of its own",
        ),
        pytest.param(
            [
                rack("r1", ("a", 3), ("b", 3)),
                rack("r2", ("c", 4), ("d", 2)),
                group("g", "rack", gang=2),
                pod("big").member("g").req(cpu="4").priority(0).created(9),
                pod("small").member("g").req(cpu="2").created(1),
            ],
            {"c": 1, "d": 1},
            id="members that differ",
        ),
    ],
)
def test_where_a_group_goes(objects, placed, configuration):
    found = Grouped(*objects, configuration=configuration).placed
    assert {n: list(found.values()).count(n) for n in set(found.values())} == placed


@FORMS
def test_a_group_is_tried_at_the_place_of_its_first_member(configuration):
    """The lone pod comes between the first and the second member, and finds what the group has left."""
    round_ = Grouped(
        node("a", cpu="3"),
        group("g", gang=2),
        pod("p").member("g").req(cpu="1").created(9),
        pod("lone").req(cpu="2").created(5),
        pod("q").member("g").req(cpu="1").created(1),
        configuration=configuration,
    )
    assert round_.steps == ["bind p a", "bind q a"]
    assert list(round_.trace) == ["p", "q", "lone"]


@FORMS
def test_a_group_that_fails_holds_nothing(configuration):
    round_ = Grouped(
        node("a", cpu="10"),
        group("huge", gang=3),
        group("modest", gang=1),
        pod("h").member("huge").req(cpu="4").times(3).created(9),
        pod("m").member("modest").req(cpu="3").created(1),
        configuration=configuration,
    )
    assert round_.placed == {"m": "a"}


@FORMS
def test_a_later_pass_tries_the_group_again(configuration):
    """A victim's room is enough for the gang as well, once it is gone."""
    round_ = Grouped(
        node("a", cpu="4"),
        group("g", gang=2),
        pod("v").req(cpu="4").on("a"),
        pod("urgent").req(cpu="2").priority(9).created(1),
        pod("p").member("g").req(cpu="1").times(2),
        configuration=configuration,
    )
    assert round_.placed == {"urgent": "a", "p-0": "a", "p-1": "a"}
    assert round_.outcome.passes == 3


@FORMS
@pytest.mark.parametrize("count, bound", [(2, {}), (3, {"p-0": "a", "p-1": "a", "p-2": "a"})])
def test_nominations_of_the_input_bind_no_half_gang(count, bound, configuration):
    members = [pod(f"p-{k}").member("g").req(cpu="1").nominated("a") for k in range(count)]
    round_ = Grouped(node("a"), group("g", gang=3), members, configuration=configuration)
    assert round_.placed == bound


def test_the_basic_policy_in_the_proposal_takes_all_or_none():
    few = [*rack("r1", ("a", 4)), *rack("r2", ("b", 2))]
    assert Grouped(few, group("g", "rack"), workers(2)).placed == {"p-0": "a", "p-1": "a"}
    assert Grouped(few, group("g", "rack"), workers(3)).placed == {}


def test_the_basic_policy_in_the_current_form_takes_what_it_can():
    few = [*rack("r1", ("a", 4)), *rack("r2", ("b", 2))]
    found = Grouped(few, group("g", "rack"), workers(3), configuration=CURRENT).placed
    assert found == {"p-0": "a", "p-1": "a"}


def test_without_constraint_the_basic_policy_is_no_group_in_the_proposal():
    """Pod by pod: the second one may preempt, and what lies between them comes first."""
    objects = [
        node("a", cpu="2"),
        group("g"),
        pod("v").req(cpu="1").on("a"),
        pod("p").member("g").req(cpu="1").priority(5).created(9),
        pod("lone").req(cpu="1").priority(5).created(5),
        pod("q").member("g").req(cpu="1").priority(5).created(1),
    ]
    assert Grouped(*objects).steps == ["bind p a", "mark v", "leave v", "bind lone a"]


@pytest.mark.parametrize(
    "gates, placed",
    [
        ("", {}),
        ("GangScheduling=false", {"p-0", "p-1"}),
        ("GenericWorkload=false", {"p-0", "p-1"}),
        ("TopologyAwareWorkloadScheduling=false", {}),
    ],
)
def test_gates(gates, placed):
    round_ = Grouped(node("a", cpu="4"), group("g", gang=3), workers(3), gates=gates)
    assert set(round_.placed) == set(placed)


def test_without_its_gate_the_rack_does_not_matter():
    objects = [rack("r1", ("a", 4)), rack("r2", ("b", 4)), group("g", "rack", gang=3), workers(3)]
    assert Grouped(*objects).placed == {}
    assert len(Grouped(*objects, gates="TopologyAwareWorkloadScheduling=false").placed) == 3


# -- which placement --

R1_OR_R2 = [*rack("r1", ("a", 4), ("b", 4)), *rack("r2", ("c", 6))]


@pytest.mark.parametrize(
    "configuration, node_",
    [
        pytest.param(None, "c", id="both scorers: 100 + 3 beats 75 + 4"),
        pytest.param(
            profile(placementPlugins=["PlacementBinPackingPlugin"]), "c", id="bin packing: the tightest fit"
        ),
        pytest.param(
            profile(placementPlugins=["PlacementPodCountScorerPlugin"]), "a", id="pod count: room for more"
        ),
        pytest.param(profile(placementPlugins=[]), "a", id="no scorer: the smallest name"),
    ],
)
def test_scores_of_the_proposal(configuration, node_):
    """The worked example of the scorers."""
    round_ = Grouped(R1_OR_R2, group("g", "rack", gang=3), workers(3), configuration=configuration)
    assert node_ in round_.placed.values()


def test_scores_of_the_current_form():
    """Of cpu 100 against 75; of memory next to nothing against 50: by the arguments of NodeResourcesFit."""
    only = {"scoringStrategy": {"type": "LeastAllocated", "resources": [{"name": "cpu"}]}}
    cpu = profile(workloadCycle="Current")
    cpu["profiles"][0]["pluginConfig"].append({"name": "NodeResourcesFit", "args": only})
    assert set(
        Grouped(R1_OR_R2, group("g", "rack", gang=3), workers(3), configuration=cpu).placed.values()
    ) == {"c"}
    members = workers(3).req(memory="1Gi")
    both = [*rack("r1", ("a", 4), ("b", 4), memory="3Gi"), *rack("r2", ("c", 6), memory="64Gi")]
    assert "a" in Grouped(both, group("g", "rack", gang=2), members, configuration=CURRENT).placed.values()


@pytest.mark.parametrize(
    "objects, gates, node_",
    [
        pytest.param([group("g", "rack", desired=4)], "", "b", id="the rack with room for the pods to come"),
        pytest.param([group("g", "rack")], "", "a", id="nothing is known of more pods: the tightest fit"),
        pytest.param(
            [group("g", "rack", desired=4)],
            "WorkloadBasicPolicyDesiredCount=false",
            "a",
            id="the gate is off",
        ),
        pytest.param([group("g", "rack", desired=2)], "", "a", id="all are there"),
        pytest.param(
            [group("g", "rack", desired=9)], "", "b", id="no rack has room for all: the one with more"
        ),
    ],
)
def test_desired_count(objects, gates, node_):
    racks = [*rack("r1", ("a", 4)), *rack("r2", ("b", 8))]
    assert set(Grouped(racks, objects, workers(2), gates=gates).placed.values()) == {node_}


def test_a_tie_goes_to_the_smallest_domain():
    racks = [*rack("r10", ("a", 4)), *rack("r2", ("b", 4)), *rack("r1", ("c", 4))]
    assert Grouped(racks, group("g", "rack", gang=1), workers(1)).placed == {"p-0": "c"}


@pytest.mark.parametrize("configuration", [None, CURRENT], ids=["proposal", "current"])
def test_the_placement_of_a_nominated_member_wins_a_tie(configuration):
    racks = [*rack("r1", ("a", 4)), *rack("r2", ("b", 4))]
    members = [pod("p").member("g").nominated("b"), pod("q").member("g")]
    round_ = Grouped(racks, group("g", "rack", gang=2), members, configuration=configuration)
    assert round_.placed == {"p": "b", "q": "b"}


# -- words --

SHORT = "0/1 nodes are available: 1 Insufficient cpu."
NONE_OF_2 = "0/2 placements are available, first placement status: "
FIRST = NONE_OF_2 + "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining"


@FORMS
def test_why_a_constrained_group_waits(configuration):
    racks = [*rack("r1", ("a", 4)), *rack("r2", ("b", 2))]
    round_ = Grouped(racks, group("g", "rack", gang=3), workers(3), configuration=configuration)
    generator = names.TOPOLOGY_PLACEMENT if configuration is None else names.TOPOLOGY_PLACEMENT_GENERATOR
    refused = FIRST if configuration is None else f"{FIRST}, {NOT_WITH_CONSTRAINTS}"
    assert round_.left_out == {"p-0": refused, "p-1": refused, "p-2": SHORT}
    assert round_.blocked_by == {
        "p-0": (names.GANG_SCHEDULING, generator),
        "p-1": (names.GANG_SCHEDULING, generator),
        "p-2": (names.NODE_RESOURCES_FIT,),
    }


NOT_WITH_CONSTRAINTS = "workload aware preemption is not supported for pod groups with scheduling constraints"


def test_the_rest_is_not_tried_once_it_cannot_be_enough():
    round_ = Grouped(node("a", cpu="1"), group("g", gang=3), workers(4))
    refused = "minCount (3) cannot be satisfied: 0 scheduled, 2 remaining"
    assert round_.left_out == {"p-0": SHORT, "p-1": SHORT, "p-2": refused, "p-3": refused}


@pytest.mark.parametrize(
    "objects, text",
    [
        pytest.param(
            [group("g", gang=2), workers(1)],
            "waiting for minCount pods from a gang to appear in scheduling queue",
            id="too few members",
        ),
        pytest.param(
            [workers(1)], 'waiting for pod\'s pod group "g" to appear in scheduling queue', id="no such group"
        ),
        pytest.param(
            [group("g", gang=2), workers(1), pod("held").member("g").gated()],
            "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining",
            id="one is gated",
        ),
    ],
)
def test_why_members_are_not_tried(objects, text):
    round_ = Grouped(node("a"), *objects)
    assert round_.left_out.pop("p-0") == text
    assert round_.blocked_by["p-0"] == (names.GANG_SCHEDULING,)


def test_a_gated_member_says_so_itself():
    round_ = Grouped(
        node("a"), group("g", gang=2), workers(1), pod("held").member("g").gated("example.com/quota")
    )
    assert round_.left_out["held"] == "waiting for scheduling gates: [example.com/quota]"


def test_what_is_left_of_a_group_that_started():
    round_ = Grouped(A4_B3, group("g", gang=3), workers(4))
    assert round_.left_out == {"p-3": "0/2 nodes are available: 2 Insufficient cpu."}


@FORMS
def test_a_running_gang_for_which_nobody_fits(configuration):
    round_ = Grouped(
        node("a", cpu="2"),
        group("g", gang=1),
        pod("r").member("g").req(cpu="2").on("a"),
        workers(1),
        configuration=configuration,
    )
    assert round_.left_out == {"p-0": SHORT}
    assert "no pods were schedulable" in round_.cycle().refusal


# -- trace --


def test_a_member_is_scored_beside_the_members_before_it():
    cycles = Grouped(node("a"), node("b"), group("g", gang=2), workers(2)).trace
    first, second = (cycle["totals"] for cycle in cycles.values())
    assert first["a"] == first["b"]
    assert second["a"] < second["b"]


def test_cycles_of_a_group_that_starts():
    cycles = Grouped(R1_OR_R2, group("g", "rack", gang=3), workers(3)).trace
    assert [(name, c["result"], c["node"], c["podGroup"], c["placement"]) for name, c in cycles.items()] == [
        (f"p-{k}", "bound", "c", "default/g", "r2") for k in range(3)
    ]
    assert {tuple(c["feasible"]) for c in cycles.values()} == {("c",)}
    assert all(c["filter"] == {} for c in cycles.values())


def test_cycles_of_a_group_that_does_not():
    cycles = Grouped(rack("r1", ("a", 4)), rack("r2", ("b", 2)), group("g", "rack", gang=3), workers(3)).trace
    assert {c["placement"] for c in cycles.values()} == {"r1"}
    assert [(c["result"], c["node"], c["feasible"], c["message"]) for c in cycles.values()] == [
        ("unschedulable", None, ["a"], FIRST),
        ("unschedulable", None, ["a"], FIRST),
        ("unschedulable", None, [], SHORT),
    ]
    assert cycles["p-2"]["filter"] == {
        "a": {"plugin": "NodeResourcesFit", "code": "Unschedulable", "reasons": ["Insufficient cpu"]}
    }


def test_members_that_wait_for_others_have_no_cycle():
    cycles = Grouped(node("a"), group("g", gang=3), workers(2), pod("lone")).trace
    assert list(cycles) == ["lone"]


def test_members_at_odds_have_cycles_that_end_in_an_error():
    two = {"profiles": [{"schedulerName": "one"}, {"schedulerName": "two"}]}
    members = [pod("p").member("g").scheduler("one"), pod("q").member("g").scheduler("two")]
    cycles = Grouped(node("a"), group("g", gang=1), members, configuration=two).trace
    text = 'all pods in a single pod group should have the same .spec.schedulerName set, got: "two" and "one"'
    assert {(c["result"], c.get("error"), c["message"]) for c in cycles.values()} == {
        ("unschedulable", True, text)
    }


def test_a_placed_group_takes_away_what_it_took():
    """A later pod of the pass sees the members; one that failed leaves nothing behind."""
    objects = [node("a", cpu="4"), group("g", gang=3), pod("lone").req(cpu="4").created(1)]
    assert (
        Grouped(*objects, pod("p").member("g").req(cpu="2").times(3).created(9)).trace["lone"]["node"] == "a"
    )
    assert (
        Grouped(*objects, pod("p").member("g").req(cpu="1").times(3).created(9)).trace["lone"]["node"] is None
    )


def test_budgets_do_not_matter_to_groups_of_the_proposal():
    """Groups make no room: what is below them stays."""
    round_ = Grouped(
        node("a", cpu="2"),
        group("g", gang=1),
        pod("v").req(cpu="2").label(app="v").on("a"),
        budget("keep", app="v", allowed=1),
        workers(1).changed(lambda d: d["spec"].update(priority=9)),
    )
    assert round_.steps == []


# -- the groups' entries in a trace --


@pytest.mark.parametrize(
    "objects, result, statuses",
    [
        pytest.param([workers(2)], "scheduled", ["Success"], id="a group that starts"),
        pytest.param([workers(9)], "unschedulable", ["Unschedulable"], id="one that does not"),
        pytest.param([workers(1)], None, [], id="one that waits for its members has none"),
    ],
)
@FORMS
def test_entries_of_groups(objects, result, statuses, configuration):
    """Only the placement that the members' cycles are of is kept."""
    nodes = rack("r1", ("a", 4))
    gang = 2 if result != "unschedulable" else 9
    document = Grouped(nodes, group("g", "rack", gang=gang), *objects, configuration=configuration).document
    found = [(g["result"], [p["status"] for p in g["placements"]]) for g in document["groups"]]
    assert found == ([(result, statuses)] if result else [])
    assert document["gated"] == ([] if result else ["default/p-0"])


def test_a_trace_without_groups_has_no_entries_of_groups():
    assert set(Grouped(node("a"), pod("p")).document) == {"version", "cycles"}
