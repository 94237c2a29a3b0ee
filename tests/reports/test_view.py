"""Which pods have rows, what stands beside their names, and what many messages have in common."""

import pytest
from support.builders import cluster, node, pod

from kubestow.models.selector_text import parse_selector
from kubestow.reports.view import EVERYTHING, View
from kubestow.reports.words import reason

GPU = {"cpu": "250m", "memory": "1Gi", "x.io/gpu": "2"}
SNAPSHOT = cluster(
    node("n", zone="east"),
    node("bare").without("topology.kubernetes.io/zone"),
    pod("web", namespace="shop").label(app="web").req(GPU).priority(7),
    pod("old").label(app="old").req(cpu="2").priority(0).on("n"),
)
PODS = {item.key: item for item in SNAPSHOT.pods}
NODES = {item.name: item for item in SNAPSHOT.nodes}


def view(**choices):
    if "labels" in choices:
        choices["selector"] = parse_selector(choices.pop("labels"))
    return View(pods=PODS, nodes=NODES, **choices)


@pytest.mark.parametrize(
    "choices, shown",
    [
        pytest.param({}, ["shop/web", "default/old", "gone/pod"], id="all, unknown ones as well"),
        pytest.param({"namespace": "shop"}, ["shop/web"], id="of a namespace"),
        pytest.param({"labels": "app=old"}, ["default/old"], id="with a label"),
        pytest.param({"labels": "!app"}, ["gone/pod"], id="an unknown pod has no labels"),
        pytest.param({"labels": "app", "namespace": "default"}, ["default/old"], id="both"),
    ],
)
def test_which_pods_are_shown(choices, shown):
    assert view(**choices).shown(["shop/web", "default/old", "gone/pod"]) == shown


def test_groups_and_claims_have_a_namespace_and_no_labels():
    assert view(labels="app=web").shows_namespace("default/claim")
    assert not view(namespace="shop").shows_namespace("default/claim")


def test_beside_a_name_there_is_nothing_in_a_narrow_table():
    narrow = view()
    assert (narrow.about_pod, narrow.of_pod("shop/web"), narrow.numbers) == ((), (), ())
    assert (narrow.about_node, narrow.of_node("n")) == ((), ())


@pytest.mark.parametrize(
    "key, about",
    [
        pytest.param("shop/web", ("7", "", "250m cpu, 1Gi memory, 2 x.io/gpu"), id="what a pod asks for"),
        pytest.param("default/old", ("0", "", "2 cpu"), id="what a running pod takes"),
        pytest.param("gone/pod", ("", "", ""), id="a pod that the input does not have"),
    ],
)
def test_beside_a_pod_there_are_priority_class_and_requests_in_a_wide_table(key, about):
    assert view(wide=True).of_pod(key) == about


@pytest.mark.parametrize("name, zone", [("n", "east"), ("bare", ""), ("gone", ""), (None, "")])
def test_beside_a_node_there_is_its_zone_in_a_wide_table(name, zone):
    assert view(wide=True).of_node(name) == (zone,)


def test_lists_are_cut_unless_they_are_to_be_whole():
    names = [f"p{k}" for k in range(10)]
    assert EVERYTHING.listed(names) == "p0, p1, p2, p3, p4 and 5 more"
    assert view(whole=True).listed(names) == ", ".join(names)


@pytest.mark.parametrize(
    "message, common",
    [
        pytest.param(
            "0/6 nodes are available: 2 Insufficient cpu, 4 node(s) had untolerated taint {a: 5}.",
            "0/6 nodes are available: Insufficient cpu, node(s) had untolerated taint {a: 5}.",
            id="counts of nodes are left out",
        ),
        pytest.param(
            "0/6 nodes are available: 6 Insufficient x.io/gpu2. preemption: 0/6 nodes are available: 6 none.",
            "0/6 nodes are available: Insufficient x.io/gpu2. preemption: 0/6 nodes are available: none.",
            id="preemption's as well, and no digit of a name",
        ),
        pytest.param("waiting for 3 pods", "waiting for 3 pods", id="other numbers stay"),
    ],
)
def test_what_equal_reasons_have_in_common(message, common):
    assert reason(message) == common
