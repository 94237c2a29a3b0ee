from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from kubestow.models.affinity import PreferredSchedulingTerm
from kubestow.models.base import parse_duration, parse_timestamp, to_kube_case
from kubestow.models.config import (
    KubeSchedulerConfiguration,
    NodeResourcesFitArgs,
    PluginArgs,
    PodTopologySpreadArgs,
)
from kubestow.models.kinds import KINDS, find_kind
from kubestow.models.meta import KubeObject, ObjectMeta
from kubestow.models.node import Node
from kubestow.models.pod import Container, ContainerPort, Pod, PodSpec, Toleration
from kubestow.models.resource_api import (
    CapacityRequestPolicy,
    Counter,
    CounterSet,
    DeviceAttribute,
    DeviceCapacity,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from kubestow.models.scheduling import PodGroup, Workload
from kubestow.models.selectors import LabelSelector, LabelSelectorRequirement, NodeSelector
from kubestow.models.storage import CSINode, PersistentVolume


@pytest.mark.parametrize(
    "name, spelled",
    [
        ("max_skew", "maxSkew"),
        ("host_ip", "hostIP"),
        ("cluster_ip", "clusterIP"),
        ("volume_id", "volumeID"),
        ("provider_id", "providerID"),
        ("share_id", "shareID"),
        ("disk_uri", "diskURI"),
        ("pd_name", "pdName"),
        ("iqn", "iqn"),
        ("uid", "uid"),
        (
            "allow_disruption_by_priority_greater_than_or_equal",
            "allowDisruptionByPriorityGreaterThanOrEqual",
        ),
        (
            "required_during_scheduling_ignored_during_execution",
            "requiredDuringSchedulingIgnoredDuringExecution",
        ),
    ],
)
def test_attributes_have_upstreams_names(name, spelled):
    assert to_kube_case(name) == spelled


def test_fields_are_read_in_the_apis_spelling_and_unknown_ones_ignored():
    port = ContainerPort.model_validate({"containerPort": 80, "hostIP": "10.0.0.1", "appProtocol": "h2c"})
    assert (port.container_port, port.host_ip, port.protocol) == (80, "10.0.0.1", "TCP")


def test_null_is_absent():
    pod = Pod.model_validate(
        {
            "metadata": {"name": "p", "labels": None, "creationTimestamp": None},
            "spec": {
                "containers": [{"name": "a", "resources": None}],
                "schedulerName": None,
                "volumes": None,
            },
            "status": None,
        }
    )
    assert pod.metadata.labels == {}
    assert pod.spec.scheduler_name == "default-scheduler"
    assert pod.spec.containers[0].resources.requests == {}
    assert pod.status.phase is None


def test_null_in_a_map_is_the_empty_text_or_zero():
    pod = Pod.model_validate(
        {
            "metadata": {"annotations": {"note": None}},
            "spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": None}}}]},
        }
    )
    assert pod.metadata.annotations == {"note": ""}
    assert pod.spec.containers[0].resources.limits == {"cpu": 0}


def test_an_empty_text_is_absent_where_the_api_server_fills_in_a_default():
    assert ContainerPort.model_validate({"containerPort": 1, "protocol": ""}).protocol == "TCP"
    assert Toleration.model_validate({"key": "a", "operator": ""}).operator == "Equal"
    assert PodSpec.model_validate({"schedulerName": ""}).scheduler_name == "default-scheduler"


@pytest.mark.parametrize(
    "model, raw",
    [
        (ContainerPort, {"containerPort": "80"}),
        (ContainerPort, {"containerPort": 80.0}),
        (ContainerPort, {"containerPort": True}),
        (ContainerPort, {"containerPort": 2**31}),
        (Container, {"name": 3}),
        (PodSpec, {"hostNetwork": "true"}),
        (PodSpec, {"hostNetwork": 1}),
        (PodSpec, {"containers": {"name": "a"}}),
        (ObjectMeta, {"labels": {"a": True}}),
        (ObjectMeta, {"creationTimestamp": 1700000000}),
    ],
    ids=repr,
)
def test_types_are_the_apis_own(model, raw):
    with pytest.raises(ValidationError):
        model.model_validate(raw)


def test_objects_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        Pod().spec = PodSpec()


def test_namespaced_objects_live_in_default_and_others_nowhere():
    assert Pod(metadata=ObjectMeta(name="p")).key == "default/p"
    assert Pod(metadata=ObjectMeta(name="p", namespace="web")).key == "web/p"
    assert Node(metadata=ObjectMeta(name="n", namespace="web")).key == "n"


