"""One try of a group in one placement: its pods one after another, no pod is moved again.

Source: KEP-5732, "Pod-Level Filtering and Feasibility Check"; kube-scheduler schedule_one_podgroup.go
(podGroupSchedulingDefaultAlgorithm).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..cycle.cycle import Cycle, apply, find_node
from ..cycle.runtime import framework_for
from .placement import Placement, PodGroupInfo
from .variants import WorkloadCycleVariant

if TYPE_CHECKING:
    from ..cycle.budget_ledger import Ledger
    from ..index.cluster import Cluster
    from ..state.state import State


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """What became of a group in a placement.

    Attributes
    ----------
    placement : Placement
    cycles : tuple of Cycle
        The members that were tried, in order.
    refusal : str
        Why the placement is not feasible; empty where it is.
    error : bool
        Whether a member's cycle ended in an error, which ends the group's cycle.
    """

    placement: Placement
    cycles: tuple[Cycle, ...]
    refusal: str
    error: bool = False

    @property
    def assignment(self) -> dict[int, int]:
        """The members that the placement takes, with their nodes."""
        return {cycle.pod: cycle.node for cycle in self.cycles if cycle.outcome == "bound"}


def walk(
    variant: WorkloadCycleVariant, state: "State", info: PodGroupInfo, placement: Placement, ledger: "Ledger"
) -> Iterator[Cycle]:
    """Try the members one after another, and bind those that find a node in the placement.

    Each cycle is given before it is applied, so that its reasons can be read from the state.  The walk ends
    early when the rest can no longer be enough.
    """
    cluster = variant.cluster
    scheduled, remaining = len(info.scheduled), len(info.pods)
    hopeless: dict[int, tuple[int, Cycle]] = {}
    for i in info.pods:
        if scheduled + remaining < variant.needed(info):
            return
        cycle = _tried(cluster, state, i, hopeless) or find_node(
            framework_for(cluster, i), state, i, placement.nodes
        )
        yield cycle
        if cycle.error:
            return
        remaining -= 1
        if cycle.outcome == "bound":
            apply(state, cycle, ledger)
            scheduled += 1
        elif i not in state.nominated:
            hopeless[cluster.pods[i].cls] = state.version, cycle


def _tried(
    cluster: "Cluster", state: "State", i: int, hopeless: dict[int, tuple[int, Cycle]]
) -> Cycle | None:
    """Return the cycle of a pod like this one that has just failed, where nothing has changed since."""
    version, cycle = hopeless.get(cluster.pods[i].cls, (0, None))
    if cycle is None or version != state.version or i in state.nominated:
        return None
    return replace(cycle, pod=i)


def attempt(
    variant: WorkloadCycleVariant, state: "State", info: PodGroupInfo, placement: Placement, ledger: "Ledger"
) -> Attempt:
    """Try a group in a placement; the state is left as it was."""
    trial = state.copy()
    refused = assume(variant, trial, info, placement)
    if refused:
        return Attempt(placement, (), refused)
    cycles = _with_devices(walk(variant, trial, info, placement, ledger), placement)
    for plugin in reversed(variant.states):
        plugin.revert_placement(trial, info, placement)
    if cycles and cycles[-1].error:
        text = f"failed to schedule other pod from a pod group: {cycles[-1].error}"
        return Attempt(placement, cycles, text, error=True)
    placed = sum(cycle.outcome == "bound" for cycle in cycles)
    refusal = variant.progress(info, len(info.scheduled) + placed, len(info.pods) - len(cycles))
    return Attempt(placement, cycles, refusal)


def _with_devices(cycles: Iterable[Cycle], placement: Placement) -> tuple[Cycle, ...]:
    """Let the first member that is bound bring the placement's devices: later ones find them allocated."""
    done = list(cycles)
    first = next((k for k, cycle in enumerate(done) if cycle.outcome == "bound"), None)
    if first is not None and placement.allocations:
        done[first] = replace(done[first], allocations={**placement.allocations, **done[first].allocations})
    return tuple(done)


def assume(variant: WorkloadCycleVariant, state: "State", info: PodGroupInfo, placement: Placement) -> str:
    """Let the state plugins assume a placement; return why it cannot be, empty where it can."""
    for k, plugin in enumerate(variant.states):
        status = plugin.assume_placement(state, info, placement)
        if not status.ok:
            for earlier in reversed(variant.states[:k]):
                earlier.revert_placement(state, info, placement)
            return status.message
    return ""
