"""Moves: what they gain beside the rule that users have, the front, who moves where, and who may not."""

from collections import Counter
from decimal import Decimal
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from ..models import tiers
from ..models.plan import Tier
from ..models.rebalance import FrontPoint, Rebalance, Rebalancing
from .layout import section
from .section import Kind
from .view import EVERYTHING, View
from .words import count

_NONE: Final = "-"


def rebalance_report(found: Rebalance, view: View = EVERYTHING) -> RenderableType:
    """Return the report: the headline, tiers of both plans, the front, moves, bindings, freed nodes."""
    return Group(
        *_headline(found),
        *view.remark,
        *_tiers(found),
        *_front(found),
        *_moves(found.optimal, view),
        *_bindings(found.optimal, view),
        *_freed(found, view),
        *_unmovable(found, view),
    )


def _headline(found: Rebalance) -> list[RenderableType]:
    best = found.optimal
    most = "" if found.max_moves is None else f", at most {count(found.max_moves, 'move')}"
    batches = "1 batch" if best.batches == 1 else f"{best.batches} batches"
    what = [count(len(best.moves), "move") + (f" in {batches}" if best.moves else "")]
    if found.goal == "admit":
        what.append(f"{count(len(best.bindings), 'waiting pod')} placed")
    elif best.freed:
        what.append(f"{count(len(best.freed), 'node')} emptied")
    proof = "proven optimal" if best.proven else _gap(found)
    replayed = f"{found.stats.wall_seconds:.1f} s, replayed in {count(len(best.steps), 'step')}"
    return [
        Text.assemble((found.instance, "bold"), f": {found.goal}{most}"),
        Text(", ".join(what), style="bold green" if best.proven else "bold"),
        Text(f"{proof}, {replayed}"),
    ]


def _gap(found: Rebalance) -> str:
    tier = next(tier for tier in found.optimal.tiers if not tier.proven)
    value = _amount(found, tier, tier.value)
    if tier.bound is None:
        return f"not proven: {tier.name} is {value}, with no bound yet"
    side = "at most" if tier.sense == "max" else "at least"
    return f"not proven: {tier.name} is {value}, {side} {_amount(found, tier, tier.bound)}"


def _amount(found: Rebalance, tier: Tier, value: int) -> str:
    if tier.name == tiers.PRICE and found.price_unit is not None:
        return str(value * Decimal(found.price_unit))
    return str(value)


def _tiers(found: Rebalance) -> list[RenderableType]:
    rows: list[tuple[str | Text, ...]] = [
        (
            tier.name,
            _amount(found, tier, tier.value),
            "" if tier.bound is None else _amount(found, tier, tier.bound),
            _amount(found, other, other.value),
            Text("proven", style="green") if tier.proven else "",
        )
        for tier, other in zip(found.optimal.tiers, found.heuristic.tiers, strict=True)
        if tier.value or other.value or tier.bound or tier.sense == "max"
    ]
    columns = ("tier", "value", "bound", found.rule, "")
    return section("Tiers, most important first", columns, rows, (1, 2, 3), "tiers")


def _front(found: Rebalance) -> list[RenderableType]:
    if not found.front:
        return []
    names = [tier.name for tier in found.front[0].tiers if _tells(found.front, tier.name)]
    rows: list[tuple[str | Text, ...]] = [
        (str(point.max_moves), *_gains(found, point, names), _proof(point)) for point in found.front
    ]
    columns = ["moves"]
    for name in names:
        columns += [name, "bound"]
    numbers = range(len(columns))
    return section("Gain for each number of moves", (*columns, ""), rows, numbers, "points")


def _tells(front: tuple[FrontPoint, ...], name: str) -> bool:
    """Whether a tier says something: the first one does, others where they are not 0 in every point."""
    values = {tier.value for point in front for tier in point.tiers if tier.name == name}
    return front[0].tiers[0].name == name or values != {0}


def _gains(found: Rebalance, point: FrontPoint, names: list[str]) -> list[str]:
    cells = []
    for tier in point.tiers:
        if tier.name in names:
            bound = "" if tier.bound is None else _amount(found, tier, tier.bound)
            cells += [_amount(found, tier, tier.value), bound]
    return cells


def _proof(point: FrontPoint) -> Text:
    return Text("proven", style="green") if point.proven else Text("")


def _moves(best: Rebalancing, view: View) -> list[RenderableType]:
    moves = [move for move in best.moves if view.shows(move.pod)]
    rows = [
        (move.pod, *view.of_pod(move.pod), move.source, move.target, *view.of_node(move.target))
        for move in moves
    ]
    columns = ("pod", *view.about_pod, "from", "to", *view.about_node)
    blanks = ("",) * len(view.about_pod)
    kinds = [
        Kind([move.pod], (*blanks, move.source, _NONE, *([""] * len(view.about_node)))) for move in moves
    ]
    return section("Moves", columns, rows, view.numbers, "moves", kinds=kinds)


def _bindings(best: Rebalancing, view: View) -> list[RenderableType]:
    bindings = [each for each in best.bindings if view.shows(each.pod)]
    rows = [(each.pod, *view.of_pod(each.pod), each.node, *view.of_node(each.node)) for each in bindings]
    columns = ("pod", *view.about_pod, "node", *view.about_node)
    return section("Waiting pods that are placed", columns, rows, view.numbers, "pods")


def _freed(found: Rebalance, view: View) -> list[RenderableType]:
    freed = found.optimal.freed
    if found.goal not in ("free-nodes", "cheapest") or not freed:
        return []
    return [Text(""), Text(f"Emptied: {view.listed(freed)}")]


def _unmovable(found: Rebalance, view: View) -> list[RenderableType]:
    reasons = Counter(each.reason for each in found.unmovable)
    if not view.wide:
        return [Text(f"{count(number, 'pod')} may not move: {reason}") for reason, number in reasons.items()]
    pods = [each for each in found.unmovable if view.shows(each.pod)]
    rows = [
        (each.pod, *view.of_pod(each.pod), each.node, *view.of_node(each.node), each.reason) for each in pods
    ]
    columns = ("pod", *view.about_pod, "node", *view.about_node, "why it stays")
    return section("Pods that may not move", columns, rows, view.numbers, "pods")
