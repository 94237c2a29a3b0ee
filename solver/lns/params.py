"""Limits of large-neighbourhood search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class LnsParams:
    """How large neighbourhoods are, how long one is searched, and how operators are chosen.

    Attributes
    ----------
    first_size, min_size, max_size : int
        Nodes that an operator frees at first, at least and at most. In a round of 32 nodes, steps of 8 nodes
        took 0.2 s each at first; so they begin with 4.
    growth, shrinkage : float
        Factor of an operator's size after a step that was proven within `sub_limit`, and after one that was
        not proven or took more than `slow_factor` times as long.
    slow_factor : float
        See there.
    sub_limit, max_sub_limit : float
        Seconds in which a neighbourhood should be searched through: at first, and after long stalls.
    sub_limit_growth, sub_limit_shrinkage : float
        What it is multiplied by at a stall, and divided by after an improvement.
    step_time_factor : float
        Multiple of `sub_limit` at which a step is given up: few steps take longer, and those seldom find
        anything.
    stall_sweeps, stall_steps : int
        Steps without an improvement that make a stall: so many for each `first_size` nodes, plus a number.
    decay : float
        Factor of an operator's old experience at each of its steps.
    prior_gains, prior_seconds : float
        Improvements, and seconds spent on them, that each operator is credited with at first.
    exploration : float
        Share of the draws in which all operators are equally likely.
    group_preference : float
        Chance that the group operator draws among groups with unplaced members, where there are any.
    noises : tuple of float
        Scales of the noise on the room of nodes, one of them drawn for each neighbourhood.
    max_free : int
        Variables beside counts and evictions that a step frees, at most.
    max_distance : int
        Rows between a freed node and the farthest variable that is freed with it, at most.
    unhinted_every : int
        The hint is dropped on every n-th step, to diversify.
    max_empty_draws : int
        Neighbourhoods in a row in which nothing can change, after which there is taken to be no other.
    """

    first_size: int = 4
    min_size: int = 2
    max_size: int = 400
    growth: float = 1.02
    shrinkage: float = 0.9
    slow_factor: float = 3
    sub_limit: float = 0.02
    max_sub_limit: float = 0.5
    sub_limit_growth: float = 2
    sub_limit_shrinkage: float = 1.5
    step_time_factor: float = 4
    stall_sweeps: int = 10
    stall_steps: int = 50
    decay: float = 0.98
    prior_gains: float = 1.0
    prior_seconds: float = 2.0
    exploration: float = 0.2
    group_preference: float = 0.8
    noises: tuple[float, ...] = (0.1, 0.3)
    max_free: int = 20_000
    max_distance: int = 4
    unhinted_every: int = 2
    max_empty_draws: int = 50


DEFAULT: Final = LnsParams()
