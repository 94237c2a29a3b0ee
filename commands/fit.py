"""How many copies of a pod or gang a cluster takes: `kubestow fit`."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from .group import INTERRUPTED, before_a_plan, leave
from .help import Command
from .inputs import (
    input_options,
    instance_names,
    search_of,
    search_options,
    several_instances,
    snapshots,
    with_notes,
)
from .live import live_options
from .printing import Printing, printing
from .voice import progress_told


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow fit zone-spread-dead-end --pod shop/web-5
  kubestow fit cluster.yaml --pod web.yaml --count 20
  kubestow fit cluster.yaml --pod web.yaml --evict --max-violations 0
  kubestow fit cluster.yaml --pod gang.yaml --ignore-pending -o json
  kubestow fit --live --pod web.yaml
""",
)
@several_instances
@click.option(
    "--pod",
    "template",
    metavar="FILE|POD",
    required=True,
    help="What is copied: a Pod in a file, with its PodGroup if it is of a gang; or a pod of the INSTANCE.",
)
@click.option(
    "--count", type=click.IntRange(min=1), metavar="N", help="Stop at N copies.  [default: as many as fit]"
)
@click.option("--evict", is_flag=True, help="Let less important pods be evicted, within the limits given.")
@click.option("--ignore-pending", is_flag=True, help="Leave the pods out that wait in the input.")
@printing("wide", "name", "json", "yaml", names="the nodes that take copies")
@search_options
@live_options
@input_options
def fit(
    instances: tuple[str, ...],
    template: str,
    count: int | None,
    evict: bool,
    ignore_pending: bool,
    printing: Printing,
    **choices: Any,
) -> None:
    """Show how many copies of a pod fit, or of a gang.

    The most by proof stands beside what kube-scheduler reaches placing one copy after another, and why the
    next one fits nowhere. Waiting pods of the same priority or a higher one come first. Nothing is evicted
    without --evict.
    """
    from ..instances.template import load_template, template_of
    from ..reports.fit import fit_report
    from ..solver.fit import FitOptions
    from ..solver.fit import fit as fit_copies

    search = search_of(choices)
    if search.limits.evictions == 0 and evict:
        raise click.UsageError("--evict and --no-evictions do not go together")
    if len(instance_names(instances, choices)) > 1:
        raise click.UsageError("fit takes one INSTANCE")
    if template == "-" and "-" in instances:
        raise click.UsageError("standard input (-) can be read only once")
    wanted = FitOptions(most=count, evict=evict, ignore_pending=ignore_pending)
    with before_a_plan():
        [(snapshot, waited)] = snapshots(instances, choices)
        copied = load_template(template, snapshot) if _is_file(template) else template_of(snapshot, template)
        with progress_told() as progress:
            found = fit_copies(
                snapshot, copied, wanted, search, progress, watch=progress.watch, waited=waited
            )
    document = with_notes(found.model_dump(by_alias=True), snapshot)
    names = [f"node/{node.node}" for node in found.optimal.nodes]
    printing.emit(document, partial(fit_report, found), lambda: names)
    if found.stats.interrupted:
        leave(INTERRUPTED, "interrupted; this was the best answer so far")


def _is_file(template: str) -> bool:
    """Whether what is copied is in a file, if it is there or its name is that of one."""
    from pathlib import Path

    return template == "-" or Path(template).exists() or template.endswith((".yaml", ".yml", ".json", ".gz"))
