import gzip
import io
import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
import yaml

from kubestow.instances.manifests import load_snapshot, parse_snapshot, snapshot_of
from kubestow.models.errors import InputError
from kubestow.models.features import FeatureGates


def pod(name="p", namespace="default", **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "main"}], **spec},
    }


def node(name="n"):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def listed(*items, kind="List", **fields):
    return {"apiVersion": "v1", "kind": kind, "items": list(items), **fields}


def names(items):
    return [item.name for item in items]


def read(text, name="f.yaml", **options):
    content = text if isinstance(text, bytes) else text.encode()
    return parse_snapshot([(name, content)], name=name, **options)


def test_objects_keep_the_order_of_the_input():
    snapshot = snapshot_of([pod("b"), node("z"), pod("a"), node("y")])
    assert names(snapshot.pods) == ["b", "a"]
    assert names(snapshot.nodes) == ["z", "y"]


def test_lists_of_lists_are_unrolled():
    snapshot = snapshot_of([listed(pod("a"), listed(node(), listed(), listed(pod("b"))))])
    assert names(snapshot.pods) == ["a", "b"]
    assert names(snapshot.nodes) == ["n"]


def test_items_of_a_typed_list_take_kind_and_version_from_it():
    bare = {key: value for key, value in node().items() if key == "metadata"}
    assert names(snapshot_of([listed(bare, kind="NodeList")]).nodes) == ["n"]


def test_a_list_without_items_is_empty():
    assert snapshot_of([{"apiVersion": "v1", "kind": "List"}, listed() | {"items": None}]).pods == ()


def test_a_kind_that_merely_ends_in_list_is_an_unknown_kind():
    assert snapshot_of([{"apiVersion": "example.com/v1", "kind": "AllowList"}]).ignored == {"AllowList": 1}


def test_unknown_kinds_are_counted():
    objects = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}},
        {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": {"name": "s"}},
    ]
    snapshot = snapshot_of(objects)
    assert snapshot.ignored == {"ConfigMap": 2, "Service.serving.knative.dev": 1}
    assert snapshot.services == ()


def test_the_same_name_in_another_namespace_or_kind_is_another_object():
    assert len(snapshot_of([pod("x"), pod("x", "other"), node("x")]).pods) == 2


def files(*objects):
    return [(f"{name}.yaml", json.dumps(item).encode()) for name, item in zip("abc", objects, strict=False)]


def test_copies_of_one_object_are_one_object():
    items = {"apiVersion": "v1", "kind": "List", "items": [node(), pod("q"), pod()]}
    snapshot = parse_snapshot(files(pod(), items, pod()), name="x")
    assert [item.name for item in snapshot.pods] == ["p", "q"]


def test_two_objects_of_one_name_are_refused_with_both_places():
    items = {"apiVersion": "v1", "kind": "List", "items": [node(), pod(nodeName="n")]}
    with pytest.raises(InputError) as caught:
        parse_snapshot(files(pod(), items), name="x")
    assert str(caught.value) == (
        "b.yaml: Pod default/p: stands at document 1 items[1] and, with other content, in a.yaml document 1"
    )


def test_two_dumps_in_one_stream_are_one_cluster():
    lists = [
        {"apiVersion": "v1", "kind": "List", "items": items}
        for items in ([node(), pod()], [pod(), pod("q")], [])
    ]
    stream = "\n".join(json.dumps(item, indent=4) for item in lists)
    snapshot = parse_snapshot([("-", stream.encode())], name="x")
    assert [item.name for item in snapshot.pods] == ["p", "q"]
    assert len(snapshot.nodes) == 1


def test_an_explicit_default_namespace_is_the_default_namespace():
    bare = pod()
    del bare["metadata"]["namespace"]
    assert len(snapshot_of([pod(), bare]).pods) == 1


def test_objects_that_leave_their_names_to_the_api_server_get_names_of_their_own():
    nameless = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "web-"},
        "spec": pod()["spec"],
    }
    names = [item.name for item in snapshot_of([nameless, nameless, pod("web")]).pods]
    assert len(set(names)) == 3
    assert all(name.startswith("web-") and len(name) == len("web-") + 5 for name in names[:2])
    assert names == [item.name for item in snapshot_of([nameless, nameless, pod("web")]).pods]


def test_a_generated_name_keeps_room_for_its_suffix():
    nameless = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "a" * 100},
        "spec": pod()["spec"],
    }
    assert len(snapshot_of([nameless]).pods[0].name) == 63


