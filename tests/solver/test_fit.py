"""How many copies fit: the most by proof, and greedy's number, counted by hand or by trying every plan."""

from dataclasses import replace
from random import Random

import pytest
from support.builders import budget, cluster, group, node, pod
from support.guard_rounds import contested
from support.oracle.exhaustive import best_plan
from support.proof import OPTIONS, told
from support.rows import high, low
from support.storage import NOW, WAIT, volume

from kubestow.framework.build import build_cluster
from kubestow.models.eviction_limits import EvictionLimits
from kubestow.models.template import Template
from kubestow.solver.fit import FIRST, FitOptions, fit
from kubestow.solver.fit_gangs import are_plain

EVICT = FitOptions(evict=True)


def template(item, *gang):
    snapshot = cluster(node("n"), item, *gang)
    return Template(snapshot.pods[0], *snapshot.pod_groups)


def scratch(storage_class):
    """Return a generic ephemeral volume of a GiB."""
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class}
    spec["resources"] = {"requests": {"storage": "1Gi"}}
    return {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}


ONE = template(pod("x").req(cpu="1").priority(50))
PAIR = template(pod("x").req(cpu="1").priority(50).member("g"), group("g", gang=2, version="v1alpha2"))
SPREAD = template(
    pod("x").label(app="x").req(cpu="1").priority(50).spread("zone", select={"app": "x"}, max_skew=1)
)
GATED = template(pod("x").req(cpu="1").priority(50).gated("example.com/quota"))
SCRATCH = template(pod("x").req(cpu="1").priority(50).volume(**scratch("wait")))
BOUND_EARLY = template(pod("x").req(cpu="1").priority(50).volume(**scratch("now")))
EMPTY = cluster(node("a", cpu="3"), node("b", cpu="2"))
# `low` runs on a, and b is full of pods as important as the copies; `high` waits
BUSY = cluster(
    node("a", cpu="3"),
    node("b", cpu="1"),
    low.named("v").on("a"),
    low.named("w").priority(50).on("b"),
    high.named("p"),
)


def asked(**options):
    return FitOptions(**options)


@pytest.mark.parametrize(
    "snapshot, copied, wanted, copies",
    [
        pytest.param(EMPTY, ONE, asked(), 5, id="as many as there are cores"),
        pytest.param(EMPTY, ONE, asked(most=4), 4, id="as many as are asked for"),
        pytest.param(EMPTY, ONE, asked(most=6), 5, id="fewer than are asked for"),
        pytest.param(EMPTY, PAIR, asked(), 2, id="whole gangs only"),
        pytest.param(cluster(), ONE, asked(), 0, id="no nodes"),
        pytest.param(EMPTY, GATED, asked(), 0, id="a gate keeps every copy out of the queue"),
        pytest.param(BUSY, GATED, EVICT, 0, id="a gate, beside a pod that waits"),
        pytest.param(BUSY, ONE, asked(), 1, id="beside what runs and what waits"),
        pytest.param(BUSY, ONE, asked(ignore_pending=True), 2, id="what waits is ignored"),
        pytest.param(BUSY, ONE, EVICT, 2, id="who is less important leaves"),
        pytest.param(BUSY, ONE, asked(evict=True, ignore_pending=True), 3, id="evictions without who waits"),
        pytest.param(
            replace(BUSY, pods=(*BUSY.pods[:2], cluster(high.priority(50).req(cpu="2")).pods[0])),
            ONE,
            asked(),
            0,
            id="who waits with the same priority comes first",
        ),
        pytest.param(
            replace(BUSY, pods=(*BUSY.pods[:2], cluster(low.priority(49).req(cpu="2")).pods[0])),
            ONE,
            asked(),
            2,
            id="who waits with less comes after",
        ),
        pytest.param(
            cluster(node("a", zone="r", cpu="4"), node("b", zone="s", cpu="1")),
            SPREAD,
            asked(),
            3,
            id="a rule",
        ),
        pytest.param(
            cluster(
                node("a", cpu="2"),
                low.named("v").label(app="web").guard(50).on("a"),
                low.named("w").label(app="web").guard(51).on("a"),
                budget("app", app="web", allowed=0),
            ),
            ONE,
            EVICT,
            1,
            id="a guard that the copies reach, and one that they do not",
        ),
        pytest.param(
            cluster(*EMPTY.nodes, WAIT, volume("u", on="a"), volume("v", on="a"), volume("w", on="b")),
            SCRATCH,
            asked(),
            3,
            id="a volume for each copy",
        ),
        pytest.param(
            cluster(*EMPTY.nodes, NOW, volume("u", storage="now", on="a")),
            BOUND_EARLY,
            asked(),
            0,
            id="volumes that are bound before their pods are looked at",
        ),
        pytest.param(cluster(node("a", cpu="40")), ONE, asked(), 40, id="more than are tried at first"),
    ],
)
def test_the_most_copies_are_proven(snapshot, copied, wanted, copies):
    found = fit(snapshot, copied, wanted, OPTIONS)
    assert found.optimal.copies == found.optimal.bound == copies
    assert found.optimal.proven
    assert sum(each.pods for each in found.optimal.nodes) == copies * copied.size
    assert found.greedy.bound is None
    assert found.enough is (copies == wanted.most)
    assert (found.optimal.next is None) is found.enough


def test_the_next_copy_is_told_in_the_words_of_the_scheduler():
    found = fit(EMPTY, ONE, asked(), OPTIONS)
    assert found.optimal.next.message.startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert found.optimal.next.blocked_by == ("NodeResourcesFit",)
    assert found.tried == FIRST


