"""Traces as SimKube and openb have them, tiny and made by hand."""

import msgpack

START = 1_700_000_000


def pod(name, **spec):
    """Return a pod that wants one cpu."""
    containers = [{"name": "main", "image": "app", "resources": {"requests": {"cpu": "1"}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "annotations": {}},
        "spec": {"containers": containers, **spec},
    }


DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"creationTimestamp": None, "labels": {"app": "web"}},
            "spec": pod("web")["spec"],
        },
    },
}
CRON_JOB = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "night", "namespace": "shop"}}


def event(seconds, *applied, deleted=()):
    """Return an event, so many seconds after the beginning."""
    return {"ts": START + seconds, "applied_objs": list(applied), "deleted_objs": list(deleted)}


def written(path, *events, lives=(), **more):
    """Write a trace as SimKube does: its maps have pairs of texts as keys, in the end."""
    packer = msgpack.Packer()
    head = {"version": 2, "config": {"trackedObjects": {}}, "events": list(events), "index": {}, **more}
    parts = [packer.pack_map_header(len(head) + 1)]
    parts += [packer.pack(part) for item in head.items() for part in item]
    parts += [packer.pack("pod_lifecycles"), packer.pack_map_header(len(lives))]
    for key, found in dict(lives).items():
        parts += [packer.pack(key), packer.pack({2**64 - 1: found})]
    path.write_bytes(b"".join(parts))
    return path


def openb_tables(folder):
    """Write `nodes.csv` and `pods.csv`: two nodes, one with two GPUs, a pod with half a GPU, one without."""
    (folder / "nodes.csv").write_text(
        "sn,cpu_milli,memory_mib,gpu,model\nnode-0,4000,8192,2,T4\nnode-1,4000,8192,0,\n"
    )
    (folder / "pods.csv").write_text(
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n"
        "pod-0,1000,1024,1,500,T4,LS\npod-1,1000,1024,0,0,,BE\n"
    )
