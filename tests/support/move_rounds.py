"""Tiny rounds with moves, drawn at random: room, budgets, spread and affinity of a few pods mixed."""

import random

from support.builders import budget, cluster, node, pod


def moves_round(seed, *, waiting):
    """Draw a round; with `waiting` there are pods that want to get in."""
    rng = random.Random(f"moves/{seed}")
    free = {name: rng.choice([2, 3, 4]) for name in "abc"[: rng.randint(2, 3)]}
    nodes = [node(name, zone=rng.choice("xy"), cpu=str(cpu), memory="8Gi") for name, cpu in free.items()]
    running = []
    for k in range(rng.randint(2, 4)):
        cpu = rng.choice([1, 1, 2])
        able = [name for name in free if free[name] >= cpu]
        if not able:
            continue
        home = rng.choice(able)
        free[home] -= cpu
        built = _dress(rng, pod(f"r{k}").req(cpu=str(cpu), memory=f"{rng.randint(1, 2)}Gi"))
        built = built.on(home)
        running.append(built.owned() if rng.random() < 0.9 else built)
    pods = [
        _dress(rng, pod(f"w{k}").req(cpu=str(rng.choice([1, 2, 3]))).priority(rng.choice([0, 5])))
        for k in range(rng.randint(1, 2) if waiting else 0)
    ]
    budgets = [
        budget(f"b{app}", allowed=rng.choice([0, 1, 1, 2]), app=app) for app in "pq" if rng.random() < 0.5
    ]
    return cluster(*nodes, *running, *pods, *budgets, name=f"moves-{seed}")


def _dress(rng, builder):
    app = rng.choice("pq")
    builder = builder.label(app=app)
    kind = rng.random()
    if kind < 0.2:
        return builder.spread(rng.choice(["zone", "hostname"]), max_skew=1)
    if kind < 0.35:
        return builder.anti(rng.choice(["zone", "hostname"]))
    if kind < 0.45:
        return builder.affinity(rng.choice(["zone", "hostname"]))
    return builder
