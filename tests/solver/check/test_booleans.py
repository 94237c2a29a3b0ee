"""The second model of a round: it agrees with the search of all plans, and judges larger rounds than that."""

import json
from dataclasses import replace

import pytest
from support.builders import cluster, group, node, pod
from support.device_rounds import tiny_devices, tiny_mixed
from support.devices import alternative, claim, device_class, first_of, gpu, model, request, slice_on, user
from support.group_rounds import tiny_groups
from support.guard_rounds import tiny_guards
from support.oracle.placing import places_any
from support.proof import told as words
from support.strategies import tiny
from support.sweeps import few_or_all
from support.tree_rounds import tiny_trees
from support.volume_rounds import tiny_volumes
from support.why_rounds import OPTIONS

from kubestow.framework.build import build_cluster
from kubestow.models.resource_api import ResourceClaim
from kubestow.solver.check.booleans.resolve import solved_again
from kubestow.solver.check.documents import check_document
from kubestow.solver.check.exhaustive import MOST_NODES
from kubestow.solver.why.question import why

KEEPS = "while all of them stand no plan places it"
FAMILIES = (tiny_devices, tiny_mixed, tiny_groups, tiny_guards, tiny, tiny_volumes, tiny_trees)


def compared(snapshot):
    """Hold the model's answers about the waiting pods of a round to those of all plans; return them."""
    answers = []
    for i in build_cluster(snapshot).pending:
        key = build_cluster(snapshot).pods[i].key
        asked = build_cluster(replace(snapshot, asked=(key,)))
        if (found := solved_again(asked)) is not None:
            assert found == places_any(asked), words(snapshot, f"{key} has a place: {found}")
        answers.append(found)
    return answers


@pytest.mark.parametrize("make", FAMILIES)
def test_the_second_model_finds_what_the_search_of_all_plans_finds(make):
    found = {answer for seed in range(5, 8) for answer in compared(make(seed))}
    assert found & {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("make", FAMILIES)
def test_the_second_model_finds_it_in_many_rounds(make):
    answers = [answer for seed in range(8, few_or_all(20, 150)) for answer in compared(make(seed))]
    assert {True, False} <= {*answers}


def placed(*objects, asked="default/p"):
    """What the second model says of a pod on one node with two cards of different models."""
    cards = gpu("x", model="one"), gpu("y", model="two")
    snapshot = cluster(node("n"), device_class(), slice_on("n", *cards), *objects)
    return solved_again(build_cluster(replace(snapshot, asked=(asked,))))


HELD = [claim("held", has=[("r", "n", "x")], at="n", users=("v",)), user("v", "held").on("n").priority(9)]


@pytest.mark.parametrize(
    "objects, place",
    [
        pytest.param([claim("c", request("r", mode="All"))], True, id="all devices are free"),
        pytest.param([claim("c", request("r", mode="All")), *HELD], False, id="of all devices one is held"),
        pytest.param(
            [claim("c", request("r", count=2)), *HELD], False, id="two are asked for and one is held"
        ),
        pytest.param(
            [claim("c", request("r", count=2, admin=True)), *HELD],
            True,
            id="administration looks past others",
        ),
        pytest.param(
            [claim("c", request("r", mode="All"), match="model")], False, id="all devices differ in a model"
        ),
        pytest.param(
            [claim("c", request("r", count=2), distinct="model")], True, id="two devices that differ"
        ),
        pytest.param(
            [claim("c", first_of("r", alternative("a", model("none")), alternative("b")))],
            True,
            id="the second choice",
        ),
        pytest.param(
            [claim("c", first_of("r", alternative("a", model("none")), alternative("b", count=3)))],
            False,
            id="no choice",
        ),
        pytest.param([claim("c", request("r", of="none"))], False, id="a class that is not there"),
        pytest.param([claim("c", has=[("r", "n", "x")], at="n")], True, id="a claim that has its device"),
        pytest.param(
            [claim("c", has=[("r", "m", "x")], at="m")], True, id="a device elsewhere is given back"
        ),
        pytest.param(
            [claim("c", request("r", model("one"))), claim("d", request("r", model("one")))],
            True,
            id="a claim of another pod",
        ),
    ],
)
def test_claims_of_every_kind_are_judged(objects, place):
    assert placed(*objects, user("p", "c")) is place


def test_a_pod_is_where_the_devices_of_its_claim_are_reached():
    """Another pod has them and stays: from the second node they are not reached."""
    shared = claim("c", has=[("r", "n", "x")], at="n", users=("q",))
    running = user("q", "c").on("n").priority(9)
    away = user("p", "c").select({"kubernetes.io/hostname": "m"})
    assert placed(node("m"), shared, running, away) is False
    assert placed(node("m"), shared, running, user("p", "c")) is True


# -- rounds that are too large for a search --

CARDS = 4


def large(*, members=3, cards=3):
    """Thirty nodes of four cards, two of each model, and a gang whose members want cards of one model each.

    On every node runs a pod that may be evicted for it.
    """
    nodes = [node(f"n{k}", cpu="8") for k in range(MOST_NODES)]
    served = [
        slice_on(f"n{k}", *(gpu(f"g{c}", model=f"m{c % 2}") for c in range(CARDS))) for k in range(MOST_NODES)
    ]
    victims = [pod(f"v{k}").req(cpu="1").on(f"n{k}") for k in range(MOST_NODES)]
    gang = [
        part
        for k in range(members)
        for part in (
            claim(f"c{k}", request("r", count=cards), match="model"),
            user(f"p{k}", f"c{k}").req(cpu="1").member("g").priority(5),
        )
    ]
    return [*nodes, device_class(), *served, *victims, group("g", gang=members), *gang]


def unconstrained(item):
    """Return a claim without its constraints, anything else as it is."""
    if not isinstance(item, ResourceClaim):
        return item
    devices = item.spec.devices.model_copy(update={"constraints": ()})
    return item.model_copy(update={"spec": item.spec.model_copy(update={"devices": devices})})


def answered(objects, name):
    """The answer of `explain --why` as a program reads it."""
    return json.loads(json.dumps(why(cluster(*objects), name, OPTIONS)))


def of_core(objects, told):
    [found] = [item for item in check_document(cluster(*objects), told) if item.claim == KEEPS]
    return found


def test_a_core_of_devices_in_a_round_of_thirty_nodes_is_solved_once_more():
    objects = large()
    told = answered(objects, "g")
    assert told["proof"]["kind"] == "search"
    assert of_core(objects, told) == (KEEPS, True, "solved once more, with plain Booleans")


def test_a_wrong_core_of_such_a_round_is_refused():
    """Without the constraint each claim finds three cards: a plan that places the gang is replayed."""
    objects = large()
    told = answered(objects, "g")
    told["core"] = [row for row in told["core"] if row["kind"] != "deviceConstraint"]
    assert told["core"]
    found = of_core(objects, told)
    assert found.holds is False
    gang = ("default/p0", "default/p1", "default/p2")
    loose = [unconstrained(item) for item in objects]
    assert solved_again(build_cluster(replace(cluster(*loose), asked=gang))) is True


def test_an_answer_about_another_round_is_refused():
    """Two cards of one model are there: the answer is that of a round in which three were asked for."""
    told = answered(large(), "g")
    assert any(not item.holds for item in check_document(cluster(*large(cards=2)), told))
