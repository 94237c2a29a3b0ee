"""The command for studies of many instances: `kubestow study`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ..instances.dump import DUMP
from .group import INTERRUPTED, leave
from .inputs import complete_instance, input_options, search_of, search_options, snapshots

if TYPE_CHECKING:
    from ..models.study import StudiedInstance


@click.command(
    epilog=f"""\b
Examples:
  {DUMP} > monday.json
  kubestow study guard-service min-domains-upgrade
  kubestow study monday.yaml tuesday.yaml -o csv
  kubestow study monday.yaml tuesday.yaml -o json --time-limit 300 --workers 2
"""
)
@click.argument("instances", nargs=-1, required=True, metavar="INSTANCE...", shell_complete=complete_instance)
@click.option(
    "-o", "--output", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True
)
@search_options
@input_options
def study(instances: tuple[str, ...], output: str, **choices: Any) -> None:
    """Solve many instances with both schedulers and tabulate values, bounds, gaps and seconds.

    As many instances as there are workers are solved at a time, each with one thread, on this machine or on a
    Dask cluster; the time limit is for each of them.
    """
    from ..solver.study import study as solve_all

    options = search_of(choices)
    loaded = list(snapshots(instances, choices))
    number = 0

    def tell(row: StudiedInstance) -> None:
        nonlocal number
        number += 1
        click.echo(
            f"kubestow: {number} of {len(loaded)}: {row.instance}: {row.status}, {row.seconds} s", err=True
        )

    result = solve_all(loaded, options, tell)
    if output == "table":
        from ..reports.layout import show
        from ..reports.study import study_report

        show(study_report(result), sys.stdout)
    elif output == "csv":
        from ..reports.study import study_csv

        click.echo(study_csv(result), nl=False)
    else:
        from ..reports.document import as_json

        click.echo(as_json(result.model_dump(by_alias=True)), nl=False)
    if result.interrupted:
        leave(INTERRUPTED, "interrupted; these are the instances that were done")
