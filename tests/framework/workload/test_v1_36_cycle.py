"""The group cycle of kube-scheduler 1.36.2: who is tried, in which order, where, and what each is told."""

import pytest
from support.builders import group, node, pod, workload
from support.devices import claim, device_class, gpu, slice_on, user
from support.grouped import CURRENT, Grouped, profile, rack

from kubestow.framework.vocabulary import names
from kubestow.framework.workload.proposal import Proposal
from kubestow.framework.workload.v1_36.variant import V1_36
from kubestow.framework.workload.v1_37 import V1_37

BY_GROUP = "no new claims to deallocate, preemption: not eligible due to workload aware preemption enabled"
BY_PLACEMENT = (
    "no new claims to deallocate, preemption: "
    "not eligible due to placement-based pod group scheduling limitation"
)
NOT_PERMITTED = (
    "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, "
    "one or more plugins asked to wait and no plugin rejected pod"
)
NO_VICTIMS = "No preemption victims found for incoming preemptor"


class Round(Grouped):
    """A round of 1.36."""

    def __init__(self, *objects, **options):
        super().__init__(*objects, **{"release": "1.36", **options})


def member(name="p", *, cpu="2", of="g"):
    return pod(name).member(of).req(cpu=cpu)


# -- whose text --


@pytest.mark.parametrize(
    "release, configuration, variant",
    [
        pytest.param("1.34", None, Proposal, id="1.34 has none of its own: the proposal"),
        pytest.param("1.34", CURRENT, V1_37, id="1.34 with Current: the newest"),
        pytest.param("1.36", None, V1_36, id="1.36"),
        pytest.param("1.36", CURRENT, V1_36, id="1.36 with Current: the same"),
        pytest.param("1.36", profile(workloadCycle="Proposal"), Proposal, id="the proposal in 1.36"),
        pytest.param("1.37", None, V1_37, id="1.37"),
        pytest.param("1.37", CURRENT, V1_37, id="1.37 with Current: the same"),
        pytest.param("1.37", profile(workloadCycle="Proposal"), Proposal, id="the proposal in 1.37"),
    ],
)
def test_the_release_and_the_profile_choose(release, configuration, variant):
    round_ = Grouped(
        node("a"), group("g"), pod("p").member("g"), release=release, configuration=configuration
    )
    assert type(round_.variant) is variant


def test_the_plugins_of_a_placement():
    round_ = Round(node("a"), group("g"), member())
    assert [p.name for p in (*round_.variant.generators, *round_.variant.scorers)] == [
        names.TOPOLOGY_PLACEMENT_GENERATOR,
        names.NODE_RESOURCES_FIT,
        names.POD_GROUP_PODS_COUNT,
    ]


# -- who counts, and who is kept out --

FINISHED = member("q", cpu="1").on("a").changed(lambda doc: doc["status"].update(phase="Succeeded"))
KNOWN = [node("a", cpu="8"), group("g", gang=2), member("p", cpu="1")]


@pytest.mark.parametrize(
    "other, gated",
    [
        pytest.param([], ["p"], id="alone"),
        pytest.param([member("q", cpu="1")], [], id="with another one that waits"),
        pytest.param(
            [member("q", cpu="1").gated()], ["q"], id="one with gates counts, and is kept out itself"
        ),
        pytest.param([member("q", cpu="1").terminating()], [], id="one that is being deleted counts"),
        pytest.param([member("q", cpu="1").on("a")], [], id="one that runs counts"),
        pytest.param([member("q", cpu="1").on("a").terminating()], [], id="and does until it is gone"),
        pytest.param([FINISHED], ["p"], id="one that finished does not"),
        pytest.param([member("q", cpu="1").scheduler("other")], ["p"], id="nor does a foreign scheduler's"),
    ],
)
def test_who_makes_up_the_quorum_beforehand(other, gated):
    round_ = Round(*KNOWN, *other)
    assert [key.partition("/")[2] for key in round_.document["gated"]] == gated
    assert ("p" in round_.trace) == ("p" not in gated)


def test_a_group_without_its_object_is_kept_out():
    round_ = Round(node("a"), member())
    assert (round_.document["cycles"], round_.document["gated"]) == ([], ["default/p"])


def test_a_member_that_is_kept_out_holds_no_node():
    late = pod("late").req(cpu="2").priority(-1)
    objects = [node("a", cpu="2"), group("g", gang=2), member().nominated("a"), late]
    assert Round(*objects).placed == {"late": "a"}
    assert Grouped(*objects).trace["late"]["result"] == "unschedulable"  # the proposal's do


