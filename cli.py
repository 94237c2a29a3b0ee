"""The command line: parse, call one function, render, exit.

Exit codes: 0 done; 1 done, and what was asked for does not hold; 2 bad usage or bad input, in one line; 70 a
bug in kubestow; 130 interrupted; 141 nobody reads the answer to its end, as in `kubestow solve | head -1`.
Documents go to stdout, words to stderr. Everything heavy is imported inside the commands, so that help and
completion are instant.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from kubestow import __version__
from kubestow.commands.check import check
from kubestow.commands.group import INTERRUPTED, Cli, complain, leave
from kubestow.commands.inputs import (
    complete_instance,
    complete_waiting_pod,
    input_options,
    instance_names,
    output_option,
    parse_kube_version,
    search_of,
    search_options,
    several_instances,
    snapshots,
    with_notes,
)
from kubestow.commands.queue import hints, queue
from kubestow.commands.simulate import simulate
from kubestow.commands.study import study
from kubestow.instances.dump import DUMP, DUMP_TO_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import RenderableType

    from kubestow.models.kube_version import KubeVersion

WHOLE_DUMP = "\n  ".join(DUMP_TO_FILE)


@click.group(
    cls=Cli,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"""\b
Examples:
  kubestow solve
  kubestow instances guard-training-job
  {DUMP} | kubestow compare -

\b
A cluster with all that a round depends on, its devices and pod groups where it serves them:
  {WHOLE_DUMP}

\b
Completion of commands, options and bundled instances, for bash, zsh or fish:
  eval "$(_KUBESTOW_COMPLETE=bash_source kubestow)"
""",
)
@click.version_option(__version__, prog_name="kubestow")
def main() -> None:
    """Provably best scheduling rounds for Kubernetes, beside kube-scheduler's own.

    An INSTANCE is a file or folder of Kubernetes objects (YAML or JSON, gzip or not), `-` for standard input,
    or the name of a bundled instance; with `--format openb` it is the two CSV files of the openb trace.
    """


@main.command(
    epilog=f"""\b
Examples:
  kubestow solve
  kubestow solve guard-training-job --scheduler greedy
  kubestow solve cluster.yaml -o json --time-limit 300 --workers 2
  kubestow solve cluster.yaml --prefer pack --seed 7 --workers 1
  kubestow solve rack-training-job --show topology
  kubestow solve cluster.yaml --show topology --topology-key topology.kubernetes.io/zone
  kubestow solve fallback-stockout --feature-gates PodTopologySpreadFallbackMode=false
  {DUMP} | kubestow solve -
  kubestow solve --format openb nodes.csv pods.csv --format-options gpus=summed
"""
)
@several_instances
@click.option("--scheduler", type=click.Choice(["optimal", "greedy"]), default="optimal", show_default=True)
@click.option(
    "--show",
    type=click.Choice(["plan", "topology"]),
    default="plan",
    show_default=True,
    help="The plan as tables, or a picture of the racks: who is where, and which devices are taken.",
)
@click.option(
    "--topology-key",
    metavar="LABEL",
    help="The node label whose values are the racks.  [default: what pod groups name, else zones]",
)
@output_option
@search_options
@input_options
def solve(
    instances: tuple[str, ...],
    scheduler: str,
    show: str,
    topology_key: str | None,
    output: str,
    **choices: Any,
) -> None:
    """Plan the best scheduling round for a cluster, with a bound and a proof for every tier.

    Without an INSTANCE the first bundled one is solved. With several, each is a round of its own, and one
    line in JSON.
    """
    from kubestow.reports.plan import plan_report
    from kubestow.reports.progress import ProgressReport
    from kubestow.solver.api import solve_greedy_round, solve_round

    if topology_key is not None and show != "topology":
        raise click.UsageError("--topology-key goes with --show topology only")
    search = search_of(choices)
    several = len(instance_names(instances, choices)) > 1
    for snapshot in list(snapshots(instances, choices)):
        if scheduler == "greedy":
            solved = solve_greedy_round(snapshot, search.prefer)
        else:
            with ProgressReport(sys.stderr) as progress:
                solved = solve_round(snapshot, search, progress)
        plan = solved.plan
        document = with_notes(plan.model_dump(by_alias=True), snapshot)
        report = partial(plan_report, plan)
        if show == "topology":
            from kubestow.reports.topology import topology_report
            from kubestow.solver.plans.topology import topology

            picture = topology(solved, topology_key)
            document["topology"] = picture.model_dump(by_alias=True)
            report = partial(topology_report, plan, picture)
        _emit(output, document, report, compact=several, several=several)
        if plan.stats.interrupted:
            _leave_early()


@main.command(
    epilog=f"""\b
