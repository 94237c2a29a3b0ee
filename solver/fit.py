"""How many copies of a pod, or of a gang, fit into a cluster: the most by proof, and greedy's number.

The copies are a level of their own in one round with all that stands and waits (`models.template`); the most
that fit is the value of that level's first tier. The round has more copies than fit, so the tier is not bound
by their number: while all are placed, twice as many are tried. Source: docs/fit.md.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ..models import tiers
from ..models.fit import Fit, FitNode, Fitting
from ..models.progress import unwatched
from .api import solve_both, solve_greedy_round
from .fit_gangs import are_plain, plain_pods_first

if TYPE_CHECKING:
    from ..models.eviction_limits import EvictionLimits
    from ..models.plan import Plan
    from ..models.progress import Watch
    from ..models.snapshot import Snapshot
    from ..models.template import Round, Template
    from .fit_gangs import PlainPods
    from .options import ProgressCallback, SolveOptions

#: Copies of the first try.
FIRST: Final = 16

#: Pods of copies beyond which no more are tried: what a cluster of Kubernetes is made for.
MOST_PODS: Final = 150_000

# The share of the time in which pods of gangs are counted at first: a bound that allows for part of one more
# gang is proof enough, and the search would go on to close the gap.
_GANG_SHARE: Final = 0.1

# The share of the time that is left for plain pods in place of gangs.
_PLAIN_SHARE: Final = 0.5

# Seconds of a search for which no time is left.
_INSTANT: Final = 1e-6


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """What is asked.

    Attributes
    ----------
    most : int or None
        Copies that are enough; None for as many as fit.
    evict : bool
        Whether pods may be evicted, within the limits of the search.
    ignore_pending : bool
        Whether the pods that wait are left out.
    """

    most: int | None = None
    evict: bool = False
    ignore_pending: bool = False


def fit(
    snapshot: Snapshot,
    template: Template,
    wanted: FitOptions,
    search: SolveOptions,
    progress: ProgressCallback | None = None,
    *,
    watch: Watch = unwatched,
    waited: float = 0.0,
) -> Fit:
    """Find the most copies of a template that fit beside all that a snapshot holds.

    Parameters
    ----------
    search : SolveOptions
        `time_limit` is for everything; the number of greedy's tries is not cut.
    waited : float
        Seconds that it took to read the input.

    Raises
    ------
    KubestowError
        Where the round needs what this release does not support.
    """
    start = time.monotonic()
    if wanted.ignore_pending:
        snapshot = replace(snapshot, pods=tuple(pod for pod in snapshot.pods if pod.spec.node_name))
    limits = search.limits if wanted.evict else replace(search.limits, evictions=0)
    search = replace(search, limits=limits)
    limit = MOST_PODS // template.size if wanted.most is None else wanted.most
    number = _beyond_greedy(snapshot, template, limit, limits, watch)
    share = _GANG_SHARE if template.size > 1 else 1.0
    plain: PlainPods | None = None

    def timed(share: float) -> SolveOptions:
        left = search.time_limit - (time.monotonic() - start)
        return replace(search, time_limit=max(share * left, _INSTANT))

    while True:
        around = template.beside(snapshot, number)
        if plain is None and are_plain(template, search):
            plain = plain_pods_first(snapshot, template, around, timed(_PLAIN_SHARE), progress, watch)
        known = None if plain is None else plain.known
        stopped = plain is not None and plain.plan.stats.interrupted
        limited = timed(0 if stopped else share)
        optimal, greedy = solve_both(around.snapshot, limited, progress, watch=watch, known=known)
        ours = _fitting(optimal, around, template, plain, open_ended=wanted.most is None)
        if stopped or optimal.stats.interrupted or ours.proven:
            break
        if ours.copies < number or number == limit:
            if share == 1.0:
                break
            share = 1.0
        else:
            number, plain = min(limit, 2 * number), None
    stats = optimal.stats.model_copy(
        update={
            "wall_seconds": round(waited + time.monotonic() - start, 3),
            "interrupted": stopped or optimal.stats.interrupted,
        },
    )
    return Fit(
        instance=snapshot.name,
        template=template.key,
        pods_per_copy=template.size,
        waiting="ignored" if wanted.ignore_pending else "first",
        evict=wanted.evict,
        tried=number,
        enough=ours.copies == wanted.most,
        optimal=ours,
        greedy=_fitting(greedy, around, template, open_ended=True),
        limits=optimal.limits,
        stats=stats,
    )


def _beyond_greedy(
    snapshot: Snapshot, template: Template, limit: int, limits: EvictionLimits, watch: Watch
) -> int:
    """Return a number of copies that greedy does not place all, or the limit."""
    number = min(limit, FIRST)
    while number < limit:
        around = template.beside(replace(snapshot, limits=limits), number)
        if _copies(solve_greedy_round(around.snapshot, watch=watch).plan, around) < number:
            break
        number = min(limit, 2 * number)
    return number


def _copies(plan: Plan, around: Round) -> int:
    """Count the copies that a plan places; of a gang the whole copy is placed or nothing of it."""
    return len({around.copy_of[pod] for pod in plan.placed() if pod in around.copy_of})


def _fitting(
    plan: Plan, around: Round, template: Template, plain: PlainPods | None = None, *, open_ended: bool
) -> Fitting:
    copies, tried = _copies(plan, around), len(around.copies)
    bound = None
    if plan.scheduler == "optimal":
        known = (_bound(plan, template), None if plain is None else plain.bounds(plan, template))
        bound = min((most for most in known if most is not None), default=None)
        if open_ended and bound == tried:  # more were never in the queue
            bound = None
    there = Counter(node for pod, node in plan.placed().items() if pod in around.copy_of)
    left_out = (pod for pod in plan.unschedulable if pod.pod in around.copy_of)
    return Fitting(
        copies=copies,
        bound=bound,
        proven=copies == bound,
        waiting_scheduled=sum(pod not in around.copy_of for pod in plan.placed()),
        nodes=tuple(FitNode(node=node, pods=pods) for node, pods in sorted(there.items())),
        evictions=plan.evictions,
        next=next(left_out, None),
    )


def _bound(plan: Plan, template: Template) -> int | None:
    """Return the most copies that any plan as good for the levels above places; None where that is open.

    Where the copies are no level of the round, none of them is in the queue: a gate, say, keeps them out.
    """
    if tiers.scheduled(template.level) not in {tier.name for tier in plan.tiers}:
        return 0
    for tier in plan.tiers:
        if tier.name == tiers.scheduled(template.level):
            return None if tier.bound is None else tier.bound // template.size
        if not tier.proven:
            break
    return None
