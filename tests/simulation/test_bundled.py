"""The bundled scenarios: each does what its story tells."""

import pytest
from support.simulating import Run, bundled

from kubestow.instances import scenarios


@pytest.mark.parametrize("name", scenarios.NAMES)
def test_each_has_a_story(name):
    story = scenarios.describe(name)
    assert all(story)
    assert bundled(name).name == name


def test_every_file_is_listed():
    folder = scenarios.path(scenarios.NAMES[0]).parent
    assert sorted(scenarios.NAMES) == sorted(p.stem for p in folder.glob("*.yaml"))


def test_only_matching_nodes_wake_the_pods():
    done = Run(bundled("a-matching-node-comes"))
    assert done.bound("on-flash") == (30.001, "plain-1")
    assert done.bound("on-tape") == (40.001, "tape-1")
    assert done.record.wasted == 2  # only the first attempts


def test_without_hints_every_node_wakes_the_pods():
    gates = "SchedulerQueueingHints=false"
    quiet, noisy = Run(bundled("zone-outage")), Run(bundled("zone-outage", gates))
    assert noisy.record.wasted > quiet.record.wasted


def test_a_pending_pod_skips_its_backoff():
    done = Run(bundled("a-driver-prepares-a-claim"))
    assert [(e["t"], e["result"]) for e in done.of("Attempt")] == [
        (0.001, "unschedulable"),
        (3.002, "scheduled"),
    ]
    incoming = done.simulation.world.queue.counts.incoming
    assert all(queue != "backoff" for queue, _ in incoming)


def test_the_guarded_service_keeps_its_budget_until_somebody_may_break_it():
    done = Run(bundled("guarded-service"))
    first, *others = done.of("PodEvicted")
    assert (first["preemptor"], first["by"], first["violates"]) == ("default/urgent-0", "eviction", False)
    assert done.bound("urgent-1") == (60.001, "n-3")
    assert [(e["preemptor"].removeprefix("default/"), e["by"]) for e in others] == [
        ("vital-0", "eviction"),
        ("vital-1", "eviction"),
        ("vital-2", "eviction"),
        ("vital-3", "deletion"),
    ]
    assert done.record.violations == 1
    assert done.bound("urgent-0") == (15.002, "n-2")  # five seconds of grace


def test_the_gate_off_the_urgent_pod_breaks_the_budget():
    done = Run(bundled("guarded-service", "DisruptionPolicyInPriorityClass=false"))
    assert done.record.violations > 1
    assert {e["by"] for e in done.of("PodEvicted")} == {"deletion"}


def test_the_training_job_is_never_touched():
    done = Run(bundled("guarded-training-job"))
    assert done.record.evictions == 0
    assert done.bound("urgent-0")[0] > 90
    assert len(done.of("PodFinished")) == 5


def test_the_rollout_ends_with_new_pods_only():
    done = Run(bundled("rolling-update"))
    bound = {e["pod"] for e in done.of("PodBound")}
    gone = {e["pod"] for e in done.of("PodGone")}
    assert len(bound) == 18
    assert len(bound - gone) == 9
    assert len({pod.rsplit("-", 1)[0] for pod in bound - gone}) == 1


def test_the_dead_zone_holds_only_those_back_that_count_it():
    done = Run(bundled("zone-outage"))
    late = [e["pod"] for e in done.of("PodBound") if e["t"] > 160]
    assert late
    assert all(pod.startswith("default/web-") for pod in late)
    assert {int(e["t"]) for e in done.of("PodBound") if e["t"] > 160} == {240}
    again = [e["pod"] for e in done.of("PodBound") if 150 <= e["t"] < 160]
    assert len([pod for pod in again if pod.startswith("default/api-")]) == 4


@pytest.mark.slow
def test_an_hour_of_arrivals_ends_with_nobody_waiting():
    done = Run(bundled("hour-of-arrivals"))
    assert done.record.waiting == 0
    assert len(done.record.waits) > 2000
    assert done.record.node_hours > 200
    assert done.of("StockOut")
