"""A round with moves: the cluster with a pod that waits for each running pod that may move."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from ...encoders.mobility import Mobility
from ...framework.build import build_cluster
from ...framework.rules.eviction_budgets import charged, eviction_budgets
from ...framework.rules.movable import WORDS
from ...framework.rules.supported import require_supported
from ...framework.state.state import State
from ...models.errors import KubestowError
from ...models.eviction_limits import EvictionLimits
from ...models.moves import MoveOptions
from ...models.progress import Watch, unwatched
from ..moves.moving import Moving, moving_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...framework.index.cluster import Cluster
    from ...framework.vocabulary.arrays import Ints
    from ...models.node import Node
    from ...models.rebalance import MoveGoal
    from ...models.snapshot import Snapshot


_DIGITS: Final = 9
_MOST_PRICE: Final = 10**15
"""The finest price, and the most of all nodes together in units of their last digit."""


@dataclass(frozen=True, kw_only=True)
class MoveWishes:
    """What is asked.

    Attributes
    ----------
    goal : MoveGoal
    most : int or None
        Most moves.
    memory : bool
        Whether fewer bytes moved break ties of equally many moves.
    price : str
        The label or annotation of nodes that has their price; empty for none.
    options : MoveOptions
        Who may move beyond the rule, and who not.
    waiting : bool
        Whether pods that wait are placed first where the goal is another one.
    """

    goal: MoveGoal
    most: int | None = None
    memory: bool = False
    price: str = ""
    options: MoveOptions = field(default_factory=MoveOptions)
    waiting: bool = False


@dataclass(frozen=True, eq=False)
class MoveRound:
    """A round in which pods may move.

    Attributes
    ----------
    plain : Cluster
        Without replacements; its pods have the same numbers with them.
    moving : Moving
    mobility : Mobility
        The same for the encoders, with what is asked.
    staying : mapping
        Running pod that may not move -> why; those that belong to their node or are about to go are left out.
    price_unit : str or None
    """

    plain: Cluster
    moving: Moving
    mobility: Mobility
    staying: Mapping[int, str]
    price_unit: str | None = None

    @property
    def cluster(self) -> Cluster:
        """The cluster with replacements."""
        return self.moving.cluster

    @cached_property
    def state(self) -> State:
        """The state of the input."""
        return State.initial(self.cluster)


def move_round(snapshot: Snapshot, wishes: MoveWishes, watch: Watch = unwatched) -> MoveRound:
    """Find who may move, and make the pods that come in their place.

    Pods that wait are part of the round only where they are to be admitted.

    Raises
    ------
    KubestowError
        Where a price is missing or is no number, or the round needs what is not supported.
    """
    prices, unit = _prices(snapshot.nodes, wishes)
    if wishes.goal != "admit" and not wishes.waiting:
        snapshot = replace(snapshot, pods=tuple(p for p in snapshot.pods if p.spec.node_name))
    snapshot = replace(snapshot, limits=EvictionLimits(evictions=0))
    plain = build_cluster(snapshot, watch)
    require_supported(plain)
    shut = _shut(plain)
    moving = moving_in(plain, wishes.options, lambda pod, node: plain.pod_index[pod] not in shut, watch)
    blocking = moving.movable.blocking()
    staying = {i: WORDS[reason] for i, reason in blocking.items()}
    staying |= {i: words for i, words in shut.items() if i not in moving.movable.reasons}
    kept = np.zeros(plain.n_nodes, dtype=np.bool_)
    kept[[plain.pods[i].initial_node for i in staying]] = True
    mobility = Mobility(
        goal=wishes.goal,
        successors=moving.replacement,
        charges={i: tuple(b.index for b in charged(plain, i)) for i in moving.replacement},
        allowed=tuple(budget.allowed for budget in eviction_budgets(plain)),
        kept=kept,
        prices=prices,
        most=wishes.most,
        memory=wishes.memory,
        waiting=wishes.waiting,
    )
    return MoveRound(plain, moving, mobility, staying, unit)


def _shut(cluster: Cluster) -> dict[int, str]:
    """Return the running pods that a budget lets nobody evict, with the words for it."""
    found = {}
    for i in cluster.bound:
        budget = next((b for b in charged(cluster, i) if b.allowed < 1), None)
        if budget is not None:
            found[i] = f"budget {budget.key} allows no disruption"
    return found


def _prices(nodes: tuple[Node, ...], wishes: MoveWishes) -> tuple[Ints | None, str | None]:
    """Return the prices of nodes as whole numbers, and one unit of them."""
    if not wishes.price:
        return None, None
    prices = [_price(node, wishes.price) for node in nodes]
    digits = max((-int(p.as_tuple().exponent) for p in prices), default=0)
    digits = max(digits, 0)
    if digits > _DIGITS or sum(prices) * 10**digits > _MOST_PRICE:
        raise KubestowError(
            f"{wishes.price}: prices of more than {_DIGITS} decimals, or of more than 10^15 of the last one "
            "in all, are too fine to be added up exactly"
        )
    whole = [int(p.scaleb(digits)) for p in prices]
    return np.array(whole, dtype=np.int64), str(Decimal(1).scaleb(-digits))


def _price(node: Node, key: str) -> Decimal:
    text = {**node.metadata.annotations, **node.metadata.labels}.get(key)
    if text is None:
        raise KubestowError(f"Node {node.name}: no label or annotation {key}, which --price names")
    try:
        price = Decimal(text)
    except InvalidOperation:
        raise KubestowError(f"Node {node.name}: {key}: '{text}' is not a price such as 0.192") from None
    if not price.is_finite() or price < 0:
        raise KubestowError(f"Node {node.name}: {key}: '{text}' is not a price such as 0.192")
    return price
