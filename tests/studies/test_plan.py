"""What a study file says, and the runs that come of it."""

import pytest

from kubestow.models.errors import InputError
from kubestow.studies.plan import plan_of
from kubestow.studies.reading import read_study
from kubestow.studies.rows import failed
from kubestow.studies.solving import solve_run

POD = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}"
NODE = "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {cpu: '4', pods: '9'}}}"
GENERATED = "{generate: contested, seeds: 2, with: {nodes: 1, pods_per_node: 2, preemptors: 10}}"
PROFILE = "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}"


@pytest.fixture
def place(tmp_path):
    (tmp_path / "rounds").mkdir()
    for name in ("b", "a"):
        (tmp_path / "rounds" / f"{name}.yaml").write_text(f"{NODE}\n---\n{POD}\n")
    (tmp_path / "cordon.yaml").write_text("changes: [{cordon: n}]")
    (tmp_path / "profile.yaml").write_text(PROFILE)
    (tmp_path / "broken.yaml").write_text("{apiVersion: v1, kind: Node, metadata: {}}")
    return tmp_path


def planned(place, text):
    (place / "study.yaml").write_text(text)
    file, study = read_study(place / "study.yaml")
    return plan_of(study, file)


def solved(run):
    return solve_run(None, run, lambda news: None).rows


def test_runs_are_instances_by_variants_by_schedulers_by_seeds(place):
    """Greedy has no seed and runs once."""
    runs = planned(
        place,
        "{instances: [rounds/*.yaml], variants: [{name: x}, {name: y, prefer: pack}], seeds: [4, 7]}",
    )
    assert [str(run) for run in runs[:6]] == [
        "rounds/a.yaml (optimal, x, seed 4)",
        "rounds/a.yaml (optimal, x, seed 7)",
        "rounds/a.yaml (greedy, x)",
        "rounds/a.yaml (optimal, y, seed 4)",
        "rounds/a.yaml (optimal, y, seed 7)",
        "rounds/a.yaml (greedy, y)",
    ]
    assert len(runs) == 12
    assert len({run.id for run in runs}) == 12


@pytest.mark.parametrize(
    "source, names, family",
    [
        pytest.param("rounds/a.yaml", ["rounds/a.yaml"], "rounds/a.yaml", id="a file"),
        pytest.param("rounds", ["rounds"], "rounds", id="a folder is one instance"),
        pytest.param(
            "rounds/*.yaml", ["rounds/a.yaml", "rounds/b.yaml"], "rounds/*.yaml", id="a pattern, sorted"
        ),
        pytest.param("guard-service", ["guard-service"], "bundled", id="a bundled instance"),
        pytest.param("{path: rounds, family: mine}", ["rounds"], "mine", id="a family of one's own"),
        pytest.param(
            GENERATED,
            [f"contested nodes=1 pods_per_node=2 preemptors=10 seed={seed}" for seed in (0, 1)],
            "contested",
            id="a generator with seeds",
        ),
        pytest.param(
            "{generate: packing, with: {nodes: 2, pods_per_node: 1, priorities: 1, utilisation: 1}}",
            ["packing nodes=2 pods_per_node=1 priorities=1 utilisation=1.0 seed=0"],
            "packing",
            id="a generator, whose shares are no whole numbers",
        ),
        pytest.param(
            "{generate: one-app, with: {nodes: 1, pods: 1}}",
            ["one-app nodes=1 pods=1 seed=0"],
            "one-app",
            id="a generator with one seed by default",
        ),
    ],
)
def test_instances_come_from(place, source, names, family):
    runs = planned(place, f"{{instances: [{source}], schedulers: [greedy]}}")
    assert [run.instance.name for run in runs] == names
    assert {run.instance.family for run in runs} == {family}


def ids(place, text="{instances: [rounds/a.yaml], variants: [{name: v, changes: [cordon.yaml]}]}"):
    return [run.id for run in planned(place, text)]


def test_the_same_study_has_the_same_ids(place):
    assert ids(place) == ids(place)


@pytest.mark.parametrize(
    "file", ["rounds/a.yaml", "cordon.yaml"], ids=["the instance", "the changes of a variant"]
)
def test_a_run_is_another_one_when_its_input_has_changed(place, file):
    before = ids(place)
    (place / file).write_text((place / file).read_text() + "\n# changed\n")
    assert not set(before) & set(ids(place))


@pytest.mark.parametrize(
    "words",
    [
        "variants: [{name: v}]",
        "variants: [{name: v, changes: [cordon.yaml], timeLimit: 9}]",
        "variants: [{name: v, changes: [cordon.yaml], kubeVersion: '1.34'}]",
        "variants: [{name: v, changes: [cordon.yaml], maxEvictions: 1}]",
        "variants: [{name: v, changes: [cordon.yaml]}], threads: 2",
    ],
)
def test_a_run_is_another_one_when_the_question_is(place, words):
    assert not set(ids(place)) & set(ids(place, f"{{instances: [rounds/a.yaml], {words}}}"))


