"""The workload cycle: a group is tried as one, by the text that its profile chooses.

A tree of groups is tried by the text of 1.37, whatever the profile chooses. The cycle changes nothing;
its outcome tells what it means for each pod, and makes it happen.

Sources: KEP-5732, KEP-6012; kube-scheduler schedule_one_podgroup.go (1.36 and later).
"""

from collections.abc import Collection
from typing import TYPE_CHECKING

from ..rules.composites import Composite
from ..rules.groups import Group
from .choice import variant_for
from .composite_cycle import schedule_tree
from .outcome import GroupCycle
from .placement import info_of
from .placing import PlacedCycle, place_group
from .v1_36.cycle import try_group
from .v1_36.variant import V1_36

if TYPE_CHECKING:
    from ..cycle.budget_ledger import Ledger
    from ..index.cluster import Cluster
    from ..state.state import State


def schedule_group(
    cluster: "Cluster", state: "State", group: Group, ledger: "Ledger", gone: Collection[int] = ()
) -> GroupCycle | None:
    """Try to place a group or a tree; changes nothing.

    Parameters
    ----------
    cluster : Cluster
    state : State
        With the nominations that count.
    group : Group
        One that is in the active queue; of a tree the root.
    ledger : Ledger
        The budgets at this moment.
    gone : collection of int
        Pods that were evicted in this round: nobody evicted returns.

    Returns
    -------
    GroupCycle or None
        None where no member is left to be placed, or where too many left for the rest to be in the queue.
    """
    if isinstance(group, Composite):
        return schedule_tree(cluster, state, group, ledger, gone)
    info = info_of(cluster, state, group, gone)
    if not info.pods or not info.enough_known:
        return None
    variant = variant_for(cluster, info.pods[0])
    if group.waits is not None:
        return PlacedCycle(variant, info, group.waits, error=True)
    if isinstance(variant, V1_36):
        return try_group(variant, state, info, ledger)
    return place_group(variant, state, info, ledger)
