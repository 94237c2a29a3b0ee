"""A drain: the batches in which pods move, or why no order exists, beside the drain by name."""

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from ..framework.index.missing import readable
from ..models.drain import Drain, InNameOrder, Obstacle
from .layout import section
from .section import Kind
from .words import count, listed

_VERDICTS: Final = {
    "impossible": "impossible, proven: no order empties these nodes",
    "undecided": "undecided: no order was found, and no proof that there is none",
}


def drain_report(answer: Drain) -> RenderableType:
    """Return the report: both drains in a line each, then proofs, stages, moves, and pods that stay."""
    how = "all at once" if answer.rolling is None else f"at most {answer.rolling} at a time"
    return Group(
        Text.assemble((answer.instance, "bold"), f": drain of {count(len(answer.nodes), 'node')}, {how}"),
        Text(f"  ours:    {_ours(answer)}", style="bold"),
        Text(f"  by name: {_by_name(answer.in_name_order, len(answer.nodes))}"),
        *_uncordoned(answer),
        *_obstacles(answer),
        *_stages(answer),
        *_moves(answer),
        *_stuck(answer.in_name_order),
        *_staying(answer),
    )


def _uncordoned(answer: Drain) -> Iterator[RenderableType]:
    nodes = answer.uncordoned
    if nodes:
        come = "node is cordoned now and comes" if len(nodes) == 1 else "nodes are cordoned now and come"
        yield Text(f"  {len(nodes)} {come} back schedulable: {listed(nodes, 3)}")


def _ours(answer: Drain) -> str:
    if answer.stats.interrupted and answer.verdict == "undecided":
        return "undecided: interrupted before an order or a proof was found"
    if answer.verdict != "possible":
        return _VERDICTS[answer.verdict]
    batches = sum(len(stage.batches) for stage in answer.stages)
    in_batches = f"in {batches} batches" if batches != 1 else "in 1 batch"
    waits = f", {answer.waits} of them waiting until a node is back" if answer.waits else ""
    return f"possible: {count(answer.moves, 'move')} {in_batches}{waits}; every budget holds at every step"


def _by_name(by_name: InNameOrder, nodes: int) -> str:
    if by_name.finished:
        return f"possible: {count(by_name.moves, 'move')}"
    parts = [f"{len(by_name.emptied)} of {count(nodes, 'node')} emptied"]
    if by_name.stranded:
        parts.append(_evicted(len(by_name.stranded)))
    if by_name.refused:
        parts.append(f"stuck at {count(len(by_name.refused), 'pod')} that budgets keep")
    if by_name.blocked:
        parts.append(f"refused because of {count(by_name.blocked, 'pod')} that may not move")
    return "; ".join(parts)


def _evicted(number: int) -> str:
    return f"{count(number, 'pod')} evicted that {'fits' if number == 1 else 'fit'} nowhere"


def _obstacles(answer: Drain) -> list[RenderableType]:
    rows: list[tuple[str, ...]] = [
        (listed(each.nodes, 3), listed(each.pods, 3), why(each), ", or ".join(r.words for r in each.remedies))
        for each in answer.obstacles
    ]
    columns = ("node", "pods", "why", "what opens it")
    shown = len(columns) if any(row[-1] for row in rows) else len(columns) - 1
    rows = [row[:shown] for row in rows]
    parts = section("Why no order exists", columns[:shown], rows, (), "obstacles")
    if answer.once_open is not None:
        parts.append(Text(f"  Once each of these budgets allows one disruption: {answer.once_open}."))
    return parts


def why(obstacle: Obstacle) -> str:
    """Return an obstacle in words."""
    short = obstacle.shortage
    match obstacle.kind:
        case "unmovable":
            return "may not move (below)"
        case "budget":
            return f"budget {obstacle.budget} allows no disruption, ever"
        case "order":
            return "all orders were tried"
    must = f"{obstacle.needed} must go elsewhere" + (
        f" (budget {obstacle.budget})" if obstacle.budget else ""
    )
    if short is None:
        return f"{must}; at most {obstacle.fit} can, proven"
    if not short.nodes:
        return f"{must}; no node takes them"
    where = f"{count(len(short.nodes), 'node')} that would take them"
    if short.resource == "pods":
        return f"{must}; {where}: room for {short.free}"
    asked, free = readable(short.resource, short.asked), readable(short.resource, short.free)
    return f"they ask for {asked} {short.resource}; {where}: {free} free"


def _stages(answer: Drain) -> list[RenderableType]:
    if answer.rolling is None:
        return []
    rows = [
        (
            str(number),
            listed(stage.nodes, 3),
            str(len(stage.batches)),
            str(sum(len(batch.moves) for batch in stage.batches)),
        )
        for number, stage in enumerate(answer.stages, 1)
    ]
    return section("Stages", ("", "nodes", "batches", "moves"), rows, (0, 2, 3), "stages")


def _moves(answer: Drain) -> list[RenderableType]:
    rows = list(_rows_of_moves(answer))
    columns = ("stage", "batch", "pod", "from", "to")
    first = 0 if answer.rolling else 1
    return section(
        "Moves, those of a batch together",
        columns[first:],
        [row[first:] for row in rows],
        range(2 - first),
        "moves",
    )


def _rows_of_moves(answer: Drain) -> Iterator[tuple[str, ...]]:
    for number, stage in enumerate(answer.stages, 1):
        for turn, batch in enumerate(stage.batches, 1):
            for move in batch.moves:
                yield str(number), str(turn), move.pod, move.source, move.target


def _stuck(by_name: InNameOrder) -> list[RenderableType]:
    rows = [(each.pod, each.node, f"evicted; then {each.message}") for each in by_name.stranded]
    rows += [(each.pod, each.node, f"budget {each.budget} refuses its eviction") for each in by_name.refused]
    columns = ("pod", "node", "what stops it")
    return section("Where the drain by name ends", columns, rows, (), "pods")


def _staying(answer: Drain) -> list[RenderableType]:
    rows = [
        (each.pod, each.node, each.words, "yes" if each.blocks else "no")
        for each in sorted(answer.staying, key=lambda each: not each.blocks)
    ]
    kinds = [Kind((row[0],), ("", *row[2:])) for row in rows]
    columns = ("pod", "node", "why", "keeps the node from being empty")
    return section("Pods that stay", columns, rows, (), "pods", kinds=kinds)
