"""Pods of one kind fit on the same nodes: those of a class, and those whose claims ask for the same."""

import pytest
from support.builders import cluster, node
from support.devices import claim, device_class, gpu, request, slice_on, user

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.kinds import kind_of
from kubestow.framework.runs.diagnosis import diagnose
from kubestow.framework.runs.greedy import run_to_quiescence
from kubestow.framework.state.state import State

P, Q = user("p", "c"), user("q", "d")
TWO = request("r", count=2)
ROWS = [
    ([P, Q, claim("c"), claim("d")], True, "claims ask for the same"),
    ([P, Q, claim("c"), claim("d", TWO)], False, "claims ask for something else"),
    ([P, Q.priority(1), claim("c"), claim("d")], False, "pods differ in more than claims"),
    ([P, Q, claim("c"), claim("d", users=["q"])], False, "a claim is reserved"),
    ([P, Q, claim("c"), claim("d", has=[("r", "a", "g0")], at="a")], False, "a claim has devices"),
    ([user("p", "c"), user("q", "c"), claim("c")], True, "pods share a claim"),
    ([user("p", "c", "d"), Q, claim("c"), claim("d")], False, "a pod has one claim more"),
    ([P, Q.req(cpu="1"), claim("c"), claim("d")], False, "a pod asks for a resource"),
]


def built(objects):
    return build_cluster(cluster(node("a"), device_class(), slice_on("a", gpu("g0")), *objects))


@pytest.mark.parametrize("objects, same, why", ROWS, ids=[why for *_, why in ROWS])
def test_who_is_of_one_kind(objects, same, why):
    whole = built(objects)
    state = State.initial(whole)
    kinds = {kind_of(whole, state, i) for i in (0, 1)}
    assert (len(kinds) == 1) == same


def test_a_pod_is_of_another_kind_once_its_claim_has_devices():
    whole = built([P, Q, claim("c"), claim("d")])
    before = State.initial(whole)
    state = run_to_quiescence(whole).state
    placed, left = sorted((0, 1), key=lambda i: state.node_of[i] < 0)
    assert state.node_of[left] < 0
    assert kind_of(whole, state, left) == kind_of(whole, before, left)
    assert kind_of(whole, state, placed) != kind_of(whole, before, placed)


def test_a_message_that_names_a_claim_is_told_of_no_other():
    whole = built([P, Q, claim("c", request("r", of="none")), claim("d", request("r", of="none"))])
    state = State.initial(whole)
    for i in (0, 1):
        assert "device class none does not exist" in diagnose(whole, state, i).message
    wrong = [claim(name, request("r", "device.attributes['x'].y")) for name in "cd"]
    whole = built([P, Q, *wrong])
    state = State.initial(whole)
    told = [diagnose(whole, state, i).message for i in (0, 1)]
    assert all(f"default/{name}" in text for name, text in zip("cd", told, strict=True))
