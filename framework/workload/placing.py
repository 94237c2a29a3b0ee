"""The cycle of the proposal and of 1.37: a group is tried where it may win, and bound in the best placement.

It is one attempt: either enough members find a node in one placement, or nobody is placed.

Sources: KEP-5732, "Scheduling Algorithm Phases"; kube-scheduler schedule_one_podgroup.go (1.37).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cycle.candidate_cost import Candidate as NodeVictims
from ..cycle.cycle import Cycle, complete
from ..cycle.preemption import Preemption
from ..cycle.runtime import framework_for
from ..vocabulary.message import NO_NODES
from ..vocabulary.status import Code, Status
from .attempt import Attempt, assume, attempt, walk
from .outcome import GroupCycle, Member
from .placement import Placement, PodGroupInfo
from .preemption import GroupPreemption, preempt_for_group
from .prefilter import Room
from .variants import Candidate, Rank, WorkloadCycleVariant

if TYPE_CHECKING:
    from ..cycle.budget_ledger import Ledger
    from ..state.state import State

WAITING = "pod group is waiting for preemption to complete"


@dataclass(frozen=True, slots=True, eq=False)
class PlacedCycle(GroupCycle):
    """What happened to a group.

    Attributes
    ----------
    attempt : Attempt or None
        In the chosen placement; where no placement is feasible, in the first one.  None where there was none.
    preemption : GroupPreemption or None
        The room that is made for the group.
    """

    attempt: Attempt | None = None
    preemption: GroupPreemption | None = None

    @property
    def placement(self) -> str | None:
        """The name of the attempt's placement."""
        return None if self.attempt is None else self.attempt.placement.name

    def departures(self) -> Iterator[tuple[int, int]]:
        """Return the victims on a member's node with that member, those elsewhere with the first one."""
        for i, victims in self.preemption.serves.items() if self.preemption is not None else ():
            yield from ((j, i) for j in victims)

    def members(self, state: "State", ledger: "Ledger") -> Iterator[Member]:
        """Tell what the cycle means for each pod, in the order in which they were tried."""
        tried = 0
        if self.attempt is not None:
            trial = state.copy()
            placement = self.attempt.placement
            if not assume(self.variant, trial, self.info, placement):
                for own in walk(self.variant, trial, self.info, placement, ledger):
                    tried += 1
                    complete(framework_for(self.variant.cluster, own.pod), trial, own)
                    message = own.message(self.variant.cluster.n_nodes)
                    kept = replace(own, allocations=self.attempt.cycles[tried - 1].allocations)
                    yield self._of_group(kept, message)
        for i in self.info.pods[tried:]:
            yield self._of_group(Cycle(i), "")

    def outcomes(self) -> Sequence[Cycle]:
        """Return the members' cycles; those that room is made for are nominated."""
        made = self.preemption
        if self.placed and self.attempt is not None:
            tried = {own.pod for own in self.attempt.cycles}
            return [*self.attempt.cycles, *(Cycle(i) for i in self.info.pods if i not in tried)]
        if made is not None:
            return [nominated_member(made, Cycle(i)) for i in made.assignment]
        return [Cycle(i) for i in self.info.pods]

    def document(self, state: "State", ledger: "Ledger") -> dict[str, Any] | None:
        """Write the placement that the members' cycles are of: the others' outcomes are not kept."""
        cluster, tried = self.variant.cluster, self.attempt
        if self.error and tried is None and self.info.group.waits is not None:
            return None
        placements = []
        if tried is not None:
            nodes = [
                name for name, inside in zip(cluster.node_names, tried.placement.nodes, strict=True) if inside
            ]
            status = "Error" if tried.error else "Unschedulable" if tried.refusal else "Success"
            where = [
                {
                    "pod": cluster.pods[own.pod].key,
                    "node": cluster.node_names[own.node] if own.node >= 0 else None,
                }
                for own in tried.cycles
            ]
            placements.append(
                {"name": tried.placement.name, "nodes": nodes, "status": status, "members": where}
            )
        return {
            "podGroup": self.info.group.key,
            "pods": [cluster.pods[i].key for i in self.info.pods],
            "placements": placements,
            "placement": self.placement if self.placed else None,
            "result": self._result,
            **({} if self.placed else {"reason": "SchedulerError" if self.error else "Unschedulable"}),
            **({} if self.placed else {"message": self.refusal}),
            "victims": [cluster.pods[j].key for j in self.preemption.victims] if self.preemption else [],
        }

    @property
    def _result(self) -> str:
        if self.error:
            return "error"
        if self.preemption is not None:
            return "waitingOnPreemption"
        return "scheduled" if self.placed else "unschedulable"

    def _of_group(self, own: Cycle, message: str) -> Member:
        """Turn a member's own cycle into what the group's outcome makes of it."""
        if self.error:
            text = own.error or self.refusal
            failed = replace(own, outcome="unschedulable", node=-1, error=text)
            return self.told(failed, text, of_group=not own.error)
        if self.placed:
            return self.told(own, message)
        made = self.preemption
        if made is not None and own.pod in made.assignment:
            return self.told(nominated_member(made, own), self.refusal, of_group=True)
        left = replace(own, outcome="unschedulable", node=-1)
        return self.told(left, message or self.refusal, of_group=not message)


