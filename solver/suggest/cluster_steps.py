"""Steps that change what is around the pods: cordons, pods that leave, nodes that come, budgets, claims."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ...framework.rules.budgets import budgets
from ...models import step_costs
from ...models.changes import LIKE, AddNodes, CordonNode, DeletePod
from .pod_steps import counted, honours_taints, placeable_pods
from .step import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models.node import Node
    from ...models.policy import PodDisruptionBudget
    from ...models.resource_api import ResourceClaim
    from ...models.snapshot import Snapshot
    from .step import Asked

_HOST = "kubernetes.io/hostname"


def cluster_steps(asked: Asked) -> Iterator[Step]:
    """Yield the steps."""
    yield from _uncordoned(asked)
    yield from _gone(asked)
    yield from _claims(asked)
    yield from _budgets(asked)
    yield from _nodes(asked)


def _uncordoned(asked: Asked) -> Iterator[Step]:
    cost = asked.costs.of(step_costs.UNCORDON)
    counts = counted(asked, asked.subject.cluster.pending, honours_taints)
    for_it = counted(asked, placeable_pods(asked), honours_taints)
    for node in asked.snapshot.nodes if cost is not None else ():
        if node.spec.unschedulable and cost is not None:
            yield Step(
                kind=step_costs.UNCORDON,
                object=f"Node {node.name}",
                text="uncordon it",
                cost=cost,
                series=f"{step_costs.UNCORDON} {node.name}",
                change=CordonNode(node.name, on=False),
                counts=counts,
                counts_for_it=for_it,
            )


def _gone(asked: Asked) -> Iterator[Step]:
    cost = asked.costs.of(step_costs.TERMINATING)
    cluster = asked.subject.cluster
    budgeted = bool(asked.snapshot.pod_disruption_budgets)
    counts = budgeted or any(cluster.pods[i].terms.required_affinity for i in cluster.pending)
    for_it = budgeted or any(info.terms.required_affinity for info in asked.subject.infos)
    for v in cluster.bound if cost is not None else ():
        info = cluster.pods[v]
        if info.terminating and cost is not None:
            yield Step(
                kind=step_costs.TERMINATING,
                object=f"Pod {info.key}",
                text=f"gone from {cluster.node_names[info.initial_node]} now: it is being deleted",
                cost=cost,
                series=f"{step_costs.TERMINATING} {info.key}",
                change=DeletePod(f"pod/{info.key}"),
                counts=counts,
                counts_for_it=for_it,
            )


def _claims(asked: Asked) -> Iterator[Step]:
    cost = asked.costs.of(step_costs.DEALLOCATE)
    for claim in asked.snapshot.resource_claims if cost is not None else ():
        if claim.status.allocation is not None and not claim.status.reserved_for and cost is not None:
            yield Step(
                kind=step_costs.DEALLOCATE,
                object=f"ResourceClaim {claim.key}",
                text="deallocate it: no pod uses it",
                cost=cost,
                series=f"{step_costs.DEALLOCATE} {claim.key}",
                lift=partial(_deallocated, claim.key),
            )


def _deallocated(key: str, snapshot: Snapshot) -> Snapshot:
    def freed(claim: ResourceClaim) -> ResourceClaim:
        if claim.key != key:
            return claim
        return claim.model_copy(update={"status": claim.status.model_copy(update={"allocation": None})})

    return replace(snapshot, resource_claims=tuple(map(freed, snapshot.resource_claims)))


def _budgets(asked: Asked) -> Iterator[Step]:
    """Yield more disruptions of the budgets of pods that may be evicted at all."""
    cost = asked.costs.of(step_costs.BUDGET)
    cluster = asked.subject.cluster
    movable = [cluster.pod_index[key] for key in sorted(asked.movable) if key in cluster.pod_index]
    for budget in budgets(cluster) if cost is not None else ():
        if cost is not None and any(budget.charges(cluster, v) for v in movable):
            template = Step(
                kind=step_costs.BUDGET,
                object=f"PodDisruptionBudget {budget.key}",
                text="",
                cost=cost,
                series=f"{step_costs.BUDGET} {budget.key}",
            )
            texts = [
                (
                    f"disruptions allowed {budget.allowed + more} instead of {budget.allowed}",
                    partial(_allowing, budget.key, budget.allowed + more),
                )
                for more in range(1, asked.costs.budget + 1)
            ]
            yield from asked.levels(template, cost, texts)


def _allowing(key: str, allowed: int, snapshot: Snapshot) -> Snapshot:
    def changed(budget: PodDisruptionBudget) -> PodDisruptionBudget:
        if budget.key != key:
            return budget
        status = budget.status.model_copy(update={"disruptions_allowed": allowed})
        return budget.model_copy(update={"status": status})

    return replace(snapshot, pod_disruption_budgets=tuple(map(changed, snapshot.pod_disruption_budgets)))


def _nodes(asked: Asked) -> Iterator[Step]:
    cost = asked.costs.of(step_costs.ADD_NODE)
    if cost is None:
        return
    budgeted = bool(asked.snapshot.daemon_sets and asked.snapshot.pod_disruption_budgets)
    counts = budgeted or counted(asked, asked.subject.cluster.pending, lambda constraint: True)
    for_it = budgeted or counted(asked, placeable_pods(asked), lambda constraint: True)
    sources = asked.node_groups or tuple(LIKE + name for name in _kinds_of_nodes(asked.snapshot))
    for source in sources:
        what = f"Node {source.removeprefix(LIKE)}" if source.startswith(LIKE) else f"node group {source}"
        yield Step(
            kind=step_costs.ADD_NODE,
            object=what,
            text="one more node like it" if source.startswith(LIKE) else "one more node of it",
            cost=cost,
            series=f"{step_costs.ADD_NODE} {source}",
            change=AddNodes(source),
            counts=counts,
            counts_for_it=for_it,
        )


def _kinds_of_nodes(snapshot: Snapshot) -> Iterator[str]:
    """Yield the first node of each kind: of the same labels, taints, amounts and devices."""
    devices: dict[str, list[tuple[str, int]]] = {}
    for item in snapshot.resource_slices:
        if item.spec.node_name:
            pool = item.spec.driver, len(item.spec.devices)
            devices.setdefault(item.spec.node_name, []).append(pool)
    seen = set()
    for node in snapshot.nodes:
        kind = _kind(node), tuple(sorted(devices.get(node.name, ())))
        if kind not in seen:
            seen.add(kind)
            yield node.name


def _kind(node: Node) -> object:
    labels = node.metadata.labels.items()
    return (
        frozenset((key, value) for key, value in labels if key != _HOST and value != node.name),
        frozenset(node.spec.taints),
        frozenset(node.status.allocatable.items()),
    )
