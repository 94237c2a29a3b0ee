"""Which plans may be carried out, and what is said of the others."""

import json

import pytest
from click.testing import CliRunner
from support.applying import cluster_of
from support.builders import cluster, manifest, node, pod
from support.devices import claim as device_claim
from support.devices import device_class, gpu, slice_on, user

from kubestow.cli import main
from kubestow.solver.api import solve_both

DRIVER_FIRST = gpu("g0", extra={"bindingConditions": ["ready"], "bindingFailureConditions": ["broken"]})
DEVICES = cluster(node("a"), device_class(), slice_on("a", DRIVER_FIRST), device_claim("c"), user("p", "c"))


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    snapshot = cluster(node("a"), pod("v").priority(0).on("a"), pod("p").priority(10))
    _, snapshot = cluster_of(manifest(snapshot), tmp_path_factory.mktemp("plans"))
    return [plan.model_dump(by_alias=True) for plan in solve_both(snapshot)]


def run(document, tmp_path, *options):
    file = tmp_path / "plan.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return CliRunner().invoke(main, ["apply-plan", str(file), *options]), str(file)


def put(path, value):
    """A change of one field of a document; `None` removes it."""

    def change(document):
        *names, last = path
        at = document
        for name in names:
            at = at[name]
        if value is None:
            del at[last]
        else:
            at[last] = value

    return change


WANTED = "is not a plan, as `kubestow solve -o json` prints it"
DUMP = "only the input of a plan that `kubectl get -o json` or the like wrote has what is needed"
REFUSED = [
    pytest.param(
        put(["stats", "verified"], False),
        "stats.verified: is false: only a plan that was replayed may be carried out",
        id="a plan that was not replayed",
    ),
    pytest.param(
        put(["stats", "admissible"], False),
        "stats.admissible: is false: the plan wastes an eviction, evicts what it binds, "
        "or evicts a part of a group",
        id="an outcome that is no plan",
    ),
    pytest.param(
        put(["objects"], None),
        "objects: is missing: an earlier release wrote the plan, without uids; solve the round again",
        id="a plan of an earlier release",
    ),
    pytest.param(
        put(["objects", "pods", 0, "uid"], None),
        f"Pod default/p: metadata.uid: is missing: {DUMP}",
        id="a pod without a uid",
    ),
    pytest.param(
        put(["objects", "pods"], []),
        "Pod default/p: steps[0]: is not among the objects of the plan",
        id="a step about a pod that objects lack",
    ),
    pytest.param(
        put(["steps"], "none"),
        f"steps: {WANTED}: Input should be a valid tuple",
        id="a field of another type",
    ),
    pytest.param(put(["tiers"], None), f"tiers: {WANTED}: Field required", id="a field that is missing"),
]


@pytest.mark.parametrize("change, words", REFUSED)
def test_a_plan_that_may_not_be_carried_out_is_refused_in_one_line(change, words, plans, tmp_path):
    document = json.loads(json.dumps(plans[0]))
    change(document)
    result, file = run(document, tmp_path)
    assert result.exit_code == 2
    assert result.stderr == f"kubestow: error: {file}: {words}\n"
    assert result.stdout == ""


@pytest.mark.parametrize(
    "text, words",
    [
        pytest.param(
            "", "is empty; what is needed is a plan, as `kubestow solve -o json` prints it", id="nothing"
        ),
        pytest.param("[]", WANTED, id="a list"),
        pytest.param(
            '{"a": 1}\n{"b": 2}',
            "must hold one document, a plan, as `kubestow solve -o json` prints it, not 2",
            id="two documents",
        ),
        pytest.param(
            '{"before": {}, "after": {}}',
            "is a comparison of two releases, and none of its plans is to be carried out",
            id="an upgrade",
        ),
    ],
)
def test_what_is_no_plan_is_refused_in_one_line(text, words, tmp_path):
    result, file = run(text, tmp_path)
    assert result.exit_code == 2
    assert result.stderr == f"kubestow: error: {file}: {words}\n"


