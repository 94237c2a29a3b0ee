"""Random rounds for refill search: only room, budgets, guards and spread constraints tie their pods together.

In the mix by construction: nodes of one size and of several, with a second resource that is nearly as scarce;
victims whose usage of the two is not in proportion; budgets that overlap, also with nothing left; guards at
and above the priorities of the pods that wait; large pods that need two victims; pods that never preempt;
victims that are too important for some of those that come; a spread constraint over zones or hosts.
"""

from random import Random

from support.builders import budget, cluster, node, pod


def tiny_refills(seed):
    """Return the tiny round of a seed."""
    rng = Random(f"tiny-refills-{seed}")
    names = "abc"[: rng.choice((2, 2, 3))]
    size = rng.choice((2, 3, 4))
    nodes = [node(n, zone="x" if n == "a" else "y", cpu=str(size), memory=f"{size}Gi") for n in names]
    running = _running(rng, names, size)
    levels = rng.choice(((20,), (20, 20, 30), (10, 20)))
    shape = rng.choice(("plain", "plain", "zone", "hostname"))
    pending = []
    for k in range(rng.choice((1, 2, 2))):
        cpu, memory = rng.choice(((1, 1), (1, 2), (2, 1), (2, 2)))
        item = pod(f"p{k}").label(app=f"n{k}").req(cpu=str(cpu), memory=f"{memory}Gi")
        item = item.priority(rng.choice(levels)).created(k).times(rng.choice((1, 2)))
        if rng.random() < 0.1:
            item = item.never()
        if shape != "plain":
            item = item.spread(shape, max_skew=rng.choice((1, 2)))
        pending.append(item)
    budgets = [
        budget(f"b{k}", labels, allowed=rng.choice((0, 0, 1)))
        for k, labels in enumerate(
            rng.sample(({"app": "x"}, {"app": "y"}, {"tier": "front"}), rng.randint(1, 3))
        )
    ]
    return cluster(nodes, running, pending, budgets, name=f"tiny-refills-{seed}")


def _running(rng, names, size):
    found = []
    for n in names:
        cpu = memory = size
        while len(found) < 6:
            takes = rng.choice(((1, 1), (1, 2), (2, 1)))
            cpu, memory = cpu - takes[0], memory - takes[1]
            if min(cpu, memory) < 0 or rng.random() < 0.1:
                break
            item = pod(f"v{len(found)}").label(app=rng.choice("xy"), tier=rng.choice(("front", "back")))
            item = item.req(cpu=str(takes[0]), memory=f"{takes[1]}Gi").on(n)
            item = item.priority(rng.choice((0, 0, 5, 10)))
            found.append(item.guard(rng.choice((15, 20, 30))) if rng.random() < 0.15 else item)
    return found
