"""An order of moves whose targets are given."""

import pytest
from support.builders import budget, node, pod
from support.moves import in_words
from support.moving import moving_of, targets

from kubestow.framework.state.state import State
from kubestow.solver.moves.replay import follow
from kubestow.solver.moves.sequence import sequence

V = pod("v").label(app="web").owned().req(cpu="2").on("a")
W = V.named("w")
DB = pod("x").label(app="db").owned().anti("zone").on("a")
ZONES = (node("a", zone="1"), node("b", zone="2"), node("c", zone="3"))
X = pod("x").label(app="db").owned().anti("zone").on("a")
Y = X.named("y").on("b")


def ordered(moving, effort=2_000, **where):
    found = sequence(moving, State.initial(moving.cluster), targets(moving, **where), effort=effort)
    if found.changes is not None:
        run = follow(moving, found.changes)
        assert not run.fault
        assert (run.end.node_of == found.state.node_of).all()
    return found


def words(moving, found):
    return None if found.changes is None else ", ".join(in_words(moving.cluster, found.changes))


@pytest.mark.parametrize(
    "allowed, order",
    [
        pytest.param(
            2,
            "mark v, leave v, mark w, leave w, bind v-moved b, bind w-moved b",
            id="all at once where the budget allows all",
        ),
        pytest.param(
            1,
            "mark v, leave v, bind v-moved b, mark w, leave w, bind w-moved b",
            id="one after the other where it allows one",
        ),
        pytest.param(0, None, id="none where it allows none, and that is proven"),
    ],
)
def test_batches_are_what_budgets_allow(allowed, order):
    moving = moving_of(node("a"), node("b"), V, W, budget("web", allowed=allowed, app="web"))
    found = ordered(moving, v="b", w="b")
    assert words(moving, found) == order
    assert found.proven == (order is None)


def test_who_makes_room_goes_first():
    moving = moving_of(*ZONES, X, Y, budget("db", allowed=1, app="db"))
    found = ordered(moving, x="b", y="c")
    assert words(moving, found) == "mark y, leave y, bind y-moved c, mark x, leave x, bind x-moved b"


def test_two_that_change_places_leave_together():
    moving = moving_of(*ZONES, X, Y, budget("db", allowed=2, app="db"))
    found = ordered(moving, x="b", y="a")
    assert words(moving, found) == "mark x, leave x, mark y, leave y, bind x-moved b, bind y-moved a"


def test_two_that_change_places_cannot_one_by_one():
    moving = moving_of(*ZONES, X, Y, budget("db", allowed=1, app="db"))
    assert ordered(moving, x="b", y="a").changes is None
    assert ordered(moving, x="b", y="a").proven


def test_a_search_that_gives_up_proves_nothing():
    moving = moving_of(*ZONES, X, Y, budget("db", allowed=1, app="db"))
    found = ordered(moving, x="b", y="a", effort=1)
    assert found.changes is None
    assert not found.proven


def test_a_pod_that_needs_another_comes_while_it_is_there():
    """Two pods that must be beside a third one of the zone, which is moved away: they come first."""
    friend = pod("f").label(app="friend").owned().on("a")
    guest = pod("g").owned().affinity("zone", {"app": "friend"}).req(cpu="1").on("c")
    moving = moving_of(
        node("a", zone="1"), node("b", zone="1"), node("c", zone="1"), node("d"), friend, guest
    )
    found = ordered(moving, f="d", g="b")
    assert words(moving, found) == "mark g, leave g, bind g-moved b, mark f, leave f, bind f-moved d"
