"""Pod groups in time: they wait, are tried and preempt as one."""

import random
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import NOW
from support.builders import node as build_node
from support.builders import pod as build_pod
from support.simulating import Run, overfull, scenario
from support.sweeps import few_or_all

from kubestow.models.errors import InputError
from kubestow.models.kube_version import KubeVersion
from kubestow.models.scenario import SECOND, Cordon, Delete, Put, Scenario, TimedEvent
from kubestow.models.scheduling import PodGroup
from kubestow.models.snapshot import Snapshot
from kubestow.simulation import groups as simulated_groups
from kubestow.simulation.greedy import GreedyScheduler
from kubestow.solver.simulate import OptimalScheduler

BOTH = pytest.mark.parametrize("scheduler", [GreedyScheduler, OptimalScheduler])
KIND = "apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: g}"


def group(policy="{gang: {minCount: 3}}", extra=""):
    return f"  - {{{KIND}, spec: {{{extra}schedulingPolicy: {policy}}}}}\n"


def node(name, cpu=4, rack=""):
    labels = f", labels: {{rack: {rack}}}" if rack else ""
    offer = f'{{allocatable: {{cpu: "{cpu}", pods: "9"}}}}'
    return f"  - {{apiVersion: v1, kind: Node, metadata: {{name: {name}{labels}}}, status: {offer}}}\n"


def pods(names, cpu=2, spec="schedulingGroup: {podGroupName: g}, "):
    return "".join(
        f"  - {{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{{spec}containers: "
        f'[{{name: m, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}}}\n'
        for name in names
    )


def running(name, where, cpu=4):
    return pods([name], cpu, f"priority: 0, nodeName: {where}, ").replace(
        "]}}\n", "]}, status: {phase: Running}}\n"
    )


def at(seconds, objects):
    return f"- at: {seconds}s\n  add:\n{objects}"


def run(tmp_path, objects, *events, scheduler=GreedyScheduler, head="", gates="", version=KubeVersion.V1_36):
    gates = f"scheduler: {{featureGates: {gates}}}\n" if gates else ""
    text = f"kind: Scenario\nduration: 2m\n{head}{gates}cluster:\n  objects:\n{objects}"
    made = scenario(tmp_path, text + "events:\n" + "".join(events))
    return Run(replace(made, snapshot=replace(made.snapshot, kube_version=version)), scheduler)


def when(done, *names):
    """Return the whole seconds at which pods were bound, None for one that was not."""
    found = {e["pod"].removeprefix("default/"): int(e["t"]) for e in done.of("PodBound")}
    return [found.get(name) for name in names]


def condition(done):
    [found] = [c for g in done.simulation.world.objects.all(PodGroup) for c in g.status.conditions]
    return found.status, found.reason


@BOTH
def test_a_gang_waits_for_its_members_and_binds_at_once(tmp_path, scheduler):
    objects = node("n-0") + node("n-1") + group()
    done = run(tmp_path, objects, at(5, pods("ab")), at(20, pods("c")), scheduler=scheduler)
    assert when(done, "a", "b", "c") == [20, 20, 20]
    assert len({e["t"] for e in done.of("PodBound")}) == 1
    assert len(done.of("Attempt")) == 3  # nobody was tried before the last one came
    assert condition(done) == ("True", "Scheduled")


@BOTH
@pytest.mark.parametrize("policy", ["{gang: {minCount: 2}}", "{basic: {}}"])
def test_members_wait_for_their_group(tmp_path, scheduler, policy):
    done = run(tmp_path, node("n-0"), at(5, pods("ab")), at(30, group(policy)), scheduler=scheduler)
    assert when(done, "a", "b") == [30, 30]


@BOTH
def test_a_gang_that_does_not_fit_binds_nobody_until_it_does(tmp_path, scheduler):
    done = run(tmp_path, node("n-0") + group(), at(5, pods("abc")), at(60, node("n-1")), scheduler=scheduler)
    assert done.of("PodGroupCondition")[0] | {"t": 0} == {
        "t": 0,
        "event": "PodGroupCondition",
        "podGroup": "default/g",
        "status": "False",
        "reason": "Unschedulable",
    }
    assert len({e["t"] for e in done.of("PodBound")}) == 1
    assert 60 <= when(done, "a")[0] <= 70
    assert condition(done) == ("True", "Scheduled")


