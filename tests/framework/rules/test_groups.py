import pytest
from support.builders import cluster, composite, group, node, pod, workload
from support.grouped import Grouped

from kubestow.framework.build import build_cluster
from kubestow.framework.rules.eviction_units import preemptor_nodes
from kubestow.framework.rules.groups import OFF_KEY, group_of, pinned_domains
from kubestow.models.scheduling import PodGroup, Workload

NODES = [node("a").label(rack="r1"), node("b").label(rack="r2"), node("c")]
GANG = {"name": "half", "policy": {"gang": {"minCount": 2}}}
MISSING = 'waiting for pod\'s pod group "g" to appear in scheduling queue'
TOO_FEW = "waiting for minCount pods from a gang to appear in scheduling queue"


def written(kind, version, name, spec):
    return kind.model_validate(
        {
            "apiVersion": f"scheduling.k8s.io/{version}",
            "metadata": {"name": name, "namespace": "default"},
            "spec": spec,
        }
    )


def pod_group(version, **spec):
    return written(PodGroup, version, "g", spec)


@pytest.mark.parametrize(
    "objects, min_count, desired, keys",
    [
        pytest.param(
            [pod_group("v1alpha2", schedulingPolicy={"gang": {"minCount": 2}})], 2, None, (), id="v1alpha2"
        ),
        pytest.param(
            [pod_group("v1alpha3", schedulingPolicy={"gang": {"minCount": 2}})], 2, None, (), id="v1alpha3"
        ),
        pytest.param(
            [
                pod_group(
                    "v1beta1",
                    workloadRef={"workloadName": "w", "templateName": "t"},
                    schedulingPolicy={"gang": {"minCount": 2}},
                    schedulingConstraints={"topology": [{"key": "rack"}]},
                    disruptionMode={"single": {}},
                )
            ],
            2,
            None,
            ("rack",),
            id="v1beta1",
        ),
        pytest.param(
            [
                pod_group(
                    "v1alpha2",
                    schedulingPolicy={"basic": {}},
                    schedulingConstraints={"topologyConstraints": [{"topologyKey": "rack"}]},
                )
            ],
            None,
            None,
            ("rack",),
            id="an early draft's topologyKey",
        ),
        pytest.param(
            [
                pod_group(
                    "v1alpha2",
                    schedulingPolicy={"basic": {"desiredCount": 4}},
                    schedulingConstraints={"topologyConstraints": [{"level": "rack"}]},
                )
            ],
            None,
            4,
            ("rack",),
            id="the proposal's level, and desiredCount",
        ),
        pytest.param([group("g", "row", "rack", "row", gang=2)], 2, None, ("row", "rack"), id="several keys"),
    ],
)
def test_a_pod_group_in_every_spelling(objects, min_count, desired, keys):
    (found,) = Grouped(NODES, *objects, pod("p").member("g").times(2)).groups
    assert (found.key, found.name, found.namespace) == ("default/g", "g", "default")
    assert (found.min_count, found.desired_count, found.topology_keys) == (min_count, desired, keys)
    assert found.waits is None
    assert found.enqueued


def test_a_preferred_key_is_no_condition():
    wish = {"topology": [{"key": "rack"}, {"key": "row", "mode": "Preferred"}]}
    spec = {"schedulingPolicy": {"basic": {}}, "schedulingConstraints": wish}
    (found,) = Grouped(NODES, pod_group("v1alpha2", **spec), pod("p").member("g")).groups
    assert (found.topology_keys, found.preferred_keys) == (("rack",), ("row",))


def test_a_group_of_a_workload_has_replicas_by_key():
    pods = [pod(f"p{k}{j}").replica("w", "half", key) for k, key in enumerate(("x", "y", "")) for j in (0, 1)]
    constraints = {"topologyConstraints": [{"level": "rack"}]}
    found = Grouped(NODES, workload("w", {**GANG, "schedulingConstraints": constraints}), pods).groups
    assert [g.key for g in found] == ["default/w/half/x", "default/w/half/y", "default/w/half"]
    assert [g.members for g in found] == [(0, 1), (2, 3), (4, 5)]
    assert {(g.min_count, g.topology_keys, g.waits) for g in found} == {(2, ("rack",), None)}


def test_names_belong_to_a_namespace():
    found = Grouped(
        NODES,
        group("g", gang=1),
        group("g", gang=3, namespace="other"),
        pod("p").member("g"),
        pod("p", namespace="other").member("g"),
    ).groups
    assert [(g.key, g.min_count, g.waits) for g in found] == [("default/g", 1, None), ("other/g", 3, TOO_FEW)]