def test_an_object_with_neither_name_nor_base_is_refused():
    nameless = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": ""}, "spec": pod()["spec"]}
    with pytest.raises(InputError, match=r"metadata\.name: required"):
        snapshot_of([nameless])


def test_what_has_been_stored_keeps_the_rules_of_its_time():
    new = pod()
    new["spec"]["nodeSelector"] = {"disk": "a b"}
    stored = {**new, "metadata": {**new["metadata"], "uid": "5f2c"}}
    assert snapshot_of([stored]).pods[0].spec.node_selector == {"disk": "a b"}
    with pytest.raises(InputError, match=r"spec\.nodeSelector\.disk: must be empty or at most 63"):
        snapshot_of([new])


def test_label_keys_that_are_merged_already_do_not_stand_twice():
    term = {
        "topologyKey": "zone",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]},
        "matchLabelKeys": ["app"],
    }
    new = pod()
    new["metadata"]["labels"] = {"app": "a"}
    new["spec"]["topologySpreadConstraints"] = [term]
    assert len(snapshot_of([{**new, "status": {"phase": "Pending"}}]).pods) == 1
    with pytest.raises(InputError, match=r"matchLabelKeys\[0\]: 'app' is in the labelSelector too"):
        snapshot_of([new])


def test_quantities_are_exact_in_json_and_yaml():
    requests = '{"cpu": 0.1, "memory": 18014398509481985, "ephemeral-storage": 1e3, "x.com/y": "2"}'
    template = json.dumps(pod()).replace(
        '"name": "main"', f'"name": "main", "resources": {{"requests": {requests}}}'
    )
    for name in ("f.json", "f.yaml"):
        ((container,),) = (item.spec.containers for item in read(template, name).pods)
        amounts = container.resources.requests
        assert amounts["cpu"].as_integer_ratio() == (1, 10)
        assert (amounts["memory"], amounts["ephemeral-storage"], amounts["x.com/y"]) == (2**54 + 1, 1000, 2)


def test_what_the_api_server_would_do_is_done():
    classes = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "top"},
            "value": 9,
        },
    ]
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"maxUnavailable": 1, "selector": {}},
    }
    limited = {"name": "main", "resources": {"limits": {"cpu": "1"}}}
    # The class comes after the pod that names it: the order of an input does not matter.
    snapshot = snapshot_of(
        [pod(priorityClassName="top", containers=[limited], nodeName="n"), budget, *classes]
    )
    assert snapshot.pods[0].spec.priority == 9
    assert snapshot.pods[0].spec.containers[0].resources.requests == {"cpu": 1}
    assert snapshot.pod_disruption_budgets[0].status.disruptions_allowed == 1


def test_the_gates_are_handed_on():
    gates = FeatureGates.parse("PodLevelResources=false")
    assert snapshot_of([], feature_gates=gates).feature_gates is gates
    assert snapshot_of([]).feature_gates.enabled("PodLevelResources")


def test_a_second_configuration_is_refused():
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    assert snapshot_of([config]).configuration.parallelism == 16
    assert snapshot_of([]).configuration is None
    with pytest.raises(InputError, match=r"^objects: KubeSchedulerConfiguration: stands at items"):
        snapshot_of([config, config | {"parallelism": 8}])


# The time of the round.

