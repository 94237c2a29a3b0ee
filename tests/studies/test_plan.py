"""What a study file says, and the runs that come of it."""

import os
from pathlib import Path

import orjson
import pytest
from support.paths import ROOT
from support.traces import DEPLOYMENT, START, event, openb_tables, pod, written

from kubestow.models.errors import InputError
from kubestow.studies.plan import plan_of
from kubestow.studies.reading import read_study
from kubestow.studies.rows import failed
from kubestow.studies.solving import solve_run

POD = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}"
NODE = "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {cpu: '4', pods: '9'}}}"
GENERATED = "{generate: contested, seeds: 2, with: {nodes: 1, pods_per_node: 2, preemptors: 10}}"
PROFILE = "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}"


TRACE = "trace: shop.sktrace, cluster: node.yaml"
FOUR = "{nodes: [{count: 4, allocatable: {cpu: 4}}]}"
OPENB = "openb: {nodes: nodes.csv, pods: pods.csv}"


def item_of(text):
    """Return an object as kube-scheduler-simulator exports it, without its type."""
    import yaml

    return {key: value for key, value in yaml.safe_load(text).items() if key not in ("apiVersion", "kind")}


@pytest.fixture
def place(tmp_path):
    (tmp_path / "rounds").mkdir()
    for name in ("b", "a"):
        (tmp_path / "rounds" / f"{name}.yaml").write_text(f"{NODE}\n---\n{POD}\n")
    (tmp_path / "cordon.yaml").write_text("changes: [{cordon: n}]")
    (tmp_path / "profile.yaml").write_text(PROFILE)
    (tmp_path / "node.yaml").write_text(NODE)
    lives = {("v1.Pod", "shop/a"): [{"Finished": [START, START + 30]}]}
    written(tmp_path / "shop.sktrace", event(0, pod("a")), event(60, DEPLOYMENT), lives=lives)
    openb_tables(tmp_path)
    export = {"nodes": [item_of(NODE)], "pods": [item_of(POD)], "schedulerConfig": None}
    (tmp_path / "export.json").write_bytes(orjson.dumps(export))
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
        pytest.param(
            f"{{{TRACE}}}", ["shop.sktrace on node.yaml"], "shop.sktrace", id="a trace as one batch"
        ),
        pytest.param(
            f"{{{TRACE}, at: 30s, family: shop}}",
            ["shop.sktrace on node.yaml at 30s"],
            "shop",
            id="a trace at one time",
        ),
        pytest.param(
            f"{{{TRACE}, at: [0s, 1m, 500ms]}}",
            [f"shop.sktrace on node.yaml at {time}" for time in ("0s", "60s", "0.5s")],
            "shop.sktrace",
            id="a trace at times, in their order",
        ),
        pytest.param(
            f"{{{TRACE}, every: 25s}}",
            [f"shop.sktrace on node.yaml at {time}s" for time in (0, 25, 50)],
            "shop.sktrace",
            id="a trace every so often, up to its end",
        ),
        pytest.param(
            f"{{trace: shop.sktrace, cluster: {FOUR}}}",
            ["shop.sktrace on 4 nodes"],
            "shop.sktrace",
            id="a trace in a cluster that is written in place",
        ),
        pytest.param(
            "{trace: shop.sktrace, cluster: {instance: guard-service}, at: 0s}",
            ["shop.sktrace on guard-service.yaml at 0s"],
            "shop.sktrace",
            id="a trace in a bundled instance",
        ),
        pytest.param(f"{{{OPENB}}}", ["pods.csv on nodes.csv"], "pods.csv", id="openb in its own order"),
        pytest.param(
            f"{{{OPENB}, seeds: 2, with: {{nodes: 1, gpus: summed, qos: true}}, family: gpus}}",
            [f"pods.csv on nodes.csv nodes=1 gpus=summed qos=true shuffle={seed}" for seed in (0, 1)],
            "gpus",
            id="openb, shuffled by seeds",
        ),
        pytest.param(
            "export.json", ["export.json"], "export.json", id="an export of kube-scheduler-simulator"
        ),
    ],
)
def test_instances_come_from(place, source, names, family):
    runs = planned(place, f"{{instances: [{source}], schedulers: [greedy]}}")
    assert [run.instance.name for run in runs] == names
    assert {run.instance.family for run in runs} == {family}


