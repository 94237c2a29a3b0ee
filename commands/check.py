"""`kubestow check`: what an earlier answer claims, against the input and without a solver."""

from __future__ import annotations

import sys
from typing import Any

import click

from .group import INCOMPLETE
from .inputs import complete_instance, input_options, output_option, snapshots


@click.command(
    epilog="""\b
Examples:
  kubestow check plan.json
  kubestow check plan.json cluster.yaml
  kubestow check why.json -o json
"""
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.argument("instance", required=False, shell_complete=complete_instance)
@output_option
@input_options
def check(file: str, instance: str | None, output: str, **choices: Any) -> None:
    """Check what a plan, or an answer of `explain --why`, claims: replay its steps, add up its sums.

    FILE is a document of `solve`, `compare` or `explain --why` in JSON; `-` is standard input. INSTANCE is
    what it was made from, by default the one that it names. Neither the model nor the solver is asked again.
    Exit code 1: a claim does not hold.
    """
    from ..reports.check import check_report
    from ..reports.document import as_json, as_yaml, read_document
    from ..reports.layout import show
    from ..solver.check.documents import check_document

    with click.open_file(file, "rb") as stream:
        document = read_document(file, stream.read())
    name = instance or document.get("instance") or (document.get("optimal") or {}).get("instance")
    if not isinstance(name, str):
        raise click.UsageError(f"{file} does not name its INSTANCE: give one")
    [snapshot] = snapshots((name,), choices)
    findings = check_document(snapshot, document)
    holds = all(item.holds is not False for item in findings)
    found = {"instance": name, "holds": holds, "claims": [item.document() for item in findings]}
    if output == "table":
        show(check_report(found), sys.stdout)
    else:
        click.echo(as_json(found) if output == "json" else as_yaml(found), nl=False)
    if not holds:
        sys.exit(INCOMPLETE)
