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


def shelf(name, *millis, cpu="4"):
    """A node with devices of so many thousandths each."""
    return [node(name, cpu=cpu), slice_on(name, *(shared(f"g{k}", milli) for k, milli in enumerate(millis)))]


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