@pytest.mark.parametrize(
    "places",
    [
        pytest.param({}, id="no place"),
        pytest.param({"volume": "v", "volumeUid": "u", "node": "a"}, id="two places"),
    ],
)
def test_a_claim_to_a_volume_has_one_place(places, plans, tmp_path):
    document = json.loads(json.dumps(plans[0]))
    document["objects"]["volumeClaims"] = [{"claim": "default/data", "uid": "u", **places}]
    result, file = run(document, tmp_path)
    told = "objects: must have either a volume or the node for which one is made"
    assert result.stderr == f"kubestow: error: {file}: PersistentVolumeClaim default/data: {told}\n"


@pytest.mark.parametrize(
    "version", ["v1", "resource.k8s.io/v1; touch hit", "../x/v1", "resource.k8s.io/../v1"]
)
def test_the_version_of_a_claim_is_one_of_a_group(version, plans, tmp_path):
    document = json.loads(json.dumps(plans[0]))
    document["objects"]["claims"] = [{"claim": "default/c", "apiVersion": version, "uid": "u"}]
    result, file = run(document, tmp_path, "-o", "script")
    assert result.stderr.startswith(
        f"kubestow: error: {file}: ResourceClaim default/c: apiVersion: must be a DNS "
    )
    assert (result.exit_code, result.stdout) == (2, "")


LACKING = [
    pytest.param(["limits"], id="limits"),
    pytest.param(["unschedulable"], id="who waits"),
    pytest.param(["allocations"], id="allocations"),
    pytest.param(["placements"], id="placements"),
    pytest.param(["fallbacks"], id="fallbacks"),
    pytest.param(["stats", "wallSeconds"], id="seconds"),
    pytest.param(["stats", "progress"], id="the progress of the search"),
]


@pytest.mark.parametrize("path", LACKING)
def test_what_a_plan_may_lack_changes_nothing(path, plans, tmp_path):
    document = json.loads(json.dumps(plans[0]))
    *names, last = path
    at = document
    for name in names:
        at = at[name]
    at.pop(last, None)
    assert run(document, tmp_path)[0].stdout == run(plans[0], tmp_path)[0].stdout != ""


def test_of_a_comparison_one_plan_has_to_be_chosen(plans, tmp_path):
    both = {"optimal": plans[0], "greedy": plans[1]}
    result, file = run(both, tmp_path)
    choice = "is a comparison, which holds two plans: --scheduler optimal or --scheduler greedy chooses one"
    assert result.stderr == f"kubestow: error: {file}: {choice}\n"
    for name, plan in both.items():
        assert run(both, tmp_path, "--scheduler", name)[0].stdout == run(plan, tmp_path)[0].stdout != ""
    result, file = run(plans[1], tmp_path, "--scheduler", "optimal")
    assert result.stderr == f"kubestow: error: {file}: scheduler: is greedy, not optimal\n"


def test_devices_that_drivers_make_ready_are_left_to_a_scheduler(tmp_path):
    _, snapshot = cluster_of(manifest(DEVICES), tmp_path)
    result, file = run(solve_both(snapshot)[0].model_dump(by_alias=True), tmp_path)
    why = "its devices have binding conditions (KEP-5007), which only a scheduler waits for"
    assert result.stderr == f"kubestow: error: {file}: ResourceClaim default/c: objects: {why}\n"


HOSTILE = [
    "x; touch hit",
    "$(touch hit)",
    "`touch hit`",
    "a'b",
    'a"b',
    "a\nb",
    "../../pods",
    "-A",
    "a/b",
    ".",
]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("where", ["pod", "node"])
def test_names_that_no_api_server_has_are_refused(where, name, plans, tmp_path):
    document = json.loads(json.dumps(plans[0]))
    if where == "pod":
        document["objects"]["pods"][0]["pod"] = document["steps"][0]["bind"] = f"default/{name}"
    else:
        document["steps"][0]["node"] = name
    result, _ = run(document, tmp_path, "-o", "script")
    assert result.exit_code == 2
    assert "must be a DNS" in result.stderr
    assert result.stdout == ""