def test_members_by_where_they_stand():
    round_ = Grouped(
        NODES,
        group("g", gang=2),
        pod("first").member("g").created(9),
        pod("stranger"),
        pod("runs").member("g").on("a"),
        pod("leaves").member("g").on("b").terminating(),
        pod("held").member("g").gated(),
        pod("urgent").member("g").priority(5).created(1),
        pod("elsewhere").member("g").scheduler("other"),
        pod("gone").member("g").terminating(),
    )
    (found,) = round_.groups
    by_name = {
        field: [round_.name(i) for i in getattr(found, field)]
        for field in ("members", "running", "pending", "gated")
    }
    assert by_name == {
        "members": ["first", "runs", "leaves", "held", "urgent", "elsewhere", "gone"],
        "running": ["runs", "leaves"],
        "pending": ["urgent", "first"],
        "gated": ["held"],
    }
    assert group_of(round_.cluster, 1) is None
    assert group_of(round_.cluster, 4) is found


def test_the_later_reference_counts_where_a_pod_has_both():
    both = pod("p").replica("w", "half").member("g")
    (found,) = Grouped(NODES, group("g", gang=1), workload("w", GANG), both).groups
    assert found.key == "default/g"


@pytest.mark.parametrize(
    "objects, waits",
    [
        pytest.param([pod("p").member("g")], MISSING, id="no PodGroup"),
        pytest.param(
            [group("g", gang=1, namespace="other"), pod("p").member("g")], MISSING, id="of another namespace"
        ),
        pytest.param(
            [pod("p").replica("w", "half")],
            'waiting for pods\'s workload "w" to appear in scheduling queue',
            id="no Workload",
        ),
        pytest.param(
            [workload("w", GANG), pod("p").replica("w", "whole")],
            'pod group "whole" doesn\'t exist for a workload "w"',
            id="no such group in the Workload",
        ),
        pytest.param([group("g", gang=2), pod("p").member("g")], TOO_FEW, id="too few pods"),
        pytest.param(
            [group("g", gang=2), pod("p").member("g"), pod("q").member("g").gated()],
            None,
            id="a gated pod is known",
        ),
        pytest.param(
            [group("g", gang=2), pod("p").member("g"), pod("q").member("g").on("a")],
            None,
            id="so is one that runs",
        ),
        pytest.param(
            [group("g", gang=2), pod("p").member("g"), pod("q").member("g").scheduler("other")],
            None,
            id="and one of another scheduler",
        ),
        pytest.param(
            [workload("w", GANG), [pod(n).replica("w", "half", n) for n in "pq"]],
            TOO_FEW,
            id="each replica needs minCount pods of its own",
        ),
        pytest.param([group("g"), pod("p").member("g")], None, id="the basic policy needs none"),
    ],
)
def test_what_a_group_waits_for(objects, waits):
    for found in Grouped(NODES, *objects).groups:
        assert found.waits == waits
        assert found.enqueued == (waits is None)


TWO = {"profiles": [{"schedulerName": "one"}, {"schedulerName": "two"}]}
PRIORITIES = [pod("p").member("g").priority(2), pod("q").member("g").priority(1)]
SAME = "all pods in a single pod group should "


@pytest.mark.parametrize(
    "version, spec, pods, waits",
    [
        pytest.param(
            "v1alpha2",
            {},
            [pod("p").member("g").scheduler("one"), pod("q").member("g").scheduler("two")],
            SAME + 'have the same .spec.schedulerName set, got: "two" and "one"',
            id="two schedulers",
        ),
        pytest.param(
            "v1alpha2",
            {},
            [p.scheduler("one") for p in PRIORITIES],
            None,
            id="priorities may differ at first",
        ),
        pytest.param(
            "v1beta1",
            {},
            [p.scheduler("one") for p in PRIORITIES],
            SAME + "match the priority of the pod group, got: 1 and 2",
            id="later they may not",
        ),
        pytest.param(
            "v1beta1", {"priority": 2}, [PRIORITIES[0].scheduler("one")], None, id="the group's own fits"
        ),
        pytest.param(
            "v1beta1",
            {"priority": 3},
            [PRIORITIES[0].scheduler("one")],
            SAME + "match the priority of the pod group, got: 2 and 3",
            id="the group's own differs",
        ),
        pytest.param(
            "v1beta1", {}, [PRIORITIES[0].scheduler("one")], None, id="a group without takes its pods'"
        ),
    ],
)
def test_members_at_odds(version, spec, pods, waits):
    (found,) = Grouped(NODES, group("g", version=version, **spec), pods, configuration=TWO).groups
    assert found.waits == waits
    assert found.enqueued


def test_replicas_of_a_workload_may_have_two_schedulers():
    pods = [pod("p").replica("w", "half").scheduler("one"), pod("q").replica("w", "half").scheduler("two")]
    (found,) = Grouped(NODES, workload("w", GANG), pods, configuration=TWO).groups
    assert found.waits is None


@pytest.mark.parametrize(
    "gate, seen",
    [
        ("GenericWorkload", None),
        ("GangScheduling", (None, None, ("rack",))),
        ("TopologyAwareWorkloadScheduling", (2, None, ())),
        ("WorkloadBasicPolicyDesiredCount", (2, None, ("rack",))),
    ],
)
def test_gates_of_a_gang(gate, seen):
    found = Grouped(NODES, group("g", "rack", gang=2), pod("p").member("g"), gates=f"{gate}=false").groups
    assert [(g.min_count, g.desired_count, g.topology_keys) for g in found] == ([seen] if seen else [])


