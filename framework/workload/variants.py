"""What the texts of the workload cycle have in common.

A variant says which groups have a cycle of their own, which plugins run, how many members a placement must
take to be feasible, how many feasible placements are looked for, and which of them wins.

Sources: KEP-5732; kube-scheduler schedule_one_podgroup.go (1.36 and later).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, ClassVar

from ..rules.groups import Group
from .feasible import infeasible
from .interfaces import PlacementGenerator, PlacementScorer, PlacementState
from .placement import Assignment, Placement, PodGroupInfo

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State

NOT_WHOLE = "pod group is unschedulable"
NOBODY = "no pods were schedulable"


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A feasible placement, with the nodes of the members that it takes."""

    placement: Placement
    assignment: Assignment


Rank = tuple[float, ...]
"""Higher is better; among equals the smallest name."""


class WorkloadCycleVariant(ABC):
    """A text of the workload cycle, for one profile of one cluster."""

    preempts: ClassVar[bool]

    def __init__(
        self,
        cluster: "Cluster",
        generators: Sequence[PlacementGenerator],
        states: Sequence[PlacementState],
        scorers: Sequence[PlacementScorer],
    ) -> None:
        self.cluster = cluster
        self.generators = tuple(generators)
        self.states = tuple(states)
        self.scorers = tuple(scorers)

    @abstractmethod
    def applies(self, group: Group) -> bool:
        """Whether a group has a cycle of its own; its pods are scheduled one by one otherwise."""

    @abstractmethod
    def needed(self, info: PodGroupInfo) -> int:
        """Return how many members must stand for a placement to be feasible, those that run among them."""

    @abstractmethod
    def enough(self, placements: Sequence[Placement]) -> int:
        """Return after how many feasible placements the search ends."""

    @abstractmethod
    def choose(self, state: "State", info: PodGroupInfo, candidates: Sequence[Candidate]) -> Candidate:
        """Return the best of at least one feasible placement, given in the order of their names."""

    def most(self, state: "State", info: PodGroupInfo, placement: Placement) -> Rank:
        """Return a rank that no assignment in a placement can beat, where `choose` goes by rank."""
        return (inf,)

    def rank(self, state: "State", info: PodGroupInfo, candidate: Candidate) -> Rank:
        """Return the rank of a candidate, where `choose` goes by rank."""
        return ()

    def counts_placements(self, info: PodGroupInfo) -> bool:
        """Whether a refusal tells how many placements there were."""
        return bool(info.group.topology_keys)

    def progress(self, info: PodGroupInfo, scheduled: int, remaining: int) -> str:
        """Say why a placement is not, or not yet, feasible; empty where it is.

        Parameters
        ----------
        info : PodGroupInfo
        scheduled : int
            Members that stand by now.
        remaining : int
            Members that are still to be tried.
        """
        refusal = infeasible(self.needed(info), scheduled, remaining)
        if refusal:
            return refusal
        return NOBODY if not remaining and scheduled == len(info.scheduled) else ""

    def scores(
        self, state: "State", info: PodGroupInfo, candidates: Sequence[Candidate]
    ) -> list[dict[str, float]]:
        """Return the normalised and weighted scores of each candidate, by plugin."""
        found: list[dict[str, float]] = [{} for _ in candidates]
        for scorer in self.scorers:
            raw = [scorer.score_placement(state, info, c.placement, c.assignment) for c in candidates]
            for scores, score in zip(found, scorer.normalize_scores(raw), strict=True):
                scores[scorer.name] = scorer.weight * score
        return found

    def totals(self, state: "State", info: PodGroupInfo, candidates: Sequence[Candidate]) -> list[float]:
        """Return the weighted sum of the scores of each candidate."""
        return [sum(scores.values(), 0.0) for scores in self.scores(state, info, candidates)]
