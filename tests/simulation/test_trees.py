"""Trees of pod groups in time (kube-scheduler 1.37): they wait, are tried and make room as one."""

import random
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import cluster, composite, group
from support.builders import node as build_node
from support.builders import pod as build_pod
from support.simulating import Run, overfull
from support.sweeps import few_or_all

from kubestow.models.kube_version import KubeVersion
from kubestow.models.pod import Pod
from kubestow.models.scenario import SECOND, Cordon, Delete, Put, Scenario, TimedEvent
from kubestow.models.scheduling import CompositePodGroup, PodGroup, Workload
from kubestow.simulation.greedy import GreedyScheduler
from kubestow.solver.simulate import OptimalScheduler

BOTH = pytest.mark.parametrize("scheduler", [GreedyScheduler, OptimalScheduler])

ROOT = composite("root", gang=2)
LEFT, RIGHT = group("left", gang=2, parent="root"), group("right", gang=1, parent="root")


def node(name, cpu=4):
    return build_node(name, cpu=str(cpu), pods="9")


def pods(name, count, first=0, cpu=2, priority=0):
    return [
        build_pod(f"{name}-{k}").req(cpu=str(cpu)).priority(priority).member(name).build()
        for k in range(first, first + count)
    ]


def at(seconds, *objects):
    return TimedEvent(seconds * SECOND, Put(tuple(_flat(objects))))


def _flat(objects):
    for item in objects:
        yield from item if isinstance(item, list) else [item.build() if hasattr(item, "build") else item]


def run(objects, *events, scheduler=GreedyScheduler, **options):
    snapshot = cluster(*objects, **{"release": "1.37", **options})
    return Run(Scenario("trees", snapshot, 120 * SECOND, events=tuple(events)), scheduler)


def when(done):
    """Return the whole seconds at which pods were bound, by pod."""
    return {e["pod"].removeprefix("default/"): int(e["t"]) for e in done.of("PodBound")}


def conditions(done, kind):
    return {
        item.name: [(c.type, c.status, c.reason) for c in item.status.conditions]
        for item in done.simulation.world.objects.all(kind)
    }


@BOTH
def test_a_tree_waits_for_its_last_child_and_binds_at_once(scheduler):
    objects = (node("n-0"), node("n-1"), ROOT, LEFT, RIGHT)
    events = (at(5, pods("left", 2)), at(20, pods("right", 1)))
    done = run(objects, *events, scheduler=scheduler)
    assert when(done) == {"left-0": 20, "left-1": 20, "right-0": 20}
    assert len({e["t"] for e in done.of("PodBound")}) == 1
    assert len(done.of("Attempt")) == 3  # none of them was tried before the last one came
    told = ("PodGroupScheduled", "True", "Scheduled")
    assert conditions(done, PodGroup) == {"left": [told], "right": [told]}
    told = ("CompositePodGroupInitiallyScheduled", "True", "Scheduled")
    assert conditions(done, CompositePodGroup) == {"root": [told]}


@BOTH
@pytest.mark.parametrize("late", [ROOT, LEFT, RIGHT], ids=["the root", "a child", "the other child"])
def test_members_wait_for_every_object_of_their_tree(scheduler, late):
    objects = [node("n-0"), node("n-1"), *(item for item in (ROOT, LEFT, RIGHT) if item is not late)]
    events = (at(5, pods("left", 2), pods("right", 1)), at(30, late))
    assert set(when(run(objects, *events, scheduler=scheduler)).values()) == {30}


@BOTH
def test_a_child_that_is_not_ready_keeps_no_other_waiting(scheduler):
    objects = (node("n-0"), composite("root", gang=1), LEFT, RIGHT)
    done = run(objects, at(5, pods("left", 1), pods("right", 1)), scheduler=scheduler)
    assert when(done) == {"right-0": 5}
    groups = {name: told for name, [(_, *told)] in conditions(done, PodGroup).items()}
    assert groups == {"left": ["False", "Unschedulable"], "right": ["True", "Scheduled"]}


@BOTH
def test_a_tree_that_does_not_fit_binds_nothing_until_it_does(scheduler):
    objects = (node("n-0"), ROOT, LEFT, RIGHT)
    events = (at(5, pods("left", 2), pods("right", 1)), at(60, node("n-1")))
    done = run(objects, *events, scheduler=scheduler)
    [at_once] = {e["t"] for e in done.of("PodBound")}
    assert 60 <= at_once <= 70
    assert len(when(done)) == 3
    first, *_ = done.of("CompositePodGroupCondition")
    assert (first["compositePodGroup"], first["status"]) == ("default/root", "False")


@BOTH
def test_a_tree_makes_room_as_one(scheduler):
    running = [build_pod(f"low-{k}").req(cpu="4").priority(0).on(f"n-{k}").build() for k in range(2)]
    objects = (
        node("n-0"),
        node("n-1"),
        *running,
        composite("root", gang=2, priority=100),
        group("left", gang=2, parent="root", priority=100),
        group("right", gang=1, parent="root", priority=100),
    )
    members = [*pods("left", 2, priority=100), *pods("right", 1, priority=100)]
    done = run(objects, at(5, members), scheduler=scheduler)
    assert done.record.evictions == 2
    assert len({e["t"] for e in done.of("PodBound")}) == 1
    assert min(done.times("PodBound")) >= max(done.times("PodGone"))
    assert len(when(done)) == 3


