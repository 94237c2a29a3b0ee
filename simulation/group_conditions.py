"""Conditions of pod groups, and of the groups of a tree: whether they were scheduled.

Sources: KEP-5832, KEP-6012; kube-scheduler schedule_one_podgroup.go (1.36 and later).
"""

from collections.abc import Collection
from typing import Final

from ..framework.index.group_names import GroupName, UnitName, parent_of
from ..models.meta import Condition
from ..models.scheduling import CompositePodGroup, PodGroup
from .world import World, with_condition

_OF_TREES: Final = "CompositePodGroupInitiallyScheduled"
_NOT_PLACED: Final = Condition(type="PodGroupScheduled", status="False", reason="Unschedulable")


def tell_unit(world: World, unit: UnitName, condition: Condition, bound: Collection[str]) -> None:
    """Write what became of a group, or of all groups of a tree, that was tried as one.

    Parameters
    ----------
    world : World
    unit : GroupName or TreeName
    condition : Condition
        That of the group, or of the tree's root.
    bound : collection of str
        The PodGroups that had members bound, by key: where a tree is placed, its other groups are not.
    """
    if isinstance(unit, GroupName):
        group = world.objects.get(PodGroup, unit.key) if not unit.workload else None
        if group is not None:
            _tell(world, group, condition)
        return
    nodes = list(world.queue.trees.nodes(unit))
    placed: set[tuple[str, str]] = set()
    for item in reversed(nodes):  # children before parents
        if (isinstance(item, PodGroup) and item.key in bound) or (item.kind, item.key) in placed:
            placed |= {(item.kind, item.key), (CompositePodGroup().kind, parent_of(item))}
    for item in nodes:
        told = condition if condition.status != "True" or (item.kind, item.key) in placed else _NOT_PLACED
        _tell(world, item, told)


def _tell(world: World, item: PodGroup | CompositePodGroup, condition: Condition) -> None:
    """Write one condition; what was scheduled once is not told otherwise later."""
    if isinstance(item, CompositePodGroup):
        condition = condition.model_copy(update={"type": _OF_TREES})
    before = next((c for c in item.status.conditions if c.type == condition.type), None)
    if before is not None and before.status == "True" and condition.status != "True":
        return
    conditions = with_condition(item.status.conditions, condition, world.now)
    if conditions is item.status.conditions:
        return
    what = {"podGroup" if isinstance(item, PodGroup) else "compositePodGroup": item.key}
    world.record.write(f"{item.kind}Condition", **what, status=condition.status, reason=condition.reason)
    status = item.status.model_copy(update={"conditions": conditions})
    world.change(item, item.model_copy(update={"status": status}))