WRONG = [
    ("nothing", "{}", "study.yaml: instances: required in a study file (docs/studies.md)"),
    ("no instance", "{instances: []}", "study.yaml: instances: tuple should have at least 1 item"),
    (
        "a field too many",
        "{instances: [rounds], seed: 3}",
        "study.yaml: seed: extra inputs are not permitted",
    ),
    ("a name of nothing", "{instances: [round]}", "study.yaml: instances[0]: round: no such file or folder"),
    ("a pattern of nothing", "{instances: ['x/*']}", "instances[0]: x/*: nothing matches this pattern"),
    ("twice the same", "{instances: [rounds, rounds]}", "study.yaml: instances: rounds comes twice"),
    (
        "two origins",
        "{instances: [{path: a, generate: b}]}",
        "instances[0]: must say either path or generate",
    ),
    ("an unknown generator", "{instances: [{generate: x}]}", "there is no family 'x'; there are packing, "),
    (
        "an argument too many",
        "{instances: [{generate: contested, with: {nodes: 1, podz: 1}}]}",
        "contested has no knob 'podz'; it has nodes, pods_per_node, preemptors",
    ),
    (
        "a part of a node",
        "{instances: [{generate: contested, with: {nodes: 1.5}}]}",
        "nodes=1.5: the value must be a whole number from 1 to ",
    ),
    (
        "no node",
        "{instances: [{generate: contested, with: {nodes: 0}}]}",
        "nodes=0: the value must be a whole number from 1 to ",
    ),
    ("seeds of a path", "{instances: [{path: rounds, seeds: 2}]}", "seeds and with go with generate only"),
    (
        "a negative seed",
        "{instances: [rounds], seeds: [-1]}",
        "study.yaml: seeds[0]: input should be greater",
    ),
    ("one seed twice", "{instances: [rounds], seeds: [1, 1]}", "seeds must differ"),
    ("one name twice", "{instances: [rounds], variants: [{name: a}, {name: a}]}", "names of variants must"),
    (
        "an unknown release",
        "{instances: [rounds], variants: [{name: a, kubeVersion: '1.2'}]}",
        "study.yaml: variants[0].kubeVersion: kubeVersion: '1.2' is not a release",
    ),
    (
        "an unknown gate",
        "{instances: [rounds], variants: [{name: a, featureGates: X=false}]}",
        "study.yaml: variants[0].featureGates: --feature-gates: unknown gate 'X'",
    ),
    (
        "changes that are none",
        "{instances: [rounds], variants: [{name: a, changes: [profile.yaml]}]}",
        "profile.yaml: kind: must be WhatIf",
    ),
    (
        "a configuration that is none",
        "{instances: [rounds], variants: [{name: a, configuration: cordon.yaml}]}",
        "cordon.yaml: kind: must be KubeSchedulerConfiguration",
    ),
]


@pytest.mark.parametrize("text, words", [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_what_is_wrong_is_told_in_one_line_before_anything_runs(place, text, words):
    with pytest.raises(InputError) as error:
        planned(place, text)
    assert words in str(error.value)


def test_a_run_has_a_row_for_each_tier(place):
    [run] = planned(place, "{instances: [rounds/a.yaml], schedulers: [optimal], timeLimit: 5}")
    rows = solved(run)
    assert [row.number for row in rows] == list(range(len(rows)))
    first = rows[0]
    assert (first.tier, first.value, first.bound, first.proven) == ("scheduled[priority=0]", 1, 1, True)
    assert (first.status, first.nodes, first.pending, first.input_hash) == (
        *("OPTIMAL", 1, 1),
        run.instance.digest,
    )


def test_a_generated_instance_has_a_hash_as_well(place):
    [run, other] = planned(place, f"{{instances: [{GENERATED}], schedulers: [greedy]}}")
    assert len(solved(run)[0].input_hash) == 64
    assert solved(run)[0].input_hash != solved(other)[0].input_hash


def test_a_variant_changes_the_round(place):
    """On a cordoned node the pod waits, under either scheduler."""
    runs = planned(
        place,
        "{instances: [rounds/a.yaml], timeLimit: 5, variants: [{name: plain, configuration: profile.yaml}, "
        "{name: cordoned, changes: [cordon.yaml]}]}",
    )
    told = {(run.conditions.variant.name, run.scheduler): solved(run)[0].value for run in runs}
    assert told == {
        ("plain", "optimal"): 1,
        ("plain", "greedy"): 1,
        ("cordoned", "optimal"): 0,
        ("cordoned", "greedy"): 0,
    }


def test_an_instance_that_cannot_be_read_is_a_row_with_file_and_reason(place):
    [run] = planned(place, "{instances: [broken.yaml], schedulers: [greedy]}")
    [row] = solved(run)
    assert (row.status, row.tier) == ("ERROR", None)
    assert row.error.startswith(f"{place / 'broken.yaml'}: Node")


def test_an_instance_that_changes_after_the_plan_is_not_solved(place):
    [run] = planned(place, "{instances: [rounds/a.yaml], schedulers: [greedy]}")
    (place / "rounds/a.yaml").write_text(NODE)
    [row] = solved(run)
    assert row.error == "rounds/a.yaml: has changed since the study was begun; begin it again"


def test_a_round_without_pods_is_a_run_all_the_same(place):
    (place / "empty.yaml").write_text(NODE)
    for run in planned(place, "{instances: [empty.yaml], timeLimit: 5}"):
        assert solved(run)


def test_a_failure_has_what_is_known_of_the_run(place):
    [run] = planned(place, "{instances: [rounds/a.yaml], schedulers: [greedy]}")
    [row] = failed(run, "killed").rows
    assert (row.run, row.instance, row.status, row.error) == (run.id, "rounds/a.yaml", "ERROR", "killed")
