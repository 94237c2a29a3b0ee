"""Members of a group of 1.36 that are counted: as many as would be placed one after another."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from support.builders import cluster, group, node, pod
from support.devices import claim, device_class, first_of, gpu, model, request, slice_, slice_on, user

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.budget_ledger import Ledger
from kubestow.framework.rules.groups import groups
from kubestow.framework.runs.greedy import run_to_quiescence
from kubestow.framework.runs.trace import trace_cluster
from kubestow.framework.workload.choice import variant_for
from kubestow.framework.workload.cycle import schedule_group
from kubestow.framework.workload.placement import Placement, info_of
from kubestow.framework.workload.units import opening
from kubestow.framework.workload.v1_36.alike import Alike
from kubestow.framework.workload.v1_36.attempt import attempt, take_off
from kubestow.instances.manifests import snapshot_of
from kubestow.instances.racks import racks

RELEASE = "1.36"

WANTS = (
    [request("r")],
    [request("r", count=2)],
    [request("r", model("a"))],
    [request("r", model("a")), request("s", model("b"))],
    [request("r", mode="All")],
    [request("r", admin=True)],
    [
        first_of(
            "r", {"name": "x", "deviceClassName": "gpu", "count": 3}, {"name": "y", "deviceClassName": "gpu"}
        )
    ],
)


def nodes_of(rng):
    """Racks of nodes with devices, some of them held; now and then devices that all nodes reach."""
    objects = [device_class()]
    for k in range(rng.randint(3, 8)):
        name = f"n{k}"
        size = rng.randint(0, 5)
        cards = [gpu(f"g{d}", model=rng.choice("ab")) for d in range(size)]
        objects += [
            node(name, cpu=str(rng.randint(2, 9)), pods=rng.randint(2, 8)).label(
                rack=f"r{k % 3}", zone=f"z{k % 2}"
            ),
            *([slice_on(name, *cards)] if cards else []),
        ]
        if size and rng.random() < 0.5:
            held = claim(f"held{k}", has=[("r", name, "g0")], at=name, users=[f"v{k}"])
            objects += [held, user(f"v{k}", f"held{k}").req(cpu="1").on(name)]
        if rng.random() < 0.2:
            apart = pod(f"w{k}").req(cpu="1").on(name)
            objects.append(apart.anti("zone", {"app": "p"}))
    if rng.random() < 0.2:
        objects.append(slice_("wide", gpu("far", model="a"), allNodes=True))
    return objects


def round_of(seed):
    """Gangs whose members differ in name, number and claim alone, or in more."""
    rng = Random(seed)
    objects = nodes_of(rng)
    wants = rng.sample(WANTS, 2)
    for g in "ghi":
        size, cpu, own = rng.randint(2, 7), str(rng.randint(1, 3)), rng.choice([*wants, None])
        odd, one_model = rng.random(), rng.random() < 0.3
        keys = ["rack"] if rng.random() < 0.8 else []  # without a rack they evict
        objects.append(group(g, *keys, gang=rng.randint(1, size), priority=10))
        for k in range(size):
            name = f"{g}{k}"
            shared = odd < 0.1
            of = f"{g}-all" if shared else name
            member = user(name, of) if own is not None else pod(name)
            member = member.member(g).req(cpu="1" if 0.1 <= odd < 0.2 and not k else cpu).priority(10)
            member = member.label(app="p" if rng.random() < 0.95 else "q", number=str(k))
            if rng.random() < 0.01:
                member = member.nominated("n0")
            if own is not None and not (shared and k):
                objects.append(claim(of, *own, match="model" if one_model and len(own) == 1 else None))
            objects.append(member)
    if rng.random() < 0.3:
        objects.append(
            pod("lone").req(cpu="1").priority(rng.choice([0, 50])).nominated(f"n{rng.randint(0, 2)}")
        )
    return build_cluster(cluster(*objects, release=RELEASE))


def test_as_many_are_counted_as_are_placed():
    """In one state after the other: groups are placed, and pods leave with their devices."""
    seen = Counter()
    for seed in range(50):
        rng, run = Random(seed), round_of(seed)
        state, ledger = opening(run), Ledger(run)
        everywhere = Placement("", np.ones(run.n_nodes, dtype=np.bool_))
        for one in (*groups(run), *groups(run)):
            info = info_of(run, state, one)
            if not info.pods or not one.enqueued:
                continue
            variant = variant_for(run, info.pods[0])
            trial = take_off(state, info)
            alike = Alike.of(variant, trial, info)
            placements = variant.generators[0].generate_placements(state, info, [everywhere])
            for placement in placements if isinstance(placements, list) else ():
                found = None if alike is None else alike.count(trial, placement.nodes)
                whole = attempt(variant, trial, info, placement, ledger, post=True)
                seen["counted" if found is not None else "tried", whole.feasible] += 1
                if found is not None:
                    assert list(whole.assignment) == list(info.pods[:found])
                    assert alike.enough(found) == whole.feasible
            cycle = schedule_group(run, state, one, ledger)
            cycle.happen(state, ledger)
            for j in np.flatnonzero(state.node_of >= 0).tolist():
                if rng.random() < 0.15:
                    state.remove(j)
    assert min(seen.values()) > 15  # or the comparison says little
    assert len(seen) == 4


def outcome_of(run):
    outcome = run_to_quiescence(run)
    return outcome.steps, outcome.victims, outcome.nominations, outcome.state.bindings()


@pytest.mark.parametrize("seed", range(8))
def test_greedy_ends_as_it_does_without_counting(seed, monkeypatch):
    counted, written = outcome_of(round_of(seed)), trace_cluster(round_of(seed))
    monkeypatch.setattr(Alike, "of", lambda *_: None)
    assert counted == outcome_of(round_of(seed))
    assert written == trace_cluster(round_of(seed))


def test_racks_of_the_generator_are_counted(monkeypatch):
    def run():
        return build_cluster(snapshot_of(racks(2, racks=4, nodes=3, devices=4, gangs=6)))

    counted = outcome_of(run())
    tried = Counter()

    def noted(variant, trial, info, placement, ledger, *, post):
        tried[info.group.key] += 1
        return attempt(variant, trial, info, placement, ledger, post=post)

    monkeypatch.setattr("kubestow.framework.workload.v1_36.cycle.attempt", noted)
    assert counted == outcome_of(run())
    assert max(tried.values()) <= 2  # once in each pass, whatever the number of racks
    monkeypatch.setattr(Alike, "of", lambda *_: None)
    assert counted == outcome_of(run())


CARDS = [device_class(), slice_on("a", gpu("g0"), gpu("g1")), slice_on("b", gpu("g2"))]
OWN = [claim("c0"), claim("c1")]


def pair(change=lambda member, k: member):
    return [change(user(f"p{k}", f"c{k}").member("g").req(cpu="1"), k) for k in range(2)]


@pytest.mark.parametrize(
    "objects, alike",
    [
        pytest.param([*OWN, pair()], True, id="claims of their own that ask for the same"),
        pytest.param(
            [claim("c0"), claim("c1", request("r", count=2)), pair()], False, id="for different things"
        ),
        pytest.param([claim("c"), user("p", "c").member("g").times(2)], False, id="one claim for all"),
        pytest.param(
            [claim("c0"), claim("c1", has=[("r", "a", "g0")], at="a"), pair()],
            False,
            id="one has its devices",
        ),
        pytest.param([*OWN, pair(lambda m, k: m.label(number=str(k)))], True, id="labels that differ"),
        pytest.param(
            [
                *OWN,
                pair(lambda m, k: m.label(number=str(k))),
                pod("v").on("a").anti("hostname", {"number": "1"}),
            ],
            False,
            id="labels that differ where a pod keeps away from one",
        ),
        pytest.param([*OWN, pair(lambda m, k: m.select(disk=str(k)))], False, id="other nodes for each"),
        pytest.param(
            [*OWN, pair(lambda m, k: m.volume(emptyDir={}))], True, id="volumes that nobody looks at"
        ),
        pytest.param([*OWN, pair(lambda m, k: m.disk(f"d{k}"))], False, id="disks"),
    ],
)
def test_who_is_counted(objects, alike):
    run = build_cluster(cluster(node("a"), node("b"), CARDS, group("g", gang=2), *objects, release=RELEASE))
    state = opening(run)
    (one,) = groups(run)
    info = info_of(run, state, one)
    found = Alike.of(variant_for(run, info.pods[0]), take_off(state, info), info)
    assert (found is not None) == alike


@pytest.mark.parametrize(
    "more, count",
    [
        pytest.param([], 2, id="a node by itself"),
        pytest.param([slice_("wide", gpu("far"), allNodes=True)], None, id="devices that both nodes reach"),
        pytest.param([pod("lone").req(cpu="1").nominated("a")], None, id="a pod that is expected there"),
    ],
)
def test_what_is_not_known_without_trying(more, count):
    objects = [node("a").label(rack="r"), node("b"), CARDS, claim("c2"), *OWN, more]
    members = [user(f"p{k}", f"c{k}").member("g").req(cpu="1") for k in range(3)]
    run = build_cluster(cluster(objects, group("g", gang=2), members, release=RELEASE))
    state = opening(run)
    (one,) = groups(run)
    info = info_of(run, state, one)
    trial = take_off(state, info)
    within = np.array([True, False])
    assert Alike.of(variant_for(run, info.pods[0]), trial, info).count(trial, within) == count
