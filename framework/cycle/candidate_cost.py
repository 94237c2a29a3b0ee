"""A node where a pod could be placed after evictions, and their cost.

Source: kube-scheduler 1.34.1 framework/preemption/preemption.go (pickOneNodeForPreemption).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from .importance import microseconds

if TYPE_CHECKING:
    from ..index.cluster import Cluster

OFFSET: Final = 2**31
"""Keeps sums of priorities positive, so that more victims weigh more."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node and the victims that would have to leave it.

    Attributes
    ----------
    node : int
    victims : tuple of int
        The most important first.
    violations : int
        How many of the victims break a budget, by upstream's own count for this node alone.
    """

    node: int
    victims: tuple[int, ...]
    violations: int


class CandidateCost(NamedTuple):
    """What a candidate costs; the smallest is the best.

    Attributes
    ----------
    violations : int
        How many of the victims break a budget.
    highest : int
        The priority of the most important victim.
    sum : int
        Over the victims' priorities, each with `OFFSET` added.
    victims : int
        How many they are.
    start : int
        When the first of the most important victims started, in microseconds, negative: later is better.
    name : int
        The place of the node's name.
    """

    violations: int
    highest: int
    sum: int
    victims: int
    start: int
    name: int


def cost_of(cluster: "Cluster", candidate: Candidate) -> CandidateCost:
    """Return the cost of a candidate: the smallest is chosen."""
    victims = [cluster.pods[j] for j in candidate.victims]
    highest = victims[0].priority
    return CandidateCost(
        violations=candidate.violations,
        highest=highest,
        sum=sum(victim.priority + OFFSET for victim in victims),
        victims=len(victims),
        start=-microseconds(min(victim.start for victim in victims if victim.priority == highest)),
        name=int(cluster.name_ranks[candidate.node]),
    )
