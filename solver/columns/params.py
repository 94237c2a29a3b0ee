"""Limits of the search by shares of devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class ColumnParams:
    """How large a round may be, and how far its columns are priced.

    Attributes
    ----------
    most_types : int
        Node types up to which it is tried: each is a search of its own in every round of pricing.
    most_patterns : int
        Patterns of one device, over all node types, up to which it is tried.
    most_weight : int
        Largest weight of a pod in a sum that keeps the order of the priorities.
    box : float
        How far duals may be at first from those known to be good, in pods: with 0.1 the first rounds of a
        round of 304 nodes priced columns of no use, with 0.004 the root took 5 s of processor time.
    box_growth : float
        What that is multiplied by each time that the box binds and no column helps.
    settled : float
        Pods a node that the box may stand for when it is looked whether the columns suffice without it: with
        0.001 pricing went on for 34 rounds in which they did, of 99, where all of openb's 8,152 pods fit.
    evenness : float
        What the mean of what is left adds to the worth of a pod when a relaxation is taken apart.
    priced_patterns, priced_each : int
        Patterns of a node type that columns are made of, and those with shares of each size at least: with
        all 1,500 of them most of a search for a column was presolve, which took 18 ms of processor time. With
        150 a round of 304 nodes ended a pod below its bound, with 300 it reached it in 7 s.
    pricing_limit : float
        Seconds for the best column of one node type.
    pricing_gap : float
        Part of its worth by which a column may miss the best one, as long as such columns help: three rounds
        of 304 nodes took 3.6 to 5.7 s of one clock to the bound with 0, 1.9 to 3.3 s with 0.001. With 0.01
        a column takes a fifth of the time, and twice as many rounds are needed.
    root_rounds, dive_rounds : int
        Rounds of pricing of the whole round, where time does not end it before, and each time that some
        columns of a dive are held.
    root_share : float
        Share of the time for the whole round, at most; the rest is for dives.
    spare_share : float
        Share of the time for columns that leave much room, where all pods fit in fractions; the rest is for
        columns that place as many as they can.
    freed_nodes : int
        Nodes that are filled anew in one dive after the first: with 6 to 20, half of them those that lose
        most, a round of 304 nodes went from 1,795 pods to its bound of 1,801 in 1 to 5 s of processor time;
        with 12 to 96 drawn evenly it did not in 12 s.
    freed_sizes : int
        How many numbers of nodes take turns while no plan is better: so many, twice as many, and so on.
    idle_dives : int
        Dives in a row without a better plan, after which there is no other.
    """

    most_types: int = 64
    most_patterns: int = 50_000
    most_weight: int = 1_000_000
    box: float = 0.004
    box_growth: float = 2.0
    settled: float = 0.02
    evenness: float = 0.1
    priced_patterns: int = 300
    priced_each: int = 4
    pricing_limit: float = 2.0
    pricing_gap: float = 0.001
    root_rounds: int = 400
    dive_rounds: int = 4
    root_share: float = 0.5
    spare_share: float = 0.6
    freed_nodes: int = 8
    freed_sizes: int = 2
    idle_dives: int = 100


DEFAULT: Final = ColumnParams()
