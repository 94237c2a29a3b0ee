"""The commands about the scheduling queue: `kubestow hints` and `kubestow queue`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import click

from .help import Command
from .inputs import kube_version_option, stdin_once
from .printing import Printing, pod_names, printing
from .voice import note

if TYPE_CHECKING:
    from ..models.kube_version import KubeVersion

_GATES: Final = click.option(
    "--feature-gates", metavar="NAME=false,...", default="", help="Switch off what the scheduler has."
)


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow hints cases.jsonl
  kubestow hints cases.jsonl -o name
  kubestow hints cases.jsonl -o json
  kubestow hints cases.jsonl --feature-gates InPlacePodVerticalScaling=false
""",
)
@click.argument("cases", nargs=-1, required=True, metavar="CASES...", callback=stdin_once)
@printing("wide", "name", "json", names="the pods that wake", pods=True)
@_GATES
@kube_version_option
def hints(cases: tuple[str, ...], printing: Printing, feature_gates: str, kube_version: KubeVersion) -> None:
    """Show which changes of a cluster wake which pods, and why.

    CASES are files of JSON lines, gzip or not, `-` for standard input. A line {"id", "plugin", "pod", "old",
    "new", "objects"} asks whether the change from old to new wakes the pod that the plugin rejected.
    """
    from ..framework.hints.registry import GROUP_HINTS, HINT_PLUGINS
    from ..framework.hints.verdicts import judge
    from ..instances.recordings import read_cases
    from ..models.features import FeatureGates
    from ..reports.hints import hints_report

    gates = FeatureGates.parse(feature_gates)
    judged = [
        (case, judge(case, gates, kube_version)) for case in read_cases(cases, (*HINT_PLUGINS, *GROUP_HINTS))
    ]
    view = printing.view(" ".join(cases), (case.pod for case, _ in judged))
    if printing.output == "json":
        for case, verdict in judged:
            document = {"id": case.name, **verdict.document()}
            printing.emit(document, partial(hints_report, [(case, verdict)]), compact=True)
        return
    woken = view.shown(case.pod.key for case, verdict in judged if verdict.queue)
    printing.emit({}, partial(hints_report, judged, view), partial(pod_names, woken))


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow queue script.yaml
  kubestow queue script.yaml -n default -o wide
  kubestow queue script.yaml -o json
  kubestow queue script.yaml --feature-gates SchedulerPopFromBackoffQ=false
  kubestow queue script.yaml --feature-gates SchedulerQueueingHints=false
""",
)
@click.argument("script")
@printing("wide", "name", "json", names="the pods that wait at the end", pods=True)
@_GATES
@kube_version_option
def queue(script: str, printing: Printing, feature_gates: str, kube_version: KubeVersion) -> None:
    """Run a script through the scheduling queue, step by step.

    The table has who is where after each step.
    SCRIPT is a JSON or YAML file, `-` for standard input, of [{"name", "objects", "trace"}]. A step of a
    trace has a time `at` in seconds and an `op`: event (old, new), pop, fail (pod, plugins, pending), bound
    (pod), activate (pod) or wait. Ticks and flushes run on their own.
    """
    from ..framework.hints.registry import GROUP_HINTS, HINT_PLUGINS
    from ..framework.queue.replay import replay
    from ..instances.recordings import read_timelines
    from ..models.features import FeatureGates
    from ..reports.queue import left_in_queue, queue_report

    gates = FeatureGates.parse(feature_gates)
    timelines = read_timelines(script)
    rejectors = {name for each in timelines for step in each.steps for name in (*step.plugins, *step.pending)}
    for name in sorted(rejectors - {*HINT_PLUGINS, *GROUP_HINTS}):
        note(f"{name} has no hints, so every event counts for its pods")
    documents = [replay(timeline, gates, kube_version) for timeline in timelines]
    view = printing.view(script, (pod for timeline in timelines for pod in timeline.pods()))
    left = view.shown(key for document in documents for key in left_in_queue(document))
    printing.emit(documents, partial(queue_report, documents, view), partial(pod_names, left))