def test_members_whose_text_is_the_group_s_back_off_as_after_an_error(tmp_path):
    done = run(tmp_path, node("n-0") + group(), at(5, pods("abc")))
    first = {e["pod"]: e for e in done.of("Attempt") if e["attempt"] == 1}
    assert [first[f"default/{name}"]["plugins"] for name in "abc"] == [[], [], ["NodeResourcesFit"]]
    assert "pod group is unschedulable" in first["default/a"]["message"]
    # 1, 2, 4, 8, 10, 10, ... seconds, and each time the third one is tried along
    assert done.times("Attempt", pod="default/c")[:4] == [5.001, 7.001, 10.001, 15.001]
    assert done.times("Attempt", pod="default/a") == done.times("Attempt", pod="default/c")


@BOTH
def test_a_gated_member_counts_and_is_not_tried(tmp_path, scheduler):
    gated = pods("c", spec="schedulingGates: [{name: later}], schedulingGroup: {podGroupName: g}, ")
    objects = node("n-0") + node("n-1") + group("{gang: {minCount: 2}}")
    done = run(tmp_path, objects, at(5, pods("a") + gated), at(30, pods("c")), scheduler=scheduler)
    assert when(done, "a", "c") == ([30, 30])


@BOTH
def test_a_group_makes_room_as_one(tmp_path, scheduler):
    objects = node("n-0") + node("n-1") + group("{gang: {minCount: 2}}", "priority: 100, ")
    objects += running("low-0", "n-0") + running("low-1", "n-1")
    done = run(tmp_path, objects, at(5, pods("ab", cpu=3)), scheduler=scheduler)
    assert done.record.evictions == 2
    assert (
        len({e["t"] for e in done.of("PodBound", pod="default/a") + done.of("PodBound", pod="default/b")})
        == 1
    )
    gone = max(done.times("PodGone"))
    assert all(t >= gone for t in done.times("PodBound"))
    assert condition(done) == ("True", "Scheduled")


@BOTH
def test_a_group_of_no_priority_makes_no_room(tmp_path, scheduler):
    objects = node("n-0") + group("{gang: {minCount: 2}}") + running("low-0", "n-0")
    done = run(tmp_path, objects, at(5, pods("ab")), scheduler=scheduler)
    assert (done.record.evictions, when(done, "a", "b")) == (0, [None, None])


@BOTH
def test_a_group_that_was_scheduled_stays_so(tmp_path, scheduler):
    objects = node("n-0") + group("{gang: {minCount: 2}}")
    done = run(tmp_path, objects, at(5, pods("ab")), at(20, pods("c")), scheduler=scheduler)
    assert when(done, "a", "b", "c") == [5, 5, None]
    assert condition(done) == ("True", "Scheduled")


@BOTH
def test_a_topology_constraint_keeps_a_group_in_one_rack(tmp_path, scheduler):
    constraint = "schedulingConstraints: {topology: [{key: rack}]}, "
    objects = node("n-0", 4, "r1") + node("n-1", 4, "r2") + node("n-2", 4, "r2") + group(extra=constraint)
    done = run(tmp_path, objects, at(5, pods("abc")), scheduler=scheduler)
    assert {e["node"] for e in done.of("PodBound")} == {"n-1", "n-2"}


def test_with_the_gate_off_members_are_pods(tmp_path):
    done = run(tmp_path, node("n-0") + group(), at(5, pods("ab")), gates="GenericWorkload=false")
    assert when(done, "a", "b") == [5, 5]


def test_groups_of_v1alpha1_are_refused_by_name(tmp_path):
    old = pods("a", spec="workloadRef: {name: w, podGroup: g}, ")
    with pytest.raises(InputError, match=r"Pod default/a: spec\.workloadRef: groups of v1alpha1"):
        run(tmp_path, node("n-0"), at(5, old))


JOB = """  - apiVersion: batch/v1
    kind: Job
    metadata: {name: train}
    spec:
      parallelism: 3
      completions: 3
      %stemplate: {spec: {restartPolicy: Never, containers: [{name: m, resources: {requests: {cpu: "2"}}}]}}
"""
INDEXED = "completionMode: Indexed\n      "


