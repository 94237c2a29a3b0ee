"""What helps, kind by kind: the cheapest change is the step that speaks of what is in the way."""

from dataclasses import replace
from fractions import Fraction

import pytest
import yaml
from support.builders import budget, cluster, group, node, pod
from support.devices import claim, device_class, gpu, request, slice_on, user

from kubestow.instances.what_if.apply import changed_by
from kubestow.instances.what_if.file import read_changes
from kubestow.models.step_costs import DEFAULT_COSTS, StepCosts
from kubestow.solver.api import solve
from kubestow.solver.options import SolveOptions
from kubestow.solver.suggest.question import suggest
from kubestow.solver.suggest.suggest_options import SuggestOptions
from kubestow.solver.what_if import settled

OPTIONS = SolveOptions(workers=1, time_limit=60)
P = pod("p").req(cpu="2").priority(10)
BIG, FULL = node("big", cpu="8"), [node("n", cpu="2"), pod("on-n").req(cpu="2").on("n").priority(10)]
MEMBER = pod("m").req(cpu="2").member("g")


def asked(objects, name="p", **wanted):
    snapshot = cluster(*objects)
    names = None if name is None else [name]
    return suggest(snapshot, names, SuggestOptions(**wanted), OPTIONS, changed_by)


def only(*kinds):
    """Costs with these kinds alone on the menu."""
    return StepCosts(costs={kind: DEFAULT_COSTS[kind] for kind in kinds})


def kinds(answer):
    return [[step.kind for step in each.steps] for each in answer.suggestions]


@pytest.mark.parametrize(
    "objects, kind, cost",
    [
        pytest.param([BIG.taint("dedicated"), P], "toleration", 3, id="a taint is tolerated"),
        pytest.param([BIG.cordoned(), P], "uncordon", 1, id="a node is uncordoned"),
        pytest.param([BIG, P.select(disk="ssd")], "nodeSelector", 4, id="a term of a selector is dropped"),
        pytest.param(
            [BIG, P.nodes("disk", "In", "ssd")], "nodeAffinity", 4, id="a term of node affinity is dropped"
        ),
        pytest.param(
            [node("n", cpu="8", zone="a"), P.affinity("zone", {"app": "db"})],
            "podAffinity",
            4,
            id="a term of pod affinity is dropped",
        ),
        pytest.param(
            [BIG, pod("db").label(app="db").priority(10).on("big"), P.anti("hostname", {"app": "db"})],
            "podAntiAffinity",
            5,
            id="a term of anti-affinity is dropped",
        ),
        pytest.param([node("n", cpu="1"), P], "request", 4, id="a request is lowered"),
        pytest.param(
            [node("n", cpu="2"), pod("old").req(cpu="2").on("n").priority(10).terminating(), P],
            "terminating",
            2,
            id="a pod that is being deleted is gone at once",
        ),
        pytest.param([*FULL, P], "addNode", 8, id="a node more, where nothing else makes room"),
        pytest.param(
            [node("n", cpu="4"), group("g", gang=3), MEMBER.times(3)], "minCount", 3, id="a smaller gang"
        ),
    ],
)
def test_the_step_that_helps(objects, kind, cost):
    name = "g" if kind == "minCount" else "p"
    menu = ("addNode",) if kind == "addNode" else tuple(k for k in DEFAULT_COSTS if k != "addNode")
    [answer] = asked(objects, name, costs=only(*menu), alternatives=1).answers
    assert (answer.answer, kinds(answer)) == ("suggestions", [[kind]])
    [found] = answer.suggestions
    assert (found.cost, found.cheapest, found.proven, found.left_out, found.evicted) == (
        cost,
        True,
        True,
        (),
        (),
    )
    assert found.placed


ZONES = [
    node("a", cpu="8", zone="a"),
    node("b", cpu="1", zone="b"),
    pod("w").req(cpu="1").label(app="w").priority(10).on("a"),
]
SPREAD = P.label(app="w").spread("zone")


