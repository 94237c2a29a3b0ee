"""A round with moves: the cluster with a pod that waits for each running pod that may move."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.mobility import Mobility
from ...framework.build import build_cluster
from ...framework.rules.budgets import budgets, budgets_of
from ...framework.rules.eviction_units import unit_group
from ...framework.rules.movable import movable, recreated
from ...framework.rules.supported import require_supported
from ...models.daemons import is_daemon, is_mirror
from ...models.errors import KubestowError
from ...models.progress import Watch, unwatched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...framework.index.cluster import Cluster
    from ...framework.vocabulary.arrays import Bools, Ints
    from ...models.node import Node
    from ...models.rebalance import MoveGoal
    from ...models.snapshot import Snapshot

#: Why a pod of a group that is evicted whole stays, and one of which a budget lets nobody be away.
OF_UNIT = "its pod group is evicted whole or not at all"


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
    """

    goal: MoveGoal
    most: int | None = None
    memory: bool = False
    price: str = ""


@dataclass(frozen=True, eq=False)
class MoveRound:
    """A round in which pods may move.

    Attributes
    ----------
    cluster : Cluster
        Its last pods are the successors; those before have the numbers that they have in `plain`.
    plain : Cluster
        The same without successors.
    mobility : Mobility
    staying : dict
        Running pod that may not move -> why.
    price_unit : str or None
    """

    cluster: Cluster
    plain: Cluster
    mobility: Mobility
    staying: Mapping[int, str] = field(default_factory=dict)
    price_unit: str | None = None


def move_round(snapshot: Snapshot, wishes: MoveWishes, watch: Watch = unwatched) -> MoveRound:
    """Find who may move, and make the pods that come in their place.

    Pods that wait are part of the round only where the goal is to admit them.

    Raises
    ------
    KubestowError
        Where a price is missing or is no number, or the round needs what is not supported.
    """
    prices, unit = _prices(snapshot.nodes, wishes)
    if wishes.goal != "admit":
        snapshot = replace(snapshot, pods=tuple(p for p in snapshot.pods if p.spec.node_name))
    snapshot = replace(snapshot, limits=replace(snapshot.limits, evictions=0))
    plain = build_cluster(snapshot, watch)
    require_supported(plain)
    free, staying = movable(plain)
    staying = dict(staying)
    movers = []
    for i in free:
        reason = _held(plain, i)
        if reason:
            staying[i] = reason
        else:
            movers.append(i)
    made = [recreated(plain.pods[i].pod) for i in movers]
    cluster = build_cluster(replace(snapshot, pods=(*snapshot.pods, *made)), watch)
    successors = {i: cluster.pod_index[pod.key] for i, pod in zip(movers, made, strict=True)}
    all_b = budgets(plain)
    mobility = Mobility(
        goal=wishes.goal,
        successors=successors,
        charges={i: tuple(b.index for b in budgets_of(plain, i) if plain.pods[i].pod.name not in b.disrupted) for i in movers},
        allowed=tuple(b.allowed for b in all_b),
        kept=_kept(plain, staying),
        prices=prices,
        most=wishes.most,
        memory=wishes.memory,
    )
    return MoveRound(cluster, plain, mobility, staying, unit)


def _held(cluster: Cluster, i: int) -> str:
    """Return why a pod that may move by itself does not; empty where it may."""
    if unit_group(cluster, i) is not None:
        return OF_UNIT
    name = cluster.pods[i].pod.name
    shut = next((b for b in budgets_of(cluster, i) if not b.allowed and name not in b.disrupted), None)
    return "" if shut is None else f"budget {shut.key} allows no disruption"


def _kept(cluster: Cluster, staying: Mapping[int, str]) -> Bools:
    """Return the nodes that a pod keeps which neither moves nor goes with its node; bool[N]."""
    kept = np.zeros(cluster.n_nodes, dtype=np.bool_)
    for i in staying:
        info = cluster.pods[i]
        if not is_daemon(info.pod) and not is_mirror(info.pod):
            kept[info.initial_node] = True
    return kept


def _prices(nodes: tuple[Node, ...], wishes: MoveWishes) -> tuple[Ints | None, str | None]:
    """Return the prices of nodes as whole numbers, and one unit of them."""
    if not wishes.price:
        return None, None
    prices = [_price(node, wishes.price) for node in nodes]
    digits = max((-int(p.as_tuple().exponent) for p in prices), default=0)
    digits = max(digits, 0)
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
