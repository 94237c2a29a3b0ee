"""Whatever stands in an object, the answer is a snapshot or one line."""

import copy
import gzip
import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kubestow.instances.files import unpack
from kubestow.instances.manifests import parse_snapshot, snapshot_of
from kubestow.instances.recordings import read_cases, read_timelines
from kubestow.instances.scenario_loader import load_scenario
from kubestow.models.errors import InputError

TERM = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}
POD_SPEC = {
    "containers": [
        {
            "name": "main",
            "image": "web",
            "ports": [{"containerPort": 8080, "hostPort": 8080}],
            "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}, "claims": [{"name": "g"}]},
        }
    ],
    "initContainers": [{"name": "init", "restartPolicy": "Always"}],
    "resources": {"limits": {"cpu": "2"}},
    "overhead": {"cpu": "10m"},
    "nodeName": "n",
    "nodeSelector": {"disk": "ssd"},
    "hostNetwork": True,
    "priorityClassName": "top",
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
                ]
            }
        },
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [TERM | {"matchLabelKeys": ["app"]}],
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": TERM}],
        },
    },
    "tolerations": [{"key": "a", "operator": "Exists"}],
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "minDomains": 2,
            "fallbackCriteria": ["PreemptionFailed"],
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ],
    "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
    "resourceClaims": [{"name": "g", "resourceClaimName": "c"}],
    "schedulingGroup": {"podGroupName": "g"},
}
META = {"name": "x", "labels": {"app": "web"}, "creationTimestamp": "2026-01-01T00:00:00Z"}
TEMPLATE = {"metadata": META, "spec": POD_SPEC}
SELECTOR = {"matchLabels": {"app": "web"}}
REQUEST = {"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "c", "count": 1}]}
DEVICE = {"name": "d", "basic": {"attributes": {"m": {"int": 1}}, "capacity": {"c": {"value": "1"}}}}
OBJECTS = [
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": META,
        "spec": POD_SPEC,
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
            "containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}],
        },
    },
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": META,
        "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        "status": {"capacity": {"cpu": "1"}, "images": [{"names": ["web"], "sizeBytes": 1}]},
    },
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "top"}, "value": 1},
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": META,
        "spec": {"maxUnavailable": "50%", "selector": SELECTOR},
    },
    *(
        {
            "apiVersion": "apps/v1",
            "kind": kind,
            "metadata": META,
            "spec": {"replicas": 2, "selector": SELECTOR, "template": TEMPLATE},
        }
        for kind in ("Deployment", "ReplicaSet", "StatefulSet")
    ),
    {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": META,
        "spec": {"parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": TEMPLATE},
    },
    {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": META,
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": 2}},
            "podGroupTemplateRef": {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}},
            "disruptionMode": {"single": {}},
        },
    },
    {
        "apiVersion": "resource.k8s.io/v1beta1",
        "kind": "ResourceClaim",
        "metadata": META,
        "spec": {"devices": {"requests": [REQUEST], "constraints": [{"matchAttribute": "a/b"}]}},
    },
    {
        "apiVersion": "resource.k8s.io/v1beta1",
        "kind": "ResourceSlice",
        "metadata": META,
        "spec": {"driver": "d", "pool": {"name": "p"}, "nodeName": "n", "devices": [DEVICE]},
    },
    {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "plugins": {"score": {"enabled": [{"name": "ImageLocality", "weight": 2}]}},
                "pluginConfig": [{"name": "PodTopologySpread", "args": {"nodeProvisioningTimeout": "5m"}}],
            }
        ],
    },
]


