"""Rounds in which pods share devices by capacity, made here: tiny ones to try all plans, and larger ones."""

import random

from support.builders import cluster, node
from support.devices import claim, device_class, gpu, request, slice_on, user

SIZES = ("810", "470", "320", "230", "650", "160", "1000")
CORES = ("500m", "1", "2")


def shared(name, milli="1000"):
    """A device that claims share by thousandths."""
    return gpu(name, capacity={"milli": milli}, shared=True)


def sharing(name, milli, cpu="1", priority=0, count=None):
    """A pod that wants so many thousandths of each of some devices, and its claim."""
    capacity = {"milli": milli}
    made = claim(f"of-{name}", request("r", count=count, capacity=capacity), owner=name)
    return [user(name, f"of-{name}").req(cpu=cpu).priority(priority), made]


def shelf(name, *millis, cpu="4", zone=None):
    """A node with devices of so many thousandths each."""
    return [
        node(name, cpu=cpu, zone=zone),
        slice_on(name, *(shared(f"g{k}", milli) for k, milli in enumerate(millis))),
    ]


def round_of(*parts):
    """A round of the lists that the builders above make."""
    return cluster(device_class("gpu"), *(thing for part in parts for thing in part))


def drawn(seed, nodes, pods, devices, priorities=(0,), cpu=("2", "3", "4")):
    """A round of so many nodes and pods, and up to so many devices on a node."""
    rng = random.Random(seed)
    shelves = [shelf(f"n{k}", *["1000"] * rng.randint(1, devices), cpu=rng.choice(cpu)) for k in range(nodes)]
    wanting = [
        sharing(f"p{k:03}", rng.choice(SIZES), rng.choice(CORES), rng.choice(priorities)) for k in range(pods)
    ]
    return round_of(*shelves, *wanting)


def tiny_shares(seed):
    """Two nodes and four or five pods: few enough to try all plans."""
    rng = random.Random(f"tiny {seed}")
    priorities = rng.choice(((0,), (0, 10)))
    return drawn(seed, rng.randint(1, 2), rng.randint(4, 5), 2, priorities, cpu=("2", "3"))


def on_shelf(name, at, device, milli, priority=0, cpu="1"):
    """A pod that runs with so many thousandths of a device, and its claim."""
    share = {"shareID": f"share-of-{name}", "consumedCapacity": {"milli": milli}}
    made = claim(
        f"of-{name}",
        request("r", capacity={"milli": milli}),
        has=[("r", at, device, share)],
        at=at,
        users=[name],
        owner=name,
    )
    return [user(name, f"of-{name}").req(cpu=cpu).priority(priority).on(at), made]


def tiny_tied(seed):
    """Two or three nodes in two zones and pods that spread, keep apart or may evict those that run there."""
    rng = random.Random(f"tied {seed}")
    zones = ("z1", "z2", rng.choice(("z1", "z2")))[: rng.randint(2, 3)]
    shelves = [shelf(f"n{k}", "1000", cpu=rng.choice(("2", "3")), zone=zone) for k, zone in enumerate(zones)]
    waiting = []
    for k in range(rng.randint(3, 4)):
        made, wants = sharing(f"p{k}", rng.choice(("300", "600")), priority=rng.choice((10, 20)))
        made = made.label(app=rng.choice("ab"))
        tie = rng.choice(("zone", "hostname", "apart", "none"))
        if tie == "apart":
            made = made.anti("hostname")
        elif tie != "none":
            made = made.spread(tie, max_skew=1)
        waiting.append([made, wants])
    running = [
        on_shelf(f"r{k}", f"n{k}", "g0", rng.choice(("500", "700")), priority=rng.choice((0, 15)))
        for k in range(rng.randint(0, len(zones)))
    ]
    return round_of(*shelves, *waiting, *running)