def test_allocatable_is_the_capacity_where_it_is_absent():
    capacity = {"cpu": "2"}
    assert Node.model_validate({"status": {"capacity": capacity}}).status.allocatable == {"cpu": 2}
    both = Node.model_validate({"status": {"capacity": capacity, "allocatable": {}}})
    assert both.status.allocatable == {}


@pytest.mark.parametrize(
    "text, moment",
    [
        ("2026-03-01T08:00:00Z", datetime(2026, 3, 1, 8, tzinfo=UTC)),
        ("2026-03-01T08:00:00+02:00", datetime(2026, 3, 1, 6, tzinfo=UTC)),
        ("2026-03-01T08:00:00.5Z", datetime(2026, 3, 1, 8, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-03-01T08:00:00.123456789Z", datetime(2026, 3, 1, 8, 0, 0, 123_456, tzinfo=UTC)),
        (datetime(2026, 3, 1, 8), datetime(2026, 3, 1, 8, tzinfo=UTC)),
        (datetime(2026, 3, 1, 8, tzinfo=timezone(timedelta(hours=1))), datetime(2026, 3, 1, 7, tzinfo=UTC)),
    ],
    ids=str,
)
def test_times_are_read_into_utc(text, moment):
    read = parse_timestamp(text)
    assert read == moment
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "text", ["2026-03-01", "2026-03-01 08:00:00Z", "2026-03-01T08:00:00", "now", 3, None]
)
def test_other_spellings_of_a_time_are_refused(text):
    with pytest.raises(ValueError, match="is not a time"):
        parse_timestamp(text)


@pytest.mark.parametrize(
    "text", ["2026-13-01T08:00:00Z", "2026-02-30T08:00:00Z", "9999-12-31T23:59:59-23:00"]
)
def test_a_time_that_does_not_exist_is_refused(text):
    with pytest.raises(ValueError, match="does not exist"):
        parse_timestamp(text)


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("10s", 10),
        ("1h30m", 5400),
        ("250ms", 0.25),
        ("1.5m", 90),
        ("0", 0),
        ("-2s", -2),
        ("3us", 3e-6),
        (7, 7),
    ],
)
def test_durations_are_read_into_seconds(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "10", "5 minutes", "s", "1d", None, True])
def test_other_spellings_of_a_duration_are_refused(text):
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)


def group(**spec):
    return PodGroup.model_validate({"metadata": {"name": "g"}, "spec": spec}).spec


@pytest.mark.parametrize(
    "constraints",
    [
        {"topology": [{"key": "rack"}]},
        {"topologyConstraints": [{"topologyKey": "rack"}]},
        {"topologyConstraints": [{"level": "rack"}]},
    ],
    ids=["served", "draft", "proposal"],
)
def test_every_spelling_of_a_topology_constraint_is_read(constraints):
    assert group(schedulingConstraints=constraints).scheduling_constraints.topology[0].key == "rack"


@pytest.mark.parametrize(
    "reference",
    [
        {"workloadRef": {"workloadName": "w", "templateName": "t"}},
        {"podGroupTemplateRef": {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}}},
        {"podGroupTemplateRef": {"workloadName": "w", "podGroupTemplateName": "t"}},
    ],
    ids=["v1beta1", "v1alpha2", "draft"],
)
def test_every_spelling_of_a_groups_workload_is_read(reference):
    found = group(**reference).workload_ref
    assert (found.workload_name, found.template_name) == ("w", "t")


@pytest.mark.parametrize(
    "mode, read",
    [
        ({"single": {}}, "single"),
        ({"all": {}}, "all"),
        ("Pod", "single"),
        ("PodGroup", "all"),
        (None, "single"),
    ],
    ids=str,
)
def test_every_spelling_of_the_disruption_mode_is_read(mode, read):
    assert group(disruptionMode=mode).disruption_mode == read


