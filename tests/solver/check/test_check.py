"""What `kubestow check` finds: documents as they were made hold, and each that was tampered with does not."""

import copy
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from support.builders import budget, cluster, group, node, pod
from support.device_rounds import tiny_devices
from support.devices import claim, device_class, gpu, request, slice_on, user
from support.oracle import placing as all_plans
from support.proof import told as words
from support.why_rounds import OPTIONS

from kubestow.cli import main
from kubestow.framework.build import build_cluster
from kubestow.models.errors import KubestowError
from kubestow.models.eviction_limits import EvictionLimits, PodSelector
from kubestow.solver.api import solve
from kubestow.solver.check.documents import check_document
from kubestow.solver.check.exhaustive import MOST_NODES, places_any
from kubestow.solver.compare import compare
from kubestow.solver.why.question import why

P = pod("p").req(cpu="2").priority(10)
GUARDED = [
    node("n", cpu="2"),
    pod("v").req(cpu="2").label(app="v").guard(1000).on("n"),
    budget("k", allowed=0, app="v"),
    node("m", cpu="2").taint("dedicated", "gpu"),
    P,
]
SPREAD = [
    node("a", cpu="8", zone="a"),
    node("b", cpu="1", zone="b"),
    pod("v").label(app="p").on("a").priority(10),
    P.label(app="p").spread("zone"),
]
APART = [
    node("a", cpu="8", zone="a"),
    pod("v").label(app="v").on("a").priority(10),
    P.anti("zone", {"app": "v"}),
]
LONELY = [node("a", cpu="8", zone="a"), node("b", cpu="8"), P.affinity("zone", {"app": "none"})]
PARTLY = [node("n", cpu="2"), pod("w").req(cpu="1").on("n"), P, P.named("q")]
RAISED = [*SPREAD, P.named("q").req(cpu="100").label(app="p")]
"""One more pod could raise the minimum, and has no room."""
GANG = [
    node("a", cpu="4").label(rack="r1"),
    group("g", "rack", gang=3),
    pod("m").req(cpu="2").member("g").times(3),
]


COSTLY = [node("n", cpu="2"), P, P.named("q").priority(20)]
EVICTING = [node("n", cpu="2"), pod("v").req(cpu="2").on("n"), P]
MOVED = {"pod": "default/p", "greedy": None, "optimal": "n"}
RELIANT = {"pod": "default/p", "optimal": "n", "withoutEvictions": "n"}
KEPT = {
    "answer": "impossible",
    "subject": "Pod default/p",
    "pods": ["default/p"],
    "core": [],
    "proof": {"kind": "search"},
}
ROW = {
    "kind": "request",
    "object": "Pod default/p",
    "field": "f",
    "text": "t",
    "without": {"others": "standing", "placed": {}, "evicted": [], "steps": [], "allocations": []},
}


def document(objects, name="p"):
    """An answer as a program reads it."""
    return json.loads(json.dumps(why(cluster(*objects), name, OPTIONS)))


def wrong(objects, told):
    return [item.claim for item in check_document(cluster(*objects), told) if item.holds is False]


@pytest.mark.parametrize(
    "objects, name",
    [
        pytest.param(GUARDED, "p", id="by counting"),
        pytest.param(SPREAD, "p", id="by counting domains of a constraint"),
        pytest.param(APART, "p", id="by who stays"),
        pytest.param(LONELY, "p", id="by who is not there"),
        pytest.param(RAISED, "p", id="by search"),
        pytest.param(GANG, "g", id="a group by domain"),
        pytest.param(PARTLY, "q", id="at a cost"),
        pytest.param([node("n"), P], "p", id="placed"),
    ],
)
def test_an_answer_holds_as_it_was_made(objects, name):
    findings = check_document(cluster(*objects), document(objects, name))
    *checked, unread = findings
    assert checked
    words = {item.claim for item in checked if item.holds is None}
    assert all(item.holds is not False for item in checked)
    assert words <= {"that plan is the best one without it"}
    assert unread.holds is None
    assert "status" in unread.claim or "roundsAsked" in unread.claim


def _set(path, value):
    def change(told):
        *way, last = path
        for step in way:
            told = told[step]
        told[last] = value

    return change