def places(value, path=()):
    """List the path of every part of a value."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*path, index))


def replaced(whole, path, new):
    """Return a copy with one part replaced."""
    if not path:
        return new
    whole = copy.deepcopy(whole)
    part = whole
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = new
    return whole


PLACES = list(places(OBJECTS))
JUNK = st.sampled_from(
    [
        *(None, True, -1, 0, 2**31, 2**63, 1e300, "", "x", "1Gi", "-1", "100%", "2026-01-01T00:00:00Z"),
        *([], {}, [None], [[]], [{}], {"": ""}, {"name": "x"}, {"x": None}, ["a", "a"]),
        *("9" * 5000, "9" * 5000 + "%", 10**40, "1" + "0" * 5000 + "Gi", {"x": "9" * 5000}, ["9" * 5000]),
        *("é\n\x00", "Exists", "In", "Pod", "v1"),
    ]
)


def complaint(read, *args, **options):
    """Return the line that an input gives, empty for none; any other exception is a failure."""
    try:
        read(*args, **options)
    except InputError as error:
        return str(error)
    return ""


def ask(objects):
    assert "\n" not in complaint(snapshot_of, objects, expand=True)


def test_the_objects_themselves_are_a_snapshot():
    snapshot = snapshot_of(OBJECTS, expand=True)
    assert sorted(pod.name for pod in snapshot.pods) == ["x", *(f"x-{number}" for number in range(6))]


@settings(max_examples=600)
@given(st.sampled_from(PLACES), JUNK)
def test_any_part_may_be_junk(path, junk):
    changed = replaced(OBJECTS, path, junk)
    ask(changed if isinstance(changed, list) else [changed])


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from(PLACES), JUNK), min_size=2, max_size=5))
def test_several_parts_may_be_junk(changes):
    changed = OBJECTS
    for path, junk in changes:
        try:
            changed = replaced(changed, path, junk)
        except (KeyError, IndexError, TypeError):
            continue
    ask(changed if isinstance(changed, list) else [changed])


@settings(max_examples=300)
@given(
    st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)), st.sampled_from(["yaml", "json"])
)
def test_any_file_content_is_read_or_refused(content, suffix):
    assert "\n" not in complaint(parse_snapshot, [(f"f.{suffix}", content)], name="f")


TEXTS = [
    json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS}, indent=1).encode(),
    "\n".join(map(json.dumps, OBJECTS)).encode(),
    yaml.safe_dump_all(OBJECTS, sort_keys=False).encode(),
    yaml.safe_dump(OBJECTS[0], default_flow_style=True).encode(),
]
SNIPPETS = st.one_of(
    st.binary(min_size=1, max_size=6),
    st.sampled_from(
        [
            *(
                b"{",
                b"}",
                b"[",
                b"]",
                b",",
                b":",
                b": ",
                b"\n",
                b"\n- ",
                b"\n---\n",
                b"\n...\n",
                b'"',
                b"'",
                b"#",
            ),
            *(
                b"&a ",
                b"*a",
                b"<<: *a\n",
                b"!!int ",
                b"!!binary ",
                b"!x ",
                b"| ",
                b">-\n",
                b"? ",
                b"%YAML 9\n",
            ),
            *(
                b".inf",
                b".nan",
                b"1e999",
                b"0x_",
                b"0b-1",
                b"~",
                b"null",
                b"\xff\xfe",
                b"\xef\xbb\xbf",
                b"\x00",
            ),
            *(b"\\u0000", b"\\ud800", b"9" * 5000, b"[" * 2000, b"- " * 2000, b"\t", b"\r"),
        ]
    ),
)


@st.composite
def damaged(draw):
    """A file with pieces cut out, put in or changed, perhaps cut off, perhaps packed and then damaged."""
    content = bytearray(draw(st.sampled_from(TEXTS)))
    if draw(st.booleans()):
        content = bytearray(gzip.compress(bytes(content)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        content[start : start + draw(st.sampled_from([0, 0, 1, 2, 7, 100]))] = draw(SNIPPETS)
    if draw(st.booleans()):
        del content[draw(st.integers(0, len(content))) :]
    return bytes(content)


@settings(max_examples=400)
@given(damaged(), st.sampled_from(["f.yaml", "f.json", "-", "f.json.gz"]))
def test_a_damaged_file_is_read_or_refused(content, name):
    def read():
        parse_snapshot([(name, unpack(name, content))], name="f", expand=True)

    line = complaint(read)
    assert "\n" not in line
    assert len(line) < 2100


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged") / "f.yaml"


@settings(max_examples=150)
@given(content=st.one_of(damaged(), st.binary(max_size=60)))
@pytest.mark.parametrize(
    "read",
    [read_timelines, load_scenario, lambda file: list(read_cases([file], ("NodeAffinity",)))],
    ids=["a queue's script", "a scenario", "cases"],
)
def test_a_damaged_file_of_another_kind_is_refused(read, file, content):
    file.write_bytes(content)
    assert "\n" not in complaint(read, file)
