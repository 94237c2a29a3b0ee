"""The promises where a search of 1.36 loses counters: plans go by the rules, greedy's by its own search."""

from random import Random

import pytest
from support.builders import cluster, node
from support.devices import claim, device_class, gpu, request, slice_, slice_on, user
from support.filtering import Look
from support.proof import check_optimal, solve_and_replay, told
from support.sweeps import few_or_all

from kubestow.models.kube_version import KubeVersion


def parts(rng, name):
    """Partitions of one card, some tainted, on two boards, and their counters."""
    devices = [
        gpu(
            f"g{k}",
            takes={"card": {"memory": rng.choice("1122")}},
            numa=rng.choice([0, 0, 1]),
            taints=rng.choice([(), (), [("worn", "NoSchedule")]]),
        )
        for k in range(rng.choice([2, 3, 4]))
    ]
    counters = {"card": {"memory": rng.choice("344")}}
    return slice_on(name, *devices, of=2), slice_(
        f"{name}-n", pool=name, of=2, counters=counters, nodeName=name
    )


def objects(seed):
    """A few pods with a claim each, before one or two cards."""
    rng = Random(seed)
    names = rng.choice(["a", "ab"])
    found = [device_class(), *map(node, names), *(parts(rng, name) for name in names)]
    for k in range(rng.choice([1, 2, 3])):
        wanted = request("r", count=rng.choice([1, 2, 2]), tolerate=rng.choice([(), (), ("worn",)]))
        found.append(claim(f"c{k}", wanted, match=rng.choice([None, "numa"])))
        found.append(user(f"p{k}", f"c{k}").priority(rng.choice([0, 1])))
    return found


ROUNDS = range(few_or_all(60, 120))


@pytest.mark.parametrize("seed", ROUNDS)
def test_the_plan_equals_the_exhaustive_search(seed):
    check_optimal(cluster(*objects(seed)))


@pytest.mark.parametrize("seed", range(200, 200 + few_or_all(20, 40)))
def test_what_greedy_loses_the_optimum_does_not(seed):
    """1.34 is rebuilt without the fault; beyond it these rounds are the same for both releases."""
    plans = {}
    for version in (KubeVersion.V1_34, KubeVersion.V1_36):
        snapshot = cluster(*objects(seed), release=version)
        plans[version], greedy = solve_and_replay(snapshot)
        assert plans[version].vector() <= greedy.vector(), told(snapshot, "worse than greedy")
    one, other = plans.values()
    assert [t.value for t in one.tiers] == [t.value for t in other.tiers]


def test_searches_do_lose_counters_in_these_rounds():
    lost = 0
    for seed in range(120):
        look = Look(*objects(seed), name="p0")
        result = look.framework.filter_all(look.state, look.pod)
        for n in range(look.cluster.n_nodes):
            found, permitted = result.status(n).ok, look.framework.filter_node(look.state, look.pod, n).ok
            assert permitted or not found
            lost += permitted and not found
    assert lost > 5
