"""Callbacks run in the order of their times, ranks and entries, however far away they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import NOW

from kubestow.framework.queue.clock import SECOND, VirtualClock
from kubestow.models.pod import Pod
from kubestow.models.scenario import Scenario
from kubestow.models.snapshot import Snapshot
from kubestow.simulation.agenda import EARLY, LATE, USUAL, Agenda
from kubestow.simulation.listeners import GONE, ON_NODE, WAITING, Listeners
from kubestow.simulation.world import World

times = st.one_of(st.integers(0, 3), st.integers(0, 40 * SECOND), st.sampled_from([2**33 - 1, 2**33, 2**34]))
entries = st.lists(st.tuples(times, st.sampled_from([EARLY, USUAL, LATE])), max_size=12)


def run(agenda, clock, seen):
    """Let the clock go from callback to callback; return when each was called."""
    while (time := agenda.next_time) is not None:
        clock.now = time
        agenda.run_due()
    return seen


@given(entries, entries)
def test_order_is_that_of_times_ranks_and_entries(first, more):
    # The first callback enters the others: what is due by then comes next, whatever has passed.
    clock = VirtualClock()
    agenda = Agenda(clock)
    seen = []

    def note(number):
        seen.append((clock.now, number))

    def enter():
        for number, (time, rank) in enumerate(more, len(first)):
            agenda.at(time, note, rank, number)
            wanted.append((max(time, clock.now), rank, number))

    wanted = [(time, rank, number) for number, (time, rank) in enumerate(first)]
    for number, (time, rank) in enumerate(first):
        agenda.at(time, note, rank, number)
    agenda.at(min((time for time, _ in first), default=5), enter, EARLY - 1)
    run(agenda, clock, seen)
    assert seen == [(time, number) for time, _, number in sorted(wanted)]


@pytest.mark.parametrize("delay", [-5, 0])
def test_no_delay_is_at_once(delay):
    clock = VirtualClock(20 * SECOND)
    agenda = Agenda(clock)
    seen = []
    agenda.after(delay, seen.append, USUAL, "called")
    agenda.run_due()
    assert seen == ["called"]
    assert agenda.next_time is None


def test_a_listener_that_wakes_is_called_in_its_old_place():
    listeners = Listeners()
    listeners.add(one := lambda old, new: None, "Pod")
    interest = listeners.add(two := lambda old, new: None, "Pod", asleep=True)
    listeners.add(three := lambda old, new: None, "Pod", only=ON_NODE)
    assert listeners.of_pod(Pod(), ON_NODE) == (one, three)
    listeners.wake(interest)
    assert listeners.of_pod(Pod(), ON_NODE) == (one, two, three)
    assert listeners.of_pod(Pod(), WAITING) == listeners.of_pod(Pod(), GONE) == (one, two)


def test_pods_of_one_template_differ_in_name_uid_and_annotations_only():
    world = World(Scenario("templates", Snapshot(name="templates", now=NOW), 60 * SECOND))
    template = Pod.model_validate({"metadata": {"name": "t", "labels": {"app": "x"}}})
    for number in range(2):
        world.create(template, f"t-{number}", {"number": str(number)})
    first, second = world.objects.all(Pod)
    assert (first.key, second.key) == ("default/t-0", "default/t-1")
    assert (first.metadata.uid, second.metadata.uid) == ("default/t-0#1", "default/t-1#2")
    assert (first.metadata.annotations, second.metadata.annotations) == ({"number": "0"}, {"number": "1"})
    assert first.metadata.labels == second.metadata.labels == {"app": "x"}
    assert first.spec is second.spec
    assert first.status == template.status
