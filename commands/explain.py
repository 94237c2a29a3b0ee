"""The command that says why a pod goes where it goes, or nowhere: `kubestow explain`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from ..instances.dump import DUMP
from .help import Command
from .inputs import (
    complete_waiting_pod,
    input_options,
    instance_names,
    limits_of,
    search_of,
    search_options,
    snapshots,
    with_notes,
)
from .live import live_options, wants_live
from .printing import Printing, printing
from .voice import news_in_time, progress_told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..models.snapshot import Snapshot
    from ..solver.options import SolveOptions

_OF_A_SEARCH: Final = ("time_limit", "workers", "seed", "prefer", "engine", "dask")


@click.command(
    cls=Command,
    epilog=f"""\b
Examples:
  kubestow explain zone-spread-dead-end web-5
  kubestow explain zone-spread-dead-end -n shop web-5 -o wide
  kubestow explain cluster.yaml shop/web-5 -o json
  kubestow explain cluster.yaml shop/web-5 --alone
  kubestow explain guard-service promo-0 --why
  kubestow explain zone-spread-dead-end web-5 --why --headline
  kubestow explain rack-gang-dead-end train --why -o json
  kubestow explain why-four-wait render --why --cores 3
  kubestow explain --live shop/web-5
  {DUMP} | kubestow explain - shop/web-5
""",
)
@click.argument("instances", nargs=-1, metavar="INSTANCE", shell_complete=complete_waiting_pod)
@click.argument("pod", metavar="POD", shell_complete=complete_waiting_pod)
@click.option("--alone", is_flag=True, help="Try the pod before all others, with the cluster as it stands.")
@click.option(
    "--why",
    is_flag=True,
    help="Prove why POD, or the pod group of that name, waits: what it would cost, or which rules keep it.",
)
@click.option(
    "--headline",
    is_flag=True,
    help="With --why: stop once it is proven whether any plan places POD, before what that costs others.",
)
@click.option(
    "--cores",
    metavar="N",
    type=click.IntRange(min=1),
    help="With --why: name up to N minimal sets of rules that keep POD waiting.  [default: 1]",
)
@printing(
    *("wide", "name", "json", "yaml"),
    names="the nodes that take it, the best first",
    namespace="The namespace of POD.",
)
@live_options
@search_options
@input_options
def explain(
    instances: tuple[str, ...],
    pod: str,
    alone: bool,
    why: bool,
    headline: bool,
    cores: int | None,
    printing: Printing,
    **choices: Any,
) -> None:
    """Show why a waiting pod goes where it goes, or nowhere.

    POD is a name, with --namespace or as namespace/name; without either it is the only pod of that name, or
    the one in the namespace default. Every filter is asked about every node: what is
    missing there, by how much, and whom preemption would evict; the nearest miss comes first. The pod is
    tried at its turn in the queue, after the pods before it were placed as kube-scheduler would place them.
    With --why the answer is about the best round instead, and comes with its proof.
    """
    if not (instances or wants_live(instances, choices)) or len(instance_names(instances, choices)) != 1:
        raise click.UsageError("what is needed is one INSTANCE and one POD, in this order")
    if why:
        if alone:
            raise click.UsageError("--why and --alone do not go together")
        search = search_of(choices)
        [(snapshot, _)] = snapshots(instances, choices)
        in_namespace = printing.namespace is not None and "/" not in pod
        name = f"{printing.namespace}/{pod}" if in_namespace else pod
        _prove(snapshot, name, search, printing, headline=headline, cores=cores or 1)
        return
    for option, given in (("--headline", headline), ("--cores", cores is not None)):
        if given:
            raise click.UsageError(f"{option} goes with --why only")
    limits = limits_of(choices)
    for name in _OF_A_SEARCH:
        if click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} goes with --why only")
    [(snapshot, _)] = snapshots(instances, choices)
    _tell(replace(snapshot, limits=limits), pod, alone, printing)


def _tell(snapshot: Snapshot, pod: str, alone: bool, printing: Printing) -> None:
    """Say node by node what greedy meets."""
    from ..framework.runs.explain import explain as explain_pod
    from ..framework.runs.pod_names import full_name
    from ..instances.missing_kinds import kinds_it_waits_for
    from ..reports.explain import explain_report

    name = full_name(snapshot, pod, printing.namespace)
    with progress_told() as progress:
        document = explain_pod(snapshot, name, alone=alone, watch=progress.watch)
    if document["node"] is None:
        lacking = kinds_it_waits_for(snapshot, document["pod"])
        document["causes"] = [{"kind": "missingKind", "text": text} for text in lacking] + document["causes"]
    report = partial(explain_report, document, replace(printing, namespace=None).view_of(snapshot))
    names = [f"node/{node['node']}" for node in document["nodes"] if node["fits"]]
    printing.emit(with_notes(document, snapshot), report, lambda: names)


def _prove(
    snapshot: Snapshot, name: str, search: SolveOptions, printing: Printing, *, headline: bool, cores: int
) -> None:
    """Say what the best round does with a pod or a group, and prove it; that it has a place, at once."""
    from ..reports.why import place_found, why_report
    from ..solver.why.question import why

    with progress_told() as progress, news_in_time() as say:

        def told(found: Mapping[str, Any]) -> None:
            say(f"{place_found(found)}; what that costs others is looked for")

        document = why(snapshot, name, search, progress, told=told, headline=headline, cores=cores)
    nodes = sorted(set(document.get("placed", {}).values()))
    names = [f"node/{node}" for node in nodes]
    printing.emit(with_notes(document, snapshot), partial(why_report, document), lambda: names)
