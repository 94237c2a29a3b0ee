"""Clusters with workloads, and changes of them, for tests of what-if."""

from kubestow.instances.manifests import snapshot_of
from kubestow.instances.what_if.apply import changed_by
from kubestow.instances.what_if.file import read_changes

NOW = "2026-03-01T12:00:00Z"


def meta(name, owner="", namespace="shop", **more):
    """Metadata; `owner` is `Kind/name`, the controller."""
    kind, _, whose = owner.partition("/")
    owners = [{"kind": kind, "name": whose, "controller": True}] if owner else []
    return {"name": name, "namespace": namespace, "ownerReferences": owners, **more}


def node(name, zone="a", cpu="4", **spec):
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
    status = {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}}
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
        "spec": spec, "status": status,
    }  # fmt: skip


def pod_spec(cpu="1", **spec):
    return {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}], **spec}


def pod(name, on="", owner="", cpu="1", phase="", terminating=False, created="", labels=(), **spec):
    more = {"labels": {"app": "web", **dict(labels)}}
    if terminating:
        more["deletionTimestamp"] = NOW
    if created:
        more["creationTimestamp"] = created
    if on:
        spec["nodeName"] = on
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": meta(name, owner, **more),
        "spec": pod_spec(cpu, **spec), "status": {"phase": phase or ("Running" if on else "Pending")},
    }  # fmt: skip


def workload(kind, name, cpu="1", template=(), owner="", **spec):
    """A workload of pods `app: web`; `template` are fields of their specification."""
    version = "batch/v1" if kind == "Job" else "apps/v1"
    more = {"restartPolicy": "Never"} if kind == "Job" else {}
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": "web"}}}
    return {
        "apiVersion": version, "kind": kind, "metadata": meta(name, owner),
        "spec": {
            **selector, **spec,
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": pod_spec(cpu, **dict(template), **more),
            },
        },
    }  # fmt: skip


def budget(**spec):
    return {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta("keep"),
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }  # fmt: skip


def priority_class(name, value):
    meta = {"name": name}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta, "value": value}


def cluster(*objects):
    return snapshot_of(objects, name="cluster")


def changed(snapshot, *changes, groups=()):
    """Make changes, each as a file has it."""
    document = {"name": "test", "changes": list(changes), "nodeGroups": list(groups)}
    return changed_by(snapshot, read_changes("changes.yaml", document))