@pytest.mark.parametrize(
    "spec",
    [
        {"podGroups": [{"name": "a", "policy": {"gang": {"minCount": 3}}}]},
        {"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"gang": {"minCount": 3}}}]},
    ],
    ids=["v1alpha1", "v1alpha2"],
)
def test_a_workloads_groups_are_read_in_every_version(spec):
    (template,) = Workload.model_validate({"spec": spec}).spec.pod_group_templates
    assert (template.name, template.scheduling_policy.gang.min_count) == ("a", 3)


def test_device_requests_of_v1beta1_get_the_shape_of_v1():
    flat = {"name": "r", "deviceClassName": "gpu", "count": 2, "allocationMode": "ExactCount"}
    claim = ResourceClaim.model_validate(
        {"apiVersion": "resource.k8s.io/v1beta1", "spec": {"devices": {"requests": [flat]}}}
    )
    (request,) = claim.spec.devices.requests
    assert (request.name, request.exactly.device_class_name, request.exactly.count) == ("r", "gpu", 2)


def _requests(version, *requests, kind=ResourceClaim):
    spec = {"devices": {"requests": list(requests)}}
    raw = {"apiVersion": f"resource.k8s.io/{version}", "spec": spec}
    if kind is ResourceClaimTemplate:
        raw["spec"] = {"spec": spec}
    read = kind.model_validate(raw).spec
    return (read.spec if kind is ResourceClaimTemplate else read).devices.requests


SHAPES = [
    ("v1 drops flat fields", "v1", {"name": "r", "deviceClassName": "gpu"}, False),
    ("v1beta2 drops flat fields", "v1beta2", {"name": "r", "deviceClassName": "gpu"}, False),
    ("v1beta1 drops exactly", "v1beta1", {"name": "r", "exactly": {"deviceClassName": "gpu"}}, False),
    ("v1 reads exactly", "v1", {"name": "r", "exactly": {"deviceClassName": "gpu"}}, True),
    ("v1beta1 reads flat fields", "v1beta1", {"name": "r", "deviceClassName": "gpu"}, True),
    ("v1alpha3 reads flat fields", "v1alpha3", {"name": "r", "deviceClassName": "gpu"}, True),
    (
        "an empty class beside alternatives is none in v1beta1",
        "v1beta1",
        {"name": "r", "deviceClassName": "", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]},
        False,
    ),
]


@pytest.mark.parametrize("kind", [ResourceClaim, ResourceClaimTemplate])
@pytest.mark.parametrize(
    "version, request_, exact", [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES]
)
def test_a_claim_has_the_shape_of_its_own_version(version, request_, exact, kind):
    (read,) = _requests(version, request_, kind=kind)
    assert (read.exactly is not None) == exact


NULLS = [
    ("a term of a node selector", NodeSelector, {"nodeSelectorTerms": [None]}, {"nodeSelectorTerms": [{}]}),
    (
        "a value of a condition",
        LabelSelectorRequirement,
        {"key": "a", "operator": "In", "values": ["x", None]},
        {"key": "a", "operator": "In", "values": ["x", ""]},
    ),
    ("a value of matchLabels", LabelSelector, {"matchLabels": {"a": None}}, {"matchLabels": {"a": ""}}),
    ("a counter", CounterSet, {"name": "c", "counters": {"m": None}}, {"name": "c", "counters": {"m": {}}}),
    (
        "the preference of a wish",
        PreferredSchedulingTerm,
        {"weight": 1, "preference": None},
        {"weight": 1, "preference": {}},
    ),
]


@pytest.mark.parametrize("model, null, empty", [row[1:] for row in NULLS], ids=[row[0] for row in NULLS])
def test_a_null_is_what_the_api_server_makes_of_it(model, null, empty):
    assert model.model_validate(null) == model.model_validate(empty)


def test_an_attribute_with_a_list_has_no_single_value():
    attribute = DeviceAttribute.model_validate({"ints": [1, 2]})
    assert attribute.ints == (1, 2)
    assert attribute.int_value is None


@pytest.mark.parametrize(
    "model, field, raw",
    [
        (DeviceCapacity, "value", {"value": "-1"}),
        (Counter, "value", {"value": "-5"}),
        (CapacityRequestPolicy, "default", {"default": "-1"}),
    ],
)
def test_negative_amounts_of_devices_count_as_none(model, field, raw):
    assert getattr(model.model_validate(raw), field) == 0


def test_devices_of_v1beta1_get_the_shape_of_v1():
    device = {
        "name": "d",
        "basic": {"attributes": {"model": {"string": "a"}}, "capacity": {"mem": {"value": "1Gi"}}},
    }
    spec = {"driver": "x", "pool": {"name": "p"}, "nodeName": "n", "devices": [device]}
    (read,) = ResourceSlice.model_validate({"spec": spec}).spec.devices
    assert read.attributes["model"].string_value == "a"
    assert read.capacity["mem"].value == 2**30


def test_a_capacity_may_be_a_bare_quantity():
    device = {"name": "d", "capacity": {"mem": "1Gi"}}
    spec = {"driver": "x", "pool": {"name": "p"}, "nodeName": "n", "devices": [device]}
    assert ResourceSlice.model_validate({"spec": spec}).spec.devices[0].capacity["mem"].value == 2**30