Examples:
  kubestow compare
  kubestow compare cluster.yaml -o json
  kubestow compare cluster.yaml --fail-on-regression before.json
  kubestow compare cluster.yaml --kube-version 1.34 --against 1.36
  {DUMP} | kubestow compare -
"""
)
@several_instances
@click.option(
    "--fail-on-regression",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="An earlier document of this command; exit 1 if either scheduler has become worse.",
)
@click.option(
    "--against",
    metavar="VERSION",
    callback=parse_kube_version,
    help="Another release than --kube-version: what the upgrade changes for the greedy scheduler.",
)
@output_option
@search_options
@input_options
def compare(
    instances: tuple[str, ...],
    fail_on_regression: str | None,
    against: KubeVersion | None,
    output: str,
    **choices: Any,
) -> None:
    """Show what greedy scheduling costs: the optimum and the greedy baseline side by side.

    With --against it shows what an upgrade of kube-scheduler costs: the pods that would start, wait, move or
    be evicted under the other release.
    """
    from kubestow.reports.comparison import comparison_report
    from kubestow.reports.document import read_comparison
    from kubestow.reports.progress import ProgressReport
    from kubestow.reports.upgrade import upgrade_report
    from kubestow.solver.compare import compare as compare_round
    from kubestow.solver.compare import regressions
    from kubestow.solver.upgrade import upgrade

    search = search_of(choices)
    if against is not None and fail_on_regression:
        raise click.UsageError("--against and --fail-on-regression do not go together")
    if against == choices["kube_version"]:
        raise click.UsageError(f"--against takes another release than --kube-version {against}")
    earlier = read_comparison(fail_on_regression) if fail_on_regression else None
    if len(instance_names(instances, choices)) > 1:
        raise click.UsageError("compare takes one INSTANCE")
    [snapshot] = snapshots(instances, choices)
    if earlier is not None and _base(earlier.optimal.instance) != _base(snapshot.name):
        compared = f"{fail_on_regression} compares {earlier.optimal.instance}, not {snapshot.name}"
        raise click.UsageError(f"--fail-on-regression: {compared}")
    if against is not None:
        changes = upgrade(snapshot, against)
        document = with_notes(changes.model_dump(by_alias=True), snapshot)
        _emit(output, document, partial(upgrade_report, changes))
        return
    with ProgressReport(sys.stderr) as progress:
        comparison = compare_round(snapshot, search, progress)
    document = with_notes(comparison.model_dump(by_alias=True), snapshot)
    _emit(output, document, partial(comparison_report, comparison))
    if comparison.optimal.stats.interrupted:
        _leave_early()
    worse = regressions(earlier, comparison) if earlier else []
    for line in worse:
        complain(f"regression: {line}")
    if worse:
        sys.exit(1)


@main.command(
    epilog=f"""\b
Examples:
  kubestow trace zone-spread-dead-end
  kubestow trace cluster.yaml -o json
  kubestow trace monday.yaml tuesday.yaml -o json
  {DUMP} | kubestow trace -
"""
)
@several_instances
@output_option
@input_options
def trace(instances: tuple[str, ...], output: str, **choices: Any) -> None:
    """Show the greedy baseline's cycles: every node's rejection, every score, every victim.

    In JSON each instance is one line.
    """
    from kubestow.framework.runs.trace import trace as trace_round
    from kubestow.reports.trace import trace_report

    several = len(instance_names(instances, choices)) > 1
    for snapshot in list(snapshots(instances, choices)):
        document = trace_round(snapshot)
        report = partial(trace_report, snapshot.name, document)
        _emit(output, document, report, compact=True, several=several)


@main.command(
    epilog=f"""\b
Examples:
  kubestow explain zone-spread-dead-end web-5
  kubestow explain cluster.yaml shop/web-5 -o json
  kubestow explain cluster.yaml shop/web-5 --alone
  kubestow explain guard-service promo-0 --why
  kubestow explain rack-gang-dead-end train --why -o json
  {DUMP} | kubestow explain - shop/web-5