def test_pods_that_left_no_longer_count():
    """With its running member gone the gang is too small for the queue: nobody is evicted for it again."""
    objects = [
        node("a", cpu="2"),
        group("g", gang=2),
        member("p").priority(5),
        member("r").on("a").priority(0),
        pod("urgent").req(cpu="2").priority(9),
    ]
    gates = "TopologyAwareWorkloadScheduling=false,WorkloadAwarePreemption=false"
    assert Round(*objects, gates=gates).steps == ["mark r", "leave r", "bind urgent a"]


# -- order --


@pytest.mark.parametrize(
    "members, order",
    [
        pytest.param(
            [member("p").created(1), member("q").created(2)], "q p", id="who came first, among equals"
        ),
        pytest.param(
            [member("p").created(1).priority(5), member("q").created(2)], "p q", id="higher priority first"
        ),
        pytest.param([member("q"), member("p")], "q p", id="as listed where nothing tells them apart"),
    ],
)
def test_members_are_tried_in_the_order_of_the_queue(members, order):
    round_ = Round(node("a", cpu="8"), group("g"), members)
    assert [key.partition("/")[2] for key in round_.group_cycles["g"]["pods"]] == order.split()


@pytest.mark.parametrize(
    "first, order",
    [
        pytest.param([], "lone p q", id="at the place of its first member"),
        pytest.param(
            [member("d").created(9).terminating()], "p q lone", id="be it one that is being deleted"
        ),
        pytest.param([member("d").created(9).terminating().gated()], "lone p q", id="not a gated one"),
    ],
)
def test_when_a_group_is_tried(first, order):
    members = [member("p").created(3), member("q").created(1)]
    round_ = Round(node("a", cpu="8"), group("g", gang=2), first, pod("lone").created(5), members)
    assert list(round_.trace) == order.split()


def test_a_group_whose_waiting_members_are_all_being_deleted_has_no_cycle():
    round_ = Round(node("a"), group("g"), member().terminating())
    assert (round_.document["cycles"], round_.document["groups"]) == ([], [])


def test_two_schedulers_in_one_group_are_an_error_without_a_cycle_of_the_group():
    two = {"profiles": [{"schedulerName": "one"}, {"schedulerName": "two"}]}
    members = [member("p").scheduler("one"), member("q").scheduler("two").terminating()]
    round_ = Round(node("a", cpu="8"), group("g"), members, configuration=two)
    (cycle,) = round_.document["cycles"]
    assert (cycle["error"], cycle["filter"], cycle["feasible"]) == (True, {}, [])
    assert cycle["message"] == (
        'all pods in a single pod group should have the same .spec.schedulerName set, got: "two" and "one"'
    )
    assert round_.document["groups"] == []


def test_members_may_differ_in_priority():
    spec = group("g", gang=2, version="v1beta1", priority=7)
    round_ = Round(node("a", cpu="8"), spec, member("p").priority(1), member("q").priority(2))
    assert round_.placed == {"q": "a", "p": "a"}


# -- all are tried --


def test_nobody_is_left_out_although_there_cannot_be_enough():
    round_ = Round(node("a", cpu="2"), group("g", gang=3), member().times(3))
    own = f"0/1 nodes are available: 1 Insufficient cpu. {BY_GROUP}"
    assert {name: cycle["message"] for name, cycle in round_.trace.items()} == {
        "p-0": NOT_PERMITTED,
        "p-1": own,
        "p-2": own,
    }
    (placement,) = round_.group_cycles["g"]["placements"]
    assert [(m["node"], m.get("permit")) for m in placement["members"]] == [
        ("a", "Wait"),
        (None, None),
        (None, None),
    ]


@pytest.mark.parametrize(
    "objects, permits",
    [
        pytest.param([group("g", gang=2)], "Wait Success Success", id="a gang, once enough are assumed"),
        pytest.param([group("g")], "Success Success Success", id="a basic group, always"),
        pytest.param(
            [group("g", gang=2), member("r").on("a")],
            "Success Success Success",
            id="a gang of which enough run already, with one more",
        ),
        pytest.param(
            [group("g", gang=2), member("r").on("a").terminating()],
            "Success Success Success",
            id="those that terminate among them",
        ),
    ],
)
def test_permit(objects, permits):
    round_ = Round(node("a", cpu="8"), *objects, member().times(3))
    (placement,) = round_.group_cycles["g"]["placements"]
    assert [m["permit"] for m in placement["members"]] == permits.split()


def test_a_gang_that_runs_still_needs_one_new_member():
    round_ = Round(node("a", cpu="2"), group("g", gang=1), member("r").on("a"), member())
    assert round_.group_cycles["g"]["result"] == "unschedulable"


