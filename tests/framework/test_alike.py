"""A cluster that is built from another one's knowledge is the cluster that is built anew."""

from dataclasses import fields, replace
from random import Random

import numpy as np
import pytest
from support.device_rounds import small_mixed
from support.simulating import Run, bundled
from support.why_rounds import asked_round

from kubestow.framework.build import build_cluster
from kubestow.framework.index.podinfo import PodInfo
from kubestow.solver import simulate
from kubestow.solver.api import solve_round
from kubestow.solver.simulate import OptimalScheduler
from kubestow.solver.why.reasons import lifted, reasons_of
from kubestow.solver.why.subjects import find_subject

SEEDS = [0, 2, 3, 4, 6, 8, 9]
"""One round of each family at least, with pods that wait."""


@pytest.mark.parametrize("seed", SEEDS)
def test_what_another_cluster_has_read_is_read_alike(seed):
    snapshot = asked_round(seed)
    first = build_cluster(snapshot)
    for reason in reasons_of(find_subject(first, snapshot.asked[0])):
        changed = lifted(snapshot, [reason])
        anew, again = build_cluster(changed), build_cluster(changed, like=first)
        assert [seen(info) for info in again.pods] == [seen(info) for info in anew.pods]
        assert np.array_equal(again.allocatable, anew.allocatable)
        assert np.array_equal(again.usage, anew.usage)
        assert (again.pending, again.bound, again.resources) == (anew.pending, anew.bound, anew.resources)


def test_nothing_is_taken_from_a_cluster_under_other_rules():
    snapshot = asked_round(SEEDS[0])
    first = build_cluster(snapshot)
    later = replace(snapshot, now=snapshot.now.replace(year=snapshot.now.year + 1))
    anew, again = build_cluster(later), build_cluster(later, like=first)
    assert [seen(info) for info in again.pods] == [seen(info) for info in anew.pods]


@pytest.mark.parametrize("seed", range(6))
def test_classes_are_those_of_a_cluster_built_anew_whoever_comes_and_goes(seed):
    """Some pods of the first round are gone, in another order, and some of another round have come."""
    snapshot, other, rng = small_mixed(seed), small_mixed(seed + 100), Random(seed)
    taken = {pod.key for pod in snapshot.pods}
    pods = [pod for pod in snapshot.pods if rng.random() < 0.8]
    pods += [pod for pod in other.pods if pod.key not in taken]
    rng.shuffle(pods)
    changed = replace(snapshot, pods=tuple(pods))
    anew, again = build_cluster(changed), build_cluster(changed, like=build_cluster(snapshot))
    assert [seen(info) for info in again.pods] == [seen(info) for info in anew.pods]
    assert again.unit_pods == anew.unit_pods


@pytest.mark.parametrize("name", ["guarded-service", "stockout-falls-back", "a-driver-prepares-a-claim"])
def test_each_round_of_a_simulation_is_indexed_as_if_it_were_the_first(name, monkeypatch):
    """Pods come, are bound, written to and go, time passes, and constraints fall back."""
    last, rounds = None, 0

    def solve(snapshot, options, after=None):
        nonlocal last, rounds
        anew, last = build_cluster(snapshot), build_cluster(snapshot, like=last)
        rounds += 1
        assert [seen(info) for info in last.pods] == [seen(info) for info in anew.pods]
        assert np.array_equal(last.allocatable, anew.allocatable)
        return solve_round(snapshot, options)

    monkeypatch.setattr(simulate, "solve_round", solve)
    Run(bundled(name), OptimalScheduler)
    assert rounds > 1


def seen(info):
    """Return all that an index says of a pod; the numbers of signatures are those of a table of its own."""
    return {item.name: getattr(info, item.name) for item in fields(PodInfo) if item.name != "signature"}
