"""The bound that any prices give, in whole numbers, and the choice on each type of nodes that attains it.

With prices p_d >= 0 of the pods that are to be placed, β_b >= 0 of disruptions and ω_t >= 0 of the tiers
above, and z_d pods placed of each row d of the demand:

    L = min over z of Σ_d p_d·z_d − Σ_b β_b·allowed_b − Σ_t ω_t·held_t
        + Σ_n min over who leaves n of [Σ_v cost_v − worth of the best pods for the room that there is then]

where cost_v is the least of what tiers and budgets ask for v, within its budgets or violating one. The best
pods for a room are a knapsack in each resource that counts; the least of their worths holds.
Derivation: docs/proof.md, "Who leaves a node".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .knapsack import Knapsack

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...framework.vocabulary.arrays import Ints
    from .choices import Choices
    from .demand import Demand
    from .kinds import Kinds

# Prices are multiples of 1 / SCALE of one victim.
SCALE = 2**20


class Prices(NamedTuple):
    """Multiples of 1 / `SCALE`, none below 0: of pods by row of the demand, of budgets, of tiers by name."""

    pods: Ints
    budgets: Ints
    tiers: Mapping[str, int]


class Best(NamedTuple):
    """What prices come to: the bound times `SCALE`; by type the best choice, and its pods."""

    value: int
    choice: Ints
    pods: Ints


def evaluate(choices: Choices, kinds: Kinds, demand: Demand, held: Mapping[str, int], prices: Prices) -> Best:
    """Return the bound at some prices; tiers held are no worse than their values."""
    cost = kinds.costs(prices.tiers, prices.budgets)
    entries = np.concatenate(([0], np.cumsum(cost[choices.kind] * choices.number)))
    asked = entries[choices.start[1:]] - entries[choices.start[:-1]]
    lengths = np.diff(choices.first)
    sign = np.repeat(choices.signature, lengths)
    tops = choices.room.max(axis=1).tolist()
    sacks = [
        [
            Knapsack(need, most.tolist(), prices.pods.tolist(), top)
            for need, top in zip(demand.need.tolist(), tops, strict=True)
        ]
        for most in choices.most
    ]
    worth = np.array(
        [np.stack([mine[r].worth for mine in sacks])[sign, room] for r, room in enumerate(choices.room)]
    )
    tight = worth.argmin(axis=0)
    adds = asked - worth.min(axis=0)
    least = np.minimum.reduceat(adds, choices.first[:-1])
    attained = np.flatnonzero(adds == np.repeat(least, lengths))
    _, place = np.unique(np.repeat(np.arange(len(lengths)), lengths)[attained], return_index=True)
    chosen = attained[place]
    pods = np.zeros((len(chosen), len(demand.size)), dtype=np.int64)
    for s, mine in enumerate(sacks):
        for r, sack in enumerate(mine):
            here = np.flatnonzero((choices.signature == s) & (tight[chosen] == r))
            pods[here] = sack.pods(choices.room[r, chosen[here]])
    value = demand.cheapest(prices.pods) - int(prices.budgets @ kinds.allowed)
    value -= sum(prices.tiers.get(name, 0) * most for name, most in held.items())
    return Best(value + int(least @ choices.times), chosen, pods)