def test_who_fits_starts_and_the_rest_is_told_its_own_reason():
    round_ = Round(node("a", cpu="4"), group("g", gang=2), member().times(3))
    assert round_.placed == {"p-0": "a", "p-1": "a"}
    assert round_.trace["p-2"]["message"] == f"0/1 nodes are available: 1 Insufficient cpu. {BY_GROUP}"
    entry = round_.group_cycles["g"]
    assert (entry["result"], "message" in entry, entry["placement"]) == ("scheduled", False, "")


# -- nominations --


def test_a_member_tries_its_own_node_first_and_alone():
    nodes = [node("a", cpu="8"), node("b", cpu="3")]
    cycle = Round(nodes, group("g"), member().nominated("b")).trace["p"]
    assert (cycle["node"], cycle["feasible"]) == ("b", ["b"])


@pytest.mark.parametrize(
    "priority, node_",
    [
        pytest.param(0, "b", id="a slot, against members of priority 0"),
        pytest.param(1, "a", id="nothing against more important ones"),
    ],
)
def test_what_other_members_hold_during_the_cycle(priority, node_):
    """Node a has one slot and would score higher; the member that is nominated there comes last."""
    nodes = [node("a", cpu="8", pods=1), node("b", cpu="4")]
    members = [member("p").priority(priority).created(2), member("q").priority(0).created(1).nominated("a")]
    assert Round(nodes, group("g"), members).trace["p"]["node"] == node_


@pytest.mark.parametrize(
    "gang, result",
    [
        pytest.param(None, "scheduled", id="where others start"),
        pytest.param(2, "unschedulable", id="where nobody does"),
    ],
)
def test_a_member_that_fits_nowhere_keeps_its_nomination(gang, result):
    """It goes on holding that node against later pods of no higher priority."""
    nodes = [node("a", cpu="3"), node("b", cpu="1")]
    members = [member("p").created(9), member("q", cpu="3").created(8).nominated("b")]
    late = pod("late").req(cpu="1").created(1).select(hostname="b")
    round_ = Round(nodes, group("g", gang=gang), members, late)
    assert round_.group_cycles["g"]["result"] == result
    assert round_.trace["late"]["result"] == "unschedulable"
    without = Round(nodes, group("g", gang=gang), members[0], member("q", cpu="3").created(8), late)
    assert without.trace["late"]["node"] == "b"


def test_a_member_that_found_a_node_for_nothing_loses_its_nomination():
    members = [member("p").created(9).nominated("a"), member("q", cpu="9").created(8)]
    late = pod("late").req(cpu="2").created(1)
    round_ = Round(node("a", cpu="2"), group("g", gang=2), members, late)
    assert round_.trace["p"]["message"] == NOT_PERMITTED
    assert round_.trace["late"]["node"] == "a"


# -- placements --

RACKS = [*rack("r1", ("a", 4)), *rack("r2", ("b", 6)), *rack("r3", ("c", 2))]


def test_every_placement_is_tried_and_those_that_fit_are_scored():
    """4 of 4 cpu and 2 of 4 GiB are 100 and 50, in the mean 75; 4 of 6 cpu are 66, with 50 in the mean 58."""
    racks = [
        rack(r, (n, cpu), memory="4Gi") for r, n, cpu in (("r1", "a", 4), ("r2", "b", 6), ("r3", "c", 2))
    ]
    round_ = Round(
        *racks, group("g", "rack", gang=2), pod("p").member("g").req(cpu="2", memory="1Gi").times(2)
    )
    entry = round_.group_cycles["g"]
    assert [(p["name"], p["status"], p.get("scores"), p.get("total")) for p in entry["placements"]] == [
        ("r1", "Success", {"NodeResourcesFit": 75, "PodGroupPodsCount": 100}, 175),
        ("r2", "Success", {"NodeResourcesFit": 58, "PodGroupPodsCount": 100}, 158),
        ("r3", "Unschedulable", None, None),
    ]
    assert (entry["placement"], round_.placed) == ("r1", {"p-0": "a", "p-1": "a"})
    assert entry["placements"][2]["message"] == "pod group is unschedulable"


def test_one_placement_that_fits_is_not_scored():
    placements = Round(RACKS, group("g", "rack", gang=3), member().times(3)).group_cycles["g"]["placements"]
    assert [p["status"] for p in placements] == ["Unschedulable", "Success", "Unschedulable"]
    assert not any("scores" in p for p in placements)


def test_members_are_told_of_the_first_placement_where_none_fits():
    round_ = Round(RACKS, group("g", "rack", gang=4), member().times(4))
    text = "0/3 placements are available, first placement status: pod group is unschedulable, "
    refused = "workload aware preemption is not supported for pod groups with scheduling constraints"
    assert round_.group_cycles["g"]["message"] == text + refused
    assert {cycle["placement"] for cycle in round_.trace.values()} == {"r1"}
    assert [cycle["message"] for cycle in round_.trace.values()] == [
        NOT_PERMITTED,
        NOT_PERMITTED,
        *[f"0/1 nodes are available: 1 Insufficient cpu. {BY_PLACEMENT}"] * 2,
    ]


