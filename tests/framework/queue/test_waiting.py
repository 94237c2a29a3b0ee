"""What wakes a waiting pod: its own updates, gates, lost nominations, events while it was in flight."""

import pytest
from support.builders import node, pod
from support.changing import Queue, with_uid

from kubestow.models.resource_api import ResourceClaim

HELP = node("n", cpu="8")


def noted(name, **claims):
    statuses = [{"name": key, "resourceClaimName": value} for key, value in claims.items()]

    def change(doc):
        doc["spec"]["resourceClaims"] = [{"name": key, "resourceClaimTemplateName": "t"} for key in claims]
        doc["status"]["resourceClaimStatuses"] = statuses

    return pod(name).changed(change)


class TestOwnUpdates:
    def test_the_pod_itself_is_asked_and_nobody_else(self):
        queue = Queue(pod("a"), pod("b"))
        queue.rejected("TaintToleration")
        queue.rejected("TaintToleration")
        queue.change(pod("a"), pod("a").tolerate("k"))
        assert (queue.where("a"), queue.where("b")) == ("backoff", "unschedulable")

    def test_one_in_active_or_backoff_just_gets_its_new_version(self):
        queue = Queue(pod("a"), pod("busy"))
        queue.rejected()
        queue.change(pod("a"), pod("a").label(v="2")).change(pod("busy"), pod("busy").label(v="2"))
        assert (queue.where("a"), queue.where("busy")) == ("backoff", "active")
        assert [item.pod.metadata.labels for item in (*queue.queue.active, *queue.queue.backoff)] == [
            {"v": "2"},
            {"v": "2"},
        ]

    def test_one_in_flight_is_asked_when_it_comes_back(self):
        queue = Queue(pod("a"))
        queue.pop()
        queue.change(pod("a"), pod("a").tolerate("k"))
        assert queue.fail("a", "TaintToleration").where("a") == "backoff"
        assert queue.queue.backoff[0].pod.spec.tolerations

    def test_the_hints_see_the_new_version(self):
        old, new = (pod("a").label(app="web", v=v).spread("zone", match_label_keys=["v"]) for v in "12")
        queue = Queue(old)
        queue.rejected("PodTopologySpread")
        queue.change(old, new)
        assert queue.where("a") == "backoff"

    def test_an_unknown_pod_that_is_updated_is_taken_in(self):
        assert Queue().change(pod("a"), pod("a").label(v="2")).where("a") == "active"


class TestGoing:
    @pytest.mark.parametrize("rejectors", [("NodeName",), ()], ids=["unschedulable", "backoff"])
    def test_a_pod_that_goes_is_forgotten(self, rejectors):
        queue = Queue(pod("a"))
        queue.rejected(*rejectors)
        assert queue.remove(pod("a")).where("a") == "nowhere"
        assert queue.at(1000) == []

    def test_one_that_goes_in_flight_does_not_come_back(self):
        queue = Queue(pod("a"))
        queue.pop()
        queue.remove(pod("a"))
        assert queue.fail("a", "NodeName").where("a") == "nowhere"
        assert not queue.queue.in_flight

    def test_nor_does_one_that_was_bound_by_somebody_else(self):
        queue = Queue(pod("a"))
        queue.pop()
        queue.change(pod("a"), pod("a").on("n"))
        assert queue.fail("a", "NodeName").where("a") == "nowhere"

    def test_a_new_pod_of_the_same_name_is_another_pod(self):
        first = with_uid(pod("a"))
        second = first.model_copy(update={"metadata": first.metadata.model_copy(update={"uid": "new"})})
        queue = Queue(first)
        queue.pop()
        queue.remove(first).add(second)
        queue.fail("a", "NodeName")
        assert [item.uid for item in queue.queue.active] == ["new"]

    def test_a_pod_that_finishes_while_it_waits_is_gone(self):
        done = pod("a").changed(lambda d: d["status"].update(phase="Failed"))
        assert Queue(pod("a")).change(pod("a"), done).where("a") == "nowhere"


class TestNominations:
    @pytest.mark.parametrize("priority, place", [(0, "backoff"), (1, "backoff"), (2, "unschedulable")])
    def test_a_lost_one_concerns_pods_of_at_most_that_priority(self, priority, place):
        chosen = pod("chosen").priority(1)
        queue = Queue(pod("a").priority(priority))
        queue.rejected("NodeResourcesFit")
        queue.add(chosen.nominated("n")).change(chosen.nominated("n"), chosen)
        assert queue.where("a") == place

    def test_a_pod_wakes_by_the_loss_of_its_own(self):
        queue = Queue(pod("a").nominated("n"))
        queue.rejected("NodeResourcesFit")
        assert queue.change(pod("a").nominated("n"), pod("a")).where("a") == "backoff"

    def test_spreading_looks_at_the_pods_own_loss_only(self):
        spread = pod("a").label(app="web").spread("zone")
        twin = spread.named("twin")
        queue = Queue(spread.nominated("n"), twin)
        queue.rejected("PodTopologySpread")
        queue.rejected("PodTopologySpread")
        queue.change(spread.nominated("n"), spread)
        assert (queue.where("a"), queue.where("twin")) == ("backoff", "unschedulable")


