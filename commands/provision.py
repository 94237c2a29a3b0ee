"""Which nodes to buy: `kubestow provision`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from .group import INTERRUPTED, before_a_plan, leave
from .help import Command
from .inputs import (
    input_options,
    instance_names,
    refuse_twice,
    search_of,
    search_options,
    several_instances,
    snapshots,
    with_notes,
)
from .live import live_options
from .moving import move_options, moves_of
from .printing import Printing, check_second_output, printing
from .voice import is_verbose, news, progress_told

if TYPE_CHECKING:
    from ..models.consolidation import Consolidation
    from ..models.moves import MoveOptions
    from ..models.provision import Provision

_FILE: Final = click.Path(dir_okay=False, allow_dash=True)


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow provision provision-third-zone --node-groups three-sizes
  kubestow provision provision-third-zone --node-groups three-sizes --max-price 0.5
  kubestow provision provision-third-zone --node-groups three-sizes --write-changes buy.yaml
  kubestow provision cluster.yaml --node-groups instance_types.json -o json
  kubestow provision provision-consolidate --node-groups three-sizes --consolidate --group-label pool
  kubestow provision --live --node-groups offers.yaml
""",
)
@several_instances
@click.option(
    "--node-groups",
    metavar="FILE",
    type=_FILE,
    multiple=True,
    required=True,
    help="Node groups, a scenario with an autoscaler, Karpenter's catalogue, or bundled: three-sizes.",
)
@click.option(
    "--max-price", metavar="P", help="Spend at most P, on the most important pods.  [default: no limit]"
)
@click.option("--write-changes", metavar="FILE", type=_FILE, help="Write the purchase as a file for what-if.")
@click.option(
    "--consolidate",
    is_flag=True,
    help="Return nodes, too, or replace them by cheaper ones: their pods move (docs/consolidate.md).",
)
@click.option(
    "--group-label",
    metavar="KEY",
    default="",
    help="The label with the name of a node's group; with --consolidate.  [default: the templates' labels]",
)
@move_options
@printing("wide", "name", "json", "yaml", names="the nodes that are bought")
@search_options
@live_options
@input_options
def provision(
    instances: tuple[str, ...],
    node_groups: tuple[str, ...],
    max_price: str | None,
    write_changes: str | None,
    consolidate: bool,
    group_label: str,
    printing: Printing,
    **choices: Any,
) -> None:
    """Show which nodes to buy for the pods that wait.

    The cheapest new nodes on which all of them are placed, by proof, with a bound of the price; beside it
    what the cluster autoscaler's estimator would order. Nothing is evicted, and every filter holds
    (docs/provision.md).
    """
    from ..instances.node_groups.file import load_catalogue
    from ..instances.what_if.apply import changed_by
    from ..reports.consolidation import consolidation_report
    from ..reports.provision import provision_report
    from ..solver.provision.answer import provision as cheapest

    search = search_of(choices)
    if len(instance_names(instances, choices)) > 1:
        raise click.UsageError("provision takes one INSTANCE")
    refuse_twice((*instances, *node_groups))
    if write_changes is not None:
        check_second_output("--write-changes", write_changes, printing.output)
    budget = None if max_price is None else _price(max_price)
    moves = _moves(choices, group_label, consolidate=consolidate)
    if consolidate and max_price is not None:
        raise click.UsageError("--max-price does not go with --consolidate")
    with before_a_plan():
        catalogue = load_catalogue(node_groups)
        [(snapshot, waited)] = snapshots(instances, choices)
        with progress_told() as progress:
            asked = (snapshot, catalogue, changed_by)
            heard: dict[str, Any] = {"begin": _tell, "watch": progress.watch, "waited": waited}
            found: Provision | Consolidation
            if consolidate:
                from ..solver.consolidate.answer import consolidate as cheapest_left

                found = cheapest_left(*asked, moves, group_label, search, **heard)
                bought, report = found.optimal.bought, partial(consolidation_report, found)
            else:
                found = cheapest(*asked, budget, search, progress, **heard)
                bought, report = found.purchase.bought, partial(provision_report, found)
    _write(found.changes, write_changes)
    names = [f"node/{node}" for group in bought for node in group.nodes]
    printing.emit(with_notes(found.model_dump(by_alias=True), snapshot), report, lambda: names)
    if found.interrupted:
        leave(INTERRUPTED, f"interrupted; this was the best {'answer' if consolidate else 'purchase'} so far")


def _moves(choices: dict[str, Any], group_label: str, *, consolidate: bool) -> MoveOptions:
    """Read who may move; that is asked with --consolidate only."""
    from ..models.moves import MoveOptions

    moves = moves_of(choices)
    if not consolidate and (group_label or moves != MoveOptions()):
        raise click.UsageError("--group-label and the options of moves go with --consolidate only")
    return moves


def _price(text: str) -> int:
    from ..models.purchases import MOST_OF_ALL, in_millionths

    try:
        return in_millionths(text, MOST_OF_ALL)
    except ValueError as error:
        raise click.UsageError(f"--max-price: {error}") from None


def _tell(words: str) -> None:
    if is_verbose():
        news(words)


def _write(changes: dict[str, Any] | None, path: str | None) -> None:
    """Write changes of the cluster to a file; where nothing is bought or returned there are none."""
    from ..reports.document import as_yaml
    from ..reports.output_file import output_file

    if path is None:
        return
    if changes is None:
        news(f"{path} was not written: nothing is bought")
        return
    with output_file(path) as file:
        file.write(as_yaml(changes))
