"""Steps that change a pod group: how many start together, where, and how important pods are."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import partial
from typing import TYPE_CHECKING, Any

from ...models import step_costs
from ...models.scheduling import SchedulingConstraints
from ..why.reasons.base import on_specs
from ..why.reasons.queue import on_group
from .step import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...framework.rules.groups import Group
    from ...models.pod import PodSpec
    from ...models.scheduling import GroupSpec
    from ...models.snapshot import Snapshot
    from .step import Asked


def group_steps(asked: Asked) -> Iterator[Step]:
    """Yield the steps of the groups whose rules bear on the pods."""
    for group in asked.subject.groups:
        yield from _fewer(asked, group)
        for key in group.topology_keys:
            yield from _elsewhere(asked, group, key)


def _is_own(asked: Asked, group: Group) -> bool:
    """Whether a group's rules speak of no pods but those in question."""
    return asked.subject.whole and not group.parent


# -- how many start together --


def _fewer(asked: Asked, group: Group) -> Iterator[Step]:
    cost = asked.costs.of(step_costs.MIN_COUNT)
    if cost is None or group.min_count is None:
        return
    template = Step(
        kind=step_costs.MIN_COUNT,
        object=f"PodGroup {group.key}",
        text="",
        cost=cost,
        series=f"{step_costs.MIN_COUNT} {group.key}",
        own=_is_own(asked, group),
    )
    texts = [
        (
            f"minCount {count} instead of {group.min_count}",
            partial(on_group, group.key, partial(_gang_of, count)),
        )
        for count in range(group.min_count - 1, 0, -1)
    ]
    yield from asked.levels(template, cost, texts)


def _gang_of(count: int, spec: GroupSpec) -> dict[str, Any]:
    policy = spec.scheduling_policy
    if policy.gang is None:
        return {}
    gang = policy.gang.model_copy(update={"min_count": count})
    return {"scheduling_policy": policy.model_copy(update={"gang": gang})}


# -- where --


def _elsewhere(asked: Asked, group: Group, key: str) -> Iterator[Step]:
    """Yield the step to the next wider key and the one without any, as far as they have a price."""
    wider = _next_wider(asked, key)
    dropped = asked.costs.of(step_costs.TOPOLOGY_DROPPED)
    widened = None if wider is None else asked.costs.of(step_costs.TOPOLOGY_WIDER)
    found: list[tuple[str, int, str, str | None]] = []
    if wider is not None and widened is not None:
        words = f"all of the group in one {wider} instead of one {key}"
        found.append((step_costs.TOPOLOGY_WIDER, widened, words, wider))
    if dropped is not None:
        words = f"the group in more than one {key}"
        found.append((step_costs.TOPOLOGY_DROPPED, dropped, words, None))
    for level, (kind, cost, text, other) in enumerate(found, start=1):
        yield Step(
            kind=kind,
            object=f"PodGroup {group.key}",
            text=text,
            cost=cost,
            series=f"topology {group.key} {key}",
            level=level,
            own=_is_own(asked, group),
            lift=partial(on_group, group.key, partial(_in_one, key, other)),
        )


def _in_one(key: str, other: str | None, spec: GroupSpec) -> dict[str, Any]:
    constraints = [
        item if item.key != key else item.model_copy(update={"key": other})
        for item in spec.scheduling_constraints.topology
        if item.key != key or other is not None
    ]
    return {"scheduling_constraints": SchedulingConstraints(topology=tuple(constraints))}


def _next_wider(asked: Asked, key: str) -> str | None:
    """Return the label with the most domains of those whose domains are unions of this one's, and fewer."""
    labels = [
        node.metadata.labels for node in asked.snapshot.nodes if node.metadata.labels.get(key) is not None
    ]
    narrow = {each[key] for each in labels}
    found: list[tuple[int, str]] = []
    for other in sorted({name for each in labels for name in each} - {key}):
        pairs = {(each[key], each.get(other)) for each in labels}
        wide = {value for _, value in pairs}
        if None not in wide and len(pairs) == len(narrow) and len(wide) < len(narrow):
            found.append((-len(wide), other))
    return min(found)[1] if found else None


# -- priority --


def priority_steps(asked: Asked) -> Iterator[Step]:
    """Yield one step to each priority at which the pods stand differently to others.

    Of priorities that are the same in this the value of a PriorityClass is taken, else the lowest.
    """
    cost = asked.costs.of(step_costs.PRIORITY)
    if cost is None:
        return
    subject, pods = asked.subject, asked.subject.cluster.pods
    own = max(info.priority for info in subject.infos)
    others = [info for info in pods if info.key not in subject.keys]
    marks = sorted(
        {info.priority for info in others} | {info.guard for info in others if info.guard is not None}
    )
    classes = {
        item.value: item.name
        for item in asked.snapshot.priority_classes
        if own < item.value <= asked.costs.priority
    }
    tried = [*sorted(classes), *sorted({own + 1, *marks, *(mark + 1 for mark in marks)})]
    found: dict[tuple[int, int], int] = {}
    for value in tried:
        if own < value <= asked.costs.priority:
            found.setdefault((bisect_left(marks, value), bisect_right(marks, value)), value)
    here = bisect_left(marks, own), bisect_right(marks, own)
    levels = sorted(value for place, value in found.items() if place != here)
    group = subject.group if subject.whole else None
    for level, value in enumerate(levels, start=1):
        called = f" ({classes[value]})" if value in classes else ""
        yield Step(
            kind=step_costs.PRIORITY,
            object=subject.name,
            text=f"priority {value}{called} instead of {own}",
            cost=cost,
            series=step_costs.PRIORITY,
            level=level,
            lift=partial(_raised, subject.keys, group, value, classes.get(value)),
        )


def _raised(
    keys: frozenset[str], group: Group | None, value: int, name: str | None, snapshot: Snapshot
) -> Snapshot:
    changed = {"priority": value, "priority_class_name": name}

    def in_spec(spec: PodSpec) -> dict[str, Any]:
        return changed

    def in_group(spec: GroupSpec) -> dict[str, Any]:
        return {} if spec.priority is None and spec.priority_class_name is None else changed

    snapshot = on_specs(keys, in_spec)(snapshot)
    return snapshot if group is None else on_group(group.key, in_group, snapshot)
