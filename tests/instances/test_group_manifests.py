"""Pod groups as manifests, in every served version and older spelling, solved from text to plan."""

from dataclasses import replace

import pytest
import yaml

from kubestow.instances.manifests import parse_snapshot
from kubestow.models.errors import KubestowError
from kubestow.models.kube_version import KubeVersion
from kubestow.solver.api import SolveOptions, solve_both

NODES = [
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"rack": rack}},
        "status": {"allocatable": {"cpu": cpu, "pods": "10"}},
    }
    for name, rack, cpu in (("a", "r1", "2"), ("b", "r2", "3"), ("c", "r2", "1"))
]
BY_WORKLOAD = {"workloadRef": {"name": "w", "podGroup": "g", "podGroupReplicaKey": "0"}}
BY_GROUP = {"schedulingGroup": {"podGroupName": "g"}}
GANG = {"gang": {"minCount": 2}}
RACK = {"topology": [{"key": "rack"}]}


def pod(name, **spec):
    container = {"name": "main", "resources": {"requests": {"cpu": "2"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], **spec},
    }


def written(version, kind, name, spec):
    return {
        "apiVersion": f"scheduling.k8s.io/{version}",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def workload(version, **spec):
    return written(version, "Workload", "w", spec)


def group(version, **spec):
    return written(version, "PodGroup", "g", spec)


def early(**constraints):
    """A Workload of v1alpha1 with one gang."""
    controller = {"apiGroup": "batch", "kind": "Job", "name": "j"}
    entry = {"name": "g", "policy": GANG, **({"schedulingConstraints": constraints} if constraints else {})}
    return workload("v1alpha1", controllerRef=controller, podGroups=[entry])


def read(*objects):
    text = yaml.safe_dump_all([*NODES, *objects])
    return parse_snapshot([("f.yaml", text.encode())], name="f.yaml")


def members(*references):
    return [pod(f"p{k}", **reference) for k, reference in enumerate(references)]


# Two pods of 2 cpu fit, but not into one rack: a gang of two starts without a constraint only.
SPELLINGS = {
    "v1alpha1, a gang": ([early()], BY_WORKLOAD, True),
    "v1alpha1, the proposal's level": ([early(topologyConstraints=[{"level": "rack"}])], BY_WORKLOAD, False),
    "v1alpha1, a draft's topologyKey": (
        [early(topologyConstraints=[{"topologyKey": "rack"}])],
        BY_WORKLOAD,
        False,
    ),
    "v1alpha1, the later key": ([early(**RACK)], BY_WORKLOAD, False),
    "v1alpha2, a gang": ([group("v1alpha2", schedulingPolicy=GANG)], BY_GROUP, True),
    "v1alpha2, from a template": (
        [
            group(
                "v1alpha2",
                podGroupTemplateRef={"workload": {"workloadName": "w", "podGroupTemplateName": "t"}},
                schedulingPolicy=GANG,
                schedulingConstraints=RACK,
            )
        ],
        BY_GROUP,
        False,
    ),
    "v1alpha2, a draft's flat reference and topologyKey": (
        [
            group(
                "v1alpha2",
                podGroupTemplateRef={"workloadName": "w", "podGroupTemplateName": "t"},
                schedulingPolicy=GANG,
                schedulingConstraints={"topologyConstraints": [{"topologyKey": "rack"}]},
            )
        ],
        BY_GROUP,
        False,
    ),
    "v1alpha3": (
        [
            group(
                "v1alpha3",
                workloadRef={"workloadName": "w", "templateName": "t"},
                schedulingPolicy=GANG,
                disruptionMode={"single": {}},
                schedulingConstraints=RACK,
            )
        ],
        BY_GROUP,
        False,
    ),
    "v1beta1, beside its Workload": (
        [
            workload("v1beta1", podGroupTemplates=[{"name": "t", "schedulingPolicy": GANG}]),
            group("v1beta1", workloadRef={"workloadName": "w", "templateName": "t"}, schedulingPolicy=GANG),
        ],
        BY_GROUP,
        True,
    ),
    "v1beta1, the basic policy goes as far as it can": (
        [group("v1beta1", schedulingPolicy={"basic": {}})],
        BY_GROUP,
        True,
    ),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_means_the_same(name):
    objects, reference, starts = SPELLINGS[name]
    snapshot = read(*objects, *members(reference, reference))
    for plan in solve_both(snapshot, SolveOptions(workers=1)):
        assert len(plan.placed()) == (2 if starts else 0)


# name -> (objects, pods' references, the text of each pod left out)
WAITING = {
    "no PodGroup": ([], [BY_GROUP], 'waiting for pod\'s pod group "g" to appear in scheduling queue'),
    "no Workload": ([], [BY_WORKLOAD], 'waiting for pods\'s workload "w" to appear in scheduling queue'),
    "no such group in the Workload": (
        [early()],
        [{"workloadRef": {"name": "w", "podGroup": "h"}}],
        'pod group "h" doesn\'t exist for a workload "w"',
    ),
    "too few of a PodGroup": (
        [group("v1beta1", schedulingPolicy=GANG)],
        [BY_GROUP],
        "waiting for minCount pods from a gang to appear in scheduling queue",
    ),
    "too few of each replica": (
        [early()],
        [BY_WORKLOAD, {"workloadRef": {"name": "w", "podGroup": "g", "podGroupReplicaKey": "1"}}],
        "waiting for minCount pods from a gang to appear in scheduling queue",
    ),
    "a gated member is known, and not there": (
        [group("v1beta1", schedulingPolicy=GANG)],
        [BY_GROUP, {**BY_GROUP, "schedulingGates": [{"name": "later"}]}],
        "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining",
    ),
    "two priorities": (
        [group("v1beta1", schedulingPolicy=GANG)],
        [{**BY_GROUP, "priority": 1}, {**BY_GROUP, "priority": 2}],
        "all pods in a single pod group should match the priority of the pod group, got: 1 and 2",
    ),
    "a PodGroup that states priority 0": (
        [group("v1beta1", schedulingPolicy=GANG, priority=0)],
        [{**BY_GROUP, "priority": 5}, {**BY_GROUP, "priority": 5}],
        "all pods in a single pod group should match the priority of the pod group, got: 5 and 0",
    ),
    "a PodGroup whose class has priority 0": (
        [
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": "usual"},
                "value": 0,
            },
            group("v1beta1", schedulingPolicy=GANG, priorityClassName="usual"),
        ],
        [{**BY_GROUP, "priority": 5}, {**BY_GROUP, "priority": 5}],
        "all pods in a single pod group should match the priority of the pod group, got: 5 and 0",
    ),
}


@pytest.mark.parametrize("name", WAITING)
def test_members_wait_with_upstreams_text(name):
    """In the words of the proposal, whose rules are those of all versions of the API."""
    objects, references, message = WAITING[name]
    snapshot = replace(read(*objects, *members(*references)), kube_version=KubeVersion.V1_34)
    for plan in solve_both(snapshot, SolveOptions(workers=1)):
        assert not plan.placed()
        assert {u.message for u in plan.unschedulable} - {"waiting for scheduling gates: [later]"} == {
            message
        }


def test_members_of_two_priorities_start_in_1_36():
    objects, references, _ = WAITING["two priorities"]
    snapshot = replace(read(*objects, *members(*references)), kube_version=KubeVersion.V1_36)
    for plan in solve_both(snapshot, SolveOptions(workers=1)):
        assert len(plan.placed()) == len(references)


@pytest.mark.parametrize("priority", [-5, 0, 5])
def test_a_pod_group_without_a_priority_takes_that_of_its_pods(priority):
    both = members(*[{**BY_GROUP, "priority": priority}] * 2)
    for plan in solve_both(read(group("v1beta1", schedulingPolicy=GANG), *both), SolveOptions(workers=1)):
        assert len(plan.placed()) == 2


RUNNING = pod("r", **BY_GROUP, nodeName="a")
URGENT = pod("u", priority=5)


def in_workload(**template):
    return workload("v1alpha2", podGroupTemplates=[{"name": "g", "schedulingPolicy": GANG, **template}])


WHOLE = {
    "v1beta1's union": (
        group("v1beta1", schedulingPolicy=GANG, disruptionMode={"all": {}}),
        BY_GROUP,
    ),
    "v1alpha2's word": (group("v1alpha2", schedulingPolicy=GANG, disruptionMode="PodGroup"), BY_GROUP),
    "v1alpha2's word in a Workload": (in_workload(disruptionMode="PodGroup"), BY_WORKLOAD),
}


@pytest.mark.parametrize("name", WHOLE)
def test_every_spelling_of_evicted_whole_is_honoured(name):
    """kube-scheduler evicts one of two members for an urgent pod, and that is no plan."""
    rules, reference = WHOLE[name]
    running = [pod(f"r{k}", **reference, nodeName=n) for k, n in enumerate("ab")]
    _, greedy = solve_both(read(rules, *running, URGENT), SolveOptions(workers=1))
    assert len(greedy.evictions) == 1
    assert not greedy.stats.admissible


def test_a_group_of_groups_is_evicted_whole_from_text():
    """An urgent pod needs the room of one group's member; the other group of the tree leaves with it."""
    below = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
    policy = {"schedulingPolicy": {"gang": {"minGroupCount": 1}}}
    tree = written("v1alpha3", "CompositePodGroup", "c", {**policy, "disruptionMode": {"all": {}}, **below})
    parts = [
        written(
            "v1alpha3",
            "PodGroup",
            name,
            {"schedulingPolicy": {"gang": {"minCount": 1}}, "parentCompositePodGroupName": "c", **below},
        )
        for name in "gh"
    ]
    running = [
        pod(f"r{name}", schedulingGroup={"podGroupName": name}, nodeName=n, priority=0)
        for name, n in zip("gh", "ab", strict=True)
    ]
    read_ = replace(read(tree, *parts, *running, URGENT), kube_version=KubeVersion.V1_37)
    for plan in solve_both(read_, SolveOptions(workers=1)):
        assert {eviction.pod for eviction in plan.evictions} == {"default/rg", "default/rh"}


FAULTS = {
    "two policies": (
        {"schedulingPolicy": {**GANG, "basic": {}}},
        "spec.schedulingPolicy: must have exactly one of basic and gang",
    ),
    "no policy": ({}, "spec.schedulingPolicy: must have exactly one of basic and gang"),
    "a gang of nobody": (
        {"schedulingPolicy": {"gang": {"minCount": 0}}},
        "spec.schedulingPolicy.gang.minCount: must be at least 1, not 0",
    ),
    "a constraint without a key": (
        {"schedulingPolicy": GANG, "schedulingConstraints": {"topology": [{}]}},
        "spec.schedulingConstraints.topology[0].key: required",
    ),
    "evicted whole, and no gang": (
        {"schedulingPolicy": {"basic": {}}, "disruptionMode": {"all": {}}},
        "spec.disruptionMode: cannot be 'all' with the basic policy",
    ),
    "two modes": (
        {"schedulingPolicy": GANG, "disruptionMode": {"all": {}, "single": {}}},
        "spec.disruptionMode: must be single or all, not 'single/all'",
    ),
    "no mode": (
        {"schedulingPolicy": GANG, "disruptionMode": {}},
        "spec.disruptionMode: must be single or all, not {}",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_faulty_group_is_one_line(name):
    spec, fault = FAULTS[name]
    with pytest.raises(KubestowError) as refusal:
        read(group("v1beta1", **spec))
    assert str(refusal.value) == f"f.yaml: PodGroup default/g: {fault}"


@pytest.mark.parametrize("mode", ["PodGroup", "Pod", {}, {"all": {}, "single": {}}], ids=str)
def test_a_group_of_groups_takes_no_words_of_a_version_that_has_none(mode):
    spec = {"schedulingPolicy": {"gang": {"minGroupCount": 1}}, "disruptionMode": mode}
    below = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
    leaf = {"name": "g", "schedulingPolicy": GANG}
    tree = {"compositePodGroupTemplates": [{"name": "c", **spec, "podGroupTemplates": [leaf]}]}
    for item, field in (
        (written("v1alpha3", "CompositePodGroup", "c", {**spec, **below}), "spec.disruptionMode"),
        (written("v1alpha3", "Workload", "w", tree), "spec.compositePodGroupTemplates[0].disruptionMode"),
    ):
        with pytest.raises(KubestowError) as refusal:
            read(item)
        assert f"{field}: must be single or all, not " in str(refusal.value)
