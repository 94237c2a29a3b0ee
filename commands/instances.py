"""The command about what is bundled: `kubestow instances`."""

from __future__ import annotations

from functools import partial

import click

from .help import Command
from .inputs import complete_instance
from .printing import Printing, printing


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow instances
  kubestow instances -o name
  kubestow instances min-domains-upgrade
  kubestow instances min-domains-upgrade --path
""",
)
@click.argument("name", required=False, shell_complete=complete_instance)
@click.option("--path", is_flag=True, help="Print where the file is.")
@printing("name", "json", "yaml", names="the names of instances, not of scenarios")
def instances(name: str | None, path: bool, printing: Printing) -> None:
    """List what is bundled, or tell the story of one of them.

    NAME is that of an instance, for most commands, or of a scenario, for `kubestow simulate`.
    """
    from ..instances import catalogue, scenarios
    from ..reports.catalogue import list_report, scenario_report, story_report

    if path:
        for each in [name] if name is not None else (*catalogue.names(), *scenarios.NAMES):
            click.echo(scenarios.path(each) if each in scenarios.NAMES else catalogue.path(each))
    elif name in scenarios.NAMES:
        tale = scenarios.describe(name)._asdict()
        printing.emit(tale, partial(scenario_report, tale))
    elif name is not None:
        story = catalogue.describe(name).model_dump(by_alias=True)
        printing.emit(story, partial(story_report, story), lambda: [name])
    else:
        entries = [catalogue.describe(each).model_dump(by_alias=True) for each in catalogue.names()]
        tales = [scenarios.describe(each)._asdict() for each in scenarios.NAMES]
        document = {"instances": entries, "scenarios": tales}
        printing.emit(document, partial(list_report, entries, tales), catalogue.names)
