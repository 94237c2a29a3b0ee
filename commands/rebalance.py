"""Few moves of running pods for much gain, with proof: `kubestow rebalance`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

import click

from .group import INTERRUPTED, before_a_plan, leave
from .help import Command
from .inputs import (
    effort_of,
    effort_options,
    input_options,
    instance_names,
    prefer_option,
    several_instances,
    snapshots,
    with_notes,
)
from .live import live_options
from .moving import move_options, moves_of
from .printing import Printing, check_second_output, pod_names, printing
from .voice import progress_told

_GOALS: Final = ("admit", "free-nodes", "cheapest", "spread", "pack")


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow rebalance rebalance-gang --goal admit
  kubestow rebalance rebalance-half-used --goal free-nodes --frontier
  kubestow rebalance cluster.yaml --goal free-nodes --max-moves 20 --never-move app=db
  kubestow rebalance rebalance-half-used --goal cheapest --price example.com/price -o json
  kubestow rebalance --live --goal spread --max-moves 10
""",
)
@several_instances
@click.option(
    "--goal",
    type=click.Choice(_GOALS),
    required=True,
    help="What moves are for (docs/rebalance.md): waiting pods, nodes emptied, a price, even or few nodes.",
)
@click.option("--max-moves", type=click.IntRange(min=0), metavar="N", help="Move at most N pods.")
@click.option(
    "--least",
    type=click.Choice(["memory"]),
    help="What breaks ties among plans with equally many moves: the memory of the pods that move.",
)
@click.option("--price", metavar="KEY", default="", help="The label or annotation with a node's price.")
@click.option("--frontier", is_flag=True, help="Show the best gain for each number of moves, too.")
@click.option(
    "--plot", metavar="FILE", help="Draw the gain against the moves: .svg, .png or .pdf; with --frontier."
)
@move_options
@printing("wide", "name", "json", "yaml", names="the pods that move", pods=True)
@effort_options
@prefer_option
@live_options
@input_options
def rebalance(
    instances: tuple[str, ...],
    goal: str,
    max_moves: int | None,
    least: str | None,
    price: str,
    frontier: bool,
    plot: str | None,
    printing: Printing,
    **choices: Any,
) -> None:
    """Move few running pods for much gain.

    A running pod moves if its controller makes it again on another node: evicted within its budgets, made
    anew, bound where it passes every filter. The best gain by proof, then the fewest moves, stands beside
    what users have today. Every step is replayed (docs/rebalance.md).
    """
    from ..reports.rebalance import rebalance_report
    from ..solver.rebalance.api import rebalance as search_moves
    from ..solver.rebalance.round import MoveWishes

    if plot is not None and not frontier:
        raise click.UsageError("--plot goes with --frontier only")
    if plot is not None:
        check_second_output("--plot", plot, printing.output)
    if goal == "cheapest" and not price:
        raise click.UsageError(
            "--goal cheapest needs --price KEY, the label or annotation with a node's price"
        )
    if price and goal not in ("free-nodes", "cheapest"):
        raise click.UsageError(
            f"--price goes with --goal free-nodes or cheapest; --goal {goal} counts no price"
        )
    if len(instance_names(instances, choices)) > 1:
        raise click.UsageError("rebalance takes one INSTANCE")
    search = replace(effort_of(choices), prefer=choices["prefer"])
    wishes = MoveWishes(
        goal=goal,  # type: ignore[arg-type]
        most=max_moves,
        memory=least == "memory",
        price=price,
        options=moves_of(choices),
    )
    with before_a_plan():
        [(snapshot, waited)] = snapshots(instances, choices)
        with progress_told() as progress:
            found = search_moves(
                snapshot, wishes, search, progress, frontier=frontier, watch=progress.watch, waited=waited
            )
    view = printing.view_of(snapshot)
    if plot is not None:
        from ..reports.figures import draw_front

        draw_front(plot, found)
    printing.emit(
        with_notes(found.model_dump(by_alias=True), snapshot),
        partial(rebalance_report, found, view),
        lambda: pod_names(view.shown([move.pod for move in found.optimal.moves])),
    )
    if found.stats.interrupted:
        leave(INTERRUPTED, "interrupted; this was the best answer so far")
