"""The door: which nodes to buy and to return, as a document, every step replayed."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from ...models import tiers
from ...models.changes import RemoveNode
from ...models.consolidation import Consolidation, ConsolidationPlan, ReturnedNode
from ...models.daemons import is_daemon
from ...models.moves import MoveOptions
from ...models.progress import unwatched
from ...models.provision import BoughtNodes, PurchaseTier
from ...models.purchases import MILLION
from ...models.rebalance import Unmovable
from ..options import SolveOptions
from ..provision.trial import Market
from ..rebalance.decoding import in_batches, outcome_of
from ..rebalance.document import rebalancing
from ..rebalance.value import free_nodes
from .owned import owned_nodes, returnable, what_is_left
from .round import Ask
from .search import Search

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...framework.state.state import State
    from ...models.progress import Watch
    from ...models.purchases import Catalogue
    from ...models.snapshot import Snapshot
    from ..plans.objective import TierValue
    from ..provision.trial import Change
    from .search import Tried


def consolidate(
    snapshot: Snapshot,
    catalogue: Catalogue,
    change: Change,
    moves: MoveOptions | None = None,
    group_label: str = "",
    options: SolveOptions | None = None,
    *,
    begin: Callable[[str], None] = lambda words: None,
    watch: Watch = unwatched,
    waited: float = 0.0,
) -> Consolidation:
    """Find which nodes to buy and which to return so that all that runs and waits costs least.

    Parameters
    ----------
    change : callable
        Makes changes of a cluster (`instances.what_if.apply.changed_by`).
    moves : MoveOptions, optional
        Who may move beyond the rule, and who not.
    group_label : str
        The label whose value is the name of a node's group; empty for the labels of the templates.
    options : SolveOptions, optional
        `time_limit` is for everything but the replay. Nothing is evicted but to move.
    begin : callable
        Hears in words what is done next.
    waited : float
        Seconds that it took to read the input.

    Raises
    ------
    KubestowError
        Where a round needs what is not supported, or the groups' least numbers cannot be bought.
    ReplayFailure
        Where a plan does not pass its replay (a bug).
    """
    start = time.monotonic()
    options = options or SolveOptions()
    ask = question(snapshot, catalogue, change, moves or MoveOptions(), group_label, options, watch)
    found = Search(ask, start + options.time_limit, begin, watch).run()
    best = found.best
    at = best.at
    best = replace(best, best=in_batches(at.problem, best.best))
    plan = _plan(ask, best, found.bounds, watch)
    placed = {binding.pod for binding in plan.bindings}
    names = at.round.cluster.node_names
    return Consolidation(
        instance=snapshot.name,
        status="OPTIMAL" if all(tier.proven for tier in plan.tiers) else "FEASIBLE",
        price_now=ask.price_now / MILLION,
        priced=len(ask.owned),
        optimal=plan,
        heuristic=_plan(ask, found.heuristic, None, watch),
        waiting=tuple(sorted(pod for pod in ask.market.waiting if pod not in placed)),
        unmovable=tuple(
            Unmovable(
                pod=at.round.cluster.pods[i].key,
                node=names[at.round.cluster.pods[i].initial_node],
                reason=reason,
            )
            for i, reason in sorted(at.round.staying.items())
        ),
        changes=_changes(ask, best, plan),
        interrupted=found.interrupted,
        seconds=round(waited + time.monotonic() - start, 3),
    )


def question(
    snapshot: Snapshot,
    catalogue: Catalogue,
    change: Change,
    moves: MoveOptions,
    group_label: str,
    options: SolveOptions,
    watch: Watch = unwatched,
) -> Ask:
    """Put a question together; DaemonSets' pods that wait are left out: they come and go with their node."""
    pods = tuple(pod for pod in snapshot.pods if pod.spec.node_name or not is_daemon(pod))
    owned = owned_nodes(snapshot, catalogue, group_label)
    left = what_is_left(catalogue, owned)
    market = Market(replace(snapshot, pods=pods), left, options, change, watch=watch)
    return Ask(market, owned, returnable(catalogue, owned), moves)


def _plan(ask: Ask, tried: Tried, bounds: Mapping[str, int] | None, watch: Watch) -> ConsolidationPlan:
    """Replay a plan and write it down."""
    at, offers = tried.at, ask.market.catalogue.offers
    cluster = at.round.cluster
    told = rebalancing(at.round, tried.best, (), watch)
    end = outcome_of(at.problem, tried.best.moves)[1]
    free = free_nodes(cluster, at.round.mobility, end)
    standing = _standing(at.round.state, end)
    return ConsolidationPlan(
        bought=tuple(
            BoughtNodes(
                group=offer.group,
                zone=offer.zone,
                count=n,
                price=offer.price / MILLION,
                cost=n * offer.price / MILLION,
                nodes={
                    name: tuple(cluster.pods[i].key for i in standing.get(cluster.node_index[name], ()))
                    for name in names
                },
            )
            for offer, n, names in zip(offers, at.counts, at.bought.nodes, strict=True)
            if n
        ),
        returned=tuple(
            ReturnedNode(
                node=name,
                group=offers[ask.owned[name]].group,
                zone=offers[ask.owned[name]].zone,
                price=ask.price_of(name) / MILLION,
            )
            for n, name in enumerate(cluster.node_names)
            if free[n]
        ),
        price=next(tier.value for tier in tried.value.tiers if tier.name == tiers.PRICE) / MILLION,
        tiers=tuple(_tier(tier, (bounds or {}).get(tier.name)) for tier in tried.tiers),
        moves=told.moves,
        bindings=told.bindings,
        steps=told.steps,
        batches=told.batches,
    )


def _standing(before: State, end: State) -> dict[int, list[int]]:
    """Return the pods that came to each node."""
    found: dict[int, list[int]] = {}
    for i, (old, new) in enumerate(zip(before.node_of.tolist(), end.node_of.tolist(), strict=True)):
        if new >= 0 and new != old:
            found.setdefault(new, []).append(i)
    return found


def _tier(tier: TierValue, bound: int | None) -> PurchaseTier:
    unit = MILLION if tier.name == tiers.PRICE else 1
    return PurchaseTier(
        name=tier.name,
        sense=tier.sense,
        value=tier.value / unit,
        bound=None if bound is None else bound / unit,
        proven=bound == tier.value,
    )


def _changes(ask: Ask, best: Tried, plan: ConsolidationPlan) -> dict[str, object] | None:
    """Return what is bought and returned as changes of the cluster."""
    bought = ask.market.catalogue.change_set(best.at.counts)
    removed = tuple(RemoveNode(item.node) for item in plan.returned)
    if not bought.changes and not removed:
        return None
    title = "Nodes are bought and returned"
    changes = replace(bought, name="consolidation", title=title, changes=(*bought.changes, *removed))
    return changes.document()
