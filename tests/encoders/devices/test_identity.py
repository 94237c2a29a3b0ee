"""Where counting devices of a kind is not enough."""

import pytest
from support.builders import cluster, node, pod
from support.devices import alternative, claim, device_class, first_of, gpu, model, request, slice_on, user

from kubestow.encoders.build import build_problem
from kubestow.encoders.dra import problem as device_problem
from kubestow.framework.build import build_cluster
from kubestow.solver.ordering.assignment import Assignment
from kubestow.solver.ordering.sequencer import Sequencer

A, GPU = node("a"), device_class()
p, q = user("p", "x"), user("q", "y")
LINKED = [gpu("g0", link=0), gpu("g1", link=1), gpu("g2", link=0)]
ALL = first_of("r", alternative("all", mode="All"), alternative("one"))

# name -> (the node's devices, claims and pods, whether it matters)
ROUNDS = {
    "one each": ([gpu("g0"), gpu("g1")], [claim("x"), claim("y"), p, q], False),
    "some that match": (LINKED, [claim("x", request("r", count=2), match="link"), p], False),
    "adminAccess": ([gpu("g0"), gpu("g1")], [claim("x", request("r", admin=True)), p], True),
    "adminAccess of a claim that nobody waits for": (
        [gpu("g0"), gpu("g1")],
        [claim("x", request("r", admin=True)), claim("y"), q],
        False,
    ),
    "a selector that fails": (
        [gpu("g0", model="m"), gpu("g1")],
        [claim("x", request("r", model("m"))), p],
        True,
    ),
    "one that does not": ([gpu("g0", model="m")], [claim("x", request("r", model("m"))), p], False),
    "all that may not match": (LINKED, [claim("x", ALL, match="link"), p], True),
    "all that match": (LINKED[::2], [claim("x", ALL, match="link"), p], False),
    "all that are not distinct": (LINKED, [claim("x", ALL, distinct="link"), p], True),
    "all without the attribute": ([gpu("g0")], [claim("x", ALL, match="link"), p], True),
    "an extended resource": (
        [gpu("g0"), gpu("g1")],
        [device_class("served", serves="example.com/gpu"), pod("p").req({"example.com/gpu": "1"})],
        False,
    ),
    "one whose class fails": (
        [gpu("g0", model="m"), gpu("g1")],
        [
            device_class("served", model("m"), serves="example.com/gpu"),
            pod("p").req({"example.com/gpu": "1"}),
        ],
        True,
    ),
}


def problem_of(name):
    devices, objects, _ = ROUNDS[name]
    return build_problem(build_cluster(cluster(A, GPU, slice_on("a", *devices), objects)))


@pytest.mark.parametrize("name", ROUNDS)
def test_where_it_matters_each_device_is_a_kind(name):
    devices = problem_of(name).devices
    matters = ROUNDS[name][2]
    assert devices.apart == matters
    assert not devices.blurred
    assert all(len(kind.devices) == 1 for kind in devices.kinds) or not matters


def test_pods_that_ask_for_the_same_are_one_class_unless_it_matters():
    assert len(problem_of("one each").classes) == 1
    more = [claim(name, request("r", model("m"))) for name in "xy"]
    devices = [gpu("g0", model="m"), gpu("g1")]
    apart = build_problem(build_cluster(cluster(A, GPU, slice_on("a", *devices), more, p, q)))
    assert len(apart.classes) == 2


@pytest.mark.parametrize("name", ["adminAccess", "a selector that fails"])
@pytest.mark.parametrize("most, blamed", [(1, False), (64, True)])
def test_of_too_many_devices_no_choice_is_excluded(name, most, blamed, monkeypatch):
    """No order for one choice of devices says nothing of the others."""
    monkeypatch.setattr(device_problem, "MOST_APART", most)
    problem = problem_of(name)
    assert problem.devices.blurred == (not blamed)
    sequencer = Sequencer(problem)
    sequencer.context.fits = lambda *_: False
    [i] = problem.cluster.pending
    result = sequencer.order(Assignment({i: 0}, frozenset()), 1e12)
    assert result.moves is None
    assert (result.conflict is not None) == blamed
