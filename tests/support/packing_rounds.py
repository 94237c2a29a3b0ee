"""Tiny rounds in which only room, spread constraints and budgets matter, on nodes of one or two sizes."""

from random import Random

from support.builders import budget, cluster, node, pod

ZONES = ("z1", "z2")


def tiny_packing(seed):
    """Return the round of a seed: up to 4 nodes, 5 pending pods and 3 running ones that may be evicted."""
    rng = Random(f"tiny packing {seed}")
    cores, memory = rng.randint(3, 6), rng.choice(("3Gi", "5Gi", "64Gi"))
    names = "abcd"[: rng.choice((1, 2, 2, 2, 3, 3, 4))]
    odd = rng.random() < 0.2
    nodes = [
        node(name, zone=rng.choice(ZONES), cpu=str(cores + (odd and name == "a")), memory=memory, pods="9")
        for name in names
    ]
    return cluster(*nodes, *_running(rng, names), *_pending(rng), name=f"tiny-packing-{seed}")


def _running(rng, names):
    apps = ("web", "db")
    for k in range(rng.choice((0, 0, 1, 2, 3))):
        item = pod(f"old{k}").priority(rng.randrange(2)).label(app=rng.choice(apps))
        item = item.req(cpu=str(rng.randint(1, 2)), memory=f"{rng.randint(0, 2)}Gi").on(rng.choice(names))
        if rng.random() < 0.2:
            item = item.guard(rng.choice((100, 200)))
        yield item.terminating() if rng.random() < 0.1 else item
    for app in apps:
        if rng.random() < 0.6:
            yield budget(app, app=app, allowed=rng.randrange(3))


def _pending(rng):
    left = rng.randint(2, 5)
    while left:
        copies = rng.randint(1, min(3, left))
        left -= copies
        name = f"new{left}"
        item = pod(name).label(name=name).priority(rng.choice((100, 100, 200)))
        item = item.req(cpu=f"{rng.randint(2, 7) * 500}m", memory=f"{rng.randint(0, 3)}Gi").times(copies)
        if rng.random() < 0.4:
            item = item.spread(rng.choice(("zone", "hostname")), max_skew=rng.randint(1, 2))
        yield item