def test_arguments_are_typed_by_the_plugins_name():
    config = KubeSchedulerConfiguration.model_validate(
        {
            "profiles": [
                {
                    "pluginConfig": [
                        {"name": "PodTopologySpread", "args": {"nodeProvisioningTimeout": "5m"}},
                        {"name": "NodeResourcesFit"},
                        {"name": "Homemade", "args": {"anything": 1}},
                    ]
                }
            ]
        }
    )
    (profile,) = config.profiles
    spread = profile.args("PodTopologySpread")
    assert isinstance(spread, PodTopologySpreadArgs)
    assert spread.node_provisioning_timeout == 300
    assert profile.args("NodeResourcesFit") == NodeResourcesFitArgs()
    assert profile.args("NodeResourcesBalancedAllocation").resources[1].name == "memory"
    assert profile.args("Homemade") == PluginArgs()


def test_volumes_that_no_plugin_looks_at_have_no_source():
    spec = PodSpec.model_validate(
        {
            "volumes": [
                {"name": "a", "configMap": {"name": "m"}},
                {"name": "b", "awsElasticBlockStore": {"volumeID": "v"}},
                {"name": "c", "azureDisk": {"diskName": "d", "diskURI": "u"}},
            ]
        }
    )
    assert spec.volumes[0].model_dump(exclude_none=True) == {"name": "a", "sources": ()}
    assert spec.volumes[1].aws_elastic_block_store.volume_id == "v"
    assert spec.volumes[2].azure_disk.disk_uri == "u"


def test_volumes_that_hold_data_on_the_node_are_told_from_others():
    volumes = [{"name": "a", "emptyDir": {"medium": "Memory"}}, {"name": "b", "hostPath": {"path": "/d"}}]
    scratch, path = PodSpec.model_validate({"volumes": volumes}).volumes
    assert (scratch.empty_dir is None, scratch.host_path is None) == (False, True)
    assert (path.empty_dir is None, path.host_path is None) == (True, False)


def test_storage_objects_are_read():
    volume = PersistentVolume.model_validate(
        {"spec": {"capacity": {"storage": "1Gi"}, "csi": {"driver": "d", "volumeHandle": "h"}}}
    )
    assert volume.spec.csi.volume_handle == "h"
    drivers = [{"name": "d", "nodeID": "i", "allocatable": {"count": 3}}]
    node = CSINode.model_validate({"spec": {"drivers": drivers}})
    assert (node.spec.drivers[0].node_id, node.spec.drivers[0].allocatable.count) == ("i", 3)


def test_every_kind_is_listed_under_its_own_name():
    assert all(model.model_fields["kind"].default == kind for kind, model in KINDS.items())
    assert len(set(KINDS.values())) == len(KINDS)
    subclasses = {kind for kind in KubeObject.__subclasses__() if ".models." in kind.__module__}
    assert subclasses <= set(KINDS.values())


@pytest.mark.parametrize(
    "kind, version, known",
    [
        ("Pod", "v1", True),
        ("Service", "serving.knative.dev/v1", False),
        ("Job", "batch.volcano.sh/v1alpha1", False),
        ("PodGroup", "scheduling.k8s.io/v1alpha3", True),
        ("PodGroup", "scheduling.x-k8s.io/v1alpha1", False),
        ("Workload", "kueue.x-k8s.io/v1beta1", False),
        ("ConfigMap", "v1", False),
    ],
)
def test_kinds_are_told_apart_by_their_api_group(kind, version, known):
    assert (find_kind(kind, version) is not None) is known


def test_what_was_written_is_what_was_read():
    raw = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "a", "creationTimestamp": "2026-03-01T08:00:00Z"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "150m", "memory": "1Gi"}}}]},
    }
    pod = Pod.model_validate(raw)
    assert Pod.model_validate(pod.model_dump(mode="json", by_alias=True)) == pod


def test_what_counts_as_absent_in_a_configuration_gets_the_default():
    resources = [{"name": "cpu", "weight": 0}, {"name": "x.com/y", "weight": 3}]
    strategy = {"scoringStrategy": {"resources": resources}}
    args = NodeResourcesFitArgs.model_validate(strategy)
    assert [item.weight for item in args.scoring_strategy.resources] == [1, 3]
    assert (
        NodeResourcesFitArgs.model_validate({"scoringStrategy": {"resources": []}}) == NodeResourcesFitArgs()
    )
    assert KubeSchedulerConfiguration.model_validate({"profiles": []}) == KubeSchedulerConfiguration()


def test_a_device_count_of_zero_is_an_absent_one():
    request = {"name": "r", "exactly": {"deviceClassName": "c", "count": 0}}
    claim = ResourceClaim.model_validate({"spec": {"devices": {"requests": [request]}}})
    assert claim.spec.devices.requests[0].exactly.count == 1
