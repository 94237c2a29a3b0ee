"""The command line: parse, call one function, render, exit.

Exit codes: 0 done; 1 done, and what was asked for does not hold; 2 bad usage or bad input, in one line; 70 a
bug in kubestow; 130 interrupted; 141 the answer is not read to its end, as in `kubestow solve | head -1`.
Documents go to stdout, words to stderr. Everything heavy is imported inside the commands, so that help and
completion are instant.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import click

from kubestow import __version__
from kubestow.commands.apply_plan import apply_plan
from kubestow.commands.check import check
from kubestow.commands.drain import drain
from kubestow.commands.explain import explain
from kubestow.commands.exporter import exporter
from kubestow.commands.fit import fit
from kubestow.commands.generate import generate
from kubestow.commands.group import INTERRUPTED, Cli, before_a_plan, complain, leave
from kubestow.commands.inputs import (
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
from kubestow.commands.instances import instances
from kubestow.commands.live import live_options
from kubestow.commands.plugin import PLUGIN, completions
from kubestow.commands.printing import Printing, pod_names, printing
from kubestow.commands.provision import provision
from kubestow.commands.queue import hints, queue
from kubestow.commands.rebalance import rebalance
from kubestow.commands.regress import regress
from kubestow.commands.report import report
from kubestow.commands.simulate import simulate
from kubestow.commands.snapshot import take
from kubestow.commands.study import study
from kubestow.commands.study_report import study_report
from kubestow.commands.suggest import suggest
from kubestow.commands.trace import trace
from kubestow.commands.voice import is_verbose, news, progress_told
from kubestow.commands.what_if import what_if
from kubestow.instances.dump import DUMP, DUMP_TO_FILE

if TYPE_CHECKING:
    from kubestow.models.kube_version import KubeVersion
    from kubestow.models.plan import Plan

WHOLE_DUMP = "\n  ".join(DUMP_TO_FILE)


@click.group(
    cls=Cli,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"""\b
Examples:
  kubestow instances
  kubestow compare zone-spread-dead-end
  kubestow explain zone-spread-dead-end web-5
  kubestow compare --live

\b
Without --live and snapshot, a cluster with all that a round depends on, its devices and pod groups where it
serves them:
  {WHOLE_DUMP}

\b
Completion of commands, options and bundled instances, for bash, zsh or fish:
  eval "$(_KUBESTOW_COMPLETE=bash_source kubestow)"

\b
Exit codes:
  0    done
  1    done, and what was asked for does not hold: a regression, an instance that could not be solved
  2    bad usage or bad input, in one line
  70   a bug in kubestow
  130  interrupted; the best plan so far is printed where there is one
  141  the answer is not read to its end, as in `kubestow solve | head -1`
""",
)
@click.version_option(__version__, prog_name="kubestow")
def main() -> None:
    """Provably best scheduling rounds for Kubernetes, beside kube-scheduler's own.

    A round places all waiting pods of a cluster at one moment. kube-scheduler takes them one by one (greedy);
    kubestow looks at all of them at once (optimal). It reads what kubectl reads and never changes a cluster.

    An INSTANCE is a file or folder of Kubernetes objects (YAML or JSON, gzip or not), `-` for standard input,
    or the name of a bundled instance; with `--format openb` it is the two CSV files of the openb trace.
    """


@main.command(
    epilog=f"""\b
Examples:
  kubestow solve
  kubestow solve guard-training-job --scheduler greedy
  kubestow solve zone-spread-dead-end -n shop -l app=web -o wide
  kubestow solve zone-spread-dead-end --scheduler greedy -o name
  kubestow solve cluster.yaml -o json --time-limit 300 --workers 2
  kubestow solve cluster.yaml --prefer pack --seed 7 --workers 1
  kubestow solve cluster.yaml --max-evictions 3 --never-evict app=db --never-evict kube-system:
  kubestow solve rack-training-job --show topology
  kubestow solve cluster.yaml --show topology --topology-key topology.kubernetes.io/zone
  kubestow solve fallback-stockout --feature-gates PodTopologySpreadFallbackMode=false
  kubestow solve --live --context prod
  {DUMP} | kubestow solve -
  kubestow solve --format openb nodes.csv pods.csv --format-options gpus=summed
