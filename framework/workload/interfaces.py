"""The extension points of a workload cycle.

Source: KEP-5732, "New Plugin Interfaces"; the current form has the first and the last of them, as
PlacementGeneratePlugin and PlacementScorePlugin.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, ClassVar

from ..vocabulary.status import Status
from .placement import Assignment, Placement, PodGroupInfo

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


class PlacementPlugin(ABC):
    """A plugin of a workload cycle; made once for each profile, it keeps nothing about a cycle."""

    name: ClassVar[str]

    def __init__(self, cluster: "Cluster") -> None:
        self.cluster = cluster


class PlacementGenerator(PlacementPlugin):
    """Finds the placements that come into question."""

    @abstractmethod
    def generate_placements(
        self, state: "State", info: PodGroupInfo, parents: Sequence[Placement]
    ) -> Sequence[Placement] | Status:
        """Divide the parents, in order; a `Status` where the group can be nowhere at all."""


class PlacementState(PlacementPlugin):
    """Lets the cluster look as if a placement had been chosen."""

    @abstractmethod
    def assume_placement(self, state: "State", info: PodGroupInfo, placement: Placement) -> Status:
        """Change the state; what does not succeed changes nothing and rules the placement out."""

    @abstractmethod
    def revert_placement(self, state: "State", info: PodGroupInfo, placement: Placement) -> Status:
        """Take back what `assume_placement` changed."""


class PlacementScorer(PlacementPlugin):
    """Ranks the placements that take the group."""

    weight: ClassVar[int] = 1

    @abstractmethod
    def score_placement(
        self, state: "State", info: PodGroupInfo, placement: Placement, assignment: Assignment
    ) -> float:
        """Score one placement; the state is as before the group, higher is better."""

    def highest_score(self, state: "State", info: PodGroupInfo, placement: Placement) -> float:
        """Return a score that no assignment in a placement can beat, before normalisation."""
        return inf

    def normalize_scores(self, scores: Sequence[float]) -> Sequence[float]:
        """Bring the scores of all placements onto one scale."""
        return scores
