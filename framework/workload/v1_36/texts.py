"""The words of kube-scheduler 1.36.2 about a group.

Source: kube-scheduler 1.36.2 schedule_one_podgroup.go, framework/preemption/podgrouppreemption.go,
framework/runtime/framework.go (RunPermitPlugins).
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .variant import V1_36

UNSCHEDULABLE: Final = "pod group is unschedulable"
WAITING: Final = f"{UNSCHEDULABLE}, pod group is waiting for preemption to complete"
NOT_PERMITTED: Final = (
    f"{UNSCHEDULABLE}, waiting for minCount pods from a gang to be scheduled, "
    "one or more plugins asked to wait and no plugin rejected pod"
)
NOT_WITH_CONSTRAINTS: Final = (
    "workload aware preemption is not supported for pod groups with scheduling constraints"
)
NOT_REGISTERED: Final = "default preemption plugin is not registered, workload aware preemption is disabled"
NO_VICTIMS: Final = "No preemption victims found for incoming preemptor"


def unavailable(variant: "V1_36", n_placements: int) -> str:
    """Say that no placement takes the group."""
    if not variant.by_placement:
        return UNSCHEDULABLE
    return f"0/{n_placements} placements are available, first placement status: {UNSCHEDULABLE}"
