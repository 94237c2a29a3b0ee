"""Tiny clusters with prices, what can be bought for them, and every purchase and move tried one by one.

Nodes have the label of a group, or none; groups have one or two zones, limits and stock; pods are those of
`move_rounds`: owned or not, with budgets, spread and affinity.
"""

from dataclasses import replace
from itertools import product
from random import Random

from kubestow.instances.node_groups.file import read_catalogue
from kubestow.instances.what_if.apply import changed_by
from kubestow.models.moves import MoveOptions
from kubestow.models.purchases import MILLION
from kubestow.solver.consolidate.answer import question
from kubestow.solver.moves.moving import moving
from kubestow.solver.options import SolveOptions
from support.move_rounds import moves_round
from support.oracle.exhaustive_moves import best_moves

MOST = 2
"""Nodes that are bought of an offer, at most."""


def tiny_consolidation(seed):
    """Return a cluster and what can be bought."""
    rng = Random(f"consolidate/{seed}")
    snapshot = moves_round(seed, waiting=rng.random() < 0.5)
    nodes = tuple(_sized(item, rng.choice(["s", "l", "l", None])) for item in snapshot.nodes)
    groups = [_group(rng, "s", ["1", "2"], [1, 1.5]), _group(rng, "l", ["3", "4"], [2, 2.5, 3.25])]
    catalogue = read_catalogue("groups.yaml", {"kind": "NodeGroups", "nodeGroups": groups})
    return replace(snapshot, nodes=nodes), catalogue


def _sized(item, size):
    if size is None:
        return item
    labels = {**item.metadata.labels, "size": size}
    return item.model_copy(update={"metadata": item.metadata.model_copy(update={"labels": labels})})


def _group(rng, name, sizes, prices):
    allocatable = {"cpu": rng.choice(sizes), "memory": "8Gi"}
    one = {
        "name": name,
        "price": rng.choice(prices),
        "template": {"labels": {"size": name}, "allocatable": allocatable},
    }
    one["stock"] = rng.choice([0, 1, 1, 2] if name == "s" else [0, 1])
    if rng.random() < 0.3:
        one["max"] = rng.choice([1, 2, 3])
    if rng.random() < 0.5:
        one["template"]["zone"] = rng.choice("xy")
    return one


def best_costs(snapshot, catalogue):
    """Return the least costs of all plans: pods by level (negative), millionths, moves, nodes bought."""
    sizes = {item.name: item.metadata.labels.get("size") for item in snapshot.nodes}
    zones = {item.name: item.metadata.labels["topology.kubernetes.io/zone"] for item in snapshot.nodes}
    offers = {offer.group: offer for offer in catalogue.offers}
    owned = {n: size for n, size in sizes.items() if size and offers[size].zone in ("", zones[n])}
    limits = {item.name: item.most for item in catalogue.limits}
    market = question(snapshot, catalogue, changed_by, MoveOptions(), "", SolveOptions()).market
    best = None
    for counts in product(range(MOST + 1), repeat=len(catalogue.offers)):
        if any(n > _room(offer, limits, owned) for n, offer in zip(counts, catalogue.offers, strict=True)):
            continue
        found = moving(market.stripped(counts).snapshot, MoveOptions())
        cluster, paid = found.cluster, catalogue.price(counts)
        levels = sorted(
            {cluster.pods[i].priority for i in cluster.pending if i not in found.original}, reverse=True
        )

        def worth(state, came, cluster=cluster, paid=paid, levels=levels):
            busy = {cluster.node_names[n] for n in state.node_of.tolist() if n >= 0}
            price = sum(offers[size].price for n, size in owned.items() if n in busy)
            placed = [cluster.pods[i].priority for i in came]
            return (*(-placed.count(level) for level in levels), paid + price)

        costs = best_moves(cluster, found.replacement, worth).costs
        costs = (*costs, sum(counts))
        best = costs if best is None else min(best, costs)
    return best


def _room(offer, limits, owned):
    """Return how many nodes of an offer can be bought beside those that stand."""
    most = limits[offer.group]
    standing = list(owned.values()).count(offer.group)
    return min(offer.stock, MOST if most is None else max(most - standing, 0))


def costs_of(plan):
    """Return the same of an answer."""
    units = {"price": MILLION}
    return tuple(
        round(units.get(tier.name, 1) * (-tier.value if tier.sense == "max" else tier.value))
        for tier in plan.tiers
    )