@pytest.mark.parametrize(
    "objects, change",
    [
        pytest.param(GUARDED, _set(["proof", "nodes", 0, "held"], "1"), id="an amount that is held"),
        pytest.param(GUARDED, _set(["proof", "nodes", 0, "wanted"], "3"), id="the amount that is wanted"),
        pytest.param(GUARDED, _set(["proof", "nodes", 0, "resource"], "memory"), id="what is added up"),
        pytest.param(
            GUARDED, lambda told: told["core"].append(told["core"][0]), id="a rule that is there twice"
        ),
        pytest.param(GUARDED, _set(["proof", "staying"], []), id="who stays"),
        pytest.param(GUARDED, lambda told: told["proof"]["nodes"].pop(), id="a node that is left out"),
        pytest.param(GUARDED, _set(["proof", "nodes", 1, "reason"], 0), id="a node under another rule"),
        pytest.param(GUARDED, _set(["pods", 0], "default/x"), id="who it is about"),
        pytest.param(GUARDED, _set(["core", 0, "text"], "guard of 7"), id="the words of a rule"),
        pytest.param(GUARDED, lambda told: told["core"].pop(), id="a rule that is left out"),
        pytest.param(
            GUARDED, lambda told: told["core"][-1]["without"]["steps"].pop(), id="the step that places it"
        ),
        pytest.param(
            GUARDED, _set(["core", 0, "without", "steps", -1, "node"], "m"), id="a step to another node"
        ),
        pytest.param(
            GUARDED, _set(["core", 0, "without", "placed"], {"default/p": "m"}), id="where it would be placed"
        ),
        pytest.param(
            GUARDED, _set(["core", 0, "without", "evicted"], ["default/p"]), id="who would be evicted"
        ),
        pytest.param(RAISED, lambda told: told["core"].pop(), id="a rule of a core that search found"),
        pytest.param(SPREAD, _set(["proof", "nodes", 0, "counted"], 2), id="who is counted"),
        pytest.param(SPREAD, _set(["proof", "nodes", 0, "minimum"], -1), id="the minimum"),
        pytest.param(SPREAD, _set(["proof", "nodes", 0, "domain"], "b"), id="a domain"),
        pytest.param(APART, _set(["proof", "staying"], []), id="who keeps its distance by staying"),
        pytest.param(PARTLY, lambda told: told["evidence"]["steps"].pop(), id="the steps of a plan"),
        pytest.param(GUARDED, _set(["priority"], 11), id="its priority"),
        pytest.param(GUARDED, _set(["core", 0, "facts", "guard"], 7), id="a fact of a rule"),
        pytest.param(SPREAD, _set(["core", 0, "counts", "minimum"], 7), id="a count of a rule"),
        pytest.param(COSTLY, _set(["leftOut"], []), id="who would be left out"),
        pytest.param(COSTLY, _set(["spared"], ["default/v"]), id="who would be spared"),
        pytest.param(COSTLY, _set(["tier", "with"], 1), id="what the tier would have"),
        pytest.param(COSTLY, _set(["tier"], None), id="no tier that differs"),
        pytest.param(COSTLY, _set(["placed"], {"default/p": "m"}), id="where it would be"),
        pytest.param(COSTLY, lambda told: told["bestEvidence"]["steps"].pop(), id="the best plan's steps"),
        pytest.param(EVICTING, _set(["victims"], []), id="who leaves for it"),
    ],
)
def test_an_answer_that_was_tampered_with_does_not(objects, change):
    told = document(objects)
    assert not wrong(objects, told)
    changed = copy.deepcopy(told)
    change(changed)
    assert wrong(objects, changed)


def test_a_pod_that_could_come_later_is_company():
    told = document(LONELY)
    late = [*LONELY, pod("late").label(app="none")]
    assert "while all of them stand no plan places it" in wrong(late, told)


def test_a_victim_that_may_be_evicted_does_not_stay():
    """A pod of the input that came after the answer may evict it."""
    told = document(GUARDED)
    late = [*GUARDED, pod("late").priority(2000)]
    claims = wrong(late, told)
    assert "while all of them stand no plan places it" in claims


@pytest.mark.parametrize(
    "told, message",
    [
        ({"answer": "impossible"}, "no document of `kubestow explain --why -o json`"),
        ({**KEPT, "subject": "Pod default/x"}, "there is no pod"),
        ({**KEPT, "subject": 5}, "subject: Input should be"),
        ({**KEPT, "pods": [5]}, "pods.0: Input should be"),
        ({**KEPT, "answer": "perhaps"}, "perhaps"),
        ({**KEPT, "proof": {"kind": "faith"}}, "proof.kind"),
        ({key: KEPT[key] for key in KEPT if key != "core"}, "core: Field required"),
        ({**KEPT, "core": [{**ROW, "without": {**ROW["without"], "others": "asleep"}}]}, "without.others"),
        ({"steps": 3}, "no document of `kubestow solve`"),
        ({"optimal": "x"}, "no document of `kubestow solve`"),
        ({"optimal": [1]}, "no document of `kubestow solve`"),
    ],
)
def test_other_documents_are_refused(told, message):
    with pytest.raises(KubestowError, match=message):
        check_document(cluster(*GUARDED), told)


