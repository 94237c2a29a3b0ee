"""A consolidation as tables: what is bought and returned, the goals beside the heuristic's, who moves."""

from rich.console import Group, RenderableType
from rich.text import Text

from ..models.consolidation import Consolidation, ConsolidationPlan
from .layout import section
from .provision import money, proof_of, value_of
from .words import count


def consolidation_report(found: Consolidation) -> RenderableType:
    """Return the report: the headline, nodes bought and returned, goals, moves, pods that wait."""
    plan = found.optimal
    return Group(
        Text.assemble((found.instance, "bold"), ": nodes to buy and to return"),
        Text(f"  {_headline(found)}", style="bold"),
        Text(f"  {_how(plan)}"),
        *_bought(plan),
        *_returned(plan),
        *_tiers(found),
        *_moves(plan),
        *_bindings(plan),
        *section("Pods that still wait", ("pod",), [(pod,) for pod in found.waiting], (), "pods"),
        *_unmovable(found),
    )


def _headline(found: Consolidation) -> str:
    before = f"{money(found.price_now)} for {count(found.priced, 'priced node')}"
    return f"{money(found.optimal.price)} in place of {before}, {proof_of(found.optimal.tiers)}"


def _how(plan: ConsolidationPlan) -> str:
    bought = count(sum(item.count for item in plan.bought), "node")
    batches = "1 batch" if plan.batches == 1 else f"{plan.batches} batches"
    moves = count(len(plan.moves), "move") + (f" in {batches}" if plan.moves else "")
    return f"{bought} bought, then {moves}, then {count(len(plan.returned), 'node')} returned"


def _bought(plan: ConsolidationPlan) -> list[RenderableType]:
    rows = [
        (name, item.group, item.zone or "-", money(item.price), ", ".join(pods) or "-")
        for item in plan.bought
        for name, pods in item.nodes.items()
    ]
    return section("Nodes to buy", ("node", "group", "zone", "price", "pods"), rows, (3,), "nodes")


def _returned(plan: ConsolidationPlan) -> list[RenderableType]:
    rows = [(item.node, item.group, item.zone or "-", money(item.price)) for item in plan.returned]
    return section("Nodes to return", ("node", "group", "zone", "price"), rows, (3,), "nodes")


def _tiers(found: Consolidation) -> list[RenderableType]:
    rows = [
        (
            tier.name,
            value_of(tier, tier.value),
            "-" if tier.bound is None else value_of(tier, tier.bound),
            value_of(other, other.value),
            "proven" if tier.proven else "",
        )
        for tier, other in zip(found.optimal.tiers, found.heuristic.tiers, strict=True)
    ]
    columns = ("goal", "value", "bound", "one node at a time", "proof")
    return section("Goals, most important first", columns, rows, (1, 2, 3))


def _moves(plan: ConsolidationPlan) -> list[RenderableType]:
    rows = [(move.pod, move.source, move.target) for move in plan.moves]
    return section("Moves", ("pod", "from", "to"), rows, (), "moves")


def _bindings(plan: ConsolidationPlan) -> list[RenderableType]:
    rows = [(each.pod, each.node) for each in plan.bindings]
    return section("Waiting pods that are placed", ("pod", "node"), rows, (), "pods")


def _unmovable(found: Consolidation) -> list[RenderableType]:
    rows = [(each.pod, each.node, each.reason) for each in found.unmovable]
    return section("Pods that may not move", ("pod", "node", "why it stays"), rows, (), "pods")
