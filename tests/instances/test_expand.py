import pytest

from kubestow.instances.manifests import snapshot_of

TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main"}]}}
SELECTOR = {"matchLabels": {"app": "web"}}
GROUP = {"Job": "batch/v1"}


def controller(kind, name="web", *, owner=None, status=None, meta=None, **spec):
    selector = {} if kind == "Job" else {"selector": SELECTOR}
    return {
        "apiVersion": GROUP.get(kind, "apps/v1"),
        "kind": kind,
        "metadata": {"name": name, **owned_by(owner), **(meta or {})},
        "spec": {"template": TEMPLATE, **selector, **spec},
        "status": status or {},
    }


def owned_by(owner):
    if owner is None:
        return {}
    return {"ownerReferences": [{"kind": owner[0], "name": owner[1], "controller": True}]}


def pod(name, owner=None, *, phase="Running", **meta):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "web"}, **owned_by(owner), **meta},
        "spec": TEMPLATE["spec"],
        "status": {"phase": phase},
    }


def expanded(*objects):
    return snapshot_of(objects, expand=True)


def pending(*objects):
    return [item.name for item in expanded(*objects).pods if item.status.phase == "Pending"]


RS = ("ReplicaSet", "web-5d")
GONE = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def replica_set(*args, **spec):
    return controller("ReplicaSet", *args, **spec)


def job(**spec):
    return controller("Job", **spec)


def deployment(**spec):
    return controller("Deployment", **spec)


def stateful_set(**spec):
    return controller("StatefulSet", **spec)


OWN = ("ReplicaSet", "web")
BY_JOB = ("Job", "web")
BY_DEPLOYMENT = ("Deployment", "web")
INDEX = "batch.kubernetes.io/job-completion-index"
COMPLETE = {"conditions": [{"type": "Complete", "status": "True"}]}

ROWS = [
    ("a Deployment without pods", [deployment(replicas=2)], ["web-0", "web-1"]),
    ("one replica by default", [deployment()], ["web-0"]),
    ("no replicas", [replica_set(replicas=0)], []),
    ("a ReplicaSet without pods", [replica_set(replicas=2)], ["web-0", "web-1"]),
    ("only missing replicas", [replica_set(replicas=3), pod("x", OWN)], ["web-0", "web-1"]),
    ("a pod without an owner is adopted", [replica_set(replicas=2), pod("x")], ["web-0"]),
    ("a pod of another owner is not", [replica_set(), pod("x", ("ReplicaSet", "api"))], ["web-0"]),
    ("a finished pod is replaced", [replica_set(), pod("x", OWN, phase="Failed")], ["web-0"]),
    ("a terminating pod is replaced", [replica_set(), pod("x", OWN, **GONE)], ["web-0"]),
    ("a name that is taken is passed over", [replica_set(replicas=2), pod("web-0", OWN)], ["web-1"]),
    (
        "pods of a Deployment's ReplicaSet count",
        [deployment(replicas=3), replica_set("web-5d", owner=BY_DEPLOYMENT, replicas=3), pod("x", RS)],
        ["web-0", "web-1"],
    ),
    (
        "pods of a ReplicaSet that the input lacks count",
        [deployment(replicas=3), pod("x", RS), pod("y", ("ReplicaSet", "web-api-7f"))],
        ["web-0", "web-1"],
    ),
    (
        "an old ReplicaSet's pods count during a rollout",
        [
            deployment(replicas=2),
            replica_set("web-old", owner=BY_DEPLOYMENT, replicas=1),
            replica_set("web-new", owner=BY_DEPLOYMENT, replicas=1),
            pod("x", ("ReplicaSet", "web-old")),
        ],
        ["web-0"],
    ),
    (
        "a ReplicaSet whose Deployment is not in the input stands alone",
        [replica_set("web-5d", owner=BY_DEPLOYMENT, replicas=1)],
        ["web-5d-0"],
    ),
    ("a StatefulSet counts from 0", [stateful_set(replicas=2)], ["web-0", "web-1"]),
    ("or from its first ordinal", [stateful_set(replicas=2, ordinals={"start": 5})], ["web-5", "web-6"]),
    (
        "a StatefulSet fills its gaps",
        [stateful_set(replicas=3), pod("web-1", ("StatefulSet", "web"))],
        ["web-0", "web-2"],
    ),
    ("a Job runs one pod by default", [job()], ["web-0"]),
    ("a Job runs what it may at once", [job(parallelism=2, completions=5)], ["web-0", "web-1"]),
    (
        "a Job runs no more than are needed",
        [job(parallelism=9, completions=3, status={"succeeded": 1})],
        ["web-0", "web-1"],
    ),
    ("a Job's pods that run count", [job(parallelism=2, completions=5), pod("x", BY_JOB)], ["web-0"]),
    (
        "a Job's pods that have succeeded count",
        [job(parallelism=9, completions=3), pod("x", BY_JOB, phase="Succeeded")],
        ["web-0", "web-1"],
    ),
    ("a work queue is filled up", [job(parallelism=2)], ["web-0", "web-1"]),
    ("a work queue with a success is not", [job(parallelism=2, status={"succeeded": 1})], []),
    ("a suspended Job waits", [job(suspend=True)], []),
    ("a finished Job is done", [job(status=COMPLETE)], []),
    (
        "an indexed Job takes the free indexes",
        [
            job(parallelism=2, completions=4, completionMode="Indexed"),
            pod("x", BY_JOB, phase="Succeeded", annotations={INDEX: "0"}),
        ],
        ["web-1", "web-2"],
    ),
    ("a DaemonSet is left alone", [controller("DaemonSet")], []),
]


