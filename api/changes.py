"""Questions about changes of a cluster: what would help, what happens if, in which order, what to buy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..models.errors import KubestowError
from ..models.rebalance import GOALS
from .advice import Advice
from .arguments import listed, one_of, text, whole
from .clusters import Instance, snapshot_from
from .search import search_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..models.consolidation import Consolidation
    from ..models.drain import Drain
    from ..models.moves import MoveOptions
    from ..models.provision import Provision
    from ..models.rebalance import MoveGoal, Rebalance
    from ..models.suggest import SuggestDocument
    from ..models.what_if import WhatIf


def suggest(
    instance: Instance,
    name: str | None = None,
    *,
    alternatives: int = 3,
    others_may_wait: bool = False,
    **search: Any,
) -> Advice[SuggestDocument]:
    """Return the least change after which a pod or group is placed (docs/suggest.md); `search` as in `solve`.

    Parameters
    ----------
    name : str, optional
        A waiting pod or pod group; all that the best plan leaves out by default.
    alternatives : int
        How many suggestions are wanted at most.
    others_may_wait : bool
        Whether others may be left out or evicted for it.
    """
    from ..instances.what_if.apply import changed_by
    from ..solver.suggest.question import suggest as find
    from ..solver.suggest.suggest_options import SuggestOptions

    whole("alternatives", alternatives, 1)
    if name is not None:
        text("name", name)
    wanted = SuggestOptions(alternatives=alternatives, others_may_wait=others_may_wait)
    names = None if name is None else [name]
    return Advice(find(snapshot_from(instance), names, wanted, search_options(search), changed_by))


def what_if(instance: Instance, *changes: str | Path | dict[str, Any], **search: Any) -> Advice[WhatIf]:
    """Return the round before and after changes (docs/what-if.md); `search` as in `solve`.

    Parameters
    ----------
    *changes : str, Path or dict
        A scenario each: a file of changes, or what such a file holds.
    """
    from ..instances.what_if.apply import changed_by
    from ..instances.what_if.file import load_changes, read_changes
    from ..solver.what_if import what_if as solve_all

    for item in changes:
        if not isinstance(item, (dict, str, Path)):
            raise KubestowError(f"{item!r} is no scenario: a map of changes, or a file of them, is one")
    snapshot = snapshot_from(instance)
    sets = [
        read_changes("changes", item) if isinstance(item, dict) else load_changes(item) for item in changes
    ]
    return Advice(solve_all(snapshot, [changed_by(snapshot, each) for each in sets], search_options(search)))


def drain(
    instance: Instance,
    nodes: Sequence[str] | None = None,
    *,
    rolling: int | None = None,
    leave_unmovable: bool = False,
    moves: MoveOptions | None = None,
    **search: Any,
) -> Advice[Drain]:
    """Return an order in which nodes become empty, or a proof that there is none (docs/drain.md).

    Parameters
    ----------
    nodes : sequence of str, optional
        All nodes by default, which takes `rolling`.
    rolling : int, optional
        At most so many at a time, each of which comes back; all at once, to stay closed, by default.
    leave_unmovable : bool
        Whether pods that may not move stay; without it they make a drain impossible.
    moves : MoveOptions, optional
        Which pods may move beyond the rule, and which may not.
    """
    from ..models.moves import MoveOptions
    from ..solver.moves.chosen import chosen_nodes
    from ..solver.moves.drain import DrainOptions
    from ..solver.moves.drain import drain as find_order

    if nodes is not None:
        listed("nodes", nodes)
        nodes = tuple(nodes)
        if not nodes:
            raise KubestowError("nodes: must name one at least; None stands for all of them")
        for each in nodes:
            text("nodes", each)
    if rolling is not None:
        whole("rolling", rolling, 1)
    snapshot = snapshot_from(instance)
    wanted = DrainOptions(rolling=rolling, leave_unmovable=leave_unmovable, moves=moves or MoveOptions())
    chosen = chosen_nodes(snapshot, nodes or (), None, every=nodes is None)
    return Advice(find_order(snapshot, chosen, wanted, search_options(search)))


def rebalance(
    instance: Instance,
    goal: MoveGoal,
    *,
    max_moves: int | None = None,
    frontier: bool = False,
    price: str = "",
    moves: MoveOptions | None = None,
    **search: Any,
) -> Advice[Rebalance]:
    """Return the fewest moves of running pods that gain most (docs/rebalance.md); `search` as in `solve`.

    Parameters
    ----------
    goal : str
        admit, free-nodes, cheapest, spread or pack.
    max_moves : int, optional
    frontier : bool
        Whether the best gain for each number of moves is wanted, too.
    price : str
        The label or annotation of nodes that has their price; `cheapest` takes one.
    moves : MoveOptions, optional
        Which pods may move beyond the rule, and which may not.
    """
    from ..models.moves import MoveOptions
    from ..solver.rebalance.api import rebalance as search_moves
    from ..solver.rebalance.round import MoveWishes

    one_of("goal", goal, GOALS)
    if max_moves is not None:
        whole("max_moves", max_moves, 0)
    text("price", price)
    wishes = MoveWishes(goal=goal, most=max_moves, price=price, options=moves or MoveOptions())
    return Advice(search_moves(snapshot_from(instance), wishes, search_options(search), frontier=frontier))


def provision(
    instance: Instance, node_groups: Sequence[str], *, max_price: float | None = None, **search: Any
) -> Advice[Provision]:
    """Return the cheapest new nodes for the pods that wait (docs/provision.md); `search` as in `solve`.

    Parameters
    ----------
    node_groups : sequence of str
        Files of node groups, or names of bundled ones.
    max_price : float, optional
        Place the most important pods within this price.
    """
    from ..instances.node_groups.file import load_catalogue
    from ..instances.what_if.apply import changed_by
    from ..models.purchases import MOST_OF_ALL, in_millionths
    from ..solver.provision.answer import provision as cheapest

    listed("node_groups", node_groups)
    try:
        limit = None if max_price is None else in_millionths(max_price, MOST_OF_ALL)
    except ValueError as error:
        raise KubestowError(f"max_price: {error}") from None
    catalogue = load_catalogue(node_groups)
    return Advice(cheapest(snapshot_from(instance), catalogue, changed_by, limit, search_options(search)))


def consolidate(
    instance: Instance,
    node_groups: Sequence[str],
    *,
    group_label: str = "",
    moves: MoveOptions | None = None,
    **search: Any,
) -> Advice[Consolidation]:
    """Return which nodes to buy and which to return so that all costs least (docs/consolidate.md).

    Parameters
    ----------
    node_groups : sequence of str
        Files of node groups, or names of bundled ones.
    group_label : str
        The label with the name of a node's group; the templates' labels by default.
    moves : MoveOptions, optional
        Which pods may move beyond the rule, and which may not.
    **search
        As in `solve`.
    """
    from ..instances.node_groups.file import load_catalogue
    from ..instances.what_if.apply import changed_by
    from ..solver.consolidate.answer import consolidate as cheapest_left

    listed("node_groups", node_groups)
    text("group_label", group_label)
    catalogue = load_catalogue(node_groups)
    options = search_options(search)
    return Advice(cheapest_left(snapshot_from(instance), catalogue, changed_by, moves, group_label, options))
