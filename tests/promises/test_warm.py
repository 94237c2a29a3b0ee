"""A round that follows another one has the optimum that it has by itself, however they differ."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest
from support.proof import OPTIONS
from support.strategies import tiny
from support.sweeps import few_or_all

from kubestow.solver.api import solve_round

ROUNDS = 3


@pytest.mark.parametrize("seed", range(40_000, 40_000 + few_or_all(15, 200)))
def test_values_and_proofs_are_those_of_the_round_alone(seed):
    rng = random.Random(seed)
    snapshot, before = tiny(seed), None
    for _ in range(ROUNDS):
        warm, cold = solve_round(snapshot, OPTIONS, after=before), solve_round(snapshot, OPTIONS)
        assert told(warm) == told(cold)
        snapshot, before = later(snapshot, warm, rng), warm


def told(solved):
    return [(t.name, t.value, t.bound, t.proven) for t in solved.plan.tiers]


def later(snapshot, solved, rng):
    """Return the cluster some time later: pods that were bound run or are gone, others come or give up."""
    way = rng.choice(["again", "fewer wait", "bound", "one leaves", "cordoned", "one comes back"])
    changed = list(snapshot.pods)
    if way in ("bound", "one leaves", "cordoned"):
        placed = {binding.pod: binding.node for binding in solved.plan.bindings}
        changed = [on(pod, placed.get(pod.key)) for pod in changed]
    if way == "one leaves" and (running := [pod for pod in changed if pod.spec.node_name]):
        changed.remove(rng.choice(running))
    waiting = [pod for pod in changed if not pod.spec.node_name]
    if way == "fewer wait" and waiting:
        changed.remove(rng.choice(waiting))
    if way == "one comes back" and (running := [pod for pod in changed if pod.spec.node_name]):
        gone = rng.choice(running)
        changed[changed.index(gone)] = on(gone, "")
    nodes = list(snapshot.nodes)
    if way == "cordoned":
        k = rng.randrange(len(nodes))
        spec = nodes[k].spec.model_copy(update={"unschedulable": True})
        nodes[k] = nodes[k].model_copy(update={"spec": spec})
    passed = timedelta(seconds=rng.choice([0, 5, 3600]))
    return replace(snapshot, pods=tuple(changed), nodes=tuple(nodes), now=snapshot.now + passed)


def on(pod, node):
    """Return a pod on a node, waiting if the name is empty, as it is if there is none."""
    if node is None:
        return pod
    return pod.model_copy(update={"spec": pod.spec.model_copy(update={"node_name": node or None})})
