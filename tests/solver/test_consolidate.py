"""Consolidations: the cheapest by proof, counted by hand or by trying every purchase and every move."""

from dataclasses import replace

import pytest
from support.builders import budget, cluster, node, pod
from support.consolidation_rounds import best_costs, costs_of, tiny_consolidation
from support.proof import OPTIONS

from kubestow.instances.node_groups.file import read_catalogue
from kubestow.instances.what_if.apply import changed_by
from kubestow.models.moves import MoveOptions
from kubestow.models.purchases import MILLION
from kubestow.solver.consolidate import search as search_module
from kubestow.solver.consolidate.answer import consolidate
from kubestow.solver.consolidate.owned import owned_nodes

ONE = pod("p").label(app="x").req(cpu="1").owned()
SEEDS = (0, 7, 12, 14, 15, 17, 23, 27, 29, 42, 50, 58, 59, 60, 64, 66)
"""Rounds in which nodes are bought or returned, and whose plans are few."""


def of(name, cpu, price, labels=True, **more):
    template = {
        "allocatable": {"cpu": cpu, "memory": "8Gi"},
        **({"labels": {"size": name}} if labels else {}),
    }
    return {"name": name, "price": price, "template": template, **more}


SMALL, LARGE = of("small", "2", 1), of("large", "4", 3)


def groups(*items):
    return read_catalogue("groups.yaml", {"kind": "NodeGroups", "nodeGroups": list(items)})


def stands(name, size, **room):
    return node(name, **{"cpu": "4", "memory": "8Gi", **room}).label(size=size)


def answer(objects, offered, **more):
    return consolidate(cluster(*objects), groups(*offered), changed_by, options=OPTIONS, **more)


@pytest.mark.parametrize(
    "objects, offered, price, bought, returned, moves",
    [
        pytest.param(
            [stands("a", "large"), stands("b", "large"), ONE.on("a"), ONE.named("q").times(2).on("b")],
            [LARGE],
            3,
            0,
            {"a"},
            1,
            id="a node is deleted whose pod has room elsewhere",
        ),
        pytest.param(
            [stands("a", "large"), ONE.on("a")],
            [SMALL, LARGE],
            1,
            1,
            {"a"},
            1,
            id="a node is replaced by a cheaper one",
        ),
        pytest.param(
            [
                stands("a", "large"),
                stands("b", "large"),
                ONE.times(2).on("a"),
                ONE.named("q").times(3).on("b"),
            ],
            [of("huge", "8", 4), LARGE],
            4,
            1,
            {"a", "b"},
            5,
            id="two nodes are replaced by one that costs more than each",
        ),
        pytest.param(
            [stands("a", "large"), stands("b", "large"), ONE.on("a")],
            [LARGE],
            3,
            0,
            {"b"},
            0,
            id="an empty node is returned",
        ),
        pytest.param(
            [stands("a", "large"), ONE.on("a")],
            [{**SMALL, "stock": 0}, LARGE],
            3,
            0,
            set(),
            0,
            id="what cannot be had replaces nothing",
        ),
        pytest.param(
            [stands("a", "large"), stands("b", "large"), ONE.on("a"), ONE.named("q").on("b")],
            [{**LARGE, "min": 1}],
            6,
            0,
            set(),
            0,
            id="nodes of a group with a least number stay",
        ),
        pytest.param(
            [stands("a", "large"), stands("b", "other"), ONE.on("a")],
            [LARGE],
            0,
            0,
            {"a"},
            1,
            id="a node without a price costs nothing and stays",
        ),
        pytest.param(
            [stands("a", "large"), ONE.on("a"), ONE.named("w").req(cpu="4")],
            [SMALL, LARGE],
            4,
            1,
            set(),
            1,
            id="a pod moves to a cheap new node, and the one that waits has the whole old one",
        ),
        pytest.param(
            [stands("a", "large"), pod("alone").req(cpu="1").on("a")],
            [SMALL, LARGE],
            3,
            0,
            set(),
            0,
            id="what may not move keeps its node",
        ),
        pytest.param(
            [stands("a", "large"), ONE.on("a"), budget("b", allowed=0, app="x")],
            [SMALL, LARGE],
            3,
            0,
            set(),
            0,
            id="a budget without a disruption keeps the node",
        ),
        pytest.param(
            [
                stands("a", "large"),
                ONE.anti("hostname", {"app": "x"}).on("a"),
                ONE.named("w").anti("hostname", {"app": "x"}),
            ],
            [SMALL, LARGE],
            2,
            2,
            {"a"},
            1,
            id="nodes that are not bought are no domains, and pods that keep apart have one each",
        ),
        pytest.param(
            [
                stands("a", "large"),
                stands("b", "large"),
                *(ONE.named(f"s{n}").spread("hostname", select={"app": "x"}).on(n) for n in "ab"),
            ],
            [SMALL, LARGE],
            2,
            2,
            {"a", "b"},
            2,
            id="spread is kept over what stands while pods move",
        ),
    ],
)
def test_the_cheapest_nodes_are_left_by_proof(objects, offered, price, bought, returned, moves):
    found = answer(objects, offered)
    plan = found.optimal
    assert found.status == "OPTIMAL"
    assert plan.price == price
    assert sum(item.count for item in plan.bought) == bought
    assert {item.node for item in plan.returned} == returned
    assert len(plan.moves) == moves
    assert not found.waiting


