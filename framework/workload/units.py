"""What the queue hands out: a pod, or a group or tree of groups at the place of its first member."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..index.queue_order import queue_key
from ..rules.composites import tree_of
from ..rules.groups import Group, group_of, groups
from ..state.state import State
from .choice import variant_for

if TYPE_CHECKING:
    from ..index.cluster import Cluster


def opening(cluster: "Cluster") -> State:
    """Return the state in which a pass begins: nominations of the input are held by who is in the queue."""
    state = State.initial(cluster, nominations=True)
    for group in groups(cluster):
        if not (group.enqueued or group.cycle.gated_nominate):
            for i in group.pending:
                state.withdraw(i)
    return state


def group_in_cycle(cluster: "Cluster", i: int) -> Group | None:
    """Return the group as part of which pending pod i is scheduled, None where it is scheduled alone.

    In a tree that is the root's CompositePodGroup.
    """
    group = group_of(cluster, i)
    tree = tree_of(cluster, group) if group is not None else None
    if tree is not None:
        return tree
    if group is None or (group.waits is None and not variant_for(cluster, i).applies(group)):
        return None
    return group


def units(cluster: "Cluster", pods: Iterable[int], *, first: bool = True) -> Iterator[int | Group]:
    """Return what is tried, in order, given pending pods in queue order.

    Members of a group whose object or whose pods are still missing are not in the active queue.

    Parameters
    ----------
    cluster : Cluster
    pods : iterable of int
    first : bool
        Whether nobody was tried before: members that are being deleted are in the queue until popped.
    """
    every = groups(cluster)
    if not every:
        yield from pods
        return
    deleted = [i for group in every for i in group.deleted] if first else []
    queue = sorted((*pods, *deleted), key=lambda i: (*queue_key(cluster.pods[i]), i)) if deleted else pods
    done: set[int] = set()
    for i in queue:
        group = group_in_cycle(cluster, i)
        if group is None:
            yield i
        elif group.index not in done:
            done.add(group.index)
            if group.enqueued:
                yield group