@BOTH
def test_an_indexed_job_is_a_gang(tmp_path, scheduler):
    done = run(tmp_path, node("n-0"), at(5, JOB % INDEXED), at(30, node("n-1")), scheduler=scheduler)
    [made] = done.simulation.world.objects.all(PodGroup)
    assert (made.name, made.spec.scheduling_policy.gang.min_count) == ("train", 3)
    assert len({e["t"] for e in done.of("PodBound")}) == 1
    assert when(done, "train-0")[0] >= 30


@pytest.mark.parametrize(
    "mode, gates",
    [
        pytest.param("", "", id="a Job without indexes"),
        pytest.param(INDEXED, "EnableWorkloadWithJob=false", id="the gate is off"),
    ],
)
def test_other_jobs_are_not(tmp_path, mode, gates):
    done = run(tmp_path, node("n-0"), at(5, JOB % mode), gates=gates)
    assert done.simulation.world.objects.all(PodGroup) == []
    assert when(done, "train-0", "train-1", "train-2") == [5, 5, None]


@pytest.mark.parametrize("version", [KubeVersion.V1_34, KubeVersion.V1_37])
def test_before_and_after_1_36_a_job_has_to_say_that_it_is_a_gang(tmp_path, version):
    done = run(tmp_path, node("n-0"), at(5, JOB % INDEXED), version=version)
    assert done.simulation.world.objects.all(PodGroup) == []
    assert when(done, "train-0", "train-1", "train-2") == [5, 5, None]


WORKLOAD = """  - apiVersion: scheduling.k8s.io/v1alpha2
    kind: Workload
    metadata: {name: w}
    spec:
      %spodGroupTemplates: [{name: workers, schedulingPolicy: {gang: {minCount: 2}}}]
"""


def test_a_workload_makes_its_groups_and_takes_them_along(tmp_path):
    events = at(5, WORKLOAD % "") + at(6, pods("ab", spec="schedulingGroup: {podGroupName: w-workers}, "))
    assert when(run(tmp_path, node("n-0"), events), "a", "b") == [6, 6]
    done = run(tmp_path, node("n-0"), at(5, WORKLOAD % ""), "- {at: 9s, delete: Workload default/w}\n")
    assert done.simulation.world.objects.all(PodGroup) == []


def test_a_job_joins_the_workload_that_refers_to_it(tmp_path):
    refers = "controllerRef: {apiGroup: batch, kind: Job, name: train}\n      "
    done = run(tmp_path, node("n-0") + WORKLOAD % refers, at(5, JOB % INDEXED))
    assert [made.name for made in done.simulation.world.objects.all(PodGroup)] == ["w-workers"]
    assert when(done, "train-0", "train-1", "train-2") == [5, 5, None]


def test_a_group_that_is_tried_without_end_is_told_of(tmp_path, monkeypatch):
    monkeypatch.setattr(simulated_groups, "_MANY", 1)
    done = run(tmp_path, node("n-0") + group(), at(5, pods("abc")))
    [note] = done.record.notes
    assert note.startswith("PodGroup default/g is tried again at once and without backoff")


def most_rounds(done):
    """Return how many optimal rounds there were at one time at most."""
    return max(Counter(done.times("Round")).values())


def test_whom_a_pod_displaced_that_is_displaced_in_the_same_round_leaves_for_the_last_of_them(tmp_path):
    def member(name, cpu, priority):
        return pods(name, cpu, f"priority: {priority}, schedulingGroup: {{podGroupName: g}}, ")

    # The group's priority counts for whoever evicts, a member's own for who is evicted: y leaves again for z.
    objects = node("n-0") + group("{gang: {minCount: 1}}", "priority: 100, ")
    events = at(5, member("x", 2, 10)), at(10, member("y", 3, 10) + member("z", 3, 0))
    done = run(tmp_path, objects, *events, scheduler=OptimalScheduler)
    assert done.times("PodEvicted", pod="default/x") == [10]
    assert when(done, "y", "z")[0] == 40
    assert most_rounds(done) <= 2


