"""The least that a placement costs in the tier `fallback`, for the model and by definition."""

from itertools import count, product

import pytest
from support.builders import cluster, node, pod
from support.engines import admits
from support.oracle.valuation import fallback_excess

from kubestow.framework.build import build_cluster

CRITERIA = ["PreemptionFailed"]

fallen = pod("p").label(app="web").spread("zone", fallback=CRITERIA).unschedulable()
three = [node(name, zone=f"z-{name}") for name in "abc"]

ROUNDS = {
    "three zones, three pods": cluster(three, fallen.times(3)),
    "with pods that run": cluster(three, pod("v").label(app="web").on("a").times(2), fallen.times(2)),
    "with a matching pod that has no constraint": cluster(three, fallen.times(2), pod("q").label(app="web")),
    "with another maxSkew beside": cluster(
        three,
        fallen,
        pod("q").label(app="web").spread("zone", max_skew=2, fallback=CRITERIA).unschedulable().times(2),
    ),
    "with a matching pod that is still held": cluster(
        three,
        fallen.times(2),
        pod("q").label(app="web").spread("zone", select={"app": "web"}, max_skew=2).times(2),
    ),
    "fewer domains than minDomains": cluster(
        three,
        pod("p").label(app="web").spread("zone", min_domains=4, fallback=CRITERIA).unschedulable().times(3),
    ),
    "a selector that does not match the pod": cluster(
        three,
        pod("v").label(app="web").on("a").times(3),
        pod("p")
        .label(app="api")
        .spread("zone", select={"app": "web"}, fallback=CRITERIA)
        .unschedulable()
        .times(2),
    ),
    "a node without the key": cluster(node("a", zone="z1"), node("b"), node("c", zone="z2"), fallen.times(3)),
    "a node that does not count": cluster(
        node("a", zone="z1"),
        node("b", zone="z2").without("hostname"),
        node("c", zone="z2"),
        fallen.spread("hostname", max_skew=3, fallback=CRITERIA).times(3),
    ),
}


@pytest.mark.parametrize("snapshot", ROUNDS.values(), ids=ROUNDS)
def test_the_least_cost_of_every_placement(snapshot):
    """Whatever node each pod is on, the cheapest value that the model admits is the definition's."""
    cluster = build_cluster(snapshot)
    assert cluster.pending
    for nodes in product(range(cluster.n_nodes), repeat=len(cluster.pending)):
        placed = dict(zip(cluster.pending, nodes, strict=True))
        if admits(cluster, placed):
            least = next(k for k in count() if admits(cluster, placed, (), {"fallback": k}))
            assert least == fallback_excess(cluster, placed, ())
