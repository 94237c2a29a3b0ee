"""A simulation's event log, counted over its virtual time."""

import json
import re

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from kubestow.cli import main
from kubestow.models.errors import InputError
from kubestow.reports.html.page import simulation_page
from kubestow.reports.html.reading import read_document
from kubestow.reports.html.timeline import BOUND, EVICTED, NODES, SERIES, WAITING, WASTED, timelines


def run(**pods):
    return {
        "seconds": 60.0,
        "pods": {"created": 0, "scheduled": 0, "waiting": 0, "deleted": 0, **pods},
        "timeToSchedule": {"p50": None, "p99": None, "max": None},
        "attempts": {"total": 0, "wasted": 0},
        "evictions": 0,
        "violations": 0,
        "fallbacks": 0,
        "nodeHours": 0.5,
        "hints": {"asked": 0, "queue": 0},
        "notes": ["a note"],
    }


def simulated(**runs):
    document = {"scenario": "s", "title": "t", "seconds": 60.0, "seed": 0, "runs": runs}
    return read_document("simulation.json", document)


def log(*entries):
    return "\n".join(json.dumps(entry) for entry in entries).encode()


def event(t, kind, **more):
    return {"t": t, "event": kind, **more}


STORY = [
    event(0.0, "NodeAdded", node="n"),
    event(0.0, "PodCreated", pod="a"),
    event(1.0, "PodCreated", pod="b"),
    event(1.0, "Attempt", pod="a", result="unschedulable"),
    event(2.0, "PodBound", pod="a", node="n"),
    event(3.0, "PodEvicted", pod="a"),
    event(3.0, "PodGone", pod="a", node="n"),
    event(4.0, "PodGone", pod="b"),
    event(5.0, "NodeDeleted", node="n"),
    event(6.0, "Attempt", pod="c", result="scheduled"),
]


def test_every_number_is_counted_from_its_events():
    found = timelines(simulated(greedy=run(created=2)), "log", log(*STORY))["greedy"]
    assert found.seconds == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 60.0]
    assert found.series == {
        WAITING: [1, 2, 1, 1, 0, 0, 0],
        BOUND: [0, 0, 1, 1, 1, 1, 1],
        NODES: [1, 1, 1, 1, 1, 0, 0],
        EVICTED: [0, 0, 0, 1, 1, 1, 1],
        WASTED: [0, 1, 1, 1, 1, 1, 1],
    }


def test_runs_are_told_apart_by_their_scheduler():
    entries = [{"scheduler": name, **entry} for name in ("greedy", "optimal") for entry in STORY[:2]]
    pods = {"created": 1, "waiting": 1}
    found = timelines(simulated(greedy=run(**pods), optimal=run(**pods)), "log", log(*entries))
    assert found["greedy"] == found["optimal"]
    assert found["greedy"].series[WAITING] == [1, 1]


@pytest.mark.parametrize(
    "content, told",
    [
        pytest.param(b"{}", "log: line 1: no event", id="no event"),
        pytest.param(b"no json", "log: line 1: no event", id="no JSON"),
        pytest.param(
            log(event(0.0, "A", scheduler="best")), "scheduler: names no run", id="another scheduler"
        ),
        pytest.param(
            log(event(0.0, "PodCreated", pod="a")),
            "log: is the log of other runs: 1 pods created, and 0 in the document (greedy)",
            id="the log of another run",
        ),
    ],
)
def test_a_log_that_does_not_fit_is_refused(content, told):
    with pytest.raises(InputError) as failure:
        timelines(simulated(greedy=run()), "log", content)
    assert told in str(failure.value)


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["PodCreated", "PodBound", "PodGone", "Attempt", "Note"]), st.sampled_from("abc")
    ),
    max_size=12,
)


@settings(max_examples=40)
@given(EVENTS)
def test_no_pod_waits_that_was_not_created(events):
    """A pod is created, then bound or gone, at most once each; whatever else comes changes nothing."""
    state, entries = {}, []
    for kind, pod in events:
        allowed = {"PodCreated": None, "PodBound": "waits", "PodGone": "waits"}
        if kind in allowed and state.get(pod) != allowed[kind]:
            continue
        if kind in allowed:
            state[pod] = "waits" if kind == "PodCreated" else kind
        entries.append(event(float(len(entries)), kind, pod=pod))
    waiting = sum(value == "waits" for value in state.values())
    pods = {"created": len(state), "waiting": waiting}
    found = timelines(simulated(greedy=run(**pods)), "log", log(*entries))["greedy"]
    assert min(found.series[WAITING]) >= 0
    assert found.series[BOUND][-1] == sum(value == "PodBound" for value in state.values())
    assert {len(values) for values in found.series.values()} == {len(found.seconds)}


def test_charts_are_there_only_with_a_log():
    document = simulated(greedy=run(created=2))
    without, drawn = (
        simulation_page(document, lines) for lines in (None, timelines(document, "log", log(*STORY)))
    )
    assert "uPlot.paths.stepped" in drawn
    assert "The document has sums only." in without
    assert "The document has sums only." not in drawn
    assert len(drawn) > len(without) + 40_000
    assert all(name in drawn for name in SERIES)
    rows = {
        kind: int(count)
        for kind, count in re.findall(r'<th scope="row">(\w+)</th><td class="n">(\d+)</td></tr>', drawn)
    }
    assert rows["PodGone"] == rows["Attempt"] == rows["PodCreated"] == 2
    assert rows["PodBound"] == 1
    assert "a note" in without
    assert "Copyright (c) 2022 Leon Sorokin" in drawn


@pytest.mark.parametrize("scenario", ["balloons-make-room", "guarded-service"])
def test_what_is_counted_ends_at_the_sums_of_the_document(scenario, tmp_path):
    file = tmp_path / "log.jsonl"
    result = CliRunner().invoke(main, ["simulate", scenario, "--log", str(file), "-o", "json"])
    document = read_document("simulation.json", json.loads(result.stdout))
    series = timelines(document, "log", file.read_bytes())["greedy"].series
    sums = document.runs["greedy"]
    assert {name: values[-1] for name, values in series.items() if name != NODES} == {
        WAITING: sums.pods.waiting,
        BOUND: sums.pods.scheduled,
        EVICTED: sums.evictions,
        WASTED: sums.attempts.wasted,
    }
    assert sums.evictions
    assert sums.attempts.wasted
