"""The command that shows the baseline's cycles: `kubestow trace`."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ..instances.dump import DUMP
from .help import Command
from .inputs import input_options, instance_names, several_instances, snapshots
from .live import live_options
from .printing import Printing, pod_names, printing
from .voice import progress_told


@click.command(
    cls=Command,
    epilog=f"""\b
Examples:
  kubestow trace zone-spread-dead-end
  kubestow trace zone-spread-dead-end -l app=web --no-headers
  kubestow trace cluster.yaml -o json
  kubestow trace monday.yaml tuesday.yaml -o json
  kubestow trace --live -o json
  {DUMP} | kubestow trace -
""",
)
@several_instances
@printing("wide", "name", "json", "yaml", names="the pods that are tried, in queue order", pods=True)
@live_options
@input_options
def trace(instances: tuple[str, ...], printing: Printing, **choices: Any) -> None:
    """Show the greedy baseline pod by pod, as kube-scheduler goes.

    A row for each cycle, in queue order: where the pod goes, or why nowhere. In JSON, where each instance is
    one line, there are every node's rejection, every score and every victim.
    """
    from ..framework.runs.trace import trace as trace_round
    from ..reports.trace import trace_report

    several = len(instance_names(instances, choices)) > 1
    for snapshot, _ in list(snapshots(instances, choices)):
        with progress_told() as progress:
            document = trace_round(snapshot, progress.watch)
        view = printing.view_of(snapshot)
        report = partial(trace_report, snapshot.name, document, view)
        names = partial(pod_names, view.shown(cycle["pod"] for cycle in document["cycles"]))
        printing.emit(document, report, names, compact=True, several=several)
