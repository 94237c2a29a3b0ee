"""Who is expected where."""

from support.builders import node, pod
from support.changing import Queue

from kubestow.framework.queue.nominator import Nominator


def expected(nominator, name):
    return [each.name for each in nominator.pods_on(name)]


def test_a_status_nominates():
    nominator = Nominator()
    nominator.add(pod("a").nominated("n").build())
    nominator.add(pod("b").nominated("n").build())
    nominator.add(pod("c").build())
    assert expected(nominator, "n") == ["a", "b"]
    assert nominator.node_of(pod("b").build()) == "n"
    nominator.delete(pod("a").build())
    assert expected(nominator, "n") == ["b"]
    assert expected(nominator, "m") == []


def test_a_decision_wins_over_the_status():
    nominator = Nominator()
    nominator.add(pod("a").nominated("n").build(), "m")
    assert expected(nominator, "m") == ["a"]
    nominator.add(pod("a").nominated("n").build(), "")
    assert nominator.node_of(pod("a").build()) is None


def test_a_pod_on_a_node_is_not_expected_anywhere():
    nominator = Nominator()
    nominator.add(pod("a").nominated("n").on("n").build())
    assert expected(nominator, "n") == []


def test_a_decision_survives_an_update_that_says_nothing_of_it():
    nominator = Nominator()
    nominator.add(pod("a").build(), "m")
    nominator.update(pod("a").build(), pod("a").label(v="2").build())
    assert [each.metadata.labels for each in nominator.pods_on("m")] == [{"v": "2"}]


def test_an_update_of_the_status_counts():
    nominator = Nominator()
    nominator.add(pod("a").build(), "m")
    nominator.update(pod("a").build(), pod("a").nominated("n").build())
    assert nominator.node_of(pod("a").build()) == "n"
    nominator.update(pod("a").nominated("n").build(), pod("a").build())
    assert nominator.node_of(pod("a").build()) is None


def test_the_queue_keeps_it():
    queue = Queue(node("n"), pod("a").nominated("n"))
    nominator = queue.queue.nominator
    assert expected(nominator, "n") == ["a"]
    queue.change(pod("a").nominated("n"), pod("a").nominated("m"))
    assert nominator.node_of(pod("a").build()) == "m"
    queue.remove(pod("a").nominated("m"))
    assert nominator.node_of(pod("a").build()) is None