def test_members_bind_together_where_pods_terminate_already(tmp_path):
    objects = node("n-0") + running("low", "n-0") + group("{gang: {minCount: 2}}", "priority: 100, ")
    events = "- {at: 5s, delete: Pod default/low}\n", at(6, pods("ab"))
    done = run(tmp_path, objects, *events, scheduler=OptimalScheduler)
    [gone] = done.times("PodGone", pod="default/low")
    assert set(done.times("PodBound")) == {gone}
    assert done.record.evictions == 0
    assert not overfull(done, room=4)
    assert most_rounds(done) == 1


def random_groups(seed):
    """Return four minutes in which groups, their members, other pods and nodes come, and each minCount."""
    chance = random.Random(seed)
    least = {}
    events = []
    for g in range(chance.randint(1, 3)):
        size = chance.randint(1, 5)
        least[f"g{g}"] = chance.randint(1, size)
        spec = {
            "schedulingPolicy": {"gang": {"minCount": least[f"g{g}"]}},
            "priority": chance.choice([0, 50, 100]),
            "disruptionMode": chance.choice(["Pod", "PodGroup"]),
        }
        if chance.random() < 0.3:
            spec["schedulingConstraints"] = {"topology": [{"key": "zone"}]}
        document = {"apiVersion": "scheduling.k8s.io/v1alpha2", "metadata": {"name": f"g{g}"}, "spec": spec}
        events.append(TimedEvent(chance.randrange(30 * SECOND), Put((PodGroup.model_validate(document),))))
        for k in range(size):
            member = build_pod(f"g{g}-{k}").req(cpu=chance.choice("123")).priority(chance.choice([0, 10]))
            name = {"podGroupName": f"g{g}"}
            member = member.changed(lambda d, name=name: d["spec"].update(schedulingGroup=name))
            events.append(TimedEvent(chance.randrange(60 * SECOND), Put((member.build(),))))
    for k in range(chance.randint(0, 4)):
        other = build_pod(f"p{k}").req(cpu=chance.choice("124")).priority(chance.choice([-5, 0, 20]))
        change = (Delete("Node", "n0"), Cordon("n1"), Put((build_node(f"m{k}", zone="z0", cpu="4").build(),)))
        events.append(TimedEvent(chance.randrange(60 * SECOND), Put((other.build(),))))
        events.append(TimedEvent(chance.randrange(90 * SECOND), chance.choice(change)))
    events.sort(key=lambda event: event.at)
    nodes = tuple(build_node(f"n{k}", zone=f"z{k % 2}", cpu="4").build() for k in range(chance.randint(2, 4)))
    snapshot = Snapshot(name="groups", now=NOW, nodes=nodes)
    return Scenario("groups", snapshot, 240 * SECOND, events=tuple(events)), least


@pytest.mark.parametrize(
    "scheduler",
    [GreedyScheduler, pytest.param(OptimalScheduler, marks=pytest.mark.slow)],
)
@settings(max_examples=few_or_all(8, 20), deadline=None)
@given(st.integers(0, 10**6))
def test_no_gang_is_ever_bound_in_part(scheduler, seed):
    made, least = random_groups(seed)
    done = Run(made, scheduler)
    moments = defaultdict(list)
    for entry in done.log:
        moments[entry["t"]].append(entry)
    standing = defaultdict(set)
    for entries in moments.values():
        gained = set()
        for entry in entries:
            if entry["event"] not in ("PodBound", "PodGone"):
                continue
            gang = entry["pod"].removeprefix("default/").partition("-")[0]
            if entry["event"] == "PodGone":
                standing[gang].discard(entry["pod"])
            elif gang in least:
                standing[gang].add(entry["pod"])
                gained.add(gang)
        assert all(len(standing[gang]) >= least[gang] for gang in gained)
    assert not overfull(done, room=4)
    assert repr(Run(made, scheduler).log) == repr(done.log)


def test_a_member_that_may_fall_back_is_bound_before_any_pod_is_tried_alone(tmp_path):
    spread = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, "
    spread += "labelSelector: {matchLabels: {app: x}}, fallbackCriteria: [PreemptionFailed]}], "
    member = pods("a", spec=f"schedulingGroup: {{podGroupName: g}}, {spread}")
    labelled = node("n").replace("name: n", "name: n, labels: {zone: z}")
    done = run(tmp_path, labelled, at(1, group("{gang: {minCount: 1}}") + member))
    assert when(done, "a") == [1]
