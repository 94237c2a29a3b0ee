"""A tree of groups is tried: placements level by level, children one after another, no way back.

A CompositePodGroup is tried in each of its placements, a part of the one that its parent is tried in; there
its children are tried in order, each beside what its siblings were given, and none is moved again. An early
child may so take what a later one needs, even more than it needs itself ("resource stealing"). A node is
feasible with enough children; what is below a node that is not feasible is taken back.

Sources: KEP-6012, "CompositePodGroup Scheduling Algorithm" and "Scheduling sequence for PodGroups";
kube-scheduler schedule_one_podgroup.go (1.37).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..cycle.cycle import Cycle, apply
from ..rules.composites import Composite
from ..rules.groups import Group
from ..vocabulary.status import Code, Status
from .attempt import Attempt, attempt
from .feasible import infeasible
from .placement import Placement, PodGroupInfo, info_of
from .placing import feasible_attempts, generate
from .variants import Candidate, WorkloadCycleVariant

if TYPE_CHECKING:
    from ..cycle.budget_ledger import Ledger
    from ..state.state import State


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What became of a node of a tree.

    Attributes
    ----------
    info : PodGroupInfo
    placement : Placement or None
        The one chosen; the first one where none is feasible, None where there is none.
    cycles : tuple of Cycle
        Of a PodGroup: the members that were tried in that placement, in order.
    children : tuple of Trial
        Of a CompositePodGroup: the children that were tried in that placement, in order.
    refusal : str
        Why the node is not feasible; empty where it is.
    error : bool
        Whether a member's cycle ended in an error, which ends the cycle of the tree.
    hopeless : bool
        Whether no eviction could make it feasible: members or groups are missing.
    """

    info: PodGroupInfo
    placement: Placement | None
    cycles: tuple[Cycle, ...] = ()
    children: tuple["Trial", ...] = ()
    refusal: str = ""
    error: bool = False
    hopeless: bool = False

    def kept(self) -> Iterator[Cycle]:
        """Yield the cycles of PodGroups that are feasible with all that is above them, up to this node."""
        if not self.refusal:
            yield from self.cycles
            for child in self.children:
                yield from child.kept()

    @property
    def assignment(self) -> dict[int, int]:
        """The members that the node takes, with their nodes."""
        return {cycle.pod: cycle.node for cycle in self.kept() if cycle.outcome == "bound"}


class TreeWalk:
    """Tries nodes of a tree; changes nothing.

    Parameters
    ----------
    variant : WorkloadCycleVariant
        Of the profile of the tree's pods.
    ledger : Ledger
        The budgets at this moment.
    gone : collection of int
        Members that were placed and evicted.
    """

    def __init__(self, variant: WorkloadCycleVariant, ledger: "Ledger", gone: Collection[int] = ()) -> None:
        self._variant = variant
        self._ledger = ledger
        self._gone = gone

    def attempt(self, state: "State", group: Group, within: Placement) -> Trial:
        """Try a node within the placement that its parent is tried in."""
        info = info_of(self._variant.cluster, state, group, self._gone)
        if not isinstance(group, Composite) and not info.pods:
            refusal = infeasible(self._variant.needed(info), len(info.scheduled), 0)
            return Trial(info, None, refusal=refusal, hopeless=bool(refusal))
        placements = generate(self._variant, state, info, within)
        if isinstance(placements, Status):
            return Trial(info, None, refusal=placements.message, error=placements.code is Code.ERROR)
        if isinstance(group, Composite):
            return self._composite(state, group, info, placements)
        return self._pod_group(state, info, placements)

    def _pod_group(self, state: "State", info: PodGroupInfo, placements: Sequence[Placement]) -> Trial:
        found = feasible_attempts(self._variant, state, info, placements, self._ledger)
        failed = next((tried for tried in found if tried.error), None)
        if failed is not None:
            return Trial(info, failed.placement, failed.cycles, refusal=failed.refusal, error=True)
        if found:
            chosen = self._best(state, info, found)
            return Trial(info, chosen.placement, chosen.cycles)
        first = attempt(self._variant, state, info, placements[0], self._ledger)
        if first.error:
            return Trial(info, first.placement, first.cycles, refusal=first.refusal, error=True)
        needed = self._variant.needed(info)
        if len(info.scheduled) >= needed:
            return Trial(info, first.placement, first.cycles)
        return Trial(
            info,
            first.placement,
            first.cycles,
            refusal=self._counted(info, first.refusal, len(placements)),
            hopeless=len(info.scheduled) + len(info.pods) < needed,
        )

    def _best(self, state: "State", info: PodGroupInfo, found: Sequence[Attempt]) -> Attempt:
        best = self._variant.choose(state, info, [Candidate(t.placement, t.assignment) for t in found])
        return next(tried for tried in found if tried.placement is best.placement)

    def _composite(
        self, state: "State", item: Composite, info: PodGroupInfo, placements: Sequence[Placement]
    ) -> Trial:
        enough = self._variant.enough(placements)
        candidates: list[Candidate] = []
        tried: list[Trial] = []
        for placement in placements:
            trial = self._in_placement(state, item, info, placement)
            tried.append(trial)
            if trial.error:
                return trial
            if not trial.refusal:
                candidates.append(Candidate(placement, trial.assignment))
                if len(candidates) >= enough:
                    break
        if not candidates:
            return replace(tried[0], refusal=self._counted(info, tried[0].refusal, len(placements)))
        best = self._variant.choose(state, info, candidates)
        return next(trial for trial in tried if trial.placement is best.placement)

    def _in_placement(
        self, state: "State", item: Composite, info: PodGroupInfo, placement: Placement
    ) -> Trial:
        """Try the children of a node one after another, each beside what those before it were given."""
        beside = state.copy()
        children: list[Trial] = []
        scheduled = hopeless = 0
        for child in item.children:
            if infeasible(item.needed_groups, len(item.children) - len(children) + scheduled, 0):
                break
            trial = self.attempt(beside, child, placement)
            children.append(trial)
            if trial.error:
                text = f"composite pod group evaluation failed due to child error: {trial.refusal}"
                return Trial(info, placement, children=tuple(children), refusal=text, error=True)
            if trial.refusal:
                hopeless += trial.hopeless
                continue
            scheduled += 1
            for cycle in trial.kept():
                if cycle.outcome == "bound":
                    apply(beside, cycle, self._ledger)
        return Trial(
            info,
            placement,
            children=tuple(children),
            refusal=infeasible(item.needed_groups, scheduled, len(item.children) - len(children)),
            hopeless=len(item.children) - hopeless < item.needed_groups,
        )

    def _counted(self, info: PodGroupInfo, refusal: str, placements: int) -> str:
        if not self._variant.counts_placements(info):
            return refusal
        return f"0/{placements} placements are available, first placement status: {refusal}"
