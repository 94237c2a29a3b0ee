"""Rounds beside the best that is known of them: `kubestow regress init`, `run` and `check`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from .group import INCOMPLETE, INTERRUPTED, leave
from .help import Command, CommandGroup
from .inputs import complete_instance, effort_of, effort_options, kube_version_option
from .options import FiniteRange, options
from .printing import Printing, printing
from .suites import complete_suite, judged_suite, known_after, load_rounds, solved_suite, write

if TYPE_CHECKING:
    from ..models.kube_version import KubeVersion
    from ..models.regress import Regression


_suite_argument = click.argument("suite", shell_complete=complete_suite)
_judging_options = options(
    click.option(
        "--only",
        metavar="INSTANCE",
        multiple=True,
        help="This instance of the suite, and no other. May be repeated.",
    ),
    click.option(
        "--against",
        metavar="PYTHON",
        help="Another installed kubestow, to be timed in turns with this one: its interpreter or executable.",
    ),
    click.option(
        "--repeats",
        metavar="N",
        type=click.IntRange(min=1),
        default=3,
        show_default=True,
        help="Runs of each version with --against.",
    ),
    click.option(
        "--max-ratio",
        metavar="R",
        type=FiniteRange(min=0, min_open=True),
        help="With --against: what this version may take, as a multiple of the other one.",
    ),
)


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  kubestow regress check catalogue
  kubestow regress run catalogue --only guard-service -o wide
  kubestow regress init new-rounds guard-service monday.yaml tuesday.yaml
  kubestow regress check rounds
  kubestow regress run rounds --update
""",
)
def regress() -> None:
    """Hold rounds against the best that is known of them.

    A SUITE is a folder with suite.yaml, which names rounds, and best-known.yaml, which has the best value and
    bound that are known of each tier of each round, for both schedulers; or `catalogue`, that of the bundled
    instances (docs/regress.md).
    """


@regress.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow regress init rounds guard-service min-domains-upgrade
  kubestow regress init tests/rounds.yaml monday.yaml tuesday.yaml --kube-version 1.34
""",
)
@_suite_argument
@click.argument("instances", nargs=-1, required=True, metavar="INSTANCE...", shell_complete=complete_instance)
@printing("wide", "json", "yaml")
@effort_options
@click.option("--feature-gates", metavar="NAME=false,...", default="", help="Switch off what the input uses.")
@kube_version_option
def init(
    suite: str,
    instances: tuple[str, ...],
    feature_gates: str,
    kube_version: KubeVersion,
    printing: Printing,
    **choices: Any,
) -> None:
    """Make a suite of instances, and solve them for the first time.

    A bundled instance is named as it is, a file or folder by its path from the suite's own file. Nothing that
    is there already is overwritten.
    """
    from ..instances.suites.create import new_suite
    from ..instances.suites.file import read_suite
    from ..models.errors import KubestowError
    from ..models.features import FeatureGates
    from ..reports.suite_file import known_text, suite_text

    effort_of(choices)  # refuses what is no effort before anything is read
    effort = {"timeLimit": choices["time_limit"], "workers": choices["workers"], "seed": choices["seed"]}
    gates_off = FeatureGates.parse(feature_gates).off
    file, known_file, document = new_suite(suite, instances, kube_version, gates_off, effort)
    made = read_suite(str(file), str(known_file), document)
    rounds = load_rounds(made)
    unread = next((each.error for each in rounds if each.error), None)
    if unread is not None:
        raise KubestowError(unread)
    solved = solved_suite(suite, made, rounds, {}, whole=True)
    _print(solved.regression, printing)
    if unsolved := solved.unsolved:
        leave(INCOMPLETE, f"{unsolved} could not be solved; no suite was made")
    file.parent.mkdir(parents=True, exist_ok=True)
    write(str(file), suite_text(document))
    write(made.known_file, known_text(known_after(solved, accept_worse=False)))


@regress.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow regress run catalogue
  kubestow regress run rounds --update
  kubestow regress run rounds --only monday.yaml -o wide
""",
)
@_suite_argument
@click.option("--update", is_flag=True, help="Write what is new or got better.")
@click.option(
    "--accept-worse", is_flag=True, help="With --update: write also what got worse, was changed or is gone."
)
@_judging_options
@printing("wide", "name", "json", "yaml", names="the instances that a check would not pass")
def run(suite: str, update: bool, accept_worse: bool, printing: Printing, **choices: Any) -> None:
    """Solve a suite and show what is better or worse than the best that is known.

    With --update what is new or better is written beside the suite; contradictions never are.
    """
    if accept_worse and not update:
        raise click.UsageError("--accept-worse goes with --update")
    from ..reports.suite_file import known_text

    judged = judged_suite(suite, choices)
    _print(judged.regression, printing)
    if update:
        write(judged.suite.known_file, known_text(known_after(judged, accept_worse=accept_worse)))
    if unsolved := judged.unsolved:
        leave(INCOMPLETE, f"{unsolved} could not be solved")


@regress.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow regress check catalogue
  kubestow regress check rounds -o json
  kubestow regress check rounds --against /opt/kubestow-before/bin/python --max-ratio 1.2
""",
)
@_suite_argument
@_judging_options
@printing("wide", "name", "json", "yaml", names="the instances that do not pass")
def check(suite: str, printing: Printing, **choices: Any) -> None:
    """Solve a suite and fail where it is worse than the best that is known.

    Exit code 1 where a scheduler's tiers are worse, where a value contradicts a bound, where an instance is
    missing, changed or unknown, and where this version is slower than --max-ratio allows.
    """
    from ..reports.regress import failures

    result = judged_suite(suite, choices).regression
    _print(result, printing)
    if not result.holds:
        leave(INCOMPLETE, f"{suite} does not pass: {failures(result)}")


def _print(result: Regression, printing: Printing) -> None:
    """Print what was found; an interrupted suite is printed as far as it was solved, and ends the command."""
    from ..reports.regress import regress_report

    wide = printing.output == "wide"
    names = [item.instance for item in result.instances if not item.holds]
    printing.emit(result.model_dump(by_alias=True), partial(regress_report, result, wide=wide), lambda: names)
    if result.interrupted:
        leave(INTERRUPTED, "interrupted; these are the rounds that were solved, and nothing was written")
