"""The command for both schedulers beside each other: `kubestow compare`."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..instances.dump import DUMP
from .group import before_a_plan, complain, leave_early
from .help import Command
from .inputs import (
    complete_kube_version,
    input_options,
    instance_names,
    parse_kube_version,
    search_of,
    search_options,
    several_instances,
    snapshots,
    with_notes,
)
from .live import live_options
from .printing import Printing, pod_names, printing
from .voice import progress_told, tell_solved

if TYPE_CHECKING:
    from ..models.kube_version import KubeVersion


@click.command(
    cls=Command,
    epilog=f"""\b
Examples:
  kubestow compare
  kubestow compare guard-service
  kubestow compare cluster.yaml -n shop -o wide
  kubestow compare cluster.yaml --without-evictions
  kubestow compare cluster.yaml --max-evictions 2 --never-evict app=db
  kubestow compare cluster.yaml -o json
  kubestow compare cluster.yaml --fail-on-regression before.json
  kubestow compare cluster.yaml --kube-version 1.34 --against 1.36
  kubestow compare --live -o json
  {DUMP} | kubestow compare -
""",
)
@several_instances
@click.option(
    "--fail-on-regression",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="An earlier document of this command; exit 1 if either scheduler has become worse.",
)
@click.option(
    "--without-evictions",
    is_flag=True,
    help="Also the best plan that evicts no pod, and what becomes of the pods that evictions place.",
)
@click.option(
    "--against",
    metavar="VERSION",
    callback=parse_kube_version,
    shell_complete=complete_kube_version,
    help="Another release than --kube-version: what the upgrade changes for the greedy scheduler.",
)
@printing("wide", "name", "json", "yaml", names="the pods that differ", pods=True)
@search_options
@live_options
@input_options
def compare(
    instances: tuple[str, ...],
    fail_on_regression: str | None,
    without_evictions: bool,
    against: KubeVersion | None,
    printing: Printing,
    **choices: Any,
) -> None:
    """Show what greedy scheduling costs a cluster.

    The optimum and the greedy baseline stand side by side: the first tier that differs, and the pods. With
    --against it shows what an upgrade of kube-scheduler costs: the pods that would start, wait, move or be
    evicted under the other release.
    """
    from ..reports.comparison import comparison_report, differing
    from ..reports.document import read_comparison
    from ..reports.upgrade import changed, upgrade_report
    from ..solver.compare import compare as compare_round
    from ..solver.compare import regressions
    from ..solver.upgrade import upgrade

    search = search_of(choices)
    if against is not None and without_evictions:
        raise click.UsageError("--against and --without-evictions do not go together")
    if against is not None and fail_on_regression:
        raise click.UsageError("--against and --fail-on-regression do not go together")
    if against == choices["kube_version"]:
        raise click.UsageError(f"--against takes another release than --kube-version {against}")
    earlier = read_comparison(fail_on_regression) if fail_on_regression else None
    if len(instance_names(instances, choices)) > 1:
        raise click.UsageError("compare takes one INSTANCE")
    with before_a_plan():
        [(snapshot, waited)] = snapshots(instances, choices)
    if earlier is not None and _base(earlier.optimal.instance) != _base(snapshot.name):
        compared = f"{fail_on_regression} compares {earlier.optimal.instance}, not {snapshot.name}"
        raise click.UsageError(f"--fail-on-regression: {compared}")
    if against is not None:
        with before_a_plan(), progress_told() as progress:
            changes = upgrade(replace(snapshot, limits=search.limits), against, progress.watch)
        document = with_notes(changes.model_dump(by_alias=True), snapshot)
        view = printing.view_of(snapshot)
        names = view.shown(pod.pod for pod in changed(changes))
        printing.emit(document, partial(upgrade_report, changes, view), partial(pod_names, names))
        return
    with before_a_plan(), progress_told() as progress:
        comparison = compare_round(
            snapshot,
            search,
            progress,
            watch=progress.watch,
            waited=waited,
            without_evictions=without_evictions,
        )
    tell_solved(comparison.optimal)
    document = with_notes(comparison.model_dump(by_alias=True), snapshot)
    view = printing.view_of(snapshot)
    names = view.shown(pod.pod for pod in differing(comparison))
    printing.emit(document, partial(comparison_report, comparison, view), partial(pod_names, names))
    spared = comparison.without_evictions
    if comparison.optimal.stats.interrupted or (spared is not None and spared.plan.stats.interrupted):
        leave_early()
    worse = regressions(earlier, comparison) if earlier else []
    for line in worse:
        complain(f"regression: {line}")
    if worse:
        sys.exit(1)


def _base(instance: str) -> str:
    """Return an instance's name without its folder: a file may have moved since it was compared."""
    return instance.rstrip("/").rpartition("/")[2]