TIMES = [
    ("an input without times is read at the epoch", {}, {}, datetime(1970, 1, 1, tzinfo=UTC)),
    (
        "the newest of all times",
        {"creationTimestamp": "2026-01-01T00:00:00Z"},
        {"startTime": "2026-01-03T00:00:00Z", "conditions": [{"lastTransitionTime": "2026-01-02T00:00:00Z"}]},
        datetime(2026, 1, 3, tzinfo=UTC),
    ),
    (
        "a time deep in the status counts",
        {},
        {"containerStatuses": [{"state": {"running": {"startedAt": "2026-01-04T00:00:00Z"}}}]},
        datetime(2026, 1, 4, tzinfo=UTC),
    ),
    (
        "times are compared, not texts",
        {"creationTimestamp": "2026-01-01T10:00:00+05:00"},
        {"startTime": "2026-01-01T06:00:00Z"},
        datetime(2026, 1, 1, 6, tzinfo=UTC),
    ),
    (
        "labels and annotations are words",
        {"creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {"until": "2030-01-01T00:00:00Z"}},
        {"message": "2031-01-01T00:00:00 or so"},
        datetime(2026, 1, 1, tzinfo=UTC),
    ),
]


@pytest.mark.parametrize("meta, status, now", [row[1:] for row in TIMES], ids=[row[0] for row in TIMES])
def test_the_time_of_the_round(meta, status, now):
    raw = pod() | {"status": status}
    raw["metadata"] |= meta
    assert snapshot_of([raw]).now == now


def test_a_given_time_goes_before_the_inputs():
    raw = pod()
    raw["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    assert snapshot_of([raw], now=datetime(2020, 1, 1)).now == datetime(2020, 1, 1, tzinfo=UTC)


def test_times_of_kinds_that_are_not_read_do_not_count():
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "spec": {"renewTime": "2026-01-01T00:00:00Z"},
    }
    assert snapshot_of([lease]).now.year == 1970


# Files, folders and standard input.


def write(path, *objects):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("---\n".join(yaml.safe_dump(item) for item in objects))


def test_folders_are_read_with_all_below_them_in_sorted_order(tmp_path):
    write(tmp_path / "b.yaml", pod("b"))
    write(tmp_path / "a" / "z.yml", pod("z"))
    (tmp_path / "a" / "list.json").write_text(json.dumps(listed(node(), pod("j"))))
    (tmp_path / "c.yaml.gz").write_bytes(gzip.compress(yaml.safe_dump(pod("c")).encode()))
    (tmp_path / "README.md").write_text("no manifest: {")
    (tmp_path / ".hidden.yaml").write_text("no manifest: {")
    snapshot = load_snapshot([tmp_path])
    assert names(snapshot.pods) == ["j", "z", "b", "c"]
    assert names(snapshot.nodes) == ["n"]
    assert snapshot.name == str(tmp_path)


def test_a_file_is_read_whatever_it_is_called(tmp_path):
    path = tmp_path / "dump.txt"
    write(path, pod())
    assert names(load_snapshot([str(path)]).pods) == ["p"]
    assert load_snapshot(path) == load_snapshot(str(path)) == load_snapshot([str(path)])


def test_several_paths_are_one_input(tmp_path):
    write(tmp_path / "one.yaml", pod("a"))
    write(tmp_path / "two.yaml", pod("b"))
    paths = [tmp_path / "two.yaml", tmp_path / "one.yaml"]
    snapshot = load_snapshot(paths)
    assert names(snapshot.pods) == ["b", "a"]
    assert snapshot.name == f"{paths[0]} {paths[1]}"


def test_standard_input_is_read_packed_or_not(monkeypatch):
    for content in (json.dumps(pod()).encode(), gzip.compress(json.dumps(pod()).encode())):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        snapshot = load_snapshot(["-"])
        assert names(snapshot.pods) == ["p"]
        assert snapshot.name == "-"


def test_a_path_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(InputError, match=r"missing.yaml: no such file or folder"):
        load_snapshot([tmp_path / "missing.yaml"])


def test_a_folder_without_manifests_is_named(tmp_path):
    with pytest.raises(InputError, match="the folder holds no"):
        load_snapshot([tmp_path])


def test_the_file_of_a_fault_in_a_folder_is_named(tmp_path):
    write(tmp_path / "good.yaml", pod("a"))
    write(tmp_path / "sub" / "bad.yaml", pod("b", priority="high"))
    with pytest.raises(InputError, match=r"bad.yaml: Pod default/b: spec.priority: must be a whole number"):
        load_snapshot([tmp_path])


def test_deep_nesting_is_an_error_and_no_crash():
    deep = json.dumps(pod() | {"status": {"x": "here"}}).replace('"here"', "[" * 990 + "]" * 990)
    with pytest.raises(InputError, match=r"^f.json: document 1: is nested too deeply$"):
        read(deep, "f.json")


def test_deep_nesting_in_a_list_is_told_with_its_place():
    items = [pod("a"), pod("b") | {"status": {"x": "here"}}]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    with pytest.raises(InputError, match=r"^f.json: document 1 items\[1\]: is nested too deeply$"):
        read(text.replace('"here"', "[" * 990 + "]" * 990), "f.json")


@pytest.mark.parametrize("text", ["", " \n", "# nothing\n", "---\n---\n", "null\n"], ids=repr)
def test_an_input_without_a_document_is_refused(text):
    with pytest.raises(InputError, match="is empty; what is needed are Kubernetes objects"):
        read(text)


@pytest.mark.parametrize(
    "text",
    ["{apiVersion: v1, kind: List, items: []}", "{apiVersion: example.com/v1, kind: Unknown}"],
    ids=["a list of nothing, as kubectl prints it", "kinds that play no part"],
)
def test_a_document_without_objects_is_an_empty_cluster(text):
    assert read(text).nodes == ()
