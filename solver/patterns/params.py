"""Limits and shares of time for pricing, enumeration and recombination of patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class PatternParams:
    """How far patterns are priced, enumerated and recombined.

    Attributes
    ----------
    max_priced_types : int
        Node types up to which patterns are priced and recombined: each type is a search of its own in every
        round of pricing.
    smoothing : float
        Weight of the best duals so far in those that are priced next.
    slow_pricing : float
        Seconds of one pricing problem beyond which the next rounds may end at `pricing_gap`.
    pricing_gap : float
        Relative gap at which the search for a pattern may end once pricing is slow.
    max_enumerated_types : int
        Node types up to which attainment is decided over all patterns; with more it was not worth while.
    max_enumerated_patterns : int
        Patterns of all types up to which it is; with more it was not worth while.
    max_recombined_variables : int
        Variables of a model up to which the patterns of all solutions that a search passes are kept.
    recombination_share : float
        Share of the search's time that recombination may take.
    recombination_limit : float
        Seconds after which one attempt is given up.
    recombination_delay : float
        Seconds of the search before the first attempt.
    """

    max_priced_types: int = 64
    smoothing: float = 0.6
    slow_pricing: float = 0.1
    pricing_gap: float = 0.05
    max_enumerated_types: int = 8
    max_enumerated_patterns: int = 10_000
    max_recombined_variables: int = 60_000
    recombination_share: float = 0.2
    recombination_limit: float = 1.0
    recombination_delay: float = 0.1


DEFAULT: Final = PatternParams()