def test_a_skew_grows_by_no_more_than_is_needed():
    [answer] = asked([*ZONES, SPREAD], costs=only("maxSkew", "scheduleAnyway")).answers
    assert kinds(answer) == [["maxSkew"], ["scheduleAnyway"]]
    assert answer.suggestions[0].steps[0].text.startswith("maxSkew 2 instead of 1 over ")


def test_a_group_is_held_in_the_next_wider_domain_before_it_is_let_go():
    def place(name, rack):
        return node(name, cpu="2").label(rack=rack, row="r")

    objects = [place("n1", "r1"), place("n2", "r2"), group("g", "rack", gang=2), MEMBER.times(2)]
    [answer] = asked(objects, "g", costs=only("topologyWider", "topologyDropped")).answers
    assert kinds(answer) == [["topologyWider"], ["topologyDropped"]]
    assert answer.suggestions[0].steps[0].text == "all of the group in one row instead of one rack"


GUARDED = [
    node("n", cpu="2"),
    pod("on-n").req(cpu="2").label(app="db").on("n").guard(1000),
    budget("db", {"app": "db"}, allowed=0),
]


def test_a_budget_and_a_priority_help_where_others_may_go():
    objects = [*GUARDED, P]
    menu = only("budget", "priority")
    gates = "DisruptionPolicyInPriorityClass=true"
    snapshot = cluster(*objects, gates=gates)
    answers = {}
    for may in (False, True):
        wanted = SuggestOptions(costs=menu, others_may_wait=may)
        [answers[may]] = suggest(snapshot, ["p"], wanted, OPTIONS, changed_by).answers
    assert answers[False].answer == "nothing"
    assert kinds(answers[True]) == [["budget"], ["priority"]]
    assert [each.evicted for each in answers[True].suggestions] == [("default/on-n",)] * 2
    assert answers[True].suggestions[1].steps[0].text == "priority 1000 instead of 10"


def test_an_idle_claim_gives_its_device_back_where_no_plan_may_take_it():
    off = {"postFilter": {"disabled": [{"name": "DynamicResources"}]}}
    objects = [
        node("a"),
        device_class(),
        slice_on("a", gpu("card")),
        claim("idle", request("r"), has=[("r", "a", "card")], at="a"),
        claim("mine", request("r")),
        user("p", "mine"),
    ]
    snapshot = cluster(*objects, configuration={"profiles": [{"plugins": off}]})
    wanted = SuggestOptions(costs=only("deallocate", "request"))
    [answer] = suggest(snapshot, ["p"], wanted, OPTIONS, changed_by).answers
    assert kinds(answer) == [["deallocate"]]
    assert answer.suggestions[0].steps[0].object == "ResourceClaim default/idle"


def test_a_request_is_as_large_as_still_helps():
    objects = [node("n", cpu="1500m"), P]
    [answer] = asked(objects, costs=only("request")).answers
    [step] = answer.suggestions[0].steps
    assert step.text == "request 1500m cpu instead of 2"


def test_a_request_below_the_share_that_is_left_of_it_helps_nobody():
    costs = replace(only("request"), request=Fraction(4, 5))
    [answer] = asked([node("n", cpu="1500m"), P], costs=costs).answers
    assert (answer.answer, answer.complete) == ("nothing", True)


def test_two_steps_where_one_is_not_enough():
    objects = [BIG.taint("dedicated").cordoned(), P]
    [answer] = asked(objects, costs=only("toleration", "uncordon")).answers
    assert kinds(answer) == [["toleration", "uncordon"]]
    assert answer.suggestions[0].cost == 4


def test_more_important_pods_take_what_a_step_gives():
    """To uncordon one node helps the pod that comes first; two nodes are needed for both."""
    objects = [
        node("c1", cpu="2").cordoned(),
        node("c2", cpu="2").cordoned(),
        P.named("first").priority(20),
        P,
    ]
    [answer] = asked(objects, costs=only("uncordon")).answers
    assert kinds(answer) == [["uncordon", "uncordon"]]