@pytest.mark.parametrize("seed", SEEDS)
def test_the_answer_is_that_of_the_exhaustive_search(seed):
    snapshot, catalogue = tiny_consolidation(seed)
    found = consolidate(snapshot, catalogue, changed_by, options=OPTIONS)
    best = best_costs(snapshot, catalogue)
    assert costs_of(found.optimal) == best
    assert found.status == "OPTIMAL"
    assert costs_of(found.heuristic) >= best


@pytest.mark.slow
def test_so_it_is_in_two_hundred_rounds():
    for seed in range(200):
        snapshot, catalogue = tiny_consolidation(seed)
        found = consolidate(snapshot, catalogue, changed_by, options=OPTIONS)
        assert costs_of(found.optimal) == best_costs(snapshot, catalogue), seed


def test_out_of_time_the_answer_is_no_worse_than_the_heuristic_nor_than_what_stands():
    objects = [stands("a", "large"), stands("b", "large"), ONE.on("a"), ONE.named("q").on("b")]
    limits = replace(OPTIONS, time_limit=1e-6)
    found = consolidate(cluster(*objects), groups(SMALL, LARGE), changed_by, options=limits)
    assert costs_of(found.optimal) <= costs_of(found.heuristic)
    assert found.optimal.price <= found.price_now
    assert all(tier.bound is None or tier.proven for tier in found.optimal.tiers)


def test_one_node_at_a_time_replaces_a_node_by_one_cheaper_node():
    found = answer([stands("a", "large"), ONE.on("a")], [SMALL, LARGE])
    assert [item.group for item in found.heuristic.bought] == ["small"]
    assert [item.node for item in found.heuristic.returned] == ["a"]


@pytest.mark.parametrize(
    "labels, offered, group_label, owned",
    [
        pytest.param({"size": "small"}, SMALL, "", True, id="a node has all labels of the template"),
        pytest.param({"size": "large"}, SMALL, "", False, id="another value is another group"),
        pytest.param(
            {}, of("small", "2", 1, labels=False), "", False, id="a template without labels is of no node"
        ),
        pytest.param({"pool": "small"}, SMALL, "pool", True, id="a label that is named has the group"),
        pytest.param({"size": "small"}, SMALL, "pool", False, id="where one is named no other label counts"),
        pytest.param(
            {"size": "small"},
            {**SMALL, "zones": ["a"]},
            "",
            False,
            id="a node of another zone is of no offer",
        ),
    ],
)
def test_which_node_is_of_which_group(labels, offered, group_label, owned):
    snapshot = cluster(node("n", zone="z").label(**labels))
    assert bool(owned_nodes(snapshot, groups(offered), group_label)) == owned


def test_the_catalogue_of_karpenter_knows_nodes_by_type_and_capacity():
    requirement = [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}]
    offering = {"Price": 0.5, "Available": True, "Requirements": requirement}
    raw = [
        {
            "name": "t",
            "architecture": "amd64",
            "operatingSystems": ["linux"],
            "resources": {"cpu": "2"},
            "offerings": [offering],
        }
    ]
    catalogue = read_catalogue("types.json", raw)
    labels = {"node.kubernetes.io/instance-type": "t"}
    spot = node("spot").label(**labels, **{"karpenter.sh/capacity-type": "spot"})
    demand = node("demand").label(**labels, **{"karpenter.sh/capacity-type": "on-demand"})
    assert owned_nodes(cluster(spot, demand, node("plain").label(**labels)), catalogue) == {
        "spot": 0,
        "plain": 0,
    }


def test_who_may_move_is_what_options_say():
    local = ONE.changed(lambda doc: doc["spec"].update(volumes=[{"name": "v", "emptyDir": {}}])).on("a")
    objects = [stands("a", "large"), local]
    assert answer(objects, [SMALL, LARGE]).optimal.price * MILLION == 3 * MILLION
    assert answer(objects, [SMALL, LARGE], moves=MoveOptions(delete_emptydir_data=True)).optimal.price == 1


@pytest.mark.parametrize("seed", [7, 12, 14, 15, 17, 29, 59, 64])
def test_without_the_model_sums_bound_the_price(seed, monkeypatch):
    """As in large rounds: the best is no cheaper than the bound, and no dearer than the answer."""
    monkeypatch.setattr(search_module, "_MOST_NEW", -1)
    snapshot, catalogue = tiny_consolidation(seed)
    found = consolidate(snapshot, catalogue, changed_by, options=OPTIONS)
    best = best_costs(snapshot, catalogue)
    assert best <= costs_of(found.optimal) <= costs_of(found.heuristic)
    [price] = [tier for tier in found.optimal.tiers if tier.name == "price"]
    if not found.waiting:
        assert 0 <= round(price.bound * MILLION) <= best[-3]
