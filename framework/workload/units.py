"""What the queue hands out: a pod, or a group or tree of groups at the place of its first member."""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from ..rules.composites import Composite, tree_of
from ..rules.groups import Group, group_of, groups
from .composite_cycle import TreeCycle, members_of_tree, schedule_tree
from .cycle import GroupCycle, Member, members, schedule_group
from .forms import form_for

if TYPE_CHECKING:
    from ..cycle.budget_ledger import Ledger
    from ..index.cluster import Cluster
    from ..state.state import State


def group_in_cycle(cluster: "Cluster", i: int) -> Group | None:
    """Return the group as part of which pending pod i is scheduled, None where it is scheduled alone.

    In a tree that is the root's CompositePodGroup.
    """
    group = group_of(cluster, i)
    tree = tree_of(cluster, group) if group is not None else None
    if tree is not None:
        return tree
    if group is None or (group.waits is None and not form_for(cluster, i).applies(group)):
        return None
    return group


def units(cluster: "Cluster", pods: Iterable[int]) -> Iterator[int | Group]:
    """Return what is tried, in order, given pending pods in queue order.

    Members of a group whose object or whose pods are still missing are not in the active queue.
    """
    if not groups(cluster):
        yield from pods
        return
    done: set[int] = set()
    for i in pods:
        group = group_in_cycle(cluster, i)
        if group is None:
            yield i
        elif group.index not in done:
            done.add(group.index)
            if group.enqueued:
                yield group


def schedule_unit(
    cluster: "Cluster", state: "State", group: Group, ledger: "Ledger", gone: Collection[int] = ()
) -> GroupCycle | None:
    """Try to place a group or a tree; changes nothing.  Parameters and result as for `schedule_group`."""
    if isinstance(group, Composite):
        return schedule_tree(cluster, state, group, ledger, gone)
    return schedule_group(cluster, state, group, ledger, gone)


def members_of(state: "State", cycle: GroupCycle, ledger: "Ledger") -> Iterator[Member]:
    """Tell what a cycle means for each of its pods; as `members`."""
    if isinstance(cycle, TreeCycle):
        return members_of_tree(state, cycle, ledger)
    return members(state, cycle, ledger)
