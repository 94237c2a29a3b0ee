"""Traces of SimKube in scenarios: what is applied, deleted and run, and what is refused."""

import os
import sys
from pathlib import Path

import pytest
from support.paths import ROOT
from support.simulating import Run
from support.traces import CRON_JOB, DEPLOYMENT, START, event, pod, written

from kubestow.instances.scenario_loader import load_scenario
from kubestow.instances.scenario_trace import load_sktrace
from kubestow.models.annotations import RUNS_FOR
from kubestow.models.errors import InputError, KubestowError
from kubestow.models.scenario import SECOND, Delete, Put

PUBLISHED = Path(os.environ.get("KUBESTOW_DATA", ROOT.parent / "shared" / "data")) / "simkube"


@pytest.fixture
def trace(tmp_path):
    return tmp_path / "shop.sktrace"


def test_events_are_at_their_times_from_the_first_one_on(trace):
    written(trace, event(0), event(0, DEPLOYMENT, pod("a")), event(90, pod("b"), deleted=[DEPLOYMENT]))
    found = load_sktrace(trace)
    told = [
        (item.at // SECOND, [(made.kind, made.key) for made in item.action.objects])
        if isinstance(item.action, Put)
        else (item.at // SECOND, item.action)
        for item in found.events
    ]
    assert told == [
        (0, [("Deployment", "shop/web"), ("Pod", "shop/a")]),
        (90, [("Pod", "shop/b")]),
        (90, Delete("Deployment", "shop/web")),
    ]


def test_a_pod_that_finished_runs_as_long_again(trace):
    lives = {
        ("v1.Pod", "shop/a"): [{"Finished": [START + 5, START + 35]}],
        ("v1.Pod", "shop/b"): [{"Running": START + 5}],
        ("apps/v1.Deployment", "shop/web"): [{"Finished": [START, START + 1]}],
        ("v1.Pod", "shop/c"): [{"Finished": [START, None]}],
        ("v1.Pod", 7): [{"Finished": [START, START + 1]}],
        ("v1.Pod",): None,
    }
    written(trace, event(0, pod("a"), pod("b"), DEPLOYMENT), lives=lives)
    [put] = load_sktrace(trace).events
    times = {item.key: item.metadata.annotations.get(RUNS_FOR) for item in put.action.objects}
    assert times == {"shop/a": str(30 * SECOND), "shop/b": None, "shop/web": None}


def test_where_a_pod_ran_is_left_out(trace):
    written(trace, event(0, {**pod("a", nodeName="gone"), "status": {"phase": "Running"}}))
    [put] = load_sktrace(trace).events
    assert not put.action.objects[0].spec.node_name
    assert put.action.objects[0].status.phase == "Pending"


def test_kinds_that_play_no_part_are_noted_and_time_goes_on(trace):
    written(trace, event(0, CRON_JOB), event(60, deleted=[CRON_JOB]))
    found = load_sktrace(trace)
    assert found.notes == ("the trace has kinds that play no part: 1 CronJob",)
    assert (found.events, found.end) == ((), 60 * SECOND)


def test_a_scenario_runs_a_trace_to_a_minute_after_its_end(trace):
    lives = {("v1.Pod", "shop/a"): [{"Finished": [START, START + 20]}]}
    written(trace, event(0, pod("a")), event(30, DEPLOYMENT, CRON_JOB), lives=lives)
    scenario = trace.with_name("s.yaml")
    cluster = 'cluster: {nodes: [{count: 1, allocatable: {cpu: "2"}}]}'
    scaled = "events: [{at: 40s, scale: Deployment shop/web, replicas: 3}]"
    scenario.write_text(f"trace: {trace.name}\n{cluster}\n{scaled}")
    loaded = load_scenario(scenario)
    assert loaded.duration == 90 * SECOND
    assert [item.at // SECOND for item in loaded.events] == [0, 30, 40]
    assert any("1 CronJob" in note for note in loaded.snapshot.notes)
    run = Run(loaded)
    [finished] = run.of("PodFinished")
    assert (finished["pod"], int(finished["t"])) == ("shop/a", 21)
    # two replicas have the node, with the room of the pod that finished; the third has none
    assert len(run.of("PodBound")) == 3


@pytest.mark.parametrize("cluster", ["{nodes: []}", "{}", "{objects: []}"])
def test_a_trace_without_any_node_to_run_on_is_refused(trace, cluster):
    written(trace, event(0, pod("a")))
    scenario = trace.with_name("s.yaml")
    scenario.write_text(f"trace: {trace.name}\ncluster: {cluster}")
    with pytest.raises(InputError, match=r"s\.yaml: cluster\.nodes: none are there: a trace has no nodes"):
        load_scenario(scenario)
    group = "{groups: [{name: g, template: {allocatable: {cpu: 2}}}]}"
    scenario.write_text(f"trace: {trace.name}\ncluster: {cluster}\nautoscaler: {group}")
    assert not load_scenario(scenario).snapshot.nodes


def cut(path):
    path.write_bytes(written(path, event(0, DEPLOYMENT)).read_bytes()[:200])


def glued(path):
    path.write_bytes(written(path, event(0, DEPLOYMENT)).read_bytes() * 2)


EMPTY = pod("a", containers=[])
CROWD = {**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], "replicas": 10**6}}
NO_KEY = b"\x82\xa7version\x02\xa6events\x91\x81\x80\x01"  # {version: 2, events: [{{}: 1}]}
REFUSED = {
    "another version": (lambda path: written(path, version=1), "version", "must be 2, not version 1"),
    "no version": (lambda path: written(path, version=None), "version", "not a trace without a version"),
    "time that runs back": (lambda path: written(path, event(5), event(0)), "events[1].ts", "must not be"),
    "an event without a time": (lambda path: written(path, {}), "events[0].ts", "a time in whole seconds"),
    "what is no object": (lambda path: written(path, event(0, "a")), "events[0].applied_objs[0]", "is no"),
    "a pod of nothing": (lambda path: written(path, event(0, EMPTY)), "Pod shop/a", "spec.containers"),
    "a crowd": (lambda path: written(path, event(0, CROWD)), "spec", "150000 is the most"),
    "a file that ends too early": (cut, "", "ends too early"),
    "two traces in one file": (glued, "", "something stands behind its end"),
    "a text": (lambda path: path.write_text("kind: Scenario"), "", "is not MessagePack"),
    "a map as a key": (lambda path: path.write_bytes(NO_KEY), "", "is not MessagePack"),
    "no file": (lambda path: None, "", os.strerror(2)),
}


@pytest.mark.parametrize("make, field, words", REFUSED.values(), ids=REFUSED)
def test_what_is_no_trace_is_told_in_one_line(make, field, words, trace):
    make(trace)
    with pytest.raises(InputError) as refused:
        load_sktrace(trace)
    assert str(refused.value).startswith(str(trace))
    assert field in str(refused.value)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_extra_that_is_missing_is_named(trace, monkeypatch):
    written(trace, event(0))
    monkeypatch.setitem(sys.modules, "msgpack", None)
    with pytest.raises(KubestowError, match=r"pip install 'kubestow\[traces\]'"):
        load_sktrace(trace)


@pytest.mark.parametrize(
    "name, puts, seconds", [("bare-pods", 4, 162), ("dsb-scaling", 18, 1134), ("cronjob", 0, 205)]
)
def test_a_published_trace_is_read(name, puts, seconds):
    file = PUBLISHED / f"{name}.sktrace"
    if not file.exists():
        pytest.skip(f"there are no traces of SimKube in {PUBLISHED}")
    found = load_sktrace(file)
    assert sum(isinstance(item.action, Put) for item in found.events) == puts
    assert found.end == seconds * SECOND
