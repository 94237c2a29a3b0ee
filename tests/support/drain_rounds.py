"""Tiny clusters with nodes to drain, made at random: most have an order, many have just one, some none."""

import random

from support.builders import budget, cluster, node, pod

ZONES = ("1", "2")


def drain_round(seed):
    """Make a cluster, the nodes to drain and how many at a time (None: all at once)."""
    rng = random.Random(seed)
    names = ["a", "b", "c", "d"][: rng.choice([2, 3, 3, 4])]
    nodes = [node(name, zone=rng.choice(ZONES), cpu=str(rng.choice([2, 3, 4]))) for name in names]
    apps = ["web", "db"]
    pods = [_pod(rng, k, rng.choice(names), rng.choice(apps)) for k in range(rng.choice([2, 3, 3, 4]))]
    if rng.random() < 0.3:
        pods.append(pod("still").label(app=rng.choice(apps)).req(cpu="1").on(names[-1]))
    if rng.random() < 0.2:
        pods.append(pod("going").req(cpu="2").on(rng.choice(names)).terminating())
    budgets = [
        budget(app, allowed=rng.choice([0, 1, 1, 1, 2]), app=app) for app in apps if rng.random() < 0.7
    ]
    rolling = rng.choice([None, None, 1, 1, 2])
    drained = names if rolling and rng.random() < 0.6 else names[: rng.randint(1, len(names) - 1)]
    return cluster(*nodes, *pods, *budgets), drained, rolling


def _pod(rng, k, where, app):
    built = (
        pod(f"p{k}").label(app=app).owned(f"ReplicaSet/{app}").req(cpu=str(rng.choice([1, 1, 2]))).on(where)
    )
    match rng.choice(["plain", "plain", "apart", "zones", "spread", "beside", "home"]):
        case "apart":
            return built.anti("hostname")
        case "zones":
            return built.anti("zone", {"app": rng.choice(["web", "db"])})
        case "spread":
            return built.spread(rng.choice(["zone", "hostname"]), max_skew=rng.choice([1, 2]))
        case "beside":
            return built.affinity("zone", {"app": rng.choice(["web", "db"])})
        case "home":
            return built.select(zone=rng.choice(ZONES))
    return built
