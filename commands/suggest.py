"""The command that finds the least change that would help: `kubestow suggest`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from .group import INTERRUPTED, before_a_plan, leave
from .help import Command
from .inputs import (
    complete_waiting_pod,
    input_options,
    instance_names,
    refuse_twice,
    search_of,
    search_options,
    snapshots,
    with_notes,
)
from .live import live_options, wants_live
from .printing import Printing, check_second_output, printing
from .voice import news, progress_told

if TYPE_CHECKING:
    from ..models.suggest import SuggestDocument

_FILE: Final = click.Path(dir_okay=False, allow_dash=True)


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow suggest why-four-wait render
  kubestow suggest why-four-wait train --alternatives 5
  kubestow suggest why-four-wait --all-pending -o json
  kubestow suggest guard-service promo-0 --others-may-wait
  kubestow suggest suggest-cordon web-1 --save least.yaml
  kubestow suggest cluster.yaml shop/web-5 --costs costs.yaml --node-groups groups.yaml
  kubestow suggest --live shop/web-5
""",
)
@click.argument("words", nargs=-1, metavar="INSTANCE [POD|GROUP]", shell_complete=complete_waiting_pod)
@click.option(
    "--all-pending", is_flag=True, help="All pods that the best plan leaves out; alike ones as one."
)
@click.option(
    "--alternatives",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="At most N suggestions, each cheaper than those before in some kind of step.",
)
@click.option(
    "--others-may-wait",
    is_flag=True,
    help="Let others be left out or evicted that the best plan places or leaves alone.",
)
@click.option("--costs", metavar="FILE", type=_FILE, help="Costs and limits of steps (docs/suggest.md).")
@click.option(
    "--node-groups",
    metavar="FILE",
    type=_FILE,
    multiple=True,
    help="Node groups, as in docs/provision.md; otherwise copies of nodes of the input can be added.",
)
@click.option("--save", metavar="FILE", type=_FILE, help="Write the first suggestion for what-if --scenario.")
@printing(
    *("wide", "name", "json", "yaml"),
    names="the objects that the first suggestions change",
    namespace="The namespace of POD or GROUP.",
)
@search_options
@live_options
@input_options
def suggest(
    words: tuple[str, ...],
    all_pending: bool,
    alternatives: int,
    others_may_wait: bool,
    costs: str | None,
    node_groups: tuple[str, ...],
    save: str | None,
    printing: Printing,
    **choices: Any,
) -> None:
    """Find the least change after which a waiting pod, or a pod group, is placed.

    The cheapest sets of steps of a menu, such as to tolerate a taint, to lower a request or to add a node,
    after which the best plan of the changed cluster places it, and leaves no other pod worse off. Each
    is solved and replayed, and comes as kubectl commands and as changes for `kubestow what-if`.
    """
    from ..instances.node_groups.templates import load_templates
    from ..instances.step_costs import load_costs
    from ..instances.what_if.apply import changed_by
    from ..models.step_costs import StepCosts
    from ..reports.suggest import suggest_report
    from ..solver.suggest.question import suggest as find
    from ..solver.suggest.suggest_options import SuggestOptions

    instances, name = _split(words, all_pending, choices)
    if save is not None:
        check_second_output("--save", save, printing.output)
    search = search_of(choices)
    refuse_twice((*instances, *node_groups, *([] if costs is None else [costs])))
    wanted = SuggestOptions(
        alternatives=alternatives,
        others_may_wait=others_may_wait,
        costs=StepCosts() if costs is None else load_costs(costs),
        node_groups=tuple(item for path in node_groups for item in load_templates(path)),
    )
    if name is not None and printing.namespace is not None and "/" not in name:
        name = f"{printing.namespace}/{name}"
    names = None if name is None else [name]
    with before_a_plan():
        [(snapshot, waited)] = snapshots(instances, choices)
        with progress_told() as progress:
            found = find(
                snapshot, names, wanted, search, changed_by, progress, watch=progress.watch, waited=waited
            )
    if save is not None:
        _save(found, save)
    document = with_notes(found.model_dump(by_alias=True), snapshot)
    printing.emit(document, partial(suggest_report, found), lambda: _changed(found))
    if found.interrupted:
        leave(INTERRUPTED, "interrupted; this was known so far")


def _split(
    words: tuple[str, ...], all_pending: bool, choices: dict[str, Any]
) -> tuple[tuple[str, ...], str | None]:
    """Tell the input from the pod: the last word is the pod, unless all are asked about."""
    instances, name = (words, None) if all_pending else (words[:-1], words[-1] if words else None)
    inputs = instance_names(instances, choices) if instances or wants_live(instances, choices) else ()
    if (name is None) is not all_pending or len(inputs) != 1:
        raise click.UsageError("what is needed is one INSTANCE, and one POD or GROUP or --all-pending")
    return instances, name


def _changed(found: SuggestDocument) -> list[str]:
    """Return the objects whose fields the first suggestion of each answer changes, as kubectl names them."""
    firsts = [first for each in found.answers for first in each.suggestions[:1]]
    objects = [step.object.partition(" ") for first in firsts for step in first.steps]
    return list(dict.fromkeys(f"{kind.lower()}/{key}" for kind, _, key in objects))


def _save(found: SuggestDocument, path: str) -> None:
    from ..reports.document import as_yaml
    from ..reports.output_file import output_file

    first = next((each.suggestions[0] for each in found.answers if each.suggestions), None)
    if first is None:
        news(f"{path} was not written: there is no suggestion")
        return
    with output_file(path) as file:
        file.write(as_yaml(first.changes))
