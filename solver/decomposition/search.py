"""A round solved by its independent parts: results and bounds add up exactly.

Let X be the product of the parts' sets of admissible plans X_k (`solver.decomposition.components`), and v the
vector of tiers as costs. Every tier counts something that lies in one part, beside a constant c that is
there without any plan:

    v(x) = c + Σ_k v_k(x_k)

**Values.** Vectors of integers with the lexicographic order are an ordered group: a < b implies a + d < b +
d. If x*_k is best in X_k, then v_k(x*_k) <= v_k(x_k) for each k, and adding these up keeps the order: v(x*)
<= v(x) for every x in X. The best plan of the round is the union of the parts' best plans, in all tiers at
once and not only in the first; and the union of plans no worse than greedy's parts is no worse than greedy's.

**Violating victims.** The set that makes the vector best is chosen for the whole round; a budget that could
be exceeded lies in one part, the others allow everything, so the best set is the union of the parts' best.

**Bounds.** A bound of a tier holds given the values of the tiers above. While every part has proven the tiers
above, a plan of the round with these values has the proven value in each part (none can be better, so none
may be worse), the parts' bounds hold for it, and their sum is a bound. After the first tier that some part
has not proven this is no longer so: one part might do worse than it did here and another better. From there
on only bounds that hold for every plan add up: the trivial bound of the tier in each part's model.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...models.errors import InternalError
from ...models.progress import Watch, unwatched
from ..deadline import OutOfTime
from ..plans.objective import valuate
from ..plans.outcome import Outcome
from ..search.incumbent import Incumbent
from ..search.tier_search import Search
from ..warm import COLD, Warmth
from .base import Lost
from .blocks import side_by_side_for
from .components import Part, find_parts, merged
from .engine import engine_for
from .news import News
from .outcomes import restrict, unite
from .part_search import PartResult, Piece, Shared, in_part, search_part, unsearched_part
from .records import PartRecord, added_up
from .unsearched import classes, unsearched

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...framework.index.cluster import Cluster
    from ...models.search_point import SearchPoint
    from ..options import Progress, ProgressCallback, SolveOptions
    from ..plans.objective import ObjectiveVector

# Pairs of a class and a node below which a part is not worth a search of its own, and the most parts that are
# searched apart.
LEAST = 200
MOST = 32


@dataclass(frozen=True)
class RoundResult:
    """What the search of a round came to.

    `bounds` gives each tier's bound and whether the best plan attains it; `points` say what was known when.
    """

    best: Outcome
    valuation: ObjectiveVector
    bounds: Mapping[str, tuple[int, bool]]
    variables: int
    constraints: int
    interrupted: bool
    points: tuple[SearchPoint, ...] = ()


def search_round(
    cluster: Cluster,
    greedy: Outcome,
    options: SolveOptions,
    progress: ProgressCallback | None,
    start: float,
    *,
    least: int | None = None,
    watch: Watch = unwatched,
    warmth: Warmth = COLD,
) -> RoundResult:
    """Search a round, by its parts where there are several that are large enough.

    Parameters
    ----------
    greedy : Outcome
        A candidate where it is admissible, as a whole or in a part.
    start : float
        When the round's time began, on the monotonic clock.
    least : int, optional
        Weight below which parts are put together; `LEAST` by default.
    watch : Watch
        Hears of classes and models being built.
    warmth : Warmth
        What an earlier round leaves for this one; its bounds serve a round that is searched as a whole.
    """
    deadline = start + options.time_limit
    try:
        problem = classes(cluster, start, deadline, watch)
    except OutOfTime:
        return round_unsearched(cluster, greedy, options.prefer, interrupted=False)
    parts: Sequence[Part] = ()
    if time.monotonic() < deadline:  # otherwise what costs no search is done for all parts at once
        parts = find_parts(problem, options.prefer)
        weight = sum(part.weight for part in parts)
        parts = merged(parts, max(LEAST if least is None else least, weight // MOST))
    if len(parts) < 2:
        slots, side_by_side = side_by_side_for(options)
        search = Search(
            problem, options, progress, start, watch=watch, slots=slots, side_by_side=side_by_side
        )
        search.run([greedy], warmth)
        return RoundResult(
            search.best,
            search.valuation,
            search.proven(),
            *search.size,
            search.interrupted,
            search.points,
        )
    return _Parts(cluster, greedy, options, progress, start, warmth).search(parts)


def round_unsearched(cluster: Cluster, greedy: Outcome, prefer: str, *, interrupted: bool) -> RoundResult:
    """Return the result of a round that there was no time to search."""
    known = unsearched(cluster, greedy, prefer)
    return RoundResult(known.best, known.valuation, known.proven(), 0, 0, interrupted)


class _Parts:
    """The search of a round by parts."""

    def __init__(
        self,
        cluster: Cluster,
        greedy: Outcome,
        options: SolveOptions,
        progress: ProgressCallback | None,
        start: float,
        warmth: Warmth,
    ) -> None:
        self._cluster = cluster
        self._greedy = greedy
        self._warmth = warmth
        self._options = options
        self._progress = progress
        self._start = start
        self._deadline = start + options.time_limit
        self._base = valuate(cluster, Outcome(), options.prefer)
        self._begun: dict[int, float] = {}

    def search(self, parts: Sequence[Part]) -> RoundResult:
        """Search the parts and put their results together."""
        shared = Shared(self._cluster.snapshot, self._options, [self._cluster])
        results: dict[int, PartResult] = {}
        interrupted = False
        news = News([t.name for t in self._base.tiers], self._base.by_name(), len(parts))
        try:
            with engine_for(self._options, len(parts)) as engine:
                pieces = self._pieces(parts, engine.slots, results)
                for number, result in engine.run(
                    search_part, shared, pieces, lambda k, item: self._report(news.of(k, item))
                ):
                    if isinstance(result, Lost):
                        raise result.error
                    results[number] = result
                    news.done(number, result.values, result.bounds)
        except KeyboardInterrupt:
            interrupted = True
        interrupted |= len(results) < len(parts) or any(result.interrupted for result in results.values())
        for number, part in enumerate(parts):
            if number not in results:
                results[number] = self._left_out(part)
        return self._together([results[k] for k in range(len(parts))], interrupted)

    def _pieces(
        self, parts: Sequence[Part], slots: int, results: Mapping[int, PartResult]
    ) -> Iterator[Piece]:
        """Yield the parts, the smallest first: time that these do not need is left for the others."""
        left_over = sum(part.weight + 1 for part in parts)
        for number, part in enumerate(parts):
            if any(result.interrupted for result in results.values()):
                return
            left = self._deadline - time.monotonic()
            share = left * slots * (part.weight + 1) / left_over
            at_once = min(slots, len(parts) - len(results))
            self._begun[number] = time.monotonic() - self._start
            yield Piece(
                pods=part.pods,
                candidate=restrict(self._cluster, self._greedy, part),
                seconds=left if number + slots >= len(parts) else min(left, share),
                workers=max(1, self._options.workers // at_once),
                warmth=self._warmth_of(part),
            )
            left_over -= part.weight + 1

    def _warmth_of(self, part: Part) -> Warmth:
        start = self._warmth.start
        return COLD if start is None else Warmth(start=restrict(self._cluster, start, part))

    def _left_out(self, part: Part) -> PartResult:
        """Return the result of a part that an interruption left out."""
        cluster = self._cluster.with_queue(part.pods)
        candidate = in_part(cluster, restrict(self._cluster, self._greedy, part))
        return unsearched_part(cluster, candidate, self._options.prefer, interrupted=True)

    def _report(self, progress: Progress) -> None:
        if self._progress is not None:
            self._progress(replace(progress, seconds=time.monotonic() - self._start))

    def _together(self, results: Sequence[PartResult], interrupted: bool) -> RoundResult:
        best = unite([result.best for result in results])
        valuation = valuate(self._cluster, best, self._options.prefer)
        known = Incumbent(self._cluster, best, valuation)
        above = True
        for k, tier in enumerate(valuation.tiers):
            base = self._base.by_name()[tier.name]
            total = base + sum(result.values[tier.name] - base for result in results)
            if total != tier.value:
                message = f"{tier.name}: the parts add up to {total}, the round has {tier.value}"
                raise InternalError(message, {"parts": [dict(result.values) for result in results]})
            bounds = [
                result.bounds[tier.name] if above else result.trivial_bounds[tier.name] for result in results
            ]
            bound = base + sum(b - base for b in bounds)
            # what costs in one part costs nothing more than nothing in all of them
            known.tell(tier.name, bound if tier.sense == "max" else max(0, bound), valuation.costs[:k])
            above &= all(result.bounds[tier.name] == result.values[tier.name] for result in results)
        return RoundResult(
            best,
            valuation,
            {name: (bound, bound == known.value(name)) for name, bound in known.bounds().items()},
            sum(result.variables for result in results),
            sum(result.constraints for result in results),
            interrupted,
            tuple(added_up(self._base.tiers, [self._record(k, part) for k, part in enumerate(results)])),
        )

    def _record(self, number: int, part: PartResult) -> PartRecord:
        """Return what a part knew, in the round's seconds; before its search, greedy's plan or nothing."""
        begun = self._begun.get(number, 0.0)
        points = [
            point.model_copy(update={"seconds": round(begun + point.seconds, 3)}) for point in part.points
        ]
        before = dict(part.values)
        if points:
            first = {point.tier: point.value for point in reversed(points)}
            before |= first if self._greedy.admissible else self._base.by_name()
        return PartRecord(points, before, part.trivial_bounds)