TEMPLATES = {
    "apiVersion": "scheduling.k8s.io/v1alpha3",
    "metadata": {"name": "w"},
    "spec": {
        "compositePodGroupTemplates": [
            {
                "name": "all",
                "schedulingPolicy": {"gang": {"minGroupCount": 2}},
                "podGroupTemplates": [{"name": "lead", "schedulingPolicy": {"basic": {}}}],
                "compositePodGroupTemplates": [
                    {
                        "name": "rest",
                        "schedulingPolicy": {"basic": {}},
                        "podGroupTemplates": [
                            {"name": "workers", "schedulingPolicy": {"gang": {"minCount": 2}}}
                        ],
                    }
                ],
            }
        ]
    },
}
WORKLOAD = Workload.model_validate(TEMPLATES)


@BOTH
def test_a_workload_makes_its_tree_and_takes_it_along(scheduler):
    events = (at(5, WORKLOAD), at(9, pods("w-lead", 1), pods("w-workers", 2)))
    done = run((node("n-0"), node("n-1")), *events, scheduler=scheduler)
    assert set(when(done).values()) == {10 if scheduler is OptimalScheduler else 9}
    parents = {
        item.name: item.spec.parent_composite_pod_group_name
        for kind in (CompositePodGroup, PodGroup)
        for item in done.simulation.world.objects.all(kind)
    }
    assert parents == {"w-all": None, "w-rest": "w-all", "w-lead": "w-all", "w-workers": "w-rest"}
    gone = run((node("n-0"), WORKLOAD), TimedEvent(9 * SECOND, Delete("Workload", "default/w")))
    assert not gone.simulation.world.objects.all(CompositePodGroup)
    assert not gone.simulation.world.objects.all(PodGroup)


def test_trees_are_overlooked_without_the_gate_and_before_it():
    objects = (node("n-0"), WORKLOAD, ROOT, LEFT, RIGHT)
    for options in ({"release": "1.36"}, {"gates": "CompositePodGroup=false"}):
        done = run(objects, at(5, pods("left", 2)), **options)
        assert when(done) == {"left-0": 5, "left-1": 5}
        assert not conditions(done, CompositePodGroup)["root"]
        assert len(done.simulation.world.objects.all(CompositePodGroup)) == 1


def random_trees(seed):
    """Return four minutes of trees, pods and nodes that come; what each group needs, and its parent."""
    chance = random.Random(seed)
    items, needs, parents = [], {}, {}
    for r in range(chance.randint(1, 2)):
        root, priority = f"r{r}", chance.choice([0, 50])
        items.append(composite(root, gang=chance.choice([None, 1, 2, 2, 3]), priority=priority))
        above = [root]
        if chance.random() < 0.6:
            items.append(composite(f"m{r}", gang=chance.choice([None, 1, 2]), parent=root))
            parents[f"m{r}"] = root
            above.append(f"m{r}")
        for g in range(chance.randint(1, 4)):
            name = f"g{r}{g}"
            parents[name] = chance.choice(above)
            items.append(group(name, gang=chance.choice([None, 1, 2, 3]), parent=parents[name]))
            for k in range(chance.choice([0, 1, 2, 3, 3, 4])):
                made = build_pod(f"{name}-{k}").req(cpu=chance.choice("1123")).member(name)
                odd = chance.random() < 0.02  # ends every cycle of the tree in an error
                items.append(made.priority(priority + odd).build())
    for item in items:
        gang = None if isinstance(item, Pod) else item.spec.scheduling_policy.gang
        needs[item.name] = 1 if gang is None else gang.min_count or gang.min_group_count or 1
    events = [TimedEvent(chance.randrange(60 * SECOND), Put((item,))) for item in items]
    for k in range(chance.randint(0, 4)):
        other = build_pod(f"p{k}").req(cpu=chance.choice("124")).priority(chance.choice([-5, 0, 20]))
        change = (Delete("Node", "n0"), Cordon("n1"), Put((node(f"x{k}").build(),)))
        events.append(TimedEvent(chance.randrange(60 * SECOND), Put((other.build(),))))
        events.append(TimedEvent(chance.randrange(90 * SECOND), chance.choice(change)))
    events.sort(key=lambda event: event.at)
    nodes = [node(f"n{k}") for k in range(chance.randint(2, 5))]
    snapshot = replace(cluster(*nodes), kube_version=KubeVersion.V1_37)
    return Scenario("trees", snapshot, 240 * SECOND, events=tuple(events)), needs, parents


@pytest.mark.parametrize(
    "scheduler",
    [GreedyScheduler, pytest.param(OptimalScheduler, marks=pytest.mark.slow)],
)
@settings(max_examples=few_or_all(6, 15), deadline=None)
@given(st.integers(0, 10**6))
def test_no_tree_is_ever_bound_in_part(scheduler, seed):
    made, needs, parents = random_trees(seed)
    done = Run(made, scheduler)
    moments = defaultdict(list)
    for entry in done.log:
        moments[entry["t"]].append(entry)
    standing = defaultdict(set)
    for entries in moments.values():
        gained = set()
        for entry in entries:
            if entry["event"] in ("PodBound", "PodGone"):
                name = entry["pod"].removeprefix("default/").partition("-")[0]
                if entry["event"] == "PodGone":
                    standing[name].discard(entry["pod"])
                elif name in parents:
                    standing[name].add(entry["pod"])
                    gained.add(name)
        stands = {name: len(standing[name]) >= needs[name] for name in parents if name.startswith("g")}
        for inner in ("m0", "m1", "r0", "r1"):
            below = [child for child, above in parents.items() if above == inner]
            stands[inner] = sum(stands[child] for child in below) >= needs.get(inner, 1)
        for name in gained:
            while name is not None:
                assert stands[name], (name, entries)
                name = parents.get(name)
    assert not overfull(done, room=4)
    assert repr(Run(made, scheduler).log) == repr(done.log)
