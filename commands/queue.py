"""The commands about the scheduling queue: `kubestow hints` and `kubestow queue`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from .group import complain
from .inputs import kube_version_option, stdin_once

if TYPE_CHECKING:
    from ..models.kube_version import KubeVersion

_OUTPUT: Final = click.option(
    "-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True
)
_GATES: Final = click.option(
    "--feature-gates", metavar="NAME=false,...", default="", help="Switch off what the scheduler has."
)


@click.command(
    epilog="""\b
Examples:
  kubestow hints cases.jsonl
  kubestow hints cases.jsonl -o json
  kubestow hints cases.jsonl --feature-gates InPlacePodVerticalScaling=false
"""
)
@click.argument("cases", nargs=-1, required=True, metavar="CASES...", callback=stdin_once)
@_OUTPUT
@_GATES
@kube_version_option
def hints(cases: tuple[str, ...], output: str, feature_gates: str, kube_version: KubeVersion) -> None:
    """Tell which changes in the cluster wake which waiting pods, and why.

    CASES are files of JSON lines, gzip or not, `-` for standard input. A line {"id", "plugin", "pod", "old",
    "new", "objects"} asks whether the change from old to new wakes the pod that the plugin rejected.
    """
    from ..framework.hints.registry import GROUP_HINTS, HINT_PLUGINS
    from ..framework.hints.verdicts import judge
    from ..instances.recordings import read_cases
    from ..models.features import FeatureGates

    gates = FeatureGates.parse(feature_gates)
    judged = [
        (case, judge(case, gates, kube_version)) for case in read_cases(cases, (*HINT_PLUGINS, *GROUP_HINTS))
    ]
    if output == "json":
        from ..reports.document import as_json

        for case, verdict in judged:
            click.echo(as_json({"id": case.name, **verdict.document()}, compact=True), nl=False)
    else:
        from ..reports.hints import hints_report
        from ..reports.layout import show

        show(hints_report(judged), sys.stdout)


@click.command(
    epilog="""\b
Examples:
  kubestow queue script.yaml
  kubestow queue script.yaml -o json
  kubestow queue script.yaml --feature-gates SchedulerPopFromBackoffQ=false
  kubestow queue script.yaml --feature-gates SchedulerQueueingHints=false
"""
)
@click.argument("script")
@_OUTPUT
@_GATES
@kube_version_option
def queue(script: str, output: str, feature_gates: str, kube_version: KubeVersion) -> None:
    """Run a script through the scheduling queue and show who is where after each step.

    SCRIPT is a JSON or YAML file, `-` for standard input, of [{"name", "objects", "trace"}]. A step of a
    trace has a time `at` in seconds and an `op`: event (old, new), pop, fail (pod, plugins, pending), bound
    (pod), activate (pod) or wait. Ticks and flushes run on their own.
    """
    from ..framework.hints.registry import GROUP_HINTS, HINT_PLUGINS
    from ..framework.queue.replay import replay
    from ..instances.recordings import read_timelines
    from ..models.features import FeatureGates

    gates = FeatureGates.parse(feature_gates)
    timelines = read_timelines(script)
    rejectors = {name for each in timelines for step in each.steps for name in (*step.plugins, *step.pending)}
    for name in sorted(rejectors - {*HINT_PLUGINS, *GROUP_HINTS}):
        complain(f"note: {name} has no hints, so every event counts for its pods")
    documents = [replay(timeline, gates, kube_version) for timeline in timelines]
    if output == "json":
        from ..reports.document import as_json

        click.echo(as_json(documents), nl=False)
    else:
        from ..reports.layout import show
        from ..reports.queue import queue_report

        show(queue_report(documents), sys.stdout)
