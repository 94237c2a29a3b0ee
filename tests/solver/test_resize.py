"""Nodes of a purchase exchanged: larger ones for pods without room, cheaper ones for few pods."""

import numpy as np
import pytest
from support.builders import cluster, pod
from support.proof import OPTIONS

from kubestow.instances.node_groups.file import read_catalogue
from kubestow.instances.what_if.apply import changed_by
from kubestow.models.purchases import MILLION
from kubestow.solver.provision.bins import Bins
from kubestow.solver.provision.resize import Resizing
from kubestow.solver.provision.trial import Market

# what one node has: cpus and pod slots, small and large
FREE = np.array([[2, 4], [9, 9]])
ASKED = np.array([[1, 1]])
"""One class, whose pods ask for a cpu."""


def group(name, cpu, price, **more):
    return {"name": name, "price": price, "template": {"zone": "a", "allocatable": {"cpu": cpu}}, **more}


def resizing(small, large, budget=None):
    groups = [group("small", "2", **{"price": 1, **small}), group("large", "4", **{"price": 1.7, **large})]
    catalogue = read_catalogue("groups.yaml", {"kind": "NodeGroups", "nodeGroups": groups})
    market = Market(cluster(pod("p")), catalogue, OPTIONS, changed_by)
    return Resizing(market, (0, 1), FREE, np.array([[2, 4]]), ASKED, (9, 9), budget)


def bought(*nodes):
    """Return nodes as (offer, pods), and how many there are of each offer."""
    offers = [offer for offer, _ in nodes]
    counts = np.array([[pods for _, pods in nodes]])
    bins = Bins([-1 - offer for offer in offers], FREE[:, offers], np.array([[2, 4]])[:, offers], counts)
    return bins, [offers.count(0), offers.count(1)]


def pods_within_room(bins):
    return bool((ASKED.T @ bins.counts <= bins.free).all() and (bins.counts <= bins.most).all())


@pytest.mark.parametrize(
    "nodes, wanted, small, large, budget, counts, placed",
    [
        pytest.param([(0, 2)], 3, {}, {}, None, [0, 1], 3, id="a small node is exchanged for a large one"),
        pytest.param(
            [(0, 2)], 3, {}, {"price": 2.5}, None, [2, 0], 3, id="another one, where that is cheaper"
        ),
        pytest.param(
            [(0, 2)], 3, {}, {"max": 0}, None, [2, 0], 3, id="another one, where no larger one is to be had"
        ),
        pytest.param(
            [(0, 2)], 3, {"min": 1}, {}, None, [2, 0], 3, id="another one, where a least number is kept"
        ),
        pytest.param([(0, 2)], 3, {}, {}, 3 * MILLION // 2, [1, 0], 2, id="none, where no money is left"),
        pytest.param(
            [(0, 2), (1, 4)], 9, {}, {"stock": 1}, None, [3, 1], 9, id="as many as it takes within the stock"
        ),
    ],
)
def test_pods_without_room_get_it_for_least(nodes, wanted, small, large, budget, counts, placed):
    bins, number = bought(*nodes)
    resizing(small, large, budget).enough(bins, np.array([wanted]), number)
    assert number == counts
    assert bins.counts.sum() == placed
    assert pods_within_room(bins)


@pytest.mark.parametrize(
    "nodes, small, large, counts",
    [
        pytest.param([(1, 2)], {}, {}, [1, 0], id="a large node with few pods is exchanged for a small one"),
        pytest.param([(1, 3)], {}, {}, [0, 1], id="one whose pods need it stays"),
        pytest.param([(1, 2)], {"price": 2}, {}, [0, 1], id="one that costs less stays"),
        pytest.param([(1, 2)], {"max": 0}, {}, [0, 1], id="one stays where no smaller one is to be had"),
        pytest.param([(1, 0), (0, 1)], {}, {}, [1, 0], id="an empty one is returned"),
        pytest.param([(1, 0)], {}, {"min": 1}, [0, 1], id="but not one of a least number"),
    ],
)
def test_what_is_larger_than_its_pods_need_costs_less_afterwards(nodes, small, large, counts):
    bins, number = bought(*nodes)
    pods = bins.counts.sum()
    resizing(small, large).tight(bins, number)
    assert number == counts
    assert bins.counts.sum() == pods
    assert pods_within_room(bins)