"""
)
@several_instances
@click.option(
    "--scheduler",
    type=click.Choice(["optimal", "greedy"]),
    default="optimal",
    show_default=True,
    help="The best plan, or what kube-scheduler would do.",
)
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
@printing("wide", "name", "json", "yaml", names="the pods that are left out", pods=True)
@search_options
@live_options
@input_options
def solve(
    instances: tuple[str, ...],
    scheduler: str,
    show: str,
    topology_key: str | None,
    printing: Printing,
    **choices: Any,
) -> None:
    """Plan the best scheduling round of a cluster.

    Every tier of the objective has its value, its bound and whether it is proven. Without an INSTANCE the
    first bundled one is solved, or kubectl's cluster by `kubectl kubestow solve`. With several, each is a
    round of its own, and one line in JSON.
    """
    from kubestow.reports.plan import plan_report
    from kubestow.solver.api import solve_greedy_round, solve_round

    if topology_key is not None and show != "topology":
        raise click.UsageError("--topology-key goes with --show topology only")
    search = search_of(choices)
    several = len(instance_names(instances, choices)) > 1
    with before_a_plan():
        loaded = list(snapshots(instances, choices))
    for snapshot, waited in loaded:
        with before_a_plan(), progress_told() as progress:
            if scheduler == "greedy":
                limited = replace(snapshot, limits=search.limits)
                solved = solve_greedy_round(limited, search.prefer, watch=progress.watch, waited=waited)
            else:
                solved = solve_round(snapshot, search, progress, watch=progress.watch, waited=waited)
        plan = solved.plan
        _tell_solved(plan)
        document = with_notes(plan.model_dump(by_alias=True), snapshot)
        view = printing.view_of(snapshot)
        report = partial(plan_report, plan, view)
        if show == "topology":
            from kubestow.reports.topology import topology_report
            from kubestow.solver.plans.topology import topology

            picture = topology(solved, topology_key)
            document["topology"] = picture.model_dump(by_alias=True)
            report = partial(topology_report, plan, picture, view)
        left_out = view.shown(pod.pod for pod in plan.unschedulable)
        printing.emit(document, report, partial(pod_names, left_out), compact=several, several=several)
        if plan.stats.interrupted:
            _leave_early()


@main.command(
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
    from kubestow.reports.comparison import comparison_report, differing
    from kubestow.reports.document import read_comparison
    from kubestow.reports.upgrade import changed, upgrade_report
    from kubestow.solver.compare import compare as compare_round
    from kubestow.solver.compare import regressions
    from kubestow.solver.upgrade import upgrade

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
    _tell_solved(comparison.optimal)
    document = with_notes(comparison.model_dump(by_alias=True), snapshot)
    view = printing.view_of(snapshot)
    names = view.shown(pod.pod for pod in differing(comparison))
    printing.emit(document, partial(comparison_report, comparison, view), partial(pod_names, names))
    spared = comparison.without_evictions
    if comparison.optimal.stats.interrupted or (spared is not None and spared.plan.stats.interrupted):
        _leave_early()
    worse = regressions(earlier, comparison) if earlier else []
    for line in worse:
        complain(f"regression: {line}")
    if worse:
        sys.exit(1)


main.add_command(apply_plan)
main.add_command(check)
main.add_command(explain)
main.add_command(exporter)
main.add_command(fit)
main.add_command(generate)
main.add_command(hints)
main.add_command(instances)
main.add_command(provision)
main.add_command(queue)
main.add_command(rebalance)
main.add_command(regress)
main.add_command(report)
main.add_command(study)
main.add_command(study_report)
main.add_command(suggest)
main.add_command(simulate)
main.add_command(take)
main.add_command(trace)
main.add_command(what_if)
main.add_command(drain)


@main.command()
def version() -> None:
    """Print the versions of kubestow, its solver and Python."""
    from importlib.metadata import version as of
    from platform import python_version

    click.echo(f"kubestow {__version__} (ortools {of('ortools')}, Python {python_version()})")


def plugin() -> None:
    """Run as a plugin of kubectl: `kubectl-kubestow`."""
    main(prog_name=PLUGIN)


def complete_plugin() -> None:
    """Answer kubectl's completion: `kubectl_complete-kubestow`."""
    for line in completions(main, sys.argv[1:]):
        click.echo(line)


def _base(instance: str) -> str:
    """Return an instance's name without its folder: a file may have moved since it was compared."""
    return instance.rstrip("/").rpartition("/")[2]


def _leave_early() -> NoReturn:
    leave(INTERRUPTED, "interrupted; this was the best plan so far")


def _tell_solved(plan: Plan) -> None:
    if is_verbose():
        from kubestow.reports.narration import what_was_solved

        news(what_was_solved(plan))


if __name__ == "__main__":
    main()
