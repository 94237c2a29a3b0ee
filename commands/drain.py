"""In which order nodes are emptied: `kubestow drain`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from .group import INCOMPLETE, INTERRUPTED, before_a_plan, leave
from .help import Command
from .inputs import (
    complete_instance,
    effort_of,
    effort_options,
    input_options,
    instance_names,
    snapshots,
    with_notes,
)
from .live import live_options, wants_live
from .moving import move_options, moves_of
from .plugin import is_plugin
from .printing import Printing, parse_labels, pod_names, printing
from .voice import progress_told

if TYPE_CHECKING:
    from ..models.selectors import CompiledSelector


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow drain drain-one-order east-1 west-1
  kubestow drain drain-one-order --all-nodes --rolling 2
  kubestow drain drain-budget -l pool=new -o json
  kubestow drain cluster.yaml a-1 --leave-unmovable --delete-emptydir-data --never-move app=db
  kubestow drain --live --all-nodes --max-unavailable 2 --leave-unmovable
""",
)
@click.argument("words", nargs=-1, metavar="[INSTANCE] [NODE]...", shell_complete=complete_instance)
@click.option(
    "-l",
    "--selector",
    "labels",
    metavar="LABELS",
    callback=parse_labels,
    help="Nodes with these labels: pool=old.",
)
@click.option("--all-nodes", is_flag=True, help="All nodes; goes with --rolling.")
@click.option(
    "--rolling",
    "--max-unavailable",
    "rolling",
    type=click.IntRange(min=1),
    metavar="K",
    help="At most K nodes at a time; each comes back, empty and schedulable, also where it is cordoned now.  "
    "[default: all, to stay closed]",
)
@click.option(
    "--leave-unmovable",
    is_flag=True,
    help="Let pods that may not move stay; without it they make a drain impossible.",
)
@move_options
@printing("wide", "name", "json", "yaml", names="the pods that move, in their order")
@effort_options
@live_options
@input_options
def drain(
    words: tuple[str, ...],
    labels: CompiledSelector | None,
    all_nodes: bool,
    rolling: int | None,
    leave_unmovable: bool,
    printing: Printing,
    **choices: Any,
) -> None:
    """Find an order in which nodes become empty, or prove that there is none.

    The pods of the nodes move elsewhere in batches, so that no disruption budget breaks at any step and every
    pod runs again; every step is replayed. Beside it is what comes of draining node by node by name, with
    kube-scheduler placing what is evicted. Where no order exists, the budget, or the room that is missing, is
    named, and what opens it. Exit code 1: no order exists, or none was found.
    """
    from ..reports.drain import drain_report
    from ..solver.moves.chosen import chosen_nodes
    from ..solver.moves.drain import DrainOptions
    from ..solver.moves.drain import drain as find_order

    files = 2 if choices["input_format"] != "manifests" else 1
    live = choices["live"] or (is_plugin() and files == 1 and not _is_instance(words[:1]))
    instances, nodes = ((), words) if live else (words[:files], words[files:])
    if not (instances or wants_live(instances, choices)) or len(instance_names(instances, choices)) != 1:
        raise click.UsageError("what is needed is one INSTANCE, and the nodes after it")
    if not (nodes or labels or all_nodes):
        raise click.UsageError("what is needed are nodes to drain: NODE..., --selector or --all-nodes")
    if all_nodes and not rolling:
        raise click.UsageError("--all-nodes goes with --rolling K: somewhere the pods have to be")
    search = effort_of(choices)
    wanted = DrainOptions(rolling=rolling, leave_unmovable=leave_unmovable, moves=moves_of(choices))
    with before_a_plan():
        [(snapshot, waited)] = snapshots(instances, choices)
        chosen = chosen_nodes(snapshot, nodes, labels, every=all_nodes)
        with progress_told() as progress:
            answer = find_order(
                snapshot, chosen, wanted, search, progress, watch=progress.watch, waited=waited
            )
    moved = [move.pod for stage in answer.stages for batch in stage.batches for move in batch.moves]
    printing.emit(
        with_notes(answer.model_dump(by_alias=True), snapshot),
        partial(drain_report, answer),
        lambda: pod_names(moved),
    )
    if answer.stats.interrupted:
        leave(INTERRUPTED, "interrupted; this was the best answer so far")
    if answer.verdict != "possible":
        click.get_current_context().exit(INCOMPLETE)


def _is_instance(words: tuple[str, ...]) -> bool:
    """Whether the first word, as a plugin of kubectl takes it, is an INSTANCE and no node of the cluster."""
    from pathlib import Path

    from ..instances import catalogue

    return any(word == "-" or word in catalogue.names() or Path(word).exists() for word in words)
