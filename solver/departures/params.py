"""Limits of the search for who leaves each node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class DepartureParams:
    """How many choices are listed, and how long prices are sought.

    Attributes
    ----------
    most_choices : int
        Choices of who leaves, of all types of nodes together, up to which they are listed.
    most_signatures : int
        Sets of classes that may stand on a node, beyond which all that stand on some node count for each.
    most_units : int
        Units of a resource that a node has; where the gcd of all requests is smaller, amounts are rounded
        down.
    scarce : float
        Part of what is free now that pods must ask for of a resource, beside the scarcest one, for it to
        count.
    most_rows : int
        Resources that count, at most; the pod slots are one.
    most_pods : float
        Pods a node, at most: with 10 a node the bound by sums is no worse.
    box, growth, shrinkage : float
        Radius of the box around the prices, in parts of them, and what it is multiplied by after prices that
        are worse than the best ones, and where the box alone holds the master.
    least_box : float
        Radius of the box at least, in victims for a pod of mean size: sums that say zero have no prices, and
        a part of nothing is nothing.
    most_groups : int
        Rows for the types of nodes in the master of a bound, at most: with one for each of 1,000 nodes prices
        took 3.5 s of processor time, with 100 they took 1.3 s.
    settled : float
        Distance of the master's value from the bound at which the prices are the best ones.
    rounds : int
        Prices that are tried for one tier.
    least_nodes : int
        Nodes from which plans are looked for.
    penalty : float
        What a pod of mean size that is left out costs a plan, in victims.
    price_share, dive_until : float
        Shares of a plan's time after which prices, and the dive, end: exchanges have the rest. On 3,000 nodes
        that are all different a dive takes 4 to 6 s, and nothing comes of one that ends at its first prices.
    most_excess : float
        How much dearer than the best column of its type a known one may be, in victims, that a dive begins
        with.
    dive_share, dive_rounds, dive_rise : float, int, float
        Share of the free nodes whose columns are held in a step of the dive, at least; how often columns are
        found in one; how far the master's value may rise.
    exchanged, exchange_work, exchange_stall : int, float, int
        Nodes whose columns are chosen together, CP-SAT's deterministic time for it, and such steps without a
        gain after which it ends: with 40 nodes most steps were not solved in twice that time.
    """

    most_choices: int = 400_000
    most_signatures: int = 16
    most_units: int = 4_000
    scarce: float = 0.6
    most_rows: int = 2
    most_pods: float = 8.0
    box: float = 0.1
    least_box: float = 0.5
    most_groups: int = 100
    growth: float = 2.0
    shrinkage: float = 0.7
    settled: float = 0.01
    rounds: int = 40
    least_nodes: int = 20
    penalty: float = 4.0
    price_share: float = 0.3
    dive_until: float = 0.8
    most_excess: float = 0.25
    dive_share: float = 0.1
    dive_rounds: int = 2
    dive_rise: float = 0.5
    exchanged: int = 25
    exchange_work: float = 0.2
    exchange_stall: int = 60


DEFAULT: Final = DepartureParams()
