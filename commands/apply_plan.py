"""The command that says what a plan means for an API server: `kubestow apply-plan`."""

from __future__ import annotations

from functools import partial

import click

from .help import Command
from .printing import Printing, printing


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow apply-plan plan.json
  kubestow apply-plan plan.json -o script > plan.sh
  kubestow apply-plan plan.json -o yaml
  kubestow apply-plan comparison.json --scheduler optimal -o json
  kubestow solve cluster.json -o json | kubestow apply-plan - -o script
""",
)
@click.argument("plan", type=click.Path(allow_dash=True))
@click.option(
    "--scheduler",
    type=click.Choice(["optimal", "greedy"]),
    help="Which plan, where PLAN is a document of `kubestow compare`.",
)
@printing("script", "json", "yaml")
def apply_plan(plan: str, scheduler: str | None, printing: Printing) -> None:
    """Print what carries a plan out, request by request.

    PLAN is what `kubestow solve -o json` printed of a dump of a cluster, `-` for standard input. Evictions,
    waits, claims, volumes and bindings come in the order of the plan's steps, as documents or as a script for
    kubectl. The script only looks, unless it is run as `APPLY=1 sh plan.sh`; kubestow sends nothing itself.
    """
    from ..apply.reading import read_plan
    from ..apply.requests import requests_of

    _, found = read_plan(plan, scheduler)
    requests = requests_of(found)
    if printing.output == "script":
        from ..apply.script import script_of

        click.echo(script_of(found.instance, requests), nl=False)
        return
    from ..reports.apply import apply_report

    printing.emit([request.document() for request in requests], partial(apply_report, found, requests))