class TestInFlight:
    def test_events_before_the_pop_do_not_count(self):
        queue = Queue(pod("a"), pod("b"))
        queue.pop()
        queue.add(HELP)
        queue.pop()
        assert queue.fail("b", "NodeName").where("b") == "unschedulable"
        assert queue.fail("a", "NodeName").where("a") == "backoff"

    def test_events_are_kept_as_long_as_somebody_needs_them(self):
        queue = Queue(pod("a"), pod("b"))
        queue.add(node("m"))
        assert queue.queue.n_in_flight_events == 0, "nobody is in flight"
        queue.pop()
        queue.add(HELP)
        queue.pop()
        queue.remove(pod("gone").on("n"))
        assert queue.queue.n_in_flight_events == 2
        queue.done("a")
        assert queue.queue.n_in_flight_events == 1, "b was popped after the node came"
        queue.done("b")
        assert queue.queue.n_in_flight_events == 0

    def test_the_younger_one_may_come_back_first(self):
        queue = Queue(pod("a"), pod("b"))
        queue.pop()
        queue.add(HELP)
        queue.pop()
        queue.done("b")
        assert queue.queue.n_in_flight_events == 1
        assert queue.fail("a", "NodeName").where("a") == "backoff"

    def test_events_that_nobody_waits_for_are_not_kept(self):
        """NodeDeclaredFeatures registers every update of a pod."""
        queue = Queue(pod("a"), gates="NodeDeclaredFeatures=false")
        queue.pop()
        queue.change(pod("x").on("n"), pod("x").on("n").terminating())
        assert queue.queue.n_in_flight_events == 0


class TestGates:
    def test_all_must_go(self):
        both, one = pod("a").gated("x").gated("y"), pod("a").gated("y")
        queue = Queue(both)
        assert queue.queue.gate_reason(queue.queue.unschedulable[0]) == "waiting for scheduling gates: x, y"
        assert queue.change(both, one).where("a") == "unschedulable"
        assert queue.change(one, pod("a")).where("a") == "active"

    def test_they_are_not_looked_at_without_their_gate(self):
        assert Queue(pod("a").gated(), gates="PodSchedulingReadiness=false").where("a") == "active"

    def test_a_gated_pod_is_asked_about_no_event_but_its_gates(self):
        queue = Queue(pod("a").gated())
        queue.add(HELP).remove(pod("gone").on("n"))
        assert not queue.queue.counts.hints

    def test_victims_that_still_go_keep_their_preemptor_out(self):
        """Its rejector says Queue, but PreEnqueue finds the preemption unfinished."""
        victims = [pod(f"victim-{n}").on("n") for n in "ab"]
        queue = Queue(*victims, pod("a"))
        queue.rejected("NodeResourcesFit")
        queue.queue.preempting.add("default/a")
        queue.remove(victims[0])
        assert [item.gating_plugin for item in queue.queue.unschedulable] == ["DefaultPreemption"]
        assert queue.add(node("m")).where("a") == "unschedulable", "no deletion: not even asked"
        queue.queue.preempting.clear()
        queue.remove(victims[1])
        assert queue.where("a") == "backoff"
        assert not queue.queue.backoff[0].gated

    def test_preemption_inside_the_cycle_gates_nobody(self):
        queue = Queue(pod("a"), gates="SchedulerAsyncPreemption=false")
        queue.rejected("NodeResourcesFit")
        queue.queue.preempting.add("default/a")
        assert queue.remove(pod("v").on("n")).where("a") == "backoff"

    def test_a_claim_that_is_not_made_yet_keeps_its_pod_out(self):
        waiting = noted("a", c=None).changed(lambda d: d["status"].update(resourceClaimStatuses=[]))
        claim = ResourceClaim.model_validate(
            {
                "metadata": {
                    "name": "a-c",
                    "ownerReferences": [{"kind": "Pod", "name": "a", "controller": True}],
                }
            }
        )
        queue = Queue(waiting)
        assert (
            queue.queue.gate_reason(queue.queue.unschedulable[0])
            == 'pod "default/a": ResourceClaim not created yet'
        )
        assert queue.add(claim).where("a") == "unschedulable"
        assert queue.change(waiting, noted("a", c="a-c")).where("a") == "active"

    def test_a_pod_for_which_no_claim_is_needed_is_let_in(self):
        assert Queue(noted("a", c=None)).where("a") == "active"
