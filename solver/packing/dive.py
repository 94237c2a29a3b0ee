"""Diving: patterns are held one after another where the linear relaxation takes them most.

What is whole in the relaxation is held at once. Where the relaxation of what is left takes more nodes than
are left, the next pattern is tried, and after a few of them some steps are taken back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .covering import TOLERANCE

if TYPE_CHECKING:
    from ...framework.vocabulary.arrays import Ints
    from .covering import Covering, Relaxation, Relaxed
    from .params import PackingParams


@dataclass
class _Step:
    """Where a dive stands: what is left, its relaxation, and patterns that are not to be held here."""

    demand: Ints
    held: int
    relaxed: Relaxed
    refused: set[int] = field(default_factory=set)


def dive(
    covering: Covering, relaxation: Relaxation, seed: int, params: PackingParams, until: float
) -> list[int] | None:
    """Look for patterns, one for each node or fewer, that cover enough; None where none were found.

    Parameters
    ----------
    relaxation : Relaxation
        Of the same covering.
    """
    random = np.random.default_rng(seed)
    root = relaxation.solve(covering.sizes, until, covering.nodes)
    if root is None:
        return None
    steps, held = [_Step(covering.sizes, 0, root)], list[int]()
    for _ in range(params.dive_steps):
        here = steps[-1]
        if here.relaxed.nodes < TOLERANCE:
            return held
        chosen = _chosen(here)
        if not chosen or len(here.refused) > params.refusals:
            back = int(random.integers(1, params.most_back + 1))
            del steps[max(len(steps) - back, 1) :]
            here = steps[-1]
            if len(held) == here.held:
                return None  # nothing is left to be tried at the root
            here.refused.add(held[here.held])
            del held[here.held :]
            continue
        demand = np.maximum(here.demand - covering.patterns[chosen].sum(axis=0, dtype=np.int64), 0)
        relaxed = relaxation.solve(demand, until, covering.nodes - here.held - len(chosen))
        if relaxed is None:
            here.refused.update(chosen)
            continue
        held += chosen
        steps.append(_Step(demand, len(held), relaxed))
    return None


def _chosen(here: _Step) -> list[int]:
    """Return what is whole, or else the pattern that is taken most; none where all are refused."""
    some = {p: n for p, n in here.relaxed.taken.items() if n > TOLERANCE and p not in here.refused}
    whole = [p for p, n in some.items() for _ in range(int(n + TOLERANCE))]
    return whole or sorted(some, key=lambda p: (-some[p], p))[:1]
