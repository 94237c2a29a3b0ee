"""The life of a pod in the queue: in, popped, failed, waiting, backing off, in again."""

import pytest
from support.builders import node, pod
from support.changing import Queue

from kubestow.framework.queue.clock import SECOND

HELP = node("n", cpu="8")
BUSY = pod("busy").priority(-1)


def names(queue, count):
    return [queue.pop() for _ in range(count)]


class TestOrder:
    def test_priority_comes_before_time(self):
        queue = Queue(pod("late"), pod("early"), pod("high").priority(5))
        assert names(queue, 4) == ["high", "late", "early", None]

    def test_time_is_that_of_the_last_return(self):
        queue = Queue(pod("a"))
        queue.rejected("NodeName")
        queue.at(1)
        queue.add(pod("b"))
        queue.at(5)
        assert queue.add(HELP).active == ["a", "b"]
        assert names(queue, 1) == ["a"]
        queue.fail("a", "NodeName")
        queue.at(20)
        assert queue.add(node("m")).active == ["b", "a"]


class TestBackoff:
    @pytest.mark.parametrize(
        "failures, seconds", [(0, 0), (1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (99, 10)]
    )
    def test_it_doubles_with_each_failure_up_to_a_limit(self, failures, seconds):
        queue = Queue(pod("a"))
        item = queue.queue.active[0]
        item.attempts = item.unschedulable_count = failures
        assert queue.queue.expiration(item) == seconds * SECOND

    @pytest.mark.parametrize(
        "configuration, place",
        [
            pytest.param({"podInitialBackoffSeconds": 3}, 5.0, id="the first backoff is configured"),
            pytest.param(
                {"podInitialBackoffSeconds": 60, "podMaxBackoffSeconds": 4}, 6.0, id="so is the limit"
            ),
        ],
    )
    def test_it_is_configured(self, configuration, place):
        queue = Queue(pod("a"), configuration=configuration)
        queue.at(1.5)
        queue.rejected("NodeName")
        queue.add(BUSY, HELP)
        assert queue.at(30) == [(place, "tick")]

    def test_a_limit_of_zero_means_none(self):
        queue = Queue(pod("a"), BUSY, configuration={"podMaxBackoffSeconds": 0})
        queue.rejected("NodeName")
        assert queue.add(HELP).where("a") == "active"

    @pytest.mark.parametrize(
        "failed, left",
        [
            pytest.param(10.0, 12.0, id="failed on the second: one more"),
            pytest.param(10.3, 12.0, id="failed early in a second"),
            pytest.param(10.9, 12.0, id="failed late in it: the same window"),
        ],
    )
    def test_it_ends_at_the_first_second_after_its_window(self, failed, left):
        queue = Queue(pod("a"), BUSY)
        queue.at(failed)
        queue.rejected("NodeName")
        queue.add(HELP)
        assert queue.at(15) == [(left, "tick")]

    def test_whoever_waited_longer_than_it_needs_none(self):
        queue = Queue(pod("a"), BUSY)
        queue.rejected("NodeName")
        queue.at(1.99)
        assert queue.add(HELP).where("a") == "backoff"
        queue = Queue(pod("a"), BUSY)
        queue.rejected("NodeName")
        queue.at(2)
        assert queue.add(HELP).where("a") == "active"

    def test_a_pod_that_was_never_tried_has_none(self):
        queue = Queue(pod("a").gated())
        assert queue.change(pod("a").gated(), pod("a")).where("a") == "active"


class TestIdleScheduler:
    def test_it_takes_the_first_of_backoff_by_window_then_priority(self):
        queue = Queue(pod("low"), pod("high").priority(9), pod("later").priority(99))
        assert names(queue, 3) == ["later", "high", "low"]
        queue.at(0.1)
        queue.fail("low", "NodeName").fail("high", "NodeName")
        queue.at(1.2)
        queue.fail("later", "NodeName")
        queue.add(HELP)
        assert queue.backoff == ["high", "low", "later"]
        assert names(queue, 4) == ["high", "low", "later", None]

    def test_it_never_takes_a_pod_whose_attempt_was_an_error(self):
        queue = Queue(pod("a"))
        queue.rejected()
        assert queue.where("a") == "backoff"
        assert queue.pop() is None
        assert queue.at(5) == [(2.0, "tick")]
        assert queue.pop() == "a"

    def test_without_the_gate_it_waits(self):
        queue = Queue(pod("a"), gates="SchedulerPopFromBackoffQ=false")
        queue.at(0.5)
        queue.rejected("NodeName")
        queue.add(HELP)
        assert queue.where("a") == "backoff"
        assert queue.pop() is None
        assert queue.at(5) == [(2.0, "tick")], "1.5 is over at the next whole second"

    def test_without_the_gate_backoff_ends_to_the_moment(self):
        queue = Queue(pod("a"), BUSY, gates="SchedulerPopFromBackoffQ=false")
        queue.at(0.5)
        queue.rejected("NodeName")
        queue.at(1.6)
        assert queue.add(HELP).where("a") == "active"


class TestErrors:
    def test_they_count_apart_until_a_plugin_rejects(self):
        queue = Queue(pod("a"))
        queue.rejected()
        queue.at(9)
        queue.rejected()
        [item] = queue.queue.backoff
        assert (item.attempts, item.unschedulable_count, item.consecutive_errors) == (2, 0, 2)
        queue.at(20)
        queue.rejected("NodeName")
        [item] = queue.queue.unschedulable
        assert (item.attempts, item.unschedulable_count, item.consecutive_errors) == (3, 1, 0)


class TestPending:
    def test_a_pending_plugin_that_says_queue_lets_the_pod_skip_its_backoff(self):
        queue = Queue(pod("a"), pod("b"))
        queue.rejected(pending=["NodeName"])
        queue.rejected("NodeName")
        queue.add(HELP)
        assert (queue.where("a"), queue.where("b")) == ("active", "backoff")

    def test_it_wins_over_one_that_rejected(self):
        queue = Queue(pod("a"))
        queue.rejected("NodePorts", pending=["NodeName"])
        assert queue.add(HELP).where("a") == "active"

    def test_an_event_for_the_other_plugin_alone_does_not_do(self):
        queue = Queue(pod("a"))
        queue.rejected("NodeResourcesFit", pending=["VolumeBinding"])
        assert queue.remove(pod("gone").on("n")).where("a") == "backoff"

    def test_it_wins_among_events_in_flight_too(self):
        queue = Queue(pod("a"))
        queue.pop()
        queue.remove(pod("gone").on("n")).add(HELP)
        assert queue.fail("a", "NodeResourcesFit", pending=["NodeName"]).where("a") == "active"


class TestLeftovers:
    def test_a_pod_that_waited_five_minutes_is_tried_again(self):
        queue = Queue(pod("a"))
        queue.at(0.5)
        queue.rejected("NodeName")
        assert queue.at(400) == [(330.0, "flush")]
        assert queue.where("a") == "active"

    def test_a_gated_pod_is_not(self):
        queue = Queue(pod("a").gated())
        assert queue.at(4000) == []

    def test_the_time_is_counted_from_the_last_attempt(self):
        queue = Queue(pod("a"))
        queue.rejected("NodeName")
        queue.at(200)
        queue.add(HELP)
        queue.rejected("NodeName")
        assert queue.at(600) == [(510.0, "flush")]


class TestActivation:
    def test_it_ignores_backoff(self):
        queue = Queue(pod("a"), pod("b"), BUSY)
        queue.rejected("NodeName")
        queue.rejected()
        queue.queue.activate([pod("a").build(), pod("b").build()])
        assert (queue.where("a"), queue.where("b")) == ("active", "active")

    def test_a_pod_in_flight_goes_to_backoff_when_it_fails(self):
        queue = Queue(pod("a"))
        queue.pop()
        queue.queue.activate([pod("a").build()])
        assert queue.fail("a", "NodeName").where("a") == "backoff"

    def test_others_in_flight_are_not_concerned(self):
        queue = Queue(pod("a"), pod("b"))
        names(queue, 2)
        queue.queue.activate([pod("a").build()])
        assert queue.fail("b", "NodeName").where("b") == "unschedulable"

    def test_an_unknown_pod_is_ignored(self):
        queue = Queue()
        queue.queue.activate([pod("a").build()])
        assert queue.where("a") == "nowhere"

    def test_a_gated_pod_stays_out(self):
        queue = Queue(pod("a").gated())
        queue.queue.activate([pod("a").gated().build()])
        assert queue.where("a") == "unschedulable"


class TestPlugins:
    def test_a_rejector_without_hints_waits_for_every_event(self):
        queue = Queue(pod("a"))
        queue.rejected("SomebodysPlugin")
        assert queue.change(node("n"), node("n").label(a="b")).where("a") == "backoff"

    def test_one_rejector_that_says_queue_is_enough(self):
        queue = Queue(pod("a").req(cpu="99"))
        queue.rejected("NodeResourcesFit", "NodeName")
        assert queue.add(HELP).where("a") == "backoff"

    def test_no_rejector_says_queue(self):
        queue = Queue(pod("a").req(cpu="99"))
        queue.rejected("NodeResourcesFit")
        assert queue.add(HELP).where("a") == "unschedulable"

    def test_a_plugin_that_is_switched_off_has_no_hints(self):
        off = {"plugins": {"multiPoint": {"disabled": [{"name": "NodeName"}]}}}
        queue = Queue(pod("a"), configuration={"profiles": [off]})
        queue.rejected("NodePorts")
        assert queue.change(HELP, HELP.taint("k")).where("a") == "backoff"

    def test_pods_of_no_profile_are_not_taken_in(self):
        queue = Queue(pod("a").scheduler("somebody-else"))
        assert queue.where("a") == "nowhere"
        queue.change(pod("a").scheduler("somebody-else"), pod("a").scheduler("somebody-else").label(a="b"))
        queue.remove(pod("a").scheduler("somebody-else"))
        assert queue.pop() is None
