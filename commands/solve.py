"""The command for a round: `kubestow solve`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import click

from ..instances.dump import DUMP
from .group import before_a_plan, leave_early
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
from .printing import Printing, pod_names, printing
from .voice import progress_told, tell_solved


@click.command(
    cls=Command,
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
""",
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
    from ..reports.plan import plan_report
    from ..solver.api import solve_greedy_round, solve_round

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
        tell_solved(plan)
        document = with_notes(plan.model_dump(by_alias=True), snapshot)
        view = printing.view_of(snapshot)
        report = partial(plan_report, plan, view)
        if show == "topology":
            from ..reports.topology import topology_report
            from ..solver.plans.topology import topology

            picture = topology(solved, topology_key)
            document["topology"] = picture.model_dump(by_alias=True)
            report = partial(topology_report, plan, picture, view)
        left_out = view.shown(pod.pod for pod in plan.unschedulable)
        printing.emit(document, report, partial(pod_names, left_out), compact=several, several=several)
        if plan.stats.interrupted:
            leave_early()