def place_group(
    variant: WorkloadCycleVariant, state: "State", info: PodGroupInfo, ledger: "Ledger"
) -> PlacedCycle:
    """Try to place a group; changes nothing.

    Parameters
    ----------
    variant : WorkloadCycleVariant
    state : State
        With the nominations that count.
    info : PodGroupInfo
        At least one member is to be placed.
    ledger : Ledger
        The budgets at this moment.
    """
    if not variant.cluster.n_nodes:
        return PlacedCycle(variant, info, NO_NODES, error=True)
    everywhere = Placement("", np.ones(variant.cluster.n_nodes, dtype=np.bool_))
    placements = generate(variant, state, info, everywhere)
    if isinstance(placements, Status):
        return PlacedCycle(variant, info, placements.message, error=placements.code is Code.ERROR)
    found = feasible_attempts(variant, state, info, placements, ledger)
    if not found:
        first = attempt(variant, state, info, placements[0], ledger)
        return _refused(variant, state, info, first, len(placements), ledger)
    failed = next((tried for tried in found if tried.error), None)
    if failed is not None:
        return PlacedCycle(variant, info, failed.refusal, error=True, attempt=failed)
    best = variant.choose(state, info, [Candidate(tried.placement, tried.assignment) for tried in found])
    chosen = next(tried for tried in found if tried.placement is best.placement)
    return PlacedCycle(variant, info, "", error=False, attempt=chosen)


def generate(
    variant: WorkloadCycleVariant, state: "State", info: PodGroupInfo, within: Placement
) -> Sequence[Placement] | Status:
    """Return the placements of a group in a part of the cluster; a `Status` where it can be nowhere."""
    found: Sequence[Placement] = (Placement("", within.nodes),)
    for generator in variant.generators:
        parts = generator.generate_placements(state, info, found)
        if isinstance(parts, Status):
            return parts
        found = parts
    nominated = [state.nominated[i] for i in info.pods if i in state.nominated]
    # The placement in which members are nominated comes first; the others keep their order.
    return sorted(found, key=lambda placement: not any(placement.nodes[n] for n in nominated))


def feasible_attempts(
    variant: WorkloadCycleVariant,
    state: "State",
    info: PodGroupInfo,
    placements: Sequence[Placement],
    ledger: "Ledger",
) -> list[Attempt]:
    """Return the attempts that hold and can win, by the placements' names; one alone after an error.

    A placement that cannot beat the best so far is left out.
    """
    enough = variant.enough(placements)
    room = Room(variant.cluster, state, info)
    needed = variant.needed(info) - len(info.scheduled)
    promising = [
        (variant.most(state, info, placement), k, placement)
        for k, placement in enumerate(placements)
        if not room.too_small(placement, needed)
    ]
    found: list[tuple[int, Attempt]] = []
    best: tuple[Rank, int] | None = None
    for most, k, placement in sorted(promising, key=lambda entry: entry[0], reverse=True):
        if best is not None and (most, -k) < best:
            continue
        tried = attempt(variant, state, info, placement, ledger)
        if tried.error:
            return [tried]
        if not tried.refusal:
            found.append((k, tried))
            if len(found) >= enough:
                break
            rank = variant.rank(state, info, Candidate(placement, tried.assignment))
            best = max(best, (rank, -k)) if best is not None else (rank, -k)
    return [tried for _, tried in sorted(found, key=lambda entry: entry[0])]


def _refused(
    variant: WorkloadCycleVariant,
    state: "State",
    info: PodGroupInfo,
    first: Attempt,
    n_placements: int,
    ledger: "Ledger",
) -> PlacedCycle:
    """Write why no placement is feasible, and look for room."""
    refusal = first.refusal
    if variant.counts_placements(info):
        refusal = f"0/{n_placements} placements are available, first placement status: {refusal}"
    if not variant.preempts:
        return PlacedCycle(variant, info, refusal, error=False, attempt=first)
    made = preempt_for_group(variant, state, info, ledger)
    if isinstance(made, str):
        return PlacedCycle(variant, info, f"{refusal}, {made}", error=False, attempt=first)
    return PlacedCycle(variant, info, WAITING, error=False, attempt=first, preemption=made)


def nominated_member(made: GroupPreemption, own: Cycle) -> Cycle:
    """Turn a member's own cycle into its nomination."""
    node, victims = made.assignment[own.pod], made.serves[own.pod]
    chosen = NodeVictims(node, victims, len(made.violations.intersection(victims)))
    return replace(own, outcome="nominated", node=node, preemption=Preemption(chosen))
