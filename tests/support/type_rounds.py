"""Rounds without devices on nodes of few types: tiny ones to try all plans, and larger ones."""

import random

from support.builders import cluster, node, pod

SMALL, LARGE = {"cpu": "2", "memory": "6Gi"}, {"cpu": "4", "memory": "4Gi"}
CPU, MEMORY = ("500m", "1", "1500m", "2"), ("1Gi", "2Gi", "3Gi")


def nodes_of(kinds, zones=1):
    """A node for each offer, the zones in turn."""
    return [node(f"n{k}", zone=f"z{k % zones}").offer(offer) for k, offer in enumerate(kinds)]


def pods_of(rng, number, priorities=(0,)):
    """So many pods, each with an amount of cpu and memory."""
    return [
        pod(f"p{k:03}").req(cpu=rng.choice(CPU), memory=rng.choice(MEMORY)).priority(rng.choice(priorities))
        for k in range(number)
    ]


def tiny_types(seed):
    """Two or three nodes of two types and up to five pods: few enough to try all plans."""
    rng = random.Random(f"types {seed}")
    kinds = [SMALL, LARGE, rng.choice((SMALL, LARGE))][: rng.randint(2, 3)]
    return cluster(*nodes_of(kinds), *pods_of(rng, rng.randint(4, 5), rng.choice(((0,), (0, 10)))))


def tiny_tied_types(seed):
    """The same in two zones, and pods that spread or keep apart."""
    rng = random.Random(f"tied types {seed}")
    kinds = [SMALL, LARGE, rng.choice((SMALL, LARGE))][: rng.randint(2, 3)]
    pods = [item.label(app=rng.choice("ab")) for item in pods_of(rng, rng.randint(3, 4), (0, 10))]
    for k, item in enumerate(pods):
        tie = rng.choice(("zone", "hostname", "apart", "none"))
        if tie == "apart":
            pods[k] = item.anti("hostname")
        elif tie != "none":
            pods[k] = item.spread(tie, max_skew=1)
    return cluster(*nodes_of(kinds, zones=2), *pods)


def drawn_types(seed, nodes, pods):
    """So many nodes of two types and pods that come to more than they have, or to less."""
    rng = random.Random(f"drawn {seed}")
    return cluster(*nodes_of([(SMALL, LARGE)[k % 2] for k in range(nodes)]), *pods_of(rng, pods))
