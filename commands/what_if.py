"""The command that tries changes of a cluster out: `kubestow what-if`."""

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
from .options import options
from .printing import Printing, pod_names, printing
from .voice import is_verbose, news, progress_told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..models.changes import ChangeSet

_FILE: Final = click.Path(dir_okay=False, allow_dash=True)
_FILES: Final = ("scenario", "node_groups", "profile")
_CHANGES: Final = ("add-nodes", "remove", "cordon", "uncordon", "delete", "zone-down", "scale", "set")


def _repeated(name: str, metavar: str, words: str, kind: click.Path | None = None) -> Any:
    return click.option(f"--{name}", metavar=metavar, multiple=True, type=kind, help=words)


change_options = options(
    _repeated("add-nodes", "GROUP=N", "Copies of a node group's template, or of a node: like:NODE=N."),
    _repeated(
        "node-groups",
        "FILE",
        "Node groups, as in docs/provision.md.",
        _FILE,
    ),
    _repeated("remove", "NODE", "A node is gone; pods with a controller are made again."),
    _repeated("cordon", "NODE", "A node takes no more pods."),
    _repeated("uncordon", "NODE", "A node takes pods again."),
    _repeated("delete", "POD", "A pod is gone at once; one with a controller is made again."),
    _repeated("zone-down", "ZONE", "All nodes of a zone are gone; LABEL=VALUE for another label."),
    _repeated("scale", "KIND/NAME=N", "Another number of copies: deploy/web=20, sts/shop/db=5."),
    _repeated("set", "KIND/NAME:PATH=VALUE", "Another value: pod/shop/web-0:spec.priority=9; null for none."),
    _repeated("profile", "FILE", "Another KubeSchedulerConfiguration.", _FILE),
    _repeated("scenario", "FILE", "Changes from a file, as a scenario of their own.", _FILE),
)


@click.command(
    cls=Command,
    name="what-if",
    epilog="""\b
Examples:
  kubestow what-if zone-spread-dead-end --zone-down a
  kubestow what-if zone-spread-dead-end --add-nodes like:c-1=1 --cordon b-1
  kubestow what-if what-if-web --scale deploy/web=5 --set pod/shop/report:spec.priority=200
  kubestow what-if what-if-web --zone-down a --add-nodes like:b-1=1 --save spare.yaml
  kubestow what-if what-if-web --scenario spare.yaml --remove b-1 -o json
""",
)
@several_instances
@change_options
@click.option("--save", metavar="FILE", type=_FILE, help="Write the changes of the options as a file.")
@printing("wide", "name", "json", "yaml", names="the pods with another fate", pods=True)
@search_options
@live_options
@input_options
def what_if(instances: tuple[str, ...], save: str | None, printing: Printing, **choices: Any) -> None:
    """Try out changes of a cluster.

    The best round before and after them, side by side: pods that start, wait, are lost or are elsewhere, and
    every tier with its bound and proof; beside it what greedy scheduling would do. The changes that the
    options spell are one scenario, and each --scenario file (docs/what-if.md) is another one of the same
    cluster.
    """
    from ..instances.what_if.apply import changed_by
    from ..reports.narration import what_was_solved
    from ..reports.what_if import changed, what_if_report
    from ..solver.what_if import what_if as solve_all

    search = search_of(choices)
    if len(instance_names(instances, choices)) > 1:
        raise click.UsageError("what-if takes one INSTANCE")
    files = (path for name in _FILES for path in choices[name])
    refuse_twice((*instances, *files))
    change_sets = _change_sets(choices, save)
    with before_a_plan():
        [(snapshot, waited)] = snapshots(instances, choices)
        scenarios = [changed_by(snapshot, change_set) for change_set in change_sets]
        with progress_told() as progress:
            answer = solve_all(
                snapshot, scenarios, search, progress, begin=_tell_round, watch=progress.watch, waited=waited
            )
    if is_verbose():
        for solved in (answer.before, *(scenario.after for scenario in answer.scenarios)):
            news(what_was_solved(solved.optimal))
    clusters = [snapshot, *(scenario.snapshot for scenario in scenarios)]
    view = printing.view(
        snapshot.name,
        (pod for cluster in reversed(clusters) for pod in cluster.pods),
        (node for cluster in reversed(clusters) for node in cluster.nodes),
    )
    names = [pod.pod for scenario in answer.scenarios for pod in changed(scenario)]
    printing.emit(
        with_notes(answer.model_dump(by_alias=True), snapshot),
        partial(what_if_report, answer, view),
        lambda: pod_names(view.shown(names)),
    )
    if answer.interrupted:
        leave(INTERRUPTED, "interrupted; these are the rounds that were solved")


def _change_sets(choices: dict[str, Any], save: str | None) -> list[ChangeSet]:
    """Read the scenarios, those of files first; the options' own is written down where that is wanted."""
    from ..instances.what_if.file import load_changes
    from ..instances.what_if.options import changes_of
    from ..reports.document import as_yaml
    from ..reports.output_file import output_file

    given: Mapping[str, Sequence[str]] = {
        name: choices.pop(name.replace("-", "_")) for name in (*_CHANGES, "node-groups", "profile")
    }
    files: Sequence[str] = choices.pop("scenario")
    found = [load_changes(path) for path in files]
    own = changes_of(given)
    if own is not None:
        found.append(own)
    if save is not None:
        if own is None:
            raise click.UsageError("--save writes what the other options change; there is no such option")
        with output_file(save) as file:
            file.write(as_yaml(own.document()))
    if not found:
        raise click.UsageError("what is needed is a change, such as --cordon NODE, or --scenario FILE")
    return found


def _tell_round(name: str) -> None:
    if is_verbose():
        news(f"the round after {name}" if name else "the round before changes")
