"""The rounds of a suite: solved, judged, and what is known of them afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ...models.plan import Tier
from ...models.regress import JudgedInstance
from ...models.study import ERROR
from ...models.suite import KnownInstance
from ..study import study
from .judge import judged, limits_of
from .update import best_of, first_known

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...models.study import StudiedInstance
    from ...models.suite import KnownTier, SuiteRound
    from ..options import SolveOptions

Vectors = dict[Literal["greedy", "optimal"], tuple[Tier, ...]]
Tiers = dict[str, tuple["KnownTier", ...]]


@dataclass(frozen=True)
class SolvedSuite:
    """What both schedulers found of the rounds that were solved; fewer where that was interrupted."""

    rounds: tuple[SuiteRound, ...]
    found: Mapping[str, StudiedInstance]
    interrupted: bool


def solve_suite(
    rounds: Sequence[SuiteRound], options: SolveOptions, watch: Callable[[StudiedInstance], None]
) -> SolvedSuite:
    """Solve the rounds that were read as `study` does; `watch` is called with each when it is done."""
    snapshots = [round_.snapshot for round_ in rounds if round_.snapshot is not None]
    result = study(snapshots, options, watch)
    found = {row.instance: row for row in result.instances if not row.interrupted}
    return SolvedSuite(tuple(rounds), found, result.interrupted)


def judge_suite(
    solved: SolvedSuite, known: Mapping[str, KnownInstance], version: str, *, whole: bool
) -> tuple[JudgedInstance, ...]:
    """Judge every round that was solved or could not be.

    Parameters
    ----------
    version : str
        That of this kubestow.
    whole : bool
        Whether all rounds of the suite are there: a known one that is not among them is dropped.
    """
    rows = [
        _judge_round(round_, solved.found.get(round_.name), known.get(round_.name), version)
        for round_ in solved.rounds
        if round_.snapshot is None or round_.name in solved.found
    ]
    if whole:
        names = {round_.name for round_ in solved.rounds}
        rows += [
            JudgedInstance(instance=name, state="dropped", reason="is known, but not in the suite")
            for name in sorted(known)
            if name not in names
        ]
    return tuple(rows)


def best_known(
    solved: SolvedSuite,
    judgements: Sequence[JudgedInstance],
    known: Mapping[str, KnownInstance],
    version: str,
    *,
    accept_worse: bool,
) -> dict[str, KnownInstance]:
    """Return what is known of all rounds now.

    New rounds are added and what is better is taken. Of contradictions nothing is, since it is open which of
    the two is wrong.

    Parameters
    ----------
    accept_worse : bool
        Whether what is worse is taken as well, what was found of changed rounds, and that others are gone.
    """
    best = dict(known)
    rounds = {round_.name: round_ for round_ in solved.rounds}
    for item in judgements:
        name = item.instance
        if item.state == "dropped" and accept_worse:
            del best[name]
        elif item.state == "new" or (item.state == "changed" and accept_worse):
            now = vectors(solved.found[name])
            first: Tiers = {scheduler: first_known(found, version) for scheduler, found in now.items()}
            best[name] = KnownInstance(input=rounds[name].input, rules=rounds[name].rules, tiers=first)
        elif item.state == "compared" and not any(r.contradictions for r in item.rounds):
            then = known[name]
            better: Tiers = {
                scheduler: best_of(then.tiers[scheduler], found, version, accept_worse=accept_worse)
                for scheduler, found in vectors(solved.found[name]).items()
            }
            best[name] = KnownInstance(input=then.input, rules=then.rules, tiers=better)
    return best


def vectors(row: StudiedInstance) -> Vectors:
    """Return both schedulers' tiers; only a bound that says something is one."""
    greedy = (
        Tier(name=tier.name, sense=tier.sense, value=tier.greedy, bound=None, proven=False)
        for tier in row.tiers
    )
    optimal = (
        Tier(
            name=tier.name,
            sense=tier.sense,
            value=tier.optimal,
            bound=tier.bound if tier.proven or tier.gap else None,
            proven=tier.proven,
        )
        for tier in row.tiers
    )
    return {"greedy": tuple(greedy), "optimal": tuple(optimal)}


def _judge_round(
    round_: SuiteRound, row: StudiedInstance | None, known: KnownInstance | None, version: str
) -> JudgedInstance:
    if row is None:
        state: Literal["missing", "failed"] = "missing" if round_.missing else "failed"
        return JudgedInstance(instance=round_.name, state=state, reason=round_.error)
    if row.status == ERROR:
        return JudgedInstance(instance=round_.name, state="failed", reason=row.error)
    if known is None:
        return JudgedInstance(instance=round_.name, state="new", reason="nothing is known of it")
    if known.input != round_.input:
        reason = f"its files are others: {known.input[:19]} was known, {round_.input[:19]} is there"
        return JudgedInstance(instance=round_.name, state="changed", reason=reason)
    if known.rules != round_.rules:
        reason = f"its rules are others: {known.rules} was known, {round_.rules} is asked for"
        return JudgedInstance(instance=round_.name, state="changed", reason=reason)
    found = vectors(row)
    # An outcome of greedy's that is not admissible is no plan that a bound speaks of; it is the answer then.
    limits = limits_of(known.tiers["optimal"], found["optimal"], version) if row.admissible else []
    judgements = tuple(
        judged(scheduler, known.tiers[scheduler], now, version, limits if scheduler == "greedy" else ())
        for scheduler, now in found.items()
    )
    return JudgedInstance(instance=round_.name, state="compared", rounds=judgements)
