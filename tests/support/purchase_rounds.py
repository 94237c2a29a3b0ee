"""Tiny rounds with nodes to buy, and every purchase of them tried one by one.

In the mix by construction: one group in two zones, or two groups; limits, stock and least numbers; spread
over nodes and zones with and without minDomains, affinity and anti-affinity of pods among themselves and
with what runs, DaemonSets' pods on the new nodes (some that others count or avoid, some without room),
devices of new nodes, gangs with and without a topology, two priorities, a limit of the price.
"""

from dataclasses import dataclass, replace
from itertools import product
from random import Random

from kubestow.framework.build import build_cluster
from kubestow.instances.node_groups.file import read_catalogue
from kubestow.instances.what_if.apply import changed_by
from kubestow.models.controllers import DaemonSet
from kubestow.models.purchases import MILLION, Catalogue
from kubestow.models.snapshot import Snapshot
from kubestow.solver.options import SolveOptions
from kubestow.solver.provision.trial import Market, worth
from support.builders import cluster, group, node, pod
from support.choices import Choices
from support.devices import DRIVER, claim, device_class, request
from support.oracle.exhaustive import best_plan

ZONE = "topology.kubernetes.io/zone"
SHARES = {
    "spread": 0.5,
    "affinity": 0.3,
    "daemons": 0.3,
    "gang": 0.25,
    "devices": 0.2,
    "levels": 0.3,
    "money": 0.25,
    "least": 0.15,
}
MOST = 4
"""Nodes of all purchases that are tried, at most 3 of an offer."""


@dataclass(frozen=True)
class PurchaseRound:
    """A round, what can be bought for it, and the most that may be spent (millionths)."""

    snapshot: Snapshot
    catalogue: Catalogue
    budget: int | None


def tiny_purchase(seed):
    """Return the round of a seed."""
    draw = Choices(Random(seed), SHARES)
    here = [
        node(f"here-{k}", cpu=draw.pick("1", "2"), zone=draw.pick("a", "b"))
        for k in range(draw.pick(0, 1, 2))
    ]
    runs = [
        pod(f"runs-{k}").label(app=draw.pick("x", "y")).req(cpu="1").on(f"here-{k}")
        for k in range(len(here))
        if draw.chance(0.4)
    ]
    waiting = [_waiting(draw, k) for k in range(draw.pick(1, 2, 3, 3, 4))]
    more = []
    if draw.uses("gang"):
        keys = draw.pick((), ("zone",))
        more.append(group("g", *keys, gang=draw.pick(2, 2, 3)))
        waiting = [item.member("g") if draw.chance(0.7) else item for item in waiting]
    if draw.uses("devices"):
        users = [k for k in range(len(waiting)) if draw.chance(0.6)]
        more += [device_class("gpu"), *(claim(f"c{k}", request("r")) for k in users)]
        waiting = [_using(item, f"c{k}") if k in users else item for k, item in enumerate(waiting)]
        waiting = [item.claim_from("one") if False else item for item in waiting]
    snapshot = cluster(*here, *runs, *waiting, *more, name=f"purchase-{seed}")
    if draw.uses("daemons"):
        snapshot = replace(snapshot, daemon_sets=(_daemons(draw),))
    return PurchaseRound(
        snapshot,
        read_catalogue("groups.yaml", {"kind": "NodeGroups", "nodeGroups": list(_groups(draw))}),
        draw.pick(2, 3, 4) * MILLION if draw.uses("money") else None,
    )


def _waiting(draw, k):
    item = pod(f"p{k}").label(app=draw.pick("x", "x", "y")).req(cpu=draw.pick("1", "1", "2", "500m"))
    if draw.uses("levels"):
        item = item.priority(draw.pick(0, 10))
    if draw.uses("spread") and draw.chance(0.8):
        item = item.spread(
            draw.pick("zone", "zone", "hostname"),
            select={"app": draw.pick("x", "x", "y")},
            max_skew=draw.pick(1, 1, 2),
            min_domains=draw.pick(None, None, 2, 3),
        )
    if draw.uses("affinity") and draw.chance(0.6):
        key = draw.pick("zone", "hostname")
        wanted = {"app": draw.pick("x", "y")}
        item = item.affinity(key, wanted) if draw.chance(0.5) else item.anti(key, wanted)
    if draw.chance(0.15):
        item = item.host_port(80)
    return item


def _using(item, name):
    entry = {"name": "gpu", "resourceClaimName": name}
    return item.changed(lambda doc: doc["spec"].update(resourceClaims=[entry]))


def _daemons(draw):
    labels = {"app": draw.pick("agent", "agent", "x")}
    spec = {"containers": [{"name": "m", "resources": {"requests": {"cpu": draw.pick("500m", "1", "3")}}}]}
    return DaemonSet.model_validate(
        {
            "metadata": {"name": "agent", "namespace": "default", "uid": "agent"},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }
    )


def _groups(draw):
    """Yield groups as a file has them."""
    for k in range(draw.pick(1, 2)):
        one = {
            "name": f"g{k}",
            "price": draw.pick(1, 1.5, 2, 2.25),
            "max": draw.pick(1, 2, 3),
            "template": {"allocatable": {"cpu": draw.pick("1", "2", "3")}},
        }
        if draw.uses("least") and draw.chance(0.5):
            one["min"] = 1
        if k == 0 and draw.chance(0.5):
            one["zones"] = ["a", "b"]
            if draw.chance(0.3):
                one["stock"] = {"a": draw.pick(1, 2)}
        else:
            one["template"]["zone"] = draw.pick("a", "b")
        if draw.uses("devices") and draw.chance(0.7):
            one["devices"] = [_slice(draw.pick(1, 2))]
        yield one


def _slice(devices):
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "gpus"},
        "spec": {"driver": DRIVER, "devices": [{"name": f"gpu-{k}"} for k in range(devices)]},
    }


def purchases(round_):
    """Return every purchase that limits and money allow, the cheapest first."""
    catalogue = round_.catalogue
    found = [
        counts
        for counts in product(range(MOST), repeat=len(catalogue.offers))
        if catalogue.allows(counts) and (round_.budget is None or catalogue.price(counts) <= round_.budget)
    ]
    return sorted(found, key=lambda counts: (catalogue.price(counts), sum(counts), counts))


def best_worth(round_):
    """Return the worth of the best purchase, by trying every plan of every one; None where there is none."""
    market = Market(round_.snapshot, round_.catalogue, SolveOptions(), changed_by)
    best = None
    for counts in purchases(round_):
        price, nodes = round_.catalogue.price(counts), sum(counts)
        if best is not None and best <= worth(market.most, price, nodes):
            break
        snapshot = replace(market.stripped(counts).snapshot, limits=market.snapshot.limits)
        tiers = best_plan(build_cluster(snapshot)).tiers
        placed = tuple(tiers[f"scheduled[priority={level}]"][1] for level in market.levels)
        best = min(filter(None, (best, worth(placed, price, nodes))))
    return best
