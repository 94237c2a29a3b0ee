"""What `ks.cluster` fills in: what an API server and its controllers would, as for manifests."""

import pytest

import kubestow as ks
from kubestow.api.builders.rounds import manifest, snapshot_of

HIGH = ks.priority_class("high", 900, guard=950)
USUAL = ks.priority_class("usual", 10, default=True, preempts=False)
POD = ks.pod("p")
RANKS = {
    "a class's value": ([HIGH, POD.of_class("high")], (900, "PreemptLowerPriority", 950)),
    "that of the default class": ([USUAL, HIGH, POD], (10, "Never", None)),
    "0 without a class": ([HIGH, POD], (0, "PreemptLowerPriority", None)),
    "its own value beside the default class": ([USUAL, POD.priority(7)], (7, "PreemptLowerPriority", None)),
    "its own policy": ([USUAL, POD.of_class("usual").never()], (10, "Never", None)),
    "its own guard": ([HIGH, POD.of_class("high").guard(5)], (900, "PreemptLowerPriority", 5)),
    "that of a class of the system": (
        [POD.of_class("system-node-critical")],
        (2_000_001_000, "PreemptLowerPriority", None),
    ),
}


@pytest.mark.parametrize("objects, rank", RANKS.values(), ids=RANKS)
def test_a_pod_has_the_priority_of(objects, rank):
    [found] = ks.cluster(*objects).snapshot.pods
    spec = found.spec
    guard = spec.allow_disruption_by_priority_greater_than_or_equal
    assert (spec.priority, spec.preemption_policy, guard) == rank


def test_a_class_that_is_not_there_is_told():
    with pytest.raises(ks.KubestowError, match=r"Pod default/p: spec\.priorityClassName: there is no"):
        ks.cluster(POD.of_class("high"))


def test_a_group_has_the_priority_of_its_class():
    [found] = ks.cluster(HIGH, ks.group("g", gang=2, priorityClassName="high")).snapshot.pod_groups
    assert found.spec.priority == 900


WEB = ks.pod("web").label(app="web").on("n").times(4)
WAITING = ks.pod("late").label(app="web")
BUDGETS = {
    "one has to stay": (ks.budget("b", app="web"), 3),
    "so many have to stay": (ks.budget("b", min_available=3, app="web"), 1),
    "a share may be missing, of which one pod waits": (ks.budget("b", max_unavailable="40%", app="web"), 1),
    "no pod is there": (ks.budget("b", app="db"), 0),
    "it is said": (ks.budget("b", allowed=2, app="web"), 2),
}


@pytest.mark.parametrize("budget, allowed", BUDGETS.values(), ids=BUDGETS)
def test_a_budget_lets_so_many_go_where(budget, allowed):
    [found] = ks.cluster(ks.node("n"), WEB, WAITING, budget).snapshot.pod_disruption_budgets
    assert found.status.disruptions_allowed == allowed


def test_a_cluster_of_builders_is_the_one_that_its_manifests_are_read_as(tmp_path):
    objects = (
        *(HIGH, USUAL, ks.node("n"), WEB, WAITING.of_class("high"), ks.pod("p")),
        *(ks.budget("b", max_unavailable=1, app="web"), ks.group("g", gang=2, priorityClassName="high")),
    )
    file = tmp_path / "cluster.yaml"
    file.write_text(manifest(snapshot_of(*objects)))
    read, built = ks.load(file).snapshot, ks.cluster(*objects).snapshot
    for name in ("nodes", "pods", "pod_disruption_budgets", "priority_classes", "pod_groups"):
        assert getattr(read, name) == getattr(built, name)


def test_copies_have_the_priority_of_a_class_of_the_round():
    """With the class's policy the copies may evict what runs; with 0 they may not."""
    full = ks.cluster(HIGH, ks.node("n", cpu="2"), ks.pod("old").req(cpu="2").priority(1).on("n"))
    copies = [ks.fit(full, pod.req(cpu="1"), evict=True, workers=1) for pod in (POD, POD.of_class("high"))]
    assert [found.fit.optimal.copies for found in copies] == [0, 2]
