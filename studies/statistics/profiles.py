"""Performance profiles: which variant proves optimality how much slower than the fastest one.

A problem is an instance with a seed that every variant has run. The cost of a variant on it is the seconds
to its proof, infinite without one; the performance ratio is that cost over the smallest of all variants.
The profile ρ(τ) is the share of all problems, those that no variant proves included, with a ratio of at most
τ. ρ(1) is how often a variant is the fastest, and where the curve ends how much it proves at all. Times
below a millisecond, the clock's resolution, count as one.

Source: Dolan and Moré, "Benchmarking Optimization Software with Performance Profiles", Mathematical
Programming 91 (2002). With more than two variants a profile shows distance from the best one, not who of two
others is faster (Gould and Scott, ACM TOMS 43, 2016).
"""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, Final

from ...models.study_report import Profile, ProfilePoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..results import Result

_RESOLUTION: Final = 0.001


def profiles(results: Sequence[Result]) -> tuple[Profile, ...]:
    """Return the profile of each variant; none where there are fewer than two to compare."""
    costs: dict[str, dict[tuple[str, int | None], float]] = {}
    for result in results:
        row = result.first
        if row.scheduler == "optimal" and not result.failed:
            cost = max(row.seconds, _RESOLUTION) if result.proven else inf
            costs.setdefault(row.variant, {})[row.instance, row.seed] = cost
    if len(costs) < 2:
        return ()
    first, *others = costs.values()
    problems = [problem for problem in first if all(problem in other for other in others)]
    fastest = {problem: min(of[problem] for of in costs.values()) for problem in problems}
    return tuple(
        _profile(variant, [of[p] / fastest[p] for p in problems if isfinite(of[p])], len(problems))
        for variant, of in costs.items()
    )


def _profile(variant: str, ratios: Sequence[float], n: int) -> Profile:
    """Return the curve of the ratios of those problems that are proven."""
    points = [
        ProfilePoint(ratio=ratio, share=sum(other <= ratio for other in ratios) / n)
        for ratio in sorted(set(ratios))
    ]
    return Profile(variant=variant, n=n, proven=len(ratios), points=tuple(points))
