"""What the texts of the workload cycle say about pod groups outside the cycle itself.

Three texts are rebuilt: KEP-5732 as first proposed, kube-scheduler 1.36 and what came after it.  How a
group is placed stands in `framework/workload`; here stands who is in the queue, who counts, and which rules
members keep.

Sources: KEP-5732; kube-scheduler 1.36.2 plugins/gangscheduling, eventhandlers.go, schedule_one_podgroup.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class WorkloadCycle:
    """One text of the workload cycle.

    Attributes
    ----------
    name : str
        As it is called in the documentation.
    one_priority : bool
        Whether all members must have the group's priority, from v1alpha3 on.
    counts_schedulable : bool
        Whether only pods on nodes and pods that a profile could schedule make up `minCount` before anybody is
        tried; else every pod that names the group does.
    deleted_lead : bool
        Whether a waiting member that is being deleted still brings its group to its own place in the queue.
    gated_nominate : bool
        Whether members that wait for their group hold their nominated nodes.
    binds_in_cycle : bool
        Whether nominated members bind in a cycle of their group only, together with those that are not
        nominated.
    """

    name: str
    one_priority: bool
    counts_schedulable: bool
    deleted_lead: bool
    gated_nominate: bool
    binds_in_cycle: bool


PROPOSAL: Final = WorkloadCycle(
    name="Proposal",
    one_priority=True,
    counts_schedulable=False,
    deleted_lead=False,
    gated_nominate=True,
    binds_in_cycle=False,
)

V1_36: Final = WorkloadCycle(
    name="1.36",
    one_priority=False,
    counts_schedulable=True,
    deleted_lead=True,
    gated_nominate=False,
    binds_in_cycle=True,
)

V1_37: Final = WorkloadCycle(
    name="1.37",
    one_priority=True,
    counts_schedulable=False,
    deleted_lead=False,
    gated_nominate=True,
    binds_in_cycle=False,
)
