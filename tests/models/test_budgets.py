from datetime import UTC, datetime

import pytest

from kubestow.models.budgets import Scales, fill_status
from kubestow.models.controllers import Deployment, ReplicaSet, StatefulSet
from kubestow.models.pod import Pod
from kubestow.models.policy import PodDisruptionBudget

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
READY = {"type": "Ready", "status": "True"}


def pod(name, *, owner=None, ready=True, **fields):
    owners = [{"kind": owner[0], "name": owner[1], "controller": True}] if owner else []
    raw = {
        "metadata": {"name": name, "labels": {"app": "web"}, "ownerReferences": owners},
        "spec": {"nodeName": "n"},
        "status": {"phase": "Running", "conditions": [READY | {"status": str(ready)}]},
    }
    for part, values in fields.items():
        raw[part] = raw[part] | values
    return Pod.model_validate(raw)


def pods(number, **fields):
    return [pod(f"p{index}", **fields) for index in range(number)]


def scaled(model, name, replicas, owner=None):
    owners = [{"kind": owner[0], "name": owner[1], "controller": True}] if owner else []
    meta = {"name": name, "ownerReferences": owners}
    return model.model_validate({"metadata": meta, "spec": {"replicas": replicas}})


def budget(*, status=None, selector=None, **spec):
    raw = {
        "metadata": {"name": "b"},
        "spec": {"selector": {"matchLabels": {"app": "web"}} if selector is None else selector, **spec},
        "status": status or {},
    }
    return PodDisruptionBudget.model_validate(raw)


def filled(item, items, **controllers):
    (made,) = fill_status([item], items, Scales(**controllers), NOW)
    return made.status


RS = ("ReplicaSet", "r")
FOUR = {"replica_sets": [scaled(ReplicaSet, "r", 4)]}

ALLOWED = [
    ("a number that must stay", {"minAvailable": 2}, pods(3), {}, 1),
    ("fewer than must stay", {"minAvailable": 5}, pods(3), {}, 0),
    ("a share that must stay is rounded up", {"minAvailable": "50%"}, pods(5), {}, 2),
    ("a number that may go", {"maxUnavailable": 1}, pods(3), {}, 1),
    ("a share that may go is rounded up", {"maxUnavailable": "34%"}, pods(3), {}, 2),
    ("nothing may go", {"maxUnavailable": 0}, pods(3), {}, 0),
    ("all may go", {"maxUnavailable": "100%"}, pods(3), {}, 3),
    ("a budget without a bound allows nothing", {}, pods(3), {}, 0),
    ("a budget of no pods allows nothing", {"maxUnavailable": 1}, [], {}, 0),
    ("pods that are not there yet are unavailable", {"maxUnavailable": 1}, pods(3, owner=RS), FOUR, 0),
    ("a share of the owner's scale", {"minAvailable": "50%"}, pods(3, owner=RS), FOUR, 1),
    ("a plain number does not look at the owner", {"minAvailable": 2}, pods(3, owner=RS), FOUR, 1),
    ("an owner that is not in the input counts as its pods", {"maxUnavailable": 1}, pods(3, owner=RS), {}, 1),
    (
        "a ReplicaSet's scale is its Deployment's",
        {"maxUnavailable": 2},
        pods(3, owner=RS),
        {
            "replica_sets": [scaled(ReplicaSet, "r", 9, ("Deployment", "d"))],
            "deployments": [scaled(Deployment, "d", 4)],
        },
        1,
    ),
    (
        "two owners add up",
        {"maxUnavailable": 1},
        [*pods(3, owner=RS), pod("s", owner=("StatefulSet", "s"))],
        {**FOUR, "stateful_sets": [scaled(StatefulSet, "s", 1)]},
        0,
    ),
    (
        "a pod that is not ready is unavailable",
        {"maxUnavailable": 1},
        [*pods(3), pod("x", ready=False)],
        {},
        0,
    ),
    (
        "a pod that terminates is unavailable",
        {"maxUnavailable": 1},
        [*pods(3), pod("x", metadata={"deletionTimestamp": "2026-03-01T11:00:00Z"})],
        {},
        0,
    ),
    (
        "a finished pod is no pod",
        {"minAvailable": 1},
        [*pods(2), pod("x", status={"phase": "Failed"})],
        {},
        1,
    ),
    (
        "a bound pod without conditions is healthy",
        {"minAvailable": 1},
        [*pods(1), pod("x", status={"phase": None, "conditions": []})],
        {},
        1,
    ),
    (
        "a pending pod without conditions is not",
        {"minAvailable": 1},
        [*pods(1), pod("x", spec={"nodeName": ""}, status={"phase": None, "conditions": []})],
        {},
        0,
    ),
    (
        "pods of another namespace are not counted",
        {"minAvailable": 1},
        [pod("x", metadata={"namespace": "other", "labels": {"app": "web"}})],
        {},
        0,
    ),
    ("an empty selector selects all pods", {"minAvailable": 1, "selector": {}}, pods(2), {}, 1),
]


@pytest.mark.parametrize(
    "spec, items, controllers, allowed", [row[1:] for row in ALLOWED], ids=[row[0] for row in ALLOWED]
)
def test_how_many_disruptions_are_allowed(spec, items, controllers, allowed):
    assert filled(budget(**spec), items, **controllers).disruptions_allowed == allowed


def test_a_missing_selector_selects_nothing():
    item = PodDisruptionBudget.model_validate({"metadata": {"name": "b"}, "spec": {"maxUnavailable": 1}})
    assert filled(item, pods(2)).expected_pods == 0


def test_a_pod_whose_eviction_is_under_way_is_unavailable_for_two_minutes():
    fresh = {"disruptedPods": {"p0": "2026-03-01T11:58:30Z"}}
    stale = {"disruptedPods": {"p0": "2026-03-01T11:57:30Z"}}
    assert filled(budget(minAvailable=1, status=fresh), pods(2)).disruptions_allowed == 0
    assert filled(budget(minAvailable=1, status=stale), pods(2)).disruptions_allowed == 1


def test_a_status_that_is_there_stays():
    known = budget(minAvailable=1, status={"disruptionsAllowed": 7})
    computed = budget(minAvailable=1)
    first, second = fill_status([known, computed], pods(2), Scales(), NOW)
    assert first is known
    assert second.status.disruptions_allowed == 1
