"""How far greedy is behind the best known plan, tier by tier.

The objective is lexicographic, so values of a tier compare only between plans that agree in all tiers above:
behind in an upper tier, greedy may well be ahead in a lower one. The gap of an instance in a tier is
therefore taken where the tiers above are equal: the best known value less greedy's for a tier that is
maximised, the other way round for one that is minimised, never negative. Where the tier or one above it is
not proven, the gap to the optimum may be another one; such instances are counted. Gaps are in the tier's own
unit (pods, evictions, …), not relative: a share of a tier that is 0 has no meaning.

The confidence interval of the mean is a bootstrap over instances (`bootstrap`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from ...models.study_report import TierGap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...models.study_row import StudyRow
    from ..results import Answer
    from .bootstrap import Bootstrap

_PRIORITY: Final = re.compile(r"\bpriority=(-?\d+)")


class _Gap(NamedTuple):
    row: StudyRow
    size: int
    proven: bool


def gaps(answers: Sequence[Answer], bootstrap: Bootstrap) -> tuple[TierGap, ...]:
    """Return the gap of each tier by variant and family, in the order in which they come first."""
    grouped: dict[tuple[str, str, str], list[_Gap]] = {}
    for answer in answers:
        if answer.greedy.first.admissible:
            for gap in _gaps(answer):
                key = answer.variant, answer.family, gap.row.tier or ""
                grouped.setdefault(key, []).append(gap)
    return tuple(_summary(*key, found, bootstrap) for key, found in grouped.items())


def _gaps(answer: Answer) -> Iterator[_Gap]:
    """Yield the gaps of the tiers down to the first in which the schedulers differ."""
    proven = True
    for best, greedy in zip(answer.best.tiers, answer.greedy.tiers, strict=True):
        size = abs((best.value or 0) - (greedy.value or 0))
        proven &= bool(best.proven)
        yield _Gap(best, size, proven)
        if size:
            return


def _summary(variant: str, family: str, tier: str, found: Sequence[_Gap], bootstrap: Bootstrap) -> TierGap:
    sizes = [gap.size for gap in found]
    low, high = bootstrap.interval(sizes)
    priority = _PRIORITY.search(tier)
    return TierGap(
        variant=variant,
        family=family,
        tier=tier,
        priority=int(priority[1]) if priority else None,
        sense=found[0].row.sense or "max",
        n=len(found),
        unproven=sum(not gap.proven for gap in found),
        mean=sum(sizes) / len(sizes),
        low=low,
        high=high,
        largest=max(sizes),
    )
