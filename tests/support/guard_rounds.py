"""Random rounds in which budgets and guards are contested by several priority levels (KEP-4664).

In the mix by construction: full nodes; two or three levels of pending pods, with guards at, between and above
them; several budgets, also two over one pod; pods at a guard's value that fit without an eviction, and ones
that never preempt; a gang in one rack; disruptions already paid for; victims that a spread constraint counts.
"""

from random import Random

from hypothesis import strategies as st

from support.builders import budget, cluster, group, node, pod

LEVELS = (10, 20, 30)
GUARDS = (None, None, 15, 20, 25, 30, 30, 35)
SHAPES = ("plain", "plain", "gang", "spread")


def tiny_guards(seed):
    """Return the tiny round of a seed."""
    return contested(Random(seed), f"tiny-guards-{seed}")


tiny_guard_rounds = st.randoms(use_true_random=False).map(lambda rng: contested(rng, "tiny-guards"))


def contested(rng, name):
    """Make a round."""
    shape = rng.choice(SHAPES)
    names = "abc"[: rng.choice((1, 2, 2, 3))]
    cores = {n: rng.randint(1, 3) for n in names}
    racks = {n: rng.choice(("r1", "r1", "r2")) for n in names}
    nodes = [node(n, zone=racks[n], cpu=str(cores[n])).label(rack=racks[n]) for n in names]
    running = _running(rng, cores)
    levels = rng.sample(LEVELS, rng.choice((2, 2, 3)))
    pending, groups = _pending(rng, levels, names, shape)
    budgets = [
        _paid(rng, budget(f"b{k}", labels, allowed=rng.choice((0, 0, 0, 1, 1, 2))), running)
        for k, labels in enumerate(
            rng.sample(({"app": "x"}, {"app": "y"}, {"tier": "front"}), rng.randint(1, 3))
        )
    ]
    return cluster(nodes, running, pending, budgets, groups, name=name)


def _running(rng, cores):
    found = []
    for n, free in cores.items():
        kept = rng.choice((0, 0, 0, 1))
        for _ in range(rng.randint(0, free) if kept else free):
            item = pod(f"v{len(found)}").label(app=rng.choice("xy"), tier=rng.choice(("front", "back")))
            item = item.req(cpu="1").on(n).started(rng.randint(1, 9)).priority(rng.choice((0, 0, 5, 10)))
            guard = rng.choice(GUARDS)
            found.append(item if guard is None else item.guard(guard))
    return rng.sample(found, min(len(found), 5))


def _pending(rng, levels, names, shape):
    found = []
    for k in range(rng.choice((2, 3, 3, 4))):
        item = pod(f"p{k}").label(app=rng.choice("xyz")).req(cpu=rng.choice(("1", "1", "1", "2")))
        item = item.priority(levels[k % len(levels)]).created(rng.randint(1, 9))
        if rng.random() < 0.15:
            item = item.never()
        if rng.random() < 0.3:
            item = item.nodes("hostname", "In", rng.choice(names))
        if shape == "spread" and rng.random() < 0.6:
            item = item.spread("hostname", select={"app": rng.choice("xyz")}, max_skew=rng.choice((1, 1, 2)))
        found.append(item)
    if shape != "gang":
        return found, []
    members = [
        pod(f"m{k}").label(app="m").req(cpu="1").priority(rng.choice(levels)).member("g") for k in range(2)
    ]
    return [*found[:3], *members], [group("g", *rng.choice(((), ("rack",))), gang=2)]


def _paid(rng, item, running):
    if running and rng.random() < 0.1:
        return item.disrupted(rng.choice(running).doc["metadata"]["name"])
    return item