@pytest.mark.parametrize(
    "source, pods, nodes",
    [
        pytest.param("export.json", 1, 1, id="an export of kube-scheduler-simulator"),
        pytest.param(f"{{{TRACE}}}", 3, 1, id="a trace as one batch"),
        pytest.param(f"{{{TRACE}, at: 29s}}", 1, 1, id="a trace before a pod is over"),
        pytest.param(f"{{{TRACE}, at: 60s}}", 2, 1, id="a trace at its end"),
        pytest.param(
            f"{{trace: shop.sktrace, cluster: {FOUR}}}", 3, 4, id="a trace in a cluster written in place"
        ),
        pytest.param(f"{{{OPENB}}}", 2, 2, id="openb"),
        pytest.param(f"{{{OPENB}, with: {{pods: 3}}}}", 3, 2, id="openb, its list repeated"),
    ],
)
def test_a_trace_is_solved_and_has_the_hash_that_was_planned(place, source, pods, nodes):
    for run in planned(place, f"{{instances: [{source}], timeLimit: 5}}"):
        row = solved(run)[0]
        assert (row.error, row.pending, row.nodes) == (None, pods, nodes)
        assert row.input_hash == run.instance.digest


TRACED = f"{{instances: [{{{TRACE}, at: 0s}}, {{{OPENB}}}], schedulers: [greedy]}}"


