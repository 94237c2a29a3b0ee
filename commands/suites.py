"""What the commands of `kubestow regress` share: a suite read, solved and judged, and its files written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from .voice import news, progress_told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from click.shell_completion import CompletionItem

    from ..models.regress import Regression, TimedInstance, Timing
    from ..models.study import StudiedInstance
    from ..models.suite import KnownInstance, Suite, SuiteInstance, SuiteRound
    from ..solver.regress.rounds import SolvedSuite
    from ..solver.regress.timing import Installed


@dataclass(frozen=True)
class JudgedSuite:
    """A suite, what was known of it, what was found, and what came of that."""

    suite: Suite
    known: Mapping[str, KnownInstance]
    solved: SolvedSuite
    regression: Regression

    @property
    def unsolved(self) -> str:
        """The rounds that could not be solved, in words; empty where there is none."""
        names = [item.instance for item in self.regression.instances if item.state in ("failed", "missing")]
        return ", ".join(names)


def complete_suite(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the bundled suite, and leave paths to the shell."""
    from click.shell_completion import CompletionItem

    from ..instances.suites.file import CATALOGUE

    bundled = [CompletionItem(CATALOGUE)] if CATALOGUE.startswith(incomplete) else []
    return [*bundled, CompletionItem(incomplete, type="file")]


def judged_suite(argument: str, choices: Mapping[str, Any]) -> JudgedSuite:
    """Read a suite, solve it and judge it, as the options of `run` and `check` ask."""
    from dataclasses import replace

    from .. import __version__
    from ..instances.suites.file import load_suite
    from ..instances.suites.known import load_known
    from ..solver.regress.timing import other_kubestow, this_kubestow

    against, only = choices["against"], choices["only"]
    if against is None and choices["max_ratio"] is not None:
        raise click.UsageError("--max-ratio goes with --against")
    suite = load_suite(argument)
    known = load_known(suite.known_file)
    unknown = [name for name in only if name not in {each.name for each in suite.instances}]
    if unknown:
        raise click.UsageError(f"--only: {suite.file} has no instance '{unknown[0]}'")
    if only:
        suite = replace(suite, instances=tuple(each for each in suite.instances if each.name in only))
    other = None if against is None else other_kubestow(against)
    judged = solved_suite(argument, suite, load_rounds(suite), known, whole=not only)
    if other is None or judged.regression.interrupted:
        return judged
    more: dict[str, Any]
    try:
        more = {"timing": _timed(judged, this_kubestow(__version__), other, choices)}
    except KeyboardInterrupt:
        more = {"interrupted": True}
    return replace(judged, regression=judged.regression.model_copy(update=more))


def load_rounds(suite: Suite) -> list[SuiteRound]:
    """Read all rounds of a suite."""
    from ..instances.suites.inputs import load_round

    with progress_told() as progress:
        return [load_round(suite, instance, progress.watch) for instance in suite.instances]


def solved_suite(
    name: str,
    suite: Suite,
    rounds: Sequence[SuiteRound],
    known: Mapping[str, KnownInstance],
    *,
    whole: bool,
) -> JudgedSuite:
    """Solve a suite and judge it; each round is told when it is done."""
    from dataclasses import replace

    from .. import __version__
    from ..models.regress import Regression
    from ..solver.options import SolveOptions
    from ..solver.regress.rounds import judge_suite, solve_suite

    options = SolveOptions(time_limit=suite.time_limit, seed=suite.seed, prefer=suite.prefer)
    if suite.workers is not None:
        options = replace(options, workers=suite.workers)
    done, number = 0, sum(round_.snapshot is not None for round_ in rounds)

    def tell(row: StudiedInstance) -> None:
        nonlocal done
        done += 1
        news(f"{done} of {number}: {row.error or f'{row.instance}: {row.status}, {row.seconds} s'}")

    solved = solve_suite(rounds, options, tell)
    judgements = judge_suite(solved, known, __version__, whole=whole)
    result = Regression(suite=name, version=__version__, instances=judgements, interrupted=solved.interrupted)
    return JudgedSuite(suite, known, solved, result)


def known_after(judged: JudgedSuite, *, accept_worse: bool) -> dict[str, KnownInstance]:
    """Return what is known of a suite now."""
    from .. import __version__
    from ..solver.regress.rounds import best_known

    return best_known(
        judged.solved, judged.regression.instances, judged.known, __version__, accept_worse=accept_worse
    )


def write(path: str, text: str) -> None:
    """Write a file of a suite, whole or not at all."""
    from ..reports.output_file import output_file

    with output_file(path) as file:
        file.write(text)


def _timed(judged: JudgedSuite, ours: Installed, other: Installed, choices: Mapping[str, Any]) -> Timing:
    """Time the rounds that were solved."""
    from ..solver.regress.timing import in_turns

    suite = judged.suite
    calls = {each.name: _call(suite, each) for each in suite.instances if each.name in judged.solved.found}

    def tell(row: TimedInstance) -> None:
        news(f"timed {row.instance}: {row.error or f'{row.ratio} times'}")

    return in_turns(
        ours, other, calls, repeats=choices["repeats"], max_ratio=choices["max_ratio"], watch=tell
    )


def _call(suite: Suite, instance: SuiteInstance) -> list[str]:
    """Return the arguments of `kubestow` that solve a round, with one thread as in the suite itself."""
    effort = {"time-limit": suite.time_limit, "workers": 1, "seed": suite.seed, "prefer": suite.prefer}
    rules = {"kube-version": instance.kube_version.value, "feature-gates": instance.gates}
    words = [f"--{name}={value}" for name, value in {**effort, **rules}.items()]
    return ["solve", instance.source, "-o", "json", *words]
