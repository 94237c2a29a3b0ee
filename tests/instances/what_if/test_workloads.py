"""Workloads with another number of copies."""

import pytest
from support.what_if import changed, cluster, node, pod, priority_class, workload

from kubestow.models.errors import KubestowError

NODES = (node("n1"), node("n2"))
WEB = "ReplicaSet/web-1"
SET = "StatefulSet/db"
DEPLOYMENT = (
    workload("Deployment", "web", replicas=3),
    workload("ReplicaSet", "web-1", owner="Deployment/web", replicas=3),
)
OLD, NEW = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
THREE = (
    pod("old", "n1", WEB, created=OLD),
    pod("new", "n1", WEB, created=NEW),
    pod("waits", owner=WEB, created=OLD),
)


def names(keys):
    return {key.partition("/")[2] for key in keys}


@pytest.mark.parametrize(
    "objects, scale, replicas, made, gone",
    [
        pytest.param([*DEPLOYMENT, *THREE], "deploy/web", 5, {"web-0", "web-1"}, set(), id="more are made"),
        pytest.param([*DEPLOYMENT, *THREE], "deploy/web", 3, set(), set(), id="as many change nothing"),
        pytest.param([*DEPLOYMENT, *THREE], "deploy/web", 2, set(), {"waits"}, id="who waits goes first"),
        pytest.param([*DEPLOYMENT, *THREE], "deploy/web", 1, set(), {"waits", "new"}, id="then the newest"),
        pytest.param([*DEPLOYMENT, *THREE], "deploy/web", 0, set(), {"waits", "new", "old"}, id="to none"),
        pytest.param(
            [DEPLOYMENT[0], *THREE], "deploy/web", 1, set(), {"waits", "new"}, id="without ReplicaSets, too"
        ),
        pytest.param(
            [workload("ReplicaSet", "web-1", replicas=3), *THREE], "rs/web-1", 4, {"web-1-0"}, set(),
            id="a ReplicaSet of its own",
        ),
        pytest.param(
            [*DEPLOYMENT, *THREE, pod("web-0", "n1", "ReplicaSet/x")], "deploy/web", 4, {"web-1"}, set(),
            id="a name that is taken is passed over",
        ),
        pytest.param(
            [workload("StatefulSet", "db", replicas=2), pod("db-0", "n1", "StatefulSet/db")],
            "sts/shop/db", 3, {"db-1", "db-2"}, set(), id="a StatefulSet fills its numbers",
        ),
        pytest.param(
            [workload("StatefulSet", "db", replicas=3), *(pod(f"db-{k}", "n1", SET) for k in range(3))],
            "sts/shop/db", 1, set(), {"db-1", "db-2"}, id="and gives up the highest ones",
        ),
        pytest.param(
            [workload("Job", "crunch", parallelism=1, completions=5), pod("crunch-0", "n1", "Job/crunch")],
            "job/crunch", 3, {"crunch-1", "crunch-2"}, set(), id="a Job has that many at a time",
        ),
        pytest.param(
            [workload("Job", "crunch", parallelism=1, completions=2), pod("crunch-0", "n1", "Job/crunch")],
            "job/crunch", 9, {"crunch-1"}, set(), id="but no more than are to be done",
        ),
    ],
)  # fmt: skip
def test_copies_are_made_and_removed(objects, scale, replicas, made, gone):
    before = cluster(*NODES, *objects)
    found = changed(before, {"scale": scale, "replicas": replicas})
    assert names(found.new_pods) == made
    assert names(found.removed) == gone
    there = {item.name for item in found.snapshot.pods}
    assert there == ({item.name for item in before.pods} | made) - gone


def test_a_new_copy_is_the_template_s_admitted_and_pending_since_now():
    template = {"priorityClassName": "high"}
    web = workload("Deployment", "web", cpu="2", template=template, replicas=0)
    before = cluster(*NODES, priority_class("high", 7), web, *THREE)
    found = changed(before, {"scale": "deploy/web", "replicas": 4})
    [made] = [item for item in found.snapshot.pods if item.key in found.new_pods]
    assert (made.spec.priority, made.spec.node_name, made.status.phase) == (7, None, "Pending")
    assert made.spec.containers[0].resources.requests["cpu"] == 2
    assert made.metadata.creation_timestamp == before.now
    assert made.metadata.labels["app"] == "web"


def test_a_copy_that_came_and_went_is_told_as_neither_new_nor_lost():
    found = changed(
        cluster(*NODES, *DEPLOYMENT, *THREE),
        {"scale": "deploy/web", "replicas": 5},
        {"scale": "deploy/web", "replicas": 3},
    )
    assert len(found.snapshot.pods) == 3
    assert not set(found.new_pods) - {item.key for item in found.snapshot.pods}


@pytest.mark.parametrize(
    "scale, replicas, words",
    [
        ("deploy/wbe", 1, "there is no Deployment wbe in the input"),
        ("pod/old", 1, "'pod/old' must be a Deployment or ReplicaSet or StatefulSet or Job"),
        ("rs/web-1", 1, "ReplicaSet shop/web-1 is kept at its number by Deployment shop/web: scale that"),
        ("deploy/web", 10**6, "1000000 copies cannot be had"),
        ("web", 1, "'web' names no object"),
    ],
)
def test_what_cannot_be_scaled_is_told(scale, replicas, words):
    with pytest.raises(KubestowError) as told:
        changed(cluster(*NODES, *DEPLOYMENT, *THREE), {"scale": scale, "replicas": replicas})
    assert words in str(told.value)