# -- plans --


def test_a_plan_is_replayed_and_its_bounds_are_counted():
    plan = solve(cluster(*GUARDED), OPTIONS)
    *findings, unread = check_document(cluster(*GUARDED), plan.model_dump(by_alias=True))
    assert all(item.holds for item in findings)
    assert (unread.holds, unread.how) == (None, "not looked at")
    assert unread.claim.startswith("stats: ")
    assert "scheduled[priority=10] is at most 0" in [item.claim for item in findings]


@pytest.mark.parametrize(
    "limits",
    [
        pytest.param(EvictionLimits(evictions=0), id="no evictions"),
        pytest.param(EvictionLimits(never=(PodSelector.parse("default:"),)), id="a namespace is spared"),
    ],
)
def test_a_plan_within_limits_holds(limits):
    told = solve(cluster(*EVICTING), replace(OPTIONS, limits=limits)).model_dump(by_alias=True)
    assert not told["bindings"]
    assert wrong(EVICTING, told) == []


def test_a_plan_with_a_step_too_few_fails():
    told = solve(cluster(*PARTLY), OPTIONS).model_dump(by_alias=True)
    told["steps"] = told["steps"][:-1]
    assert wrong(PARTLY, told) == ["every step passes every filter"]


def test_a_bound_that_only_the_solver_knows_is_not_checked():
    told = solve(cluster(*PARTLY), OPTIONS).model_dump(by_alias=True)
    found = {item.claim: item.holds for item in check_document(cluster(*PARTLY), told)}
    assert found["scheduled[priority=10] is at most 1"] is None


def test_an_optimal_plan_that_is_not_admissible_is_only_greedys():
    """Two of a gang of three do not start, whatever the document calls itself."""
    objects = [*GANG, node("b", cpu="2").label(rack="r1")]
    told = solve(cluster(*objects), OPTIONS).model_dump(by_alias=True)
    assert not wrong(objects, told)
    told["steps"] = told["steps"][:1]
    for admissible in (True, False):
        told["stats"] = {**told["stats"], "admissible": admissible}
        assert wrong(objects, told)


def test_a_plan_is_not_called_inadmissible_without_a_broken_rule():
    told = solve(cluster(*PARTLY), OPTIONS).model_dump(by_alias=True)
    told["stats"] = {**told["stats"], "admissible": False}
    assert wrong(PARTLY, told) == ["the plan is not admissible"]


def test_a_plan_without_objects_has_them_unchecked():
    told = solve(cluster(*PARTLY), OPTIONS).model_dump(by_alias=True)
    found = {c.claim: c.holds for c in check_document(cluster(*PARTLY), {**told, "objects": None})}
    assert found["objects are those that the steps touch"] is None


@pytest.mark.parametrize(
    "change, claim",
    [
        pytest.param(_set(["tiers", 0, "optimal"], 99), "the table of tiers", id="a value of the table"),
        pytest.param(_set(["firstDifference"], "fallback"), "firstDifference", id="the first difference"),
        pytest.param(_set(["pods"], [MOVED]), "the table of pods", id="a pod"),
        pytest.param(_set(["withoutEvictions", "pods"], [RELIANT]), "the pods that rely", id="a reliant pod"),
    ],
)
def test_the_tables_of_a_comparison_are_those_of_its_plans(change, claim):
    round_ = cluster(*EVICTING)
    told = json.loads(compare(round_, OPTIONS, without_evictions=True).model_dump_json(by_alias=True))
    assert not wrong(EVICTING, told)
    change(told)
    [found] = wrong(EVICTING, told)
    assert found.startswith(claim)


# -- the search without a solver --


def test_a_large_round_is_not_searched():
    many = cluster(*[node(f"n{k}") for k in range(MOST_NODES + 1)], P)
    assert places_any(build_cluster(replace(many, asked=("default/p",)))) is None


PAIRED = [
    node("n"),
    device_class(),
    slice_on("n", gpu("x", model="one"), gpu("y", model="two")),
    claim("pair", request("r", count=2), match="model"),
    user("p", "pair"),
]
"""Two cards of one model are asked for, and the two that there are differ."""


def test_a_core_of_rules_of_devices_is_searched_once_more():
    told = document(PAIRED)
    assert told["proof"]["kind"] == "search"
    assert {row["kind"] for row in told["core"]} == {"deviceRequest", "deviceConstraint"}
    found = {item.claim: item for item in check_document(cluster(*PAIRED), told)}
    assert found["while all of them stand no plan places it"].how == "every step after every other tried"
    assert all(item.holds for item in found.values() if not item.claim.startswith("fields beside"))