@pytest.mark.parametrize("objects, made", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_which_pods_are_made(objects, made):
    assert pending(*objects) == made


def test_nothing_is_made_unless_asked_for():
    assert snapshot_of([controller("Deployment")]).pods == ()


def test_a_deployments_pods_belong_to_a_replica_set_of_its_own():
    snapshot = expanded(
        controller("Deployment", replicas=2, meta={"creationTimestamp": "2026-01-01T00:00:00Z"})
    )
    (replica_set,) = snapshot.replica_sets
    assert replica_set.metadata.controller.kind == "Deployment"
    assert {item.metadata.controller.kind for item in snapshot.pods} == {"ReplicaSet"}
    first, second = snapshot.pods
    assert first.metadata.labels == {"app": "web"}
    assert first.metadata.creation_timestamp == replica_set.metadata.creation_timestamp == snapshot.now
    assert first.metadata.uid != second.metadata.uid
    assert first.spec.priority == 0


def test_missing_pods_come_from_the_newest_revision():
    def revision(number):
        return {"annotations": {"deployment.kubernetes.io/revision": number}}

    newer = {**TEMPLATE, "metadata": {"labels": {"app": "web", "pod-template-hash": "new"}}}
    snapshot = expanded(
        deployment(),
        replica_set("web-new", owner=BY_DEPLOYMENT, template=newer, meta=revision("10")),
        replica_set("web-old", owner=BY_DEPLOYMENT, meta=revision("9")),
    )
    (made,) = snapshot.pods
    assert made.metadata.controller.name == "web-new"
    assert made.metadata.labels["pod-template-hash"] == "new"


def test_a_stateful_sets_pods_get_their_own_claims():
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    template = {"metadata": {"name": "data"}, "spec": claim}
    there = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-web-0"},
        "spec": claim | {"volumeName": "pv"},
    }
    snapshot = expanded(controller("StatefulSet", replicas=2, volumeClaimTemplates=[template]), there)
    assert [item.spec.volumes[0].persistent_volume_claim.claim_name for item in snapshot.pods] == [
        "data-web-0",
        "data-web-1",
    ]
    claims = {item.name: item.spec.volume_name for item in snapshot.persistent_volume_claims}
    assert claims == {"data-web-0": "pv", "data-web-1": None}
    assert snapshot.pods[1].metadata.labels["apps.kubernetes.io/pod-index"] == "1"


def test_an_indexed_jobs_pods_know_their_index():
    (made,) = expanded(controller("Job", completions=1, completionMode="Indexed")).pods
    assert made.metadata.annotations["batch.kubernetes.io/job-completion-index"] == "0"
    assert made.metadata.labels["batch.kubernetes.io/job-name"] == "web"


def test_made_pods_are_admitted_and_defaulted_as_any_new_pod():
    spec = {
        "containers": [{"name": "main", "resources": {"limits": {"cpu": "1"}}}],
        "priorityClassName": "system-cluster-critical",
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "zone", "labelSelector": {}, "matchLabelKeys": ["app"]}
                ]
            }
        },
    }
    (made,) = expanded(controller("ReplicaSet", template={**TEMPLATE, "spec": spec})).pods
    assert made.spec.priority == 2_000_000_000
    assert made.spec.containers[0].resources.requests == {"cpu": 1}
    (term,) = made.spec.affinity.pod_anti_affinity.required
    assert not term.label_selector.matches({"app": "api"})
