"""Rounds of a trace of SimKube: what there is at one time, and the whole of it."""

import hashlib
import os
import tracemalloc
from pathlib import Path

import pytest
from support.paths import ROOT
from support.traces import CRON_JOB, DEPLOYMENT, START, event, pod, written

from kubestow.instances.scenario_cluster import ClusterSource
from kubestow.instances.trace_rounds import objects_at, round_of, scan
from kubestow.models.errors import InputError
from kubestow.models.features import FeatureGates
from kubestow.models.scenario import SECOND

PUBLISHED = Path(os.environ.get("KUBESTOW_DATA", ROOT.parent / "shared" / "data")) / "simkube"
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}},
}
THREE = {**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], "replicas": 3}}


@pytest.fixture
def trace(tmp_path):
    """a runs from 5s to 35s, b for ever, web has two pods, then three, then none."""
    lives = {
        ("v1.Pod", "shop/a"): [{"Finished": [START + 5, START + 35]}],
        ("v1.Pod", "shop/b"): [{"Running": START + 25}],
    }
    return written(
        tmp_path / "shop.sktrace",
        event(0, pod("a", nodeName="gone"), DEPLOYMENT, CRON_JOB),
        event(20, pod("b")),
        event(40, THREE),
        event(60, deleted=[THREE]),
        lives=lives,
    )


def pods_at(trace, seconds):
    at = None if seconds is None else seconds * SECOND
    cluster = ClusterSource((), (NODE,))
    return round_of(objects_at(trace, at), cluster, [], str(trace), FeatureGates())


AT = {
    "at its beginning": (0, ["a", "web-0", "web-1"]),
    "just before something comes": (19, ["a", "web-0", "web-1"]),
    "when something comes": (20, ["a", "b", "web-0", "web-1"]),
    "when a pod is over": (35, ["b", "web-0", "web-1"]),
    "with the last version of a workload": (40, ["b", "web-0", "web-1", "web-2"]),
    "when a workload is deleted": (60, ["b"]),
    "as one batch, whatever went": (None, ["a", "b", "web-0", "web-1", "web-2"]),
}


@pytest.mark.parametrize("seconds, names", AT.values(), ids=AT)
def test_a_trace_has_these_pods(trace, seconds, names):
    found = pods_at(trace, seconds)
    assert sorted(item.name for item in found.pods) == names
    assert not any(item.spec.node_name for item in found.pods)
    assert [item.name for item in found.nodes] == ["n"]
    assert found.now.timestamp() == START + (60 if seconds is None else seconds)
    assert found.notes[-1:] == ("the trace has kinds that play no part: 1 CronJob",)


def test_a_pod_that_comes_again_under_its_name_is_not_over(tmp_path):
    """Its first life ended before it came the second time."""
    trace = written(
        tmp_path / "t.sktrace",
        event(0, pod("a")),
        event(20, deleted=[pod("a")]),
        event(40, pod("a")),
        lives={("v1.Pod", "shop/a"): [{"Finished": [START, START + 10]}, {"Running": START + 41}]},
    )
    assert [[item.name for item in pods_at(trace, time).pods] for time in (5, 10, 40)] == [["a"], [], ["a"]]


def test_the_hash_is_that_of_the_whole_file_whatever_is_asked_for(trace):
    whole = hashlib.sha256(trace.read_bytes()).digest()
    assert scan(trace) == (whole, 60 * SECOND)
    assert objects_at(trace, 0).digest == objects_at(trace, None).digest == whole


def test_a_long_trace_is_read_event_by_event(tmp_path):
    """What is in memory is what is there at a time, not the file."""
    heavy = pod("a")
    heavy["metadata"]["annotations"]["of/ballast"] = "x" * 100_000
    trace = written(tmp_path / "t.sktrace", *(event(k, heavy) for k in range(100)))
    tracemalloc.start()
    try:
        assert len(objects_at(trace, 50 * SECOND).objects) == 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < trace.stat().st_size / 2


NAMELESS = {**pod("a"), "metadata": {"namespace": "shop"}}
REFUSED = {
    "an object without a name": (event(0, NAMELESS), "Pod: metadata.name: required in a trace"),
    "a pod that an API server would refuse": (event(0, pod("a", containers=[])), "spec.containers"),
}


@pytest.mark.parametrize("what, words", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_in_a_round_is_told_in_one_line(tmp_path, what, words):
    trace = written(tmp_path / "t.sktrace", what)
    with pytest.raises(InputError) as refused:
        pods_at(trace, 0)
    assert str(refused.value).startswith(str(trace))
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "name, seconds, pods",
    [
        ("bare-pods", 0, 1),
        ("bare-pods", 162, 1),
        ("bare-pods", None, 4),
        ("dsb-scaling", 0, 27),
        ("dsb-scaling", 1134, 42),
    ],
)
def test_a_published_trace_has_rounds(name, seconds, pods):
    file = PUBLISHED / f"{name}.sktrace"
    if not file.exists():
        pytest.skip(f"there are no traces of SimKube in {PUBLISHED}")
    assert len(pods_at(file, seconds).pods) == pods