@pytest.mark.parametrize("field", ["device", "pool", "driver"])
def test_devices_that_a_removal_would_have_and_that_are_not_there_are_refused(field):
    told = document(PAIRED)
    told["core"][1]["without"]["allocations"][0]["devices"][0][field] = "no-such"
    [found] = wrong(PAIRED, told)
    assert found.startswith("without it there is a place")


@pytest.mark.parametrize("kind", ["deviceRequest", "deviceConstraint"])
def test_rules_of_devices_that_do_not_keep_the_pod_are_refused(kind):
    """Without either rule the other one is no reason: the search finds the devices that the answer denies."""
    told = document(PAIRED)
    told["core"] = [row for row in told["core"] if row["kind"] != kind]
    assert len(told["core"]) == 1
    assert "while all of them stand no plan places it" in wrong(PAIRED, told)


@pytest.mark.parametrize("seed", range(24))
def test_a_search_with_devices_finds_what_the_search_of_all_plans_finds(seed):
    snapshot = tiny_devices(seed)
    for info in build_cluster(snapshot).pods:
        asked = build_cluster(replace(snapshot, asked=(info.key,)))
        if info.index not in asked.pending or (found := places_any(asked)) is None:
            continue
        assert found == all_plans.places_any(asked), words(snapshot, f"{info.key} has a place: {found}")


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([claim("c", request("r", mode="All")), user("p", "c")], id="all devices"),
        pytest.param([claim("c", request("r", admin=True)), user("p", "c")], id="for administration"),
        pytest.param([claim("c"), user("p", "c"), user("q", "c")], id="a claim of two pods"),
        pytest.param([claim("c", has=[("r", "n", "x")], at="n"), user("p", "c")], id="a claim with devices"),
    ],
)
def test_other_claims_are_not_searched(objects):
    snapshot = cluster(node("n"), device_class(), slice_on("n", gpu("x")), *objects)
    assert places_any(build_cluster(replace(snapshot, asked=("default/p",)))) is None


# -- the command --


@pytest.mark.parametrize(
    "change, code", [(lambda text: text, 0), (lambda text: text.replace('"2"', '"1"'), 1)]
)
def test_the_exit_code_tells_whether_it_holds(change, code):
    told = CliRunner().invoke(main, ["explain", "guard-service", "promo-0", "--why", "-o", "json"])
    result = CliRunner().invoke(main, ["check", "-", "-o", "json"], input=change(told.stdout))
    assert result.exit_code == code, result.output
    assert json.loads(result.stdout)["holds"] == (code == 0)


@pytest.mark.parametrize(
    "text, line",
    [
        ("{", "is not JSON"),
        ("[]", "is not one object"),
        ("a: [", "is neither JSON nor YAML"),
        ('{"optimal": "x"}', "error: -: no document of `kubestow solve`"),
        ('{"answer": "placed", "subject": 5}', "placed.subject: Input should be"),
    ],
)
def test_bad_input_is_one_line(text, line):
    result = CliRunner().invoke(main, ["check", "-", "guard-service"], input=text)
    assert result.exit_code == 2
    assert line in result.stderr


@pytest.mark.parametrize("text", ['{"optimal": "x"}', '{"optimal": [1]}', '{"instance": 5}'])
def test_a_document_that_names_no_input_is_one_line(text):
    result = CliRunner().invoke(main, ["check", "-"], input=text)
    assert result.exit_code == 2
    assert "does not name its INSTANCE" in result.stderr


@pytest.mark.parametrize(
    "made, arguments, words",
    [
        pytest.param({}, ["guard-service", "plan.json"], "'guard-service' does not exist", id="an instance"),
        pytest.param(
            {"r.yaml": "kind: Node\n---\nkind: Pod\n"}, ["r.yaml", "plan.json"], "is neither", id="a round"
        ),
        pytest.param(
            {"r.yaml": "apiVersion: v1\nkind: List\nitems: []\n"},
            ["r.yaml", "plan.json"],
            "r.yaml: is a Kubernetes object, no earlier answer",
            id="a list of objects",
        ),
    ],
)
def test_what_is_no_answer_where_the_answer_belongs_is_told_in_one_line(
    made, arguments, words, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name, text in made.items():
        (tmp_path / name).write_text(text)
    told = CliRunner().invoke(main, ["check", *arguments])
    assert told.exit_code == 2
    assert words in told.stderr
    assert "takes an earlier answer first, then what it was made from" in told.stderr
    assert told.stderr.count("\n") == 1