"""
)
@click.argument("instances", nargs=-1, metavar="INSTANCE", shell_complete=complete_waiting_pod)
@click.argument("pod", metavar="POD", shell_complete=complete_waiting_pod)
@click.option("--alone", is_flag=True, help="Try the pod before all others, with the cluster as it stands.")
@click.option(
    "--why",
    is_flag=True,
    help="Prove why POD, or the pod group of that name, waits: what it would cost, or which rules keep it.",
)
@output_option
@search_options
@input_options
def explain(
    instances: tuple[str, ...], pod: str, alone: bool, why: bool, output: str, **choices: Any
) -> None:
    """Show why a waiting pod fits where it fits and nowhere else, node by node.

    POD is namespace/name, or a name that only one pod has. Every filter is asked about every node: what is
    missing there, by how much, and whom preemption would evict; the nearest miss comes first. The pod is
    tried at its turn in the queue, after the pods before it were placed as kube-scheduler would place them.
    """
    if not instances or len(instance_names(instances, choices)) != 1:
        raise click.UsageError("what is needed is one INSTANCE and one POD, in this order")
    if why:
        _explain_why(instances, pod, alone, output, choices)
        return
    for name in ("time_limit", "workers", "seed", "prefer", "engine", "dask"):
        if click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} goes with --why only")
    from kubestow.framework.runs.explain import explain as explain_pod
    from kubestow.instances.missing_kinds import kinds_it_waits_for
    from kubestow.reports.explain import explain_report

    [snapshot] = snapshots(instances, choices)
    document = explain_pod(snapshot, pod, alone=alone)
    if document["node"] is None:
        lacking = kinds_it_waits_for(snapshot, document["pod"])
        document["causes"] = [{"kind": "missingKind", "text": text} for text in lacking] + document["causes"]
    _emit(output, with_notes(document, snapshot), partial(explain_report, document))


def _explain_why(
    instances: tuple[str, ...], name: str, alone: bool, output: str, choices: Mapping[str, Any]
) -> None:
    from kubestow.reports.progress import ProgressReport
    from kubestow.reports.why import why_report
    from kubestow.solver.why.question import why

    if alone:
        raise click.UsageError("--why and --alone do not go together")
    search = search_of(choices)
    [snapshot] = snapshots(instances, choices)
    with ProgressReport(sys.stderr) as progress:
        document = why(snapshot, name, search, progress)
    _emit(output, with_notes(document, snapshot), partial(why_report, document))


@main.command(
    epilog="""\b
Examples:
  kubestow instances
  kubestow instances min-domains-upgrade
  kubestow instances min-domains-upgrade --path
"""
)
@click.argument("name", required=False, shell_complete=complete_instance)
@click.option("--path", is_flag=True, help="Print where the file is.")
@output_option
def instances(name: str | None, path: bool, output: str) -> None:
    """List the bundled instances and scenarios, or tell the story of one."""
    from kubestow.instances import catalogue, scenarios
    from kubestow.reports.catalogue import list_report, scenario_report, story_report

    if path:
        for each in [name] if name is not None else (*catalogue.names(), *scenarios.NAMES):
            click.echo(scenarios.path(each) if each in scenarios.NAMES else catalogue.path(each))
    elif name in scenarios.NAMES:
        tale = scenarios.describe(name)._asdict()
        _emit(output, tale, partial(scenario_report, tale))
    elif name is not None:
        story = catalogue.describe(name).model_dump(by_alias=True)
        _emit(output, story, partial(story_report, story))
    else:
        entries = [catalogue.describe(each).model_dump(by_alias=True) for each in catalogue.names()]
        tales = [scenarios.describe(each)._asdict() for each in scenarios.NAMES]
        document = {"instances": entries, "scenarios": tales}
        _emit(output, document, partial(list_report, entries, tales))


main.add_command(check)
main.add_command(hints)
main.add_command(queue)
main.add_command(study)
main.add_command(simulate)


@main.command()
def version() -> None:
    """Print the versions of kubestow, its solver and Python."""
    from importlib.metadata import version as of
    from platform import python_version

    click.echo(f"kubestow {__version__} (ortools {of('ortools')}, Python {python_version()})")


def _base(instance: str) -> str:
    """Return an instance's name without its folder: a file may have moved since it was compared."""
    return instance.rstrip("/").rpartition("/")[2]


def _leave_early() -> NoReturn:
    leave(INTERRUPTED, "interrupted; this was the best plan so far")


def _emit(
    output: str,
    document: Mapping[str, Any],
    report: Callable[[], RenderableType],
    *,
    compact: bool = False,
    several: bool = False,
) -> None:
    """Write one answer to stdout: a document for programs, or the report for people."""
    if output == "table":
        from kubestow.reports.layout import show

        show(report(), sys.stdout)
        if several:
            click.echo()
        return
    from kubestow.reports.document import as_json, as_yaml

    click.echo(as_json(document, compact=compact) if output == "json" else as_yaml(document), nl=False)


if __name__ == "__main__":
    main()
