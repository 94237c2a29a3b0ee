"""The command that makes rounds: `kubestow generate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from .help import Command
from .options import given
from .voice import progress_told, voice_options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_FORMS: Final = ("yaml", "json")
_FORMATS: Final = (*_FORMS, "table", "wide")
"""What -o takes in commands that print."""

_OF_A_ROUND: Final = {
    "seed": "--seed",
    "nodes": "--nodes",
    "knobs": "--set",
    "count": "--count",
    "output": "-o",
    "form": "--format",
    "force": "--force",
}
"""Parameters that say something of a round, and how they are spelled."""


def complete_family(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the names of families."""
    from click.shell_completion import CompletionItem

    from ..instances.generators.registry import FAMILIES

    return [
        CompletionItem(name, help=FAMILIES[name].title) for name in FAMILIES if name.startswith(incomplete)
    ]


def complete_knob(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the knobs of the family that is named already."""
    from click.shell_completion import CompletionItem

    from ..instances.generators.registry import FAMILIES

    # an option without its value ends click's parsing before FAMILY has its place
    named = ctx.params.get("family") or next(iter(ctx.args), "")
    family = FAMILIES.get(named)
    knobs = family.knobs if family else ()
    return [
        CompletionItem(f"{knob.name}={knob.default}", help=knob.about)
        for knob in knobs
        if knob.name.startswith(incomplete)
    ]


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow generate
  kubestow generate spread --list
  kubestow generate spread
  kubestow generate packing --nodes 8 --seed 3 -o packing.yaml
  kubestow generate mixed --set utilisation=1.2 --set density=0.5 -o mixed.json.gz
  kubestow generate volumes --count 5 -o volumes/
  kubestow generate contested --nodes 4 | kubestow compare -
""",
)
@click.argument("family", required=False, metavar="[FAMILY]", shell_complete=complete_family)
@click.option("--list", "listed", is_flag=True, help="List the families, or the knobs of FAMILY.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="S",
    default=0,
    show_default=True,
    help="The same seed gives the same round.",
)
@click.option("--nodes", metavar="N", help="How many nodes; short for --set nodes=N.")
@click.option(
    "--set",
    "knobs",
    metavar="KNOB=VALUE",
    multiple=True,
    shell_complete=complete_knob,
    help="Another value than the default of a knob; may be repeated.",
)
@click.option(
    "--count",
    type=click.IntRange(min=1),
    metavar="K",
    help="K rounds, of this seed and those that follow, as files in the folder that -o names.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE|DIR",
    default="-",
    show_default=True,
    help="Where to write: .json is JSON, .gz is packed, `-` is standard output; with --count, a folder.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMS),
    help="YAML or JSON.  [default: as the file's name says, else YAML]",
)
@click.option("--force", is_flag=True, help="Write files of a folder anew that are there already.")
@voice_options
def generate(
    family: str | None,
    listed: bool,
    seed: int,
    nodes: str | None,
    knobs: tuple[str, ...],
    count: int | None,
    output: str,
    form: str | None,
    force: bool,
) -> None:
    """Make rounds of a family by seed, as plain manifests.

    What an API server accepts and every other command reads. Without FAMILY the families are listed, with
    --list the knobs of one (docs/generators.md says how everything is distributed). With --count the names of
    the files are printed.
    """
    from ..instances.generators.registry import FAMILIES, family_of, generate
    from ..reports.families import families_report, knobs_report
    from ..reports.layout import show
    from ..reports.manifests import form_of, prepare_folder, write_manifests

    stray = next((option for name, option in _OF_A_ROUND.items() if given(name)), None)
    if family is None:
        if stray is not None:
            words = f"{stray} goes with a FAMILY; `kubestow generate` without options lists them"
            raise click.UsageError(words)
        show(families_report(FAMILIES.values()), sys.stdout)
        return
    chosen = family_of(family)
    if listed:
        if stray is not None:
            raise click.UsageError(f"{stray} does not go with --list")
        show(knobs_report(chosen), sys.stdout)
        return
    if output in _FORMATS:
        words = f"-o is a file or folder; `--format {output}` prints {output}, and `-o ./{output}` is a file"
        raise click.UsageError(
            words if output in _FORMS else f"-o is a file or folder, not a format: {output!r}"
        )
    if force and count is None:
        raise click.UsageError("--force goes with --count")
    texts = [*([f"nodes={nodes}"] if nodes is not None else ()), *knobs]
    values: dict[str, Any] = {}
    for name, text in map(_split, texts):
        if name in values:
            raise click.UsageError(f"{name} is given twice")
        values[name] = chosen.knob(name).parse(text)
    if count is None:
        with progress_told() as progress:
            made = generate(family, seed, **values)
            write_manifests(made, output, form or form_of(output), progress.watch)
        return
    if output == "-":
        raise click.UsageError("--count takes a folder: -o DIR")
    folder = Path(output)
    names = [f"{family}-{each}.{form or 'yaml'}" for each in range(seed, seed + count)]
    prepare_folder(folder, names, force)
    with progress_told() as progress:
        for number, name in enumerate(names):
            progress.watch("writing: files", number, count)
            made = generate(family, seed + number, **values)
            write_manifests(made, str(folder / name), form or "yaml")
    for name in names:
        click.echo(folder / name)


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r}: what is needed is KNOB=VALUE", param_hint="'--set'")
    return name.strip().replace("-", "_"), value.strip()
