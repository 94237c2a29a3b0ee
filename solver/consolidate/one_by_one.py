"""One node at a time: what waits is placed as an autoscaler orders, then each node deleted or replaced.

A node is deleted if all its pods find room on others that are kept, else replaced by one cheaper node that
takes what finds no room; the least loaded for their price come first, and no pod moves twice. That is how
Karpenter consolidates single nodes.

Source: kubernetes-sigs/karpenter pkg/controllers/disruption/singlenodeconsolidation.go.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from ..plans.apply import apply_moves
from ..provision.estimate import Estimator
from ..provision.sample import sample
from ..rebalance.starts import candidates, emptied, first
from ..rebalance.value import free_nodes
from .round import BoughtRound

if TYPE_CHECKING:
    from ...models.progress import Watch
    from ..provision.trial import Counts
    from .round import Ask, Named


class OneByOne:
    """The heuristic.

    Attributes
    ----------
    at : BoughtRound
        The purchase so far.
    moves : list
        What is done so far, by names.
    """

    def __init__(self, ask: Ask, least: Counts, watch: Watch, until: float) -> None:
        self._ask, self._watch, self._until = ask, watch, until
        self.at = BoughtRound(ask, self._ordered(least), watch)
        self.moves: list[Named] = self.at.named(self.at.greedy())

    def run(self) -> None:
        """Go over the nodes once."""
        names = self.at.round.cluster.node_names
        for name in [names[node] for node, _ in candidates(self.at.problem)]:
            if time.monotonic() > self._until:
                return
            if name not in {target for _, _, target in self.moves}:
                self._consider(name)

    def _ordered(self, least: Counts) -> Counts:
        """Return what an autoscaler orders for the pods that wait."""
        market = self._ask.market
        if not market.waiting or not market.catalogue.offers:
            return least
        estimator = Estimator(market, sample(market), least, None)
        ordered = estimator.order("price", math.inf if estimator.small else self._until)
        return least if ordered is None else ordered

    def _consider(self, name: str) -> None:
        """Delete a node, or replace it by the cheapest node that serves."""
        if self._without(self.at, name):
            return
        market, counts = self._ask.market, self.at.counts
        price = self._ask.price_of(name)
        for k in sorted(range(len(counts)), key=lambda k: (market.catalogue.offers[k].price, k)):
            more = (*counts[:k], counts[k] + 1, *counts[k + 1 :])
            if market.catalogue.offers[k].price >= price or time.monotonic() > self._until:
                return
            if market.catalogue.allows(more) and self._without(
                BoughtRound(self._ask, more, self._watch), name
            ):
                return

    def _without(self, at: BoughtRound, name: str) -> bool:
        """Empty a node after a purchase, if that can be done."""
        problem, cluster = at.problem, at.round.cluster
        done = at.numbered(self.moves)
        state = problem.state.copy()
        apply_moves(cluster, state, done)
        node = cluster.node_index[name]
        pods = dict(candidates(problem)).get(node)
        if pods is None:
            return False
        within = ~free_nodes(cluster, at.round.mobility, state)
        within[node] = False
        steps = emptied(problem, state, pods, np.asarray(within), first)
        if steps is None:
            return False
        self.at = at
        self.moves += at.named(steps)
        return True
