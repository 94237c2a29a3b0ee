"""The command for simulations through time: `kubestow simulate`."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..instances.dump import DUMP_TO_FILE
from .help import Command
from .inputs import kube_version_option, live_cluster, tell, tell_read
from .live import live_options, refuse_stray
from .plugin import is_plugin
from .printing import Printing, printing
from .voice import is_quiet

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ..models.kube_version import KubeVersion
    from ..models.scenario import Scenario
    from ..reports.output_file import OutputFile
    from ..simulation.engine import Simulation


def complete_scenario(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the names of bundled scenarios, and leave paths to the shell."""
    from click.shell_completion import CompletionItem

    from ..instances import scenarios

    names = [CompletionItem(name) for name in scenarios.NAMES if name.startswith(incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


@click.command(
    cls=Command,
    epilog=f"""\b
Examples:
  kubestow simulate
  kubestow simulate rolling-update --scheduler both
  kubestow simulate zone-outage --log events.jsonl --metrics metrics.prom -o json
  kubestow simulate hour-of-arrivals --feature-gates SchedulerQueueingHints=false
  kubestow simulate tomorrow.yaml --live

\b
Your own cluster, for a scenario that says `cluster: {{files: [cluster.json]}}`:
  {DUMP_TO_FILE[0]}
""",
)
@click.argument("scenario", required=False, metavar="[SCENARIO]", shell_complete=complete_scenario)
@click.option(
    "--scheduler",
    type=click.Choice(["greedy", "optimal", "both"]),
    default="greedy",
    show_default=True,
    help="kube-scheduler's loop, or optimal rounds one after another.",
)
@click.option("--log", metavar="FILE", type=click.Path(dir_okay=False), help="Write all events (JSON lines).")
@click.option(
    "--metrics", metavar="FILE", type=click.Path(dir_okay=False), help="Write metrics, as Prometheus' text."
)
@click.option(
    "--feature-gates", metavar="NAME=false,...", default="", help="Switch off what the scheduler has."
)
@kube_version_option
@live_options
@printing("json", "yaml")
def simulate(
    scenario: str | None,
    scheduler: str,
    log: str | None,
    metrics: str | None,
    feature_gates: str,
    kube_version: KubeVersion,
    printing: Printing,
    **choices: Any,
) -> None:
    """Run a cluster through time on a virtual clock.

    Pods come and go, nodes fail, an autoscaler adds some. SCENARIO is a YAML file (docs/simulate.md), `-` for
    standard input, or the name of a bundled one; without it the first bundled one runs. With --live the
    cluster that kubectl reaches, and its time, take the place of the scenario's own. A run with the same seed
    is the same to the byte.
    """
    from ..instances import catalogue, scenarios
    from ..instances.scenario_loader import load_scenario
    from ..models.features import FeatureGates
    from ..reports.output_file import output_file
    from ..reports.simulation import simulation_report
    from ..simulation.prometheus import prometheus
    from ..simulation.summary import document_of

    if scenario is None and is_plugin():
        raise click.UsageError("what is needed is a SCENARIO; `kubectl kubestow instances` lists some")
    refuse_stray(choices)
    if scenario is None and choices["live"]:
        raise click.UsageError("what is needed beside --live is a SCENARIO: what happens, and for how long")
    if log and metrics and Path(log).resolve() == Path(metrics).resolve():
        raise click.UsageError("--log and --metrics cannot be one file")
    gates = FeatureGates.parse(feature_gates)
    loaded = load_scenario(
        scenarios.locate(scenarios.NAMES[0] if scenario is None else scenario),
        catalogue.locate,
        gates,
        partial(live_cluster, choices) if choices["live"] else None,
    )
    loaded = replace(loaded, snapshot=replace(loaded.snapshot, kube_version=kube_version))
    tell(loaded.name, _notes_of(loaded))
    tell_read(loaded.snapshot)
    chosen = ("greedy", "optimal") if scheduler == "both" else (scheduler,)
    with ExitStack() as stack:
        files = {path: stack.enter_context(output_file(path)) for path in (log, metrics) if path is not None}
        runs = {
            name: _run(loaded, name, None if log is None else files[log], len(chosen) > 1) for name in chosen
        }
        if metrics is not None:
            files[metrics].write(prometheus(runs))
    document = document_of(loaded, runs)
    printing.emit(document, partial(simulation_report, document))


def _notes_of(scenario: Scenario) -> list[str]:
    """Return the notes about a scenario's cluster; objects that events add later are not missing."""
    from ..instances.missing_kinds import OWNERS, missing_kinds, missing_owners
    from ..models.scenario import Put

    snapshot = scenario.snapshot
    puts = (event.action for event in scenario.events if isinstance(event.action, Put))
    coming = {item.kind for put in puts for item in put.objects}
    without = {*coming, *OWNERS, "Workload"}  # without one a group of v1alpha1 is refused all the same
    if coming & {"Workload", "Job"} or snapshot.workloads or snapshot.jobs:
        without |= {"PodGroup", "CompositePodGroup"}  # they may be made on the way
    missing = [*missing_kinds(snapshot, without), *missing_owners(snapshot, coming)]
    return [*snapshot.notes, *missing]


def _run(scenario: Scenario, name: str, log: OutputFile | None, several: bool) -> Simulation:
    from ..reports.document import as_json
    from ..reports.simulation import SimulationProgress
    from ..simulation.engine import Simulation
    from ..simulation.greedy import GreedyScheduler

    if name == "greedy":
        run = Simulation(scenario, GreedyScheduler)
    else:
        from ..solver.simulate import OptimalScheduler

        run = Simulation(scenario, OptimalScheduler)
    if log is not None:
        first = {"scheduler": name} if several else {}
        run.record.sink = lambda entry: log.write(as_json({**first, **entry}, compact=True))
    if is_quiet():
        run.run()
        return run
    progress = SimulationProgress(sys.stderr, name, scenario.duration / 1e9)
    run.run(progress)
    progress.close()
    return run