def test_a_step_that_takes_from_others_is_none():
    """With a higher priority the pod would be placed, in another one's place."""
    objects = [node("n", cpu="2"), P.named("first").priority(20), P]
    assert asked(objects, costs=only("priority")).answers[0].answer == "nothing"
    [answer] = asked(objects, costs=only("priority"), others_may_wait=True).answers
    assert answer.suggestions[0].left_out == ("default/first",)


def test_no_step_is_needed_where_a_best_plan_places_it():
    objects = [node("n", cpu="2"), P, P.named("q")]
    [answer] = asked(objects, "q", others_may_wait=True).answers
    assert (answer.answer, answer.suggestions) == ("placed", ())


def test_pods_that_are_alike_are_asked_about_as_one():
    objects = [node("n", cpu="1"), P.times(3), pod("other").req(cpu="1").select(disk="ssd")]
    answers = asked(objects, None, costs=only("request", "nodeSelector")).answers
    assert [(each.pods, len(each.alike)) for each in answers] == [
        (("default/p-0",), 2),
        (("default/other",), 0),
    ]


def test_a_kind_that_is_never_taken_is_not_on_the_menu():
    [answer] = asked([BIG.taint("dedicated"), P], costs=StepCosts(costs={})).answers
    assert (answer.answer, answer.menu) == ("nothing", 0)


@pytest.mark.parametrize(
    "objects, name",
    [
        pytest.param([BIG.taint("dedicated"), P], "p", id="a toleration"),
        pytest.param([node("n", cpu="1500m"), P], "p", id="a request"),
        pytest.param([*ZONES, SPREAD], "p", id="a skew"),
        pytest.param([node("n", cpu="4"), group("g", gang=3), MEMBER.times(3)], "g", id="a gang"),
        pytest.param([BIG.cordoned(), P], "p", id="a cordon"),
        pytest.param(
            [node("n", cpu="2"), pod("old").req(cpu="2").on("n").priority(10).terminating(), P],
            "p",
            id="a pod that is being deleted",
        ),
        pytest.param([*FULL, P], "p", id="a node"),
    ],
)
def test_the_changes_as_a_file_make_the_round_in_which_it_is_placed(objects, name):
    snapshot = cluster(*objects)
    [answer] = asked(objects, name).answers
    for suggestion in answer.suggestions:
        document = yaml.safe_load(yaml.safe_dump(suggestion.changes))
        changed = changed_by(snapshot, read_changes("changes.yaml", document))
        plan = solve(settled(snapshot, changed)[0], OPTIONS)
        assert not plan.placed().keys().isdisjoint(answer.pods)


def test_who_is_kept_comes_first_and_is_never_evicted():
    """The lesser pod is placed in place of the more important one, and the pod that runs stays."""
    objects = [
        node("n", cpu="2"),
        node("m", cpu="2"),
        pod("low").req(cpu="2").priority(1),
        pod("high").req(cpu="2").priority(9),
        pod("v").req(cpu="2").on("m"),
    ]
    snapshot = replace(cluster(*objects), kept=("default/low", "default/v"))
    plan = solve(snapshot, OPTIONS)
    assert (plan.placed(), plan.evictions) == ({"default/low": "n"}, ())
    assert plan.tiers[0].model_dump() == {
        "name": "kept",
        "sense": "max",
        "value": 1,
        "bound": 1,
        "proven": True,
    }


def test_where_no_time_is_left_nothing_is_claimed():
    snapshot = cluster(BIG.taint("dedicated"), P)
    hasty = replace(OPTIONS, time_limit=1e-6)
    [answer] = suggest(snapshot, ["p"], SuggestOptions(), hasty, changed_by).answers
    assert (answer.answer, answer.complete, answer.suggestions) == ("open", False, ())
