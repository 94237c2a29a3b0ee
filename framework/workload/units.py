"""What the queue hands out: a pod, or a group at the place of its first member."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..rules.groups import Group, group_of, groups
from .forms import form_for

if TYPE_CHECKING:
    from ..index.cluster import Cluster


def group_in_cycle(cluster: "Cluster", i: int) -> Group | None:
    """Return the group as part of which pending pod i is scheduled, None where it is scheduled alone."""
    group = group_of(cluster, i)
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
