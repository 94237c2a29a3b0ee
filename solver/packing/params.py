"""Limits of packing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class PackingParams:
    """How the pods of a side are chosen, how a node is filled, and when to give up.

    Attributes
    ----------
    most_types : int
        Types of nodes a side up to which it is tried, on average: with many, sums are seldom attained.
    quota_limit, quota_work : float
        Seconds for each step of the quotas, at most, and CP-SAT's deterministic time for it.
    pool, least_pool, most_pool : int
        Pods that a node is filled from: at first, where they have too many sums, and where they have too
        few. 26 of them have 67 million subsets, 2^13 in each half.
    brim : int
        Pods for which a node has room left when its filling begins; what it has beyond that is taken up by
        any.
    large_first : float
        How much sooner large pods are taken than small ones: small ones at the end have more subsets.
    few : int
        Fillings of a node beyond which the next nodes are to be filled more closely.
    closest : float
        Part of an even share of the slack that a node may leave, at least.
    tries : int
        Pools for one node, before some nodes are emptied again.
    most_emptied : int
        Nodes that are emptied where one cannot be filled, at most.
    restart : int
        Failures after which all nodes are emptied.
    last : int
        Nodes that are filled together in the end.
    most_listed, most_covered : int
        Patterns of these nodes, at most, and those that CP-SAT chooses from; with more one node is filled
        first.
    branches : int
        Patterns that are tried on that one.
    cover_work : float
        CP-SAT's deterministic time for such a choice.
    efforts : tuple of int
        Fillings for each node of a side, the last ones aside, after which a target is given up: few at
        first for each target, then more. With 16 nodes and no slack to speak of most took less than 25 a
        node, the longest one 110; with 32 nodes two or three.
    more_fillings : int
        How many times as many are tried next where a side has taken less time than its quotas: 300 nodes
        with 100 pods each have quotas after 1 s, fail with 3 fillings a node in 0.1 s, and are packed with
        30 in 0.5 s.
    most_assignments : int
        Assignments of a node that are tried for one class, where all its patterns are listed. With 32 nodes
        of four pods there are up to 730,000, in half a second of processor time.
    listing_seconds : float
        Time for counting nodes with which so many are tried; with less time fewer are, in proportion. With
        1 s for a round of 32 nodes of four pods, listing left none for plans better than greedy's.
    most_dived : int
        Patterns that a dive chooses from, at most: those that are worth most.
    dive_steps : int
        Relaxations of a dive, at most.
    refusals, most_back : int
        Patterns that are refused before steps are taken back, and how many steps at most.
    most_chosen : int
        Patterns up to which CP-SAT decides.
    choice_work : float
        CP-SAT's deterministic time for that.
    """

    most_types: int = 4
    quota_limit: float = 5.0
    quota_work: float = 0.5
    pool: int = 26
    least_pool: int = 12
    most_pool: int = 32
    brim: int = 8
    large_first: float = 0.5
    few: int = 20
    closest: float = 0.125
    tries: int = 4
    most_emptied: int = 6
    restart: int = 30
    last: int = 4
    most_listed: int = 20_000
    most_covered: int = 400
    branches: int = 3
    cover_work: float = 0.5
    efforts: tuple[int, ...] = (3, 30, 150)
    more_fillings: int = 4
    most_assignments: int = 3_000_000
    listing_seconds: float = 2.5
    most_dived: int = 5_000
    dive_steps: int = 150
    refusals: int = 6
    most_back: int = 8
    most_chosen: int = 3_000
    choice_work: float = 1.0


DEFAULT: Final = PackingParams()
