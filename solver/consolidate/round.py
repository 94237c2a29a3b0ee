"""The round after a purchase: nodes bought are paid, those that stand are returned where they become free."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.build import build_problem
from ...framework.dra.index import claim_keys
from ...framework.state.moves import Bind, Deallocate, Leave, Mark
from ..plans.greedy_baseline import greedy_outcome
from ..rebalance.decoding import outcome_of
from ..rebalance.round import MoveRound, MoveWishes, move_round
from ..rebalance.value import value_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...encoders.problem import Problem
    from ...framework.state.moves import Move
    from ...models.moves import MoveOptions
    from ...models.progress import Watch
    from ...models.snapshot import Snapshot
    from ..plans.outcome import Outcome
    from ..provision.trial import Bought, Counts, Market

    Named = tuple[type[Move], str, str]
    """A move by names: its kind, its pod (or claim), and the node of a binding."""


@dataclass(frozen=True, eq=False)
class Ask:
    """What is asked.

    Attributes
    ----------
    market : Market
        What can be bought, with the limits that the nodes that stand leave.
    owned : mapping
        Node that has a price -> place of its offer.
    returnable : frozenset of str
        Those of them that may be returned.
    moves : MoveOptions
    """

    market: Market
    owned: Mapping[str, int]
    returnable: frozenset[str]
    moves: MoveOptions

    def price_of(self, name: str) -> int:
        """Return the price of a node that stands, in millionths; 0 for one that has none."""
        return self.market.catalogue.offers[self.owned[name]].price if name in self.owned else 0

    @property
    def price_now(self) -> int:
        """What the nodes that stand cost together."""
        return sum(map(self.price_of, self.owned))

    def round_on(self, snapshot: Snapshot, bought: Bought, watch: Watch, *, paid: bool) -> MoveRound:
        """Return the round of moves on a cluster with nodes bought.

        Parameters
        ----------
        paid : bool
            Whether the new nodes cost their price in any case; else only those that are not free.
        """
        wishes = MoveWishes(goal="cheapest", options=self.moves, waiting=True)
        found = move_round(snapshot, wishes, watch)
        offers = self.market.catalogue.offers
        new = {name: offer.price for offer, names in zip(offers, bought.nodes, strict=True) for name in names}
        names = found.cluster.node_names
        stays = [name not in self.returnable and (paid or name not in new) for name in names]
        mobility = replace(
            found.mobility,
            prices=np.array([new.get(name, self.price_of(name)) for name in names], dtype=np.int64),
            kept=found.mobility.kept | np.array(stays, dtype=np.bool_),
        )
        return replace(found, mobility=mobility)


class BoughtRound:
    """A purchase, and the problem of the moves after it.

    Attributes
    ----------
    counts : tuple of int
    bought : Bought
    round : MoveRound
    """

    def __init__(self, ask: Ask, counts: Counts, watch: Watch) -> None:
        self.counts = counts
        self.bought = ask.market.stripped(counts)
        self.round = ask.round_on(self.bought.snapshot, self.bought, watch, paid=True)
        self._watch = watch

    @cached_property
    def problem(self) -> Problem:
        """What the encoders and simple rules read."""
        return build_problem(self.round.cluster, self._watch, self.round.mobility)

    def new_nodes(self, offer: int) -> list[int]:
        """Return the nodes that are bought of an offer, by number."""
        return [self.round.cluster.node_index[name] for name in self.bought.nodes[offer]]

    def greedy(self) -> tuple[Move, ...]:
        """Return how kube-scheduler places what waits."""
        found, _ = greedy_outcome(self.round.plain, watch=self._watch)
        return tuple(found.moves) if found.admissible else ()

    def outcome(self, moves: Sequence[Move]) -> Outcome:
        """Return the plan of some moves."""
        return outcome_of(self.problem, moves)[0]

    def costs(self, moves: Sequence[Move]) -> tuple[int, ...]:
        """Return what some moves are worth, tier by tier; less is better."""
        outcome, end = outcome_of(self.problem, moves)
        return value_of(self.problem.cluster, self.round.mobility, outcome, end).costs

    def named(self, moves: Iterable[Move]) -> list[Named]:
        """Return moves by names: numbers change from one purchase to the next."""
        cluster = self.round.cluster
        found: list[Named] = []
        for move in moves:
            match move:
                case Bind(pod, node):
                    found.append((Bind, cluster.pods[pod].key, cluster.node_names[node]))
                case Mark(pod) | Leave(pod):
                    found.append((type(move), cluster.pods[pod].key, ""))
                case Deallocate(claim):
                    found.append((Deallocate, claim_keys(cluster)[claim], ""))
        return found

    def numbered(self, moves: Iterable[Named]) -> list[Move]:
        """Return moves by number."""
        cluster = self.round.cluster
        found: list[Move] = []
        for kind, key, node in moves:
            if kind is Deallocate:
                found.append(Deallocate(claim_keys(cluster).index(key)))
            elif kind is Bind:
                found.append(Bind(cluster.pod_index[key], cluster.node_index[node]))
            else:
                i = cluster.pod_index[key]
                found.append(Mark(i) if kind is Mark else Leave(i))
        return found
