"""Why members of a group were left out, in a given state."""

from typing import TYPE_CHECKING

from ..cycle.runtime import framework_for
from ..rules.groups import Group
from ..vocabulary import names
from .cycle import schedule_group
from .outcome import GroupCycle, Member

if TYPE_CHECKING:
    from ..cycle.budget_ledger import Ledger
    from ..index.cluster import Cluster
    from ..state.state import State

Reason = tuple[str, tuple[str, ...]]
"""The text of a pod's condition, and the plugins that rejected it."""


def reasons_of_group(cluster: "Cluster", state: "State", group: Group, ledger: "Ledger") -> dict[int, Reason]:
    """Return the reason of each queued member that is on no node and would get none in a cycle of its group.

    Parameters
    ----------
    cluster, state : Cluster, State
        Nominations in the state count.
    group : Group
        One with a cycle of its own, or one that waits.
    ledger : Ledger
        The budgets at this moment.
    """
    if not group.enqueued:
        return {i: (group.waits or "", (names.GANG_SCHEDULING,)) for i in group.pending}
    cycle = schedule_group(cluster, state, group, ledger)
    if cycle is None:
        return {}
    return {
        member.cycle.pod: _reason(cluster, cycle, member)
        for member in cycle.members(state, ledger)
        if member.cycle.outcome != "bound"
    }


def _reason(cluster: "Cluster", cycle: GroupCycle, member: Member) -> Reason:
    own, message = member.cycle, member.message
    if own.error:
        return own.error, (names.GANG_SCHEDULING,)
    if member.of_group:
        generators = cycle.variant.generators if cycle.constrained else ()
        return message, (names.GANG_SCHEDULING, *(generator.name for generator in generators))
    result = own.result
    if result is None:
        return message, ()
    rejectors = result.plugins_in(own.within)
    profile = framework_for(cluster, own.pod).profile
    return message, tuple(name for name in profile.rejectors if name in rejectors)
