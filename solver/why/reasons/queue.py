"""Rules that keep a pod out of the queue or tie it to its group: gates, profile, group, tree of groups."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ....framework.index.group_names import group_name
from ....framework.rules.groups import TOO_FEW
from ....framework.rules.hierarchy import QUORUM, groups_needed, hierarchy
from ....models.scheduling import BasicPolicy, SchedulingConstraints, SchedulingPolicy
from .base import Reason, on_specs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ....framework.index.podinfo import PodInfo
    from ....framework.rules.groups import Group
    from ....models.pod import PodSchedulingGate, PodSpec
    from ....models.scheduling import GroupSpec
    from ....models.snapshot import Snapshot
    from .base import Subject


def reasons(subject: Subject) -> Iterator[Reason]:
    """Yield the rules of the queue and of groups."""
    for info in subject.kinds:
        yield from _gates(subject, info)
        yield from _profile(subject, info)
    for group in subject.groups:
        yield from _group(subject, group)
        yield from _parents(subject, group)


def _gates(subject: Subject, info: PodInfo) -> Iterator[Reason]:
    for gate in info.pod.spec.scheduling_gates:
        yield Reason(
            kind="schedulingGate",
            object=f"Pod {info.key}",
            field="spec.schedulingGates",
            text=f"scheduling gate {gate.name}",
            lift=on_specs(subject.like(info), partial(_without_gate, gate)),
            facts={"gate": gate.name},
        )


def _without_gate(gate: PodSchedulingGate, spec: PodSpec) -> dict[str, Any]:
    return {"scheduling_gates": tuple(item for item in spec.scheduling_gates if item != gate)}


def _profile(subject: Subject, info: PodInfo) -> Iterator[Reason]:
    profiles = subject.cluster.profiles
    if info.scheduler not in profiles:
        first = next(iter(profiles))
        yield Reason(
            kind="schedulerName",
            object=f"Pod {info.key}",
            field="spec.schedulerName",
            text=f"schedulerName {info.scheduler}, which no profile of the configuration has",
            lift=on_specs(subject.like(info), lambda spec: {"scheduler_name": first}),
        )


# -- groups --


def _group(subject: Subject, group: Group) -> Iterator[Reason]:
    cluster = subject.cluster
    reference = group_name(cluster.pods[group.members[0]].pod)
    assert reference is not None
    members = frozenset(cluster.pods[i].key for i in group.members)
    where = f"PodGroup {group.key}"
    spec = _spec_of(cluster.snapshot, group.key, reference)
    if spec is None:
        yield Reason(
            kind="podGroup",
            object=where,
            field="spec.schedulingGroup" if not reference.workload else "spec.workloadRef",
            text=f"the group {group.key}, which is not in the input",
            lift=on_specs(members, _by_itself),
        )
        return
    if group.waits not in (None, TOO_FEW) and not _lacks_groups(subject, group):
        yield Reason(
            kind="podGroup",
            object=where,
            field="(all of its members)",
            text=f"the group {group.key}, of which no member is tried: {group.waits}",
            lift=on_specs(subject.keys, _by_itself),
        )
    if group.min_count is not None:
        yield Reason(
            kind="minCount",
            object=where,
            field="spec.schedulingPolicy.gang.minCount",
            text=f"gang of at least {group.min_count} pods",
            lift=partial(on_group, group.key, _alone),
            facts={"minCount": group.min_count, "waiting": len(group.pending), "running": len(group.running)},
        )
    for key in group.topology_keys:
        yield Reason(
            kind="topology",
            object=where,
            field="spec.schedulingConstraints.topology",
            text=f"all of the group in one {key}",
            lift=partial(on_group, group.key, partial(_anywhere, key)),
            facts={"key": key},
        )


def _lacks_groups(subject: Subject, group: Group) -> bool:
    """Whether a group waits for the quorum of its tree, which has rules of its own."""
    tree = hierarchy(subject.cluster)
    path = [] if tree is None or not group.parent else tree.path(group.key)
    return tree is not None and bool(path) and tree.complete(path) and (group.waits or "").endswith(QUORUM)


def _by_itself(spec: PodSpec) -> dict[str, Any]:
    return {"scheduling_group": None, "workload_ref": None}


def _parents(subject: Subject, group: Group) -> Iterator[Reason]:
    """Yield the rules of the CompositePodGroups above a group."""
    tree = hierarchy(subject.cluster)
    if tree is None or not group.parent:
        return
    composites = {item.key: item for item in subject.cluster.snapshot.composite_pod_groups}
    for key in tree.path(group.key):
        item = composites.get(key)
        if item is None:
            continue
        where = f"CompositePodGroup {key}"
        if item.spec.scheduling_policy.gang is not None:
            yield Reason(
                kind="minGroupCount",
                object=where,
                field="spec.schedulingPolicy.gang.minGroupCount",
                text=f"at least {groups_needed(item.spec)} of its groups start together",
                lift=partial(on_group, key, _alone),
                facts={"minGroupCount": groups_needed(item.spec)},
            )
        for constraint in item.spec.scheduling_constraints.topology:
            if constraint.mode == "Required":
                yield Reason(
                    kind="topology",
                    object=where,
                    field="spec.schedulingConstraints.topology",
                    text=f"all of its groups in one {constraint.key}",
                    lift=partial(on_group, key, partial(_anywhere, constraint.key)),
                    facts={"key": constraint.key},
                )


def _spec_of(snapshot: Snapshot, key: str, reference: Any) -> GroupSpec | None:
    if reference.workload:
        return next(
            (
                template
                for item in snapshot.workloads
                if (item.namespace, item.name) == (reference.namespace, reference.workload)
                for template in item.spec.pod_group_templates
                if template.name == reference.group
            ),
            None,
        )
    return next((item.spec for item in snapshot.pod_groups if item.key == key), None)


def on_group(key: str, change: Callable[[GroupSpec], dict[str, Any]], snapshot: Snapshot) -> Snapshot:
    """Change the spec of a PodGroup, a CompositePodGroup or a Workload's template by its group's key."""

    def apply(item: Any) -> Any:
        if item.key != key:
            return item
        return item.model_copy(update={"spec": item.spec.model_copy(update=change(item.spec))})

    def in_workload(item: Any) -> Any:
        templates = tuple(
            each.model_copy(update=change(each))
            if (key + "/").startswith(f"{item.key}/{each.name}/")
            else each
            for each in item.spec.pod_group_templates
        )
        return item.model_copy(
            update={"spec": item.spec.model_copy(update={"pod_group_templates": templates})}
        )

    return replace(
        snapshot,
        pod_groups=tuple(map(apply, snapshot.pod_groups)),
        composite_pod_groups=tuple(map(apply, snapshot.composite_pod_groups)),
        workloads=tuple(map(in_workload, snapshot.workloads)),
    )


def _alone(spec: GroupSpec) -> dict[str, Any]:
    return {"scheduling_policy": SchedulingPolicy(basic=BasicPolicy())}


def _anywhere(key: str, spec: GroupSpec) -> dict[str, Any]:
    kept = tuple(item for item in spec.scheduling_constraints.topology if item.key != key)
    return {"scheduling_constraints": SchedulingConstraints(topology=kept)}
