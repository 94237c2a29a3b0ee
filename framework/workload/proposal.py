"""KEP-5732 as first proposed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from ..rules.groups import Group
from .placement import Placement, PodGroupInfo
from .pod_count import most_fitting, pods_fitting
from .variants import NOT_WHOLE, Candidate, Rank, WorkloadCycleVariant

if TYPE_CHECKING:
    from ..state.state import State


class Proposal(WorkloadCycleVariant):
    """KEP-5732 as first proposed.

    A placement that takes every member beats all that do not; `minCount` decides whether one that does not is
    feasible at all.  Of those the one that holds most of `desiredCount` pods is best, then the one with the
    highest sum of scores, then the smallest name.  Groups make no room by preemption.
    """

    preempts: ClassVar[bool] = False

    def applies(self, group: Group) -> bool:
        """Only gangs and groups with a topology constraint."""
        return group.constrained

    def needed(self, info: PodGroupInfo) -> int:
        """`minCount`; without a gang any failing pod rejects the placement."""
        return info.group.min_count or len(info.scheduled) + len(info.pods)

    def enough(self, placements: Sequence[Placement]) -> int:
        """Every placement is scored."""
        return len(placements)

    def progress(self, info: PodGroupInfo, scheduled: int, remaining: int) -> str:
        """The words of 1.37 for a gang."""
        if info.group.min_count is None:
            return "" if scheduled == self.needed(info) else NOT_WHOLE
        return super().progress(info, scheduled, remaining)

    def choose(self, state: "State", info: PodGroupInfo, candidates: Sequence[Candidate]) -> Candidate:
        """Most members, most of the desired ones, highest score, smallest name."""
        ranks = [self.rank(state, info, candidate) for candidate in candidates]
        return candidates[ranks.index(max(ranks))]

    def most(self, state: "State", info: PodGroupInfo, placement: Placement) -> Rank:
        """Rank a placement as if it took every member where that scores best."""
        held = 0
        if info.group.desired_count is not None:
            held = self._held(info, most_fitting(self.cluster, state, info, placement))
        total = 0.0
        for scorer in self.scorers:
            total += scorer.weight * scorer.highest_score(state, info, placement)
        return len(info.pods), held, total

    def rank(self, state: "State", info: PodGroupInfo, candidate: Candidate) -> Rank:
        """Rank by the members taken, the desired ones held, and the sum of scores."""
        placement, assignment = candidate.placement, candidate.assignment
        held = 0
        if info.group.desired_count is not None:
            held = self._held(info, pods_fitting(self.cluster, state, info, placement, assignment))
        (total,) = self.totals(state, info, (candidate,))
        return len(assignment), held, total

    def _held(self, info: PodGroupInfo, fitting: int) -> int:
        """Return how many of the expected members a placement holds or has room for."""
        return min(info.group.desired_count or 0, len(info.scheduled) + fitting)
