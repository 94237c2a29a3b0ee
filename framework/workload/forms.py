"""The two texts of the workload cycle.

A form says which groups have a cycle of their own, which plugins run, how many members a placement must take
to be feasible, how many feasible placements are looked for, and which of them wins.  A profile chooses its
form by `workloadCycle` among the arguments of GangScheduling.

Sources: KEP-5732; kube-scheduler schedule_one_podgroup.go (1.36 and later).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, ClassVar, cast

from ...models.config import GangSchedulingArgs, KubeSchedulerConfiguration, NodeResourcesFitArgs
from ..rules.groups import Group
from ..vocabulary import names
from .bin_packing import PlacementBinPacking
from .current_scores import NodeResourcesFitOfPlacement, PodGroupPodsCount
from .dra_test import DRATestPlugin
from .feasible import infeasible
from .interfaces import PlacementGenerator, PlacementScorer, PlacementState
from .placement import Assignment, Placement, PodGroupInfo
from .pod_count import PlacementPodCountScorer, most_fitting, pods_fitting
from .topology_placement import TopologyPlacement, TopologyPlacementGenerator

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


class Form(ABC):
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
        """Say whether a group has a cycle of its own; its pods are scheduled one by one otherwise."""

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
        """Say whether a refusal tells how many placements there were."""
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

    def totals(self, state: "State", info: PodGroupInfo, candidates: Sequence[Candidate]) -> list[float]:
        """Return the weighted sum of the scores of each candidate."""
        totals = [0.0] * len(candidates)
        for scorer in self.scorers:
            raw = [scorer.score_placement(state, info, c.placement, c.assignment) for c in candidates]
            for k, score in enumerate(scorer.normalize_scores(raw)):
                totals[k] += scorer.weight * score
        return totals


class Proposal(Form):
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
        """The current form's words for a gang."""
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


class Current(Form):
    """kube-scheduler 1.36 and later.

    A placement is feasible with `minCount` members, without a gang with one; the highest total wins, the
    smallest name among equals.
    """

    preempts: ClassVar[bool] = True

    def __init__(self, cluster: "Cluster", scorers: Sequence[PlacementScorer], percentage: int) -> None:
        super().__init__(cluster, (TopologyPlacementGenerator(cluster),), (), scorers)
        self._percentage = percentage

    def applies(self, group: Group) -> bool:
        """Every group."""
        return True

    def needed(self, info: PodGroupInfo) -> int:
        """`minCount`, 1 without a gang."""
        return info.group.quorum

    def enough(self, placements: Sequence[Placement]) -> int:
        """A percentage of the placements, at least one.

        Where none is configured it falls from 100 % to 10 % at 5,000 nodes over all placements, and never
        below 5 %.
        """
        percentage = self._percentage
        if not percentage:
            nodes = sum(int(placement.nodes.sum()) for placement in placements)
            percentage = max(5, 100 - nodes * 9 // 500)
        return max(1, len(placements) * min(percentage, 100) // 100)

    def counts_placements(self, info: PodGroupInfo) -> bool:
        """Say so also for a group without constraint, whose one placement is the whole cluster."""
        return self.cluster.gates.enabled("TopologyAwareWorkloadScheduling")

    def choose(self, state: "State", info: PodGroupInfo, candidates: Sequence[Candidate]) -> Candidate:
        """Highest total; scores are left out where there is no choice."""
        if len(candidates) == 1:
            return candidates[0]
        totals = self.totals(state, info, candidates)
        return candidates[totals.index(max(totals))]


def form_for(cluster: "Cluster", i: int) -> Form:
    """Return the form of the workload cycle that pod i's profile chooses."""
    scheduler = cluster.pods[i].scheduler
    return cluster.memo(("workload form", scheduler), partial(_make, cluster, scheduler))


def current_form(cluster: "Cluster", i: int) -> Form:
    """Return the current form for pod i's profile, whichever it chooses: no other one knows trees."""
    scheduler = cluster.pods[i].scheduler
    return cluster.memo(("current form", scheduler), partial(_current, cluster, scheduler))


def _current(cluster: "Cluster", scheduler: str) -> Form:
    profile = cluster.profiles[scheduler]
    fit = cast("NodeResourcesFitArgs", profile.args(names.NODE_RESOURCES_FIT))
    scorers = (
        NodeResourcesFitOfPlacement(cluster, fit.scoring_strategy.resources),
        PodGroupPodsCount(cluster),
    )
    own = profile.configured.percentage_of_placements_to_score
    configuration = cluster.snapshot.configuration or KubeSchedulerConfiguration()
    return Current(cluster, scorers, configuration.percentage_of_placements_to_score if own is None else own)


def _make(cluster: "Cluster", scheduler: str) -> Form:
    profile = cluster.profiles[scheduler]
    args = cast("GangSchedulingArgs", profile.args(names.GANG_SCHEDULING))
    if args.workload_cycle == "Current":
        return _current(cluster, scheduler)
    kinds = (DRATestPlugin, PlacementBinPacking, PlacementPodCountScorer)
    chosen = [kind(cluster) for kind in kinds if kind.name in args.placement_plugins]
    return Proposal(
        cluster,
        (TopologyPlacement(cluster), *(p for p in chosen if isinstance(p, PlacementGenerator))),
        [p for p in chosen if isinstance(p, PlacementState)],
        [p for p in chosen if isinstance(p, PlacementScorer)],
    )
