"""Following an answer: what the allocator chose can be followed, and what else can be keeps the rules."""

from dataclasses import replace

import pytest
from support.device_rounds import tiny_devices, tiny_mixed

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.dra.allocation import Allocation, reach_of
from kubestow.framework.dra.checker import NewAllocation, faults
from kubestow.framework.dra.index import device_index
from kubestow.framework.dra.retrace import retrace
from kubestow.framework.state.state import State

ROUNDS = [(make, seed) for make in (tiny_devices, tiny_mixed) for seed in range(150)]


def answers(snapshot):
    """Yield (cluster, node, the claims with what the allocator gives them) of each pod on each node."""
    cluster = build_cluster(snapshot)
    index = device_index(cluster)
    if index is None:
        return
    state = State.initial(cluster)
    for i in cluster.pending:
        if not index.needs_devices(i):
            continue
        for n in range(cluster.n_nodes):
            framework = framework_for(cluster, i)
            if not framework.filter_node(state, i, n).ok:
                continue
            brought = framework.reserve(state, i, n)
            wanted = [claim.key for claim in index.claims_of(i) if claim.key in brought]
            if wanted:
                yield cluster, state, n, {key: brought[key] for key in wanted}


def verdict(cluster, state, n, answer):
    index = device_index(cluster)
    return retrace(index, state.claims, n, [(index.spec(key), given) for key, given in answer.items()])


def swapped(cluster, n, answer):
    """Yield the answers in which one device is another one of the same kind of sharing."""
    devices = [d for pool in device_index(cluster).inventory.view(n).pools for d in pool.devices]
    by_id = {device.id: device for device in devices}
    for key, given in answer.items():
        for k, result in enumerate(given.results):
            for other in devices:
                if other.id == result.id or other.shared != by_id[result.id].shared:
                    continue
                results = (*given.results[:k], replace(result, id=other.id), *given.results[k + 1 :])
                reach = reach_of([by_id[r.id] for r in results], cluster.node_names[n])
                yield {**answer, key: Allocation(results, reach)}


def judged(cluster, state, n, answer):
    """Say what the checker finds wrong; it knows what is asked for from the objects."""
    index = device_index(cluster)
    name = cluster.node_names[n]
    new = [NewAllocation(k, index.claims[k].spec.devices, given, name) for k, given in answer.items()]
    held = {k: given for k, given in state.claims.allocations.items() if k not in answer}
    return list(faults(cluster.snapshot, new, held))


@pytest.mark.parametrize("make, seed", ROUNDS)
def test_the_allocators_own_answer_can_be_followed(make, seed):
    for cluster, state, n, answer in answers(make(seed)):
        assert verdict(cluster, state, n, answer) == ""


@pytest.mark.parametrize("make, seed", ROUNDS)
def test_other_answers_that_can_be_followed_are_within_the_rules(make, seed):
    for cluster, state, n, answer in answers(make(seed)):
        for other in swapped(cluster, n, answer):
            if verdict(cluster, state, n, other) == "":
                assert judged(cluster, state, n, other) == []


def test_both_kinds_of_other_answers_are_there():
    """Many can be followed, many cannot, for more than a few reasons."""
    followed, refused = 0, set()
    for make, seed in ROUNDS:
        for cluster, state, n, answer in answers(make(seed)):
            for other in swapped(cluster, n, answer):
                fault = verdict(cluster, state, n, other)
                followed += not fault
                if fault:
                    refused.add(fault.partition(", ")[2].partition(" ")[0] or fault.split()[0])
    assert followed > 200
    assert len(refused) > 1
