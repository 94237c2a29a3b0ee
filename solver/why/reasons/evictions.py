"""Rules about who may give way: preemptionPolicy, guards, budgets, pods that are being deleted, limits."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ....framework.rules.budgets import budgets
from .base import Reason, listed, on_pods, on_specs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ....framework.index.podinfo import PodInfo
    from ....models.pod import Pod
    from ....models.snapshot import Snapshot
    from .base import Subject

GUARD = "allowDisruptionByPriorityGreaterThanOrEqual"


def reasons(subject: Subject) -> Iterator[Reason]:
    """Yield the rules about evictions that bear on the pods."""
    yield from _never(subject)
    yield from _guards(subject)
    yield from _terminating(subject)
    yield from _limits(subject)


def _limits(subject: Subject) -> Iterator[Reason]:
    """Yield each limit that the round was given."""
    limits = subject.cluster.snapshot.limits
    given: list[tuple[str, str, dict[str, Any]]] = []
    if limits.evictions is not None:
        given.append(("--max-evictions", f"at most {limits.evictions} evictions", {"evictions": None}))
    if limits.violations is not None:
        words = f"at most {limits.violations} evictions against a budget"
        given.append(("--max-violations", words, {"violations": None}))
    if limits.never:
        words = f"no eviction of {listed([str(pods) for pods in limits.never])}"
        given.append(("--never-evict", words, {"never": ()}))
    for option, words, without in given:
        yield Reason(
            kind="limit",
            object="the limits on evictions",
            field=option,
            text=f"limit: {words}",
            lift=partial(_beyond, without),
        )


def _beyond(without: Mapping[str, Any], snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, limits=replace(snapshot.limits, **without))


def _never(subject: Subject) -> Iterator[Reason]:
    cluster = subject.cluster
    lowest = min((cluster.pods[v].priority for v in cluster.bound), default=None)
    for info in subject.kinds:
        policy = info.pod.spec.preemption_policy
        if policy == "Never" and lowest is not None and lowest < info.priority:
            yield Reason(
                kind="preemptionPolicy",
                object=f"Pod {info.key}",
                field="spec.preemptionPolicy",
                text="preemptionPolicy Never: it may evict no pod",
                lift=on_specs(subject.like(info), lambda spec: {"preemption_policy": None}),
            )


def _guards(subject: Subject) -> Iterator[Reason]:
    """Yield guards above what any waiting pod has, and the budgets of the pods that they guard."""
    cluster = subject.cluster
    guarded: dict[int, list[PodInfo]] = {}
    for v in cluster.bound:
        info = cluster.pods[v]
        if info.guard is not None and not info.terminating:
            guarded.setdefault(info.guard, []).append(info)
    covered: set[int] = set()
    for guard, pods in sorted(guarded.items()):
        charged = {info.index: _charged(subject, info.index) for info in pods}
        kept = [info for info in pods if charged[info.index]]
        if not kept:
            continue
        covered |= {b for found in charged.values() for b in found}
        keys = [info.key for info in kept]
        yield Reason(
            kind="guard",
            object=f"Pod {listed(keys)}",
            field=f"spec.{GUARD}",
            text=f"guard: only priority {guard} or higher may evict {'it' if len(keys) == 1 else 'them'} "
            "beyond a budget",
            lift=on_pods(frozenset(keys), _unguarded),
            facts={"guard": guard, "pods": keys},
        )
    for number in sorted(covered):
        budget = budgets(cluster)[number]
        plural = "" if budget.allowed == 1 else "s"
        yield Reason(
            kind="budget",
            object=f"PodDisruptionBudget {budget.key}",
            field="status.disruptionsAllowed",
            text=f"disruption budget with {budget.allowed} disruption{plural} allowed",
            lift=partial(_without_budget, budget.key),
            facts={"allowed": budget.allowed},
        )


def _charged(subject: Subject, v: int) -> list[int]:
    cluster = subject.cluster
    return [b for b, budget in enumerate(budgets(cluster)) if budget.charges(cluster, v)]


def _unguarded(pod: Pod) -> Pod:
    changed = {"allow_disruption_by_priority_greater_than_or_equal": None}
    return pod.model_copy(update={"spec": pod.spec.model_copy(update=changed)})


def _without_budget(key: str, snapshot: Snapshot) -> Snapshot:
    kept = tuple(item for item in snapshot.pod_disruption_budgets if item.key != key)
    return replace(snapshot, pod_disruption_budgets=kept)


def _terminating(subject: Subject) -> Iterator[Reason]:
    cluster = subject.cluster
    keys = [cluster.pods[v].key for v in cluster.bound if cluster.pods[v].terminating]
    if keys:
        gone = frozenset(keys)
        yield Reason(
            kind="terminating",
            object=f"Pod {listed(keys)}",
            field="metadata.deletionTimestamp",
            text=f"{'it is' if len(keys) == 1 else 'they are'} being deleted and still "
            f"hold{'s' if len(keys) == 1 else ''} what {'it' if len(keys) == 1 else 'they'} had",
            lift=partial(_without_pods, gone),
            facts={"pods": keys},
        )


def _without_pods(keys: frozenset[str], snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, pods=tuple(pod for pod in snapshot.pods if pod.key not in keys))