def test_greedy_places_fewer_where_a_pod_that_waits_takes_the_wrong_node():
    """Greedy puts the pod where more is left, the only node that is large enough for a copy."""
    large = template(pod("x").req(cpu="3").priority(50))
    found = fit(cluster(node("a", cpu="3"), node("b", cpu="2"), high.req(cpu="2")), large, asked(), OPTIONS)
    assert (found.optimal.copies, found.greedy.copies) == (1, 0)
    assert found.optimal.waiting_scheduled == found.greedy.waiting_scheduled == 1


def test_copies_of_a_gang_without_a_priority_do_not_evict_each_other():
    gang = template(pod("x").req(cpu="1").member("g"), group("g", gang=2, version="v1alpha2"))
    found = fit(EMPTY, gang, EVICT, OPTIONS)
    assert found.greedy.evictions == ()
    assert found.greedy.copies == found.optimal.copies == 2


def test_the_limits_of_a_search_hold_with_evictions():
    snapshot = cluster(node("a", cpu="2"), low.named("v").on("a"), low.named("w").on("a"))
    within = replace(OPTIONS, limits=EvictionLimits(evictions=1))
    assert fit(snapshot, ONE, EVICT, within).optimal.copies == 1
    assert fit(snapshot, ONE, EVICT, OPTIONS).optimal.copies == 2
    assert fit(snapshot, ONE, asked(), OPTIONS).optimal.copies == 0


def test_no_bound_is_named_where_all_copies_that_were_tried_fit(monkeypatch):
    """Without a limit by the user the number tried says nothing of the number that fits."""
    monkeypatch.setattr("kubestow.solver.fit.MOST_PODS", 4)
    found = fit(EMPTY, ONE, asked(), OPTIONS)
    assert (found.optimal.copies, found.optimal.bound, found.optimal.proven) == (4, None, False)


@pytest.mark.parametrize("evict", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_number_is_that_of_the_exhaustive_search(seed, evict):
    """The search tries the round as it is written: copies by hand, priorities and guards not doubled."""
    rng = Random(seed)
    base = contested(rng, f"fit-{seed}")
    base = replace(base, pods=tuple(p for p in base.pods if p.spec.node_name or rng.random() < 0.5))
    priority = rng.choice((15, 25))  # a level of its own
    item = pod("x").label(app=rng.choice("xy")).req(cpu="1").priority(priority)
    made = [item.named(f"x-{k}").created(0) for k in range(3)]
    tried = replace(base, pods=(*base.pods, *cluster(*made).pods))
    tried = tried if evict else replace(tried, limits=EvictionLimits(evictions=0))
    best = best_plan(build_cluster(tried))
    found = fit(base, template(item), asked(most=3, evict=evict), OPTIONS)
    if not found.stats.admissible:
        pytest.skip("greedy's inadmissible outcome is better than every plan")
    _, wanted = best.tiers[f"scheduled[priority={priority}]"]
    assert found.optimal.copies == wanted, told(tried, f"{found.optimal.copies} copies of {wanted}", best)
    assert found.optimal.proven


@pytest.mark.parametrize("seed", range(10))
def test_the_number_of_gangs_is_that_of_the_exhaustive_search(seed):
    """Gangs that are counted as plain pods first, beside what runs and waits, one of whose sizes is one."""
    rng = Random(seed)
    base = contested(rng, f"fit-gangs-{seed}")
    base = replace(base, pods=tuple(p for p in base.pods if rng.random() < 0.6))
    size, priority = rng.choice((1, 2, 2, 3)), rng.choice((15, 25))
    item = pod("x").label(app=rng.choice("xy")).req(cpu="1").priority(priority)
    copied = template(item.member("g"), group("g", gang=size))
    made = [
        part
        for k in range(3)
        for part in (
            group(f"g-{k}", gang=size, priority=priority),
            *(item.named(f"x-{k}-{j}").member(f"g-{k}").created(0) for j in range(size)),
        )
    ]
    added = cluster(*made)
    tried = replace(
        base,
        pods=(*base.pods, *added.pods),
        pod_groups=added.pod_groups,
        limits=EvictionLimits(evictions=0),
    )
    best = best_plan(build_cluster(tried))
    found = fit(base, copied, asked(most=3), OPTIONS)
    _, wanted = best.tiers[f"scheduled[priority={priority}]"]
    assert size * found.optimal.copies == wanted, told(tried, f"{found.optimal.copies} copies", best)
    assert found.optimal.proven


def test_a_bound_of_plain_pods_is_one_of_gangs(monkeypatch):
    """What was proven of the members proves the gangs, however little time is left for these."""
    monkeypatch.setattr("kubestow.solver.fit._GANG_SHARE", 0)
    found = fit(cluster(*(node(f"n{k}", cpu="3") for k in range(3))), PAIR, asked(most=16), OPTIONS)
    assert (found.optimal.copies, found.optimal.bound, found.optimal.proven) == (4, 4, True)


def test_a_gang_that_may_evict_or_has_a_rack_is_no_set_of_plain_pods():
    rack = template(pod("x").req(cpu="1").member("g"), group("g", "rack", gang=2))
    still = replace(OPTIONS, limits=EvictionLimits(evictions=0))
    assert are_plain(PAIR, still)
    assert not are_plain(PAIR, OPTIONS)
    assert not are_plain(rack, still)
    assert not are_plain(ONE, still)


def test_a_gate_is_the_reason():
    found = fit(EMPTY, GATED, FitOptions(), OPTIONS)
    assert found.optimal.proven
    assert "example.com/quota" in found.optimal.next.message