def test_without_a_placement_the_groups_text_is_the_members():
    round_ = Round(node("a", cpu="8"), group("g", "rack"), member().nominated("a"), pod("late").req(cpu="7"))
    text = (
        "no feasible placements found, "
        "workload aware preemption is not supported for pod groups with scheduling constraints"
    )
    assert (round_.trace["p"]["message"], round_.trace["p"]["filter"]) == (text, {})
    assert round_.group_cycles["g"]["placements"] == []
    assert round_.trace["late"]["result"] == "unschedulable"  # the member keeps its nominated node


@pytest.mark.parametrize(
    "running, text",
    [
        pytest.param("b c", "more than 1 domain found for pod group: r2, r3", id="in two racks"),
        pytest.param("x", "no topology domain found for pod default/r-0", id="on a node without the label"),
    ],
)
def test_running_members_that_leave_no_rack(running, text):
    there = [member(f"r-{k}", cpu="1").on(name) for k, name in enumerate(running.split())]
    round_ = Round(RACKS, node("x"), group("g", "rack"), there, member("p", cpu="1"))
    entry = round_.group_cycles["g"]
    assert (entry["result"], entry["reason"]) == ("error", "SchedulerError")
    assert entry["message"] == f"cannot determine domain for already scheduled pods: {text}"
    assert round_.trace["p"]["error"]


def test_running_members_leave_their_rack_alone():
    round_ = Round(
        RACKS, group("g", "rack"), member("r", cpu="1").on("c").terminating(), member("p", cpu="1")
    )
    assert [p["name"] for p in round_.group_cycles["g"]["placements"]] == ["r3"]


def test_without_topology_one_run_over_all_nodes():
    gates = "TopologyAwareWorkloadScheduling=false"
    round_ = Round(RACKS, group("g", "rack", gang=9), member().times(9), gates=gates)
    entry = round_.group_cycles["g"]
    assert (entry["placements"], entry["message"]) == ([], f"pod group is unschedulable, {NO_VICTIMS}")


# -- claims of the group --

SHARING = group("g", gang=2, resourceClaims=[{"name": "e0", "resourceClaimName": "c"}])


def test_members_share_a_claim_that_the_first_one_allocates():
    devices = device_class(), slice_on("a", gpu("g0")), slice_on("b", gpu("g1")), claim("c")
    nodes = [node(name, cpu="2") for name in "ab"]
    members = [user(name, "c").member("g").req(cpu="1") for name in "pq"]
    round_ = Round(nodes, devices, SHARING, members)
    assert round_.placed == {"p": "a", "q": "a"}
    assert ["allocations" in cycle for cycle in round_.trace.values()] == [True, False]


def test_a_claim_of_a_group_that_stands_nowhere_is_given_back_once():
    stuck = claim("c", has=[("r", "gone", "x")], at="gone")
    reserved = [{"resource": "podgroups", "name": "g"}]
    status = {**stuck.status.model_dump(by_alias=True), "reservedFor": reserved}
    stuck = stuck.model_copy(update={"status": type(stuck.status).model_validate(status)})
    members = [user(name, "c").member("g") for name in "pq"]
    round_ = Round(node("a"), device_class(), slice_on("a", gpu("g0")), stuck, SHARING, members)
    assert round_.steps == ["deallocate default/c", "bind p a", "bind q a"]


# -- errors --


def test_an_error_of_one_member_ends_the_groups_cycle():
    """A preference that cannot be read: the member and the others are told so, each in its own words."""
    members = [member("o").created(3), member("p").created(2).wish_nodes(5, "x", "Gt", "many")]
    round_ = Round(node("a", cpu="9"), node("b", cpu="9"), group("g"), members, member("q").created(1))
    own = round_.trace["p"]["message"]
    assert own.startswith('running PreScore plugin "NodeAffinity"')
    whole = f"failed to schedule other pod from a pod group: {own}"
    assert [round_.trace[name]["message"] for name in "oq"] == [whole, whole]
    assert [cycle["error"] for cycle in round_.trace.values()] == [True, True, True]
    entry = round_.group_cycles["g"]
    assert (entry["result"], entry["message"], "preemption" in entry) == ("error", whole, False)
    assert round_.placed == {}


def test_groups_of_a_workload_have_the_same_cycle():
    spec = workload("w", {"name": "x", "policy": {"gang": {"minCount": 2}}})
    members = pod("p").req(cpu="2").replica("w", "x").times(2)
    assert Round(node("a", cpu="4"), spec, members).placed == {"p-0": "a", "p-1": "a"}
