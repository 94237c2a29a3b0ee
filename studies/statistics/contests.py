"""Win, tie and loss of variants against each other, with the sign test.

Two variants meet on each instance that both have solved; whose vector of tiers is lexicographically better
wins. Runs of optimal with several seeds are no independent cases: per seed there is a win or a loss, and the
instance goes to whoever has more of them, so n is the number of instances. Instances whose tiers differ in
name between the variants (other priorities, other kinds of pods) are not compared.

The test asks how likely wins and losses as uneven as these are where either is as likely as the other:
p = min(1, 2 · P(X ≤ min(wins, losses))) with X binomial(wins + losses, 1/2). Ties are left out.

Source: Dixon and Mood, "The Statistical Sign Test", JASA 41 (1946). There is no correction for several
comparisons.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from ...models.study_report import Contest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..results import Result

_Of = dict[str, dict[int | None, "Result"]]
"""By instance and seed."""


def contests(results: Sequence[Result]) -> tuple[Contest, ...]:
    """Return the contest of every two variants, for each scheduler."""
    runs: dict[str, dict[str, _Of]] = {}
    for result in results:
        row = result.first
        if not result.failed and row.admissible:
            of_variant = runs.setdefault(row.scheduler, {}).setdefault(row.variant, {})
            of_variant.setdefault(row.instance, {})[row.seed] = result
    return tuple(
        _contest(scheduler, first, second, variants)
        for scheduler, variants in runs.items()
        for first, second in combinations(variants, 2)
    )


def sign_test(wins: int, losses: int) -> float | None:
    """Return the two-sided p of the sign test; None without a decided case."""
    n = wins + losses
    if not n:
        return None
    tail = sum(comb(n, k) for k in range(min(wins, losses) + 1))
    return min(1.0, tail / (1 << (n - 1)))


def _contest(scheduler: str, first: str, second: str, variants: Mapping[str, _Of]) -> Contest:
    balances = []
    incomparable = 0
    for instance in variants[first].keys() & variants[second].keys():
        ours, theirs = variants[first][instance], variants[second][instance]
        pairs = [(ours[seed], theirs[seed]) for seed in ours.keys() & theirs.keys()]
        if not pairs:
            continue
        if any(one.names != other.names for one, other in pairs):
            incomparable += 1
            continue
        wins = sum(one.vector < other.vector for one, other in pairs)
        losses = sum(one.vector > other.vector for one, other in pairs)
        balances.append(wins - losses)
    wins, losses = sum(balance > 0 for balance in balances), sum(balance < 0 for balance in balances)
    return Contest(
        scheduler=scheduler,
        first=first,
        second=second,
        n=len(balances),
        wins=wins,
        ties=len(balances) - wins - losses,
        losses=losses,
        incomparable=incomparable,
        p=sign_test(wins, losses),
    )