def test_without_its_gate_desired_count_is_ignored():
    objects = (NODES, group("g", desired=4), pod("p").member("g"))
    assert Grouped(*objects).groups[0].desired_count == 4
    assert Grouped(*objects, gates="WorkloadBasicPolicyDesiredCount=false").groups[0].desired_count is None


def test_without_gangs_nobody_waits_for_an_object():
    (found,) = Grouped(NODES, pod("p").member("g"), gates="GangScheduling=false").groups
    assert found.waits is None
    assert not found.constrained


def test_classes_do_not_mix_groups():
    round_ = Grouped(
        NODES,
        group("g", gang=1),
        group("h", gang=1),
        pod("p").member("g").times(2),
        pod("q").member("h"),
        pod("r"),
    )
    g0, g1, h, alone = (info.cls for info in round_.cluster.pods)
    assert g0 == g1
    assert len({g0, h, alone}) == 3
    without = Grouped(NODES, pod("q").member("h"), pod("r"), gates="GenericWorkload=false")
    assert len({info.cls for info in without.cluster.pods}) == 1


@pytest.mark.parametrize(
    "nodes, pinned",
    [
        pytest.param([], set(), id="nobody runs"),
        pytest.param(["a"], {"r1"}, id="one does"),
        pytest.param(["a", "b"], {"r1", "r2"}, id="in two racks"),
        pytest.param(["b", "c"], {"r2", None}, id="and on a node without the label"),
    ],
)
def test_pinned_domains(nodes, pinned):
    running = [pod(f"r-{n}").member("g").on(n) for n in nodes]
    round_ = Grouped(NODES, group("g", "rack", gang=1), running, pod("p").member("g"))
    domains = pinned_domains(round_.cluster, round_.state, round_.groups[0], "rack")
    values = round_.cluster.domains("rack").values
    assert {None if d == OFF_KEY else values[d] for d in domains} == pinned


def test_a_reference_to_a_workload_of_a_later_version_finds_its_template():
    later = written(
        Workload,
        "v1beta1",
        "w",
        {"podGroupTemplates": [{"name": "half", "schedulingPolicy": {"gang": {"minCount": 2}}}]},
    )
    (found,) = Grouped(NODES, later, pod("p").replica("w", "half").times(2)).groups
    assert found.min_count == 2


RUNNING = [
    pod("a1").member("g").on("a"),
    pod("b1").member("g").on("b"),
    pod("dying").member("g").on("c").terminating(),
    pod("lost").member("g").on("nowhere"),
    pod("alone").on("b"),
]


def test_a_preemptor_may_be_where_any_member_below_a_group_of_groups_is():
    """The topmost that is evicted whole decides; the tree beside it is another unit."""
    index = build_cluster(
        cluster(
            NODES,
            composite("top", disruptionMode="all"),
            composite("middle", parent="top", disruptionMode="all"),
            group("g", parent="middle", disruptionMode="all"),
            group("h", parent="top"),
            group("i", parent=None),
            pod("g1").member("g").on("a"),
            pod("h1").member("h").on("b"),
            pod("h2").member("h").on("c").terminating(),
            pod("i1").member("i").on("c"),
            release="1.37",
        )
    )
    for name, expected in {"g1": "ab", "h1": "ab", "h2": "c", "i1": "c"}.items():
        found = preemptor_nodes(index, index.pod_index[f"default/{name}"])
        assert "".join(index.node_names[n] for n in found) == expected, name


@pytest.mark.parametrize(
    "mode, gates, nodes",
    [
        pytest.param(
            "PodGroup", "", {"a1": "ab", "b1": "ab", "dying": "c", "alone": "b"}, id="evicted whole"
        ),
        pytest.param(
            {"all": {}}, "", {"a1": "ab", "b1": "ab", "dying": "c", "alone": "b"}, id="v1beta1's word"
        ),
        pytest.param("Pod", "", {"a1": "a", "b1": "b", "dying": "c", "alone": "b"}, id="pod by pod"),
        pytest.param(
            "PodGroup", "WorkloadAwarePreemption=false", {"a1": "a", "b1": "b"}, id="without the gate"
        ),
        pytest.param("PodGroup", "GenericWorkload=false", {"a1": "a", "b1": "b"}, id="without groups"),
    ],
)
def test_a_preemptor_may_be_where_any_member_of_the_unit_is(mode, gates, nodes):
    rules = group("g", disruptionMode=mode)
    index = build_cluster(cluster(NODES, rules, RUNNING, gates=gates))
    for name, expected in nodes.items():
        found = preemptor_nodes(index, index.pod_index[f"default/{name}"])
        assert "".join(index.node_names[n] for n in found) == expected, name
