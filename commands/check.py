"""`kubestow check`: what an earlier answer claims, against the input and without the model that made it."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any, Final

import click

from .group import INCOMPLETE
from .help import Command
from .inputs import complete_instance, input_options, snapshots
from .printing import Printing, printing

_ORDER: Final = "`kubestow check FILE [INSTANCE]` takes an earlier answer first, then what it was made from"


class _Document(click.Path):
    """The path of an earlier answer; a fault says which argument that is."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path as it was given."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise click.BadParameter(f"{error.message.rstrip('.')}; {_ORDER}", ctx=ctx, param=param) from None


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow check plan.json
  kubestow check plan.json cluster.yaml
  kubestow check why.json -o json
""",
)
@click.argument("file", type=_Document(exists=True, dir_okay=False, allow_dash=True))
@click.argument("instance", required=False, shell_complete=complete_instance)
@printing("wide", "json", "yaml")
@input_options
def check(file: str, instance: str | None, printing: Printing, **choices: Any) -> None:
    """Check what a plan, or an answer of `explain --why`, claims: replay its steps, add up its sums.

    FILE is a document of `solve`, `compare`, `explain --why`, `drain` or `rebalance`, in JSON or YAML; `-` is
    standard input. INSTANCE is what it was made from, by default the one that it names. The model that made
    it is not asked again. Exit code 1: a claim does not hold.
    """
    from ..models.errors import InputError, KubestowError
    from ..reports.check import check_report
    from ..reports.document import read_document
    from ..solver.check.documents import check_document, instance_of

    with click.open_file(file, "rb") as stream:
        data = stream.read()
    try:
        document = read_document(file, data)
    except InputError as error:
        raise InputError(file, "", "", f"{error.message}; {_ORDER}") from None
    if {"apiVersion", "kind"} <= document.keys():
        raise InputError(file, "", "", f"is a Kubernetes object, no earlier answer; {_ORDER}")
    name = instance or instance_of(document)
    if name is None:
        raise click.UsageError(f"{file} does not name its INSTANCE: give one")
    [(snapshot, _)] = snapshots((name,), choices)
    try:
        findings = check_document(snapshot, document)
    except InputError:
        raise
    except KubestowError as error:
        raise InputError(file, "", "", str(error)) from None
    holds = all(item.holds is not False for item in findings)
    found = {"instance": name, "holds": holds, "claims": [item.document() for item in findings]}
    printing.emit(found, partial(check_report, found))
    if not holds:
        sys.exit(INCOMPLETE)