@pytest.mark.parametrize(
    "file, other", [("shop.sktrace", 1), ("node.yaml", 1), ("nodes.csv", 0), ("pods.csv", 0)]
)
def test_a_trace_is_another_instance_when_one_of_its_files_has_changed(place, file, other):
    before = ids(place, TRACED)
    runs = planned(place, TRACED)
    content = (place / file).read_bytes()
    one_more_field = bytes([content[0] + 1]) + content[1:] + b"\xc0\xc0"
    (place / file).write_bytes(one_more_field if file.endswith("sktrace") else content + b"\n")
    after = ids(place, TRACED)
    assert [old == new for old, new in zip(before, after, strict=True)] == [other == 0, other == 1]
    assert "has changed since the study was begun" in solved(runs[1 - other])[0].error


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
    ("no instance", "{instances: []}", "study.yaml: instances: must not be empty"),
    ("one instance that is no list", "{instances: rounds}", "instances: must be a list, not 'rounds'"),
    ("a number for an instance", "{instances: [3]}", "instances[0]: must be a map, not 3"),
    ("an empty path", "{instances: [{path: ''}]}", "instances[0].path: must not be empty"),
    (
        "a field too many",
        "{instances: [rounds], seed: 3}",
        "study.yaml: seed: unknown field; known are kind, name, instances, schedulers, variants, seeds, "
        "timeLimit, threads",
    ),
    (
        "a field too many of a source",
        "{instances: [{path: rounds, famly: x}]}",
        "instances[0].famly: unknown field; known are path, generate, openb, trace, seeds, with, ",
    ),
    (
        "a field too many of a table",
        "{instances: [{openb: {nodes: a, pods: b, qos: c}}]}",
        "instances[0].openb.qos: unknown field; known are nodes, pods",
    ),
    (
        "a list for a knob",
        "{instances: [{generate: spread, with: {nodes: [3]}}]}",
        "instances[0].with.nodes: must be a number, a text, true or false, not [3]",
    ),
    (
        "a number for a cluster",
        "{instances: [{trace: a, cluster: 3}]}",
        "instances[0].cluster: must be a path or a map, not 3",
    ),
    ("no variant", "{instances: [rounds], variants: []}", "study.yaml: variants: must not be empty"),
    ("a variant without a name", "{instances: [rounds], variants: [{}]}", "variants[0].name: required"),
    (
        "an unknown scheduler",
        "{instances: [rounds], schedulers: [opt]}",
        "schedulers[0]: must be optimal or greedy, not 'opt'",
    ),
    ("no time", "{instances: [rounds], timeLimit: 0}", "timeLimit: must be more than 0, not 0"),
    ("a text for a number", "{instances: [rounds], threads: a}", "threads: must be a whole number, not 'a'"),
    ("no seeds", "{instances: [rounds], seeds: 0}", "study.yaml: seeds: must not be empty"),
    ("a text for seeds", "{instances: [rounds], seeds: x}", "study.yaml: seeds: must be a list, not 'x'"),
    ("a number for a name", "{instances: [rounds], name: 3}", "study.yaml: name: must be text (in quotes)"),
    (
        "a configuration that is not there",
        "{instances: [rounds], variants: [{name: a, configuration: no.yaml}]}",
        "study.yaml: variants[0].configuration: no.yaml: no such file",
    ),
    (
        "changes that are not there",
        "{instances: [rounds], variants: [{name: a, changes: [cordon.yaml, no.yaml]}]}",
        "study.yaml: variants[0].changes[1]: no.yaml: no such file",
    ),
    ("a name of nothing", "{instances: [round]}", "study.yaml: instances[0]: round: no such file or folder"),
    ("a pattern of nothing", "{instances: ['x/*']}", "instances[0]: x/*: nothing matches this pattern"),
    ("twice the same", "{instances: [rounds, rounds]}", "study.yaml: instances: rounds comes twice"),
    (
        "two origins",
        "{instances: [{path: a, generate: b}]}",
        "instances[0]: must say one of path, generate, openb, trace; it says path and generate",
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
    (
        "seeds of a path",
        "{instances: [{path: rounds, seeds: 2}]}",
        "instances[0]: seeds goes with generate and openb only",
    ),
    (
        "a negative seed",
        "{instances: [rounds], seeds: [-1]}",
        "study.yaml: seeds[0]: -1 is out of range",
    ),
    ("a trace without a cluster", "{instances: [{trace: a}]}", "cluster says what its objects come to"),
    (
        "a trace that is not there",
        "{instances: [{trace: a, cluster: node.yaml}]}",
        "study.yaml: instances[0].trace: a: no such file",
    ),
    (
        "a cluster that is not there",
        "{instances: [{trace: shop.sktrace, cluster: no.yaml}]}",
        "instances[0]: no.yaml: no such file or folder, and no bundled instance 'no.yaml'",
    ),
    ("an empty cluster", "{instances: [{trace: a, cluster: {}}]}", "instances[0].cluster: must not be empty"),
    (
        "a cluster that an API server would refuse",
        "{instances: [{trace: shop.sktrace, cluster: broken.yaml}]}",
        "broken.yaml: Node",
    ),
    (
        "a node in place that an API server would refuse",
        "{instances: [{trace: shop.sktrace, cluster: {nodes: [{allocatable: {cpu: -1}}]}}]}",
        "study.yaml: Node node-0: status.allocatable",
    ),
    ("no times", f"{{instances: [{{{TRACE}, at: []}}]}}", "instances[0].at: must not be empty"),
    (
        "a number for a time",
        f"{{instances: [{{{TRACE}, at: 30}}]}}",
        "instances[0].at[0]: must be a time such as 90s, not 30",
    ),
    (
        "a trace that is none",
        "{instances: [{trace: node.yaml, cluster: node.yaml}]}",
        "node.yaml: is no trace of SimKube",
    ),
    (
        "times and a step",
        f"{{instances: [{{{TRACE}, at: 0s, every: 1s}}]}}",
        "must say at or every, not both",
    ),
    (
        "a time beyond the trace",
        f"{{instances: [{{{TRACE}, at: 61s}}]}}",
        "instances[0]: at: 61s is after the end of the trace, 60s",
    ),
    (
        "what is no time",
        f"{{instances: [{{{TRACE}, at: soon}}]}}",
        "instances[0].at[0]: 'soon' is not a duration (such as 10s, 5m or 1h30m)",
    ),
    ("a time before the trace", f"{{instances: [{{{TRACE}, at: -1s}}]}}", "must be a time from 0s on"),
    ("no step", f"{{instances: [{{{TRACE}, every: 0s}}]}}", "every: must be longer than 0s"),
    ("a tiny step", f"{{instances: [{{{TRACE}, every: 1ms}}]}}", "every: 1ms gives 60001 rounds of 60s"),
    (
        "a cluster that is none",
        "{instances: [{trace: shop.sktrace, cluster: {nodes: [{count: 2}]}}]}",
        "study.yaml: instances[0].cluster.nodes[0].allocatable: required",
    ),
    ("times of a path", "{instances: [{path: rounds, at: 0s}]}", "at goes with trace only"),
    (
        "seeds of a trace",
        f"{{instances: [{{{TRACE}, seeds: 2}}]}}",
        "seeds goes with generate and openb only",
    ),
    (
        "an option that openb does not have",
        f"{{instances: [{{{OPENB}, with: {{gpu: 1}}}}]}}",
        "instances[0]: unknown option 'gpu'; known are nodes, pods, shuffle, gpus, qos",
    ),
    (
        "openb shuffled twice",
        f"{{instances: [{{{OPENB}, seeds: 2, with: {{shuffle: 1}}}}]}}",
        "instances[0]: must say seeds or shuffle, not both",
    ),
    (
        "a table that is not there",
        "{instances: [{openb: {nodes: nodes.csv, pods: no.csv}}]}",
        "study.yaml: instances[0].openb.pods: no.csv: no such file",
    ),
    ("one seed twice", "{instances: [rounds], seeds: [1, 1]}", "seeds must differ"),
    ("one name twice", "{instances: [rounds], variants: [{name: a}, {name: a}]}", "names of variants must"),
    (
        "an unknown release",
        "{instances: [rounds], variants: [{name: a, kubeVersion: '1.2'}]}",
        "study.yaml: variants[0].kubeVersion: '1.2' is not a release",
    ),
    (
        "an unknown gate",
        "{instances: [rounds], variants: [{name: a, featureGates: X=false}]}",
        "study.yaml: variants[0].featureGates: unknown gate 'X'",
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


def test_feature_gates_are_a_text_or_a_map(place):
    texts = ("MinDomainsInPodTopologySpread=false", "{MinDomainsInPodTopologySpread: false}")
    study = "{instances: [rounds/a.yaml], variants: [{name: v, featureGates: %s}]}"
    assert ids(place, study % texts[0]) == ids(place, study % texts[1]) != ids(place, study % "''")


def test_a_table_of_openb_that_is_none_is_a_row_with_file_and_row(place):
    (place / "pods.csv").write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,x,1,0,0\n")
    [run] = planned(place, f"{{instances: [{{{OPENB}}}], schedulers: [greedy]}}")
    [row] = solved(run)
    assert row.error == f"{place / 'pods.csv'}: row 2: cpu_milli: must be a whole number, not 'x'"


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


DATA = Path(os.environ.get("KUBESTOW_DATA", ROOT.parent / "shared" / "data"))
PUBLISHED = {
    "SimKube": (
        "simkube/bare-pods.sktrace",
        "{trace: PLACE/simkube/bare-pods.sktrace, cluster: node.yaml, every: 50s}",
        [1, 1, 0, 0],
    ),
    "openb": (
        "openb/openb_node_list_all_node.csv",
        "{openb: {nodes: PLACE/openb/openb_node_list_all_node.csv, "
        "pods: PLACE/openb/openb_pod_list_cpu250.csv}, with: {nodes: 2, pods: 5, gpus: summed}}",
        [5],
    ),
}


@pytest.mark.parametrize("file, source, pods", PUBLISHED.values(), ids=PUBLISHED)
def test_a_published_trace_is_an_instance(place, file, source, pods):
    if not (DATA / file).exists():
        pytest.skip(f"{DATA} has no {file}")
    text = f"{{instances: [{source.replace('PLACE', str(DATA))}], schedulers: [greedy]}}"
    rows = [solved(run)[0] for run in planned(place, text)]
    assert [(row.error, row.pending) for row in rows] == [(None, number) for number in pods]
