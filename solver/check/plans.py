"""Checks of a plan: its replay, and the bounds that counting shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...framework.build import build_cluster
from ...models import tiers
from ...models.tiers import PREFERENCES
from ..plans.device_allocations import chosen_devices
from ..plans.greedy_baseline import greedy_outcome
from ..plans.objective import valuate
from ..plans.replay import ReplayFailure, inadmissible, moves_of, outcome_of, replay
from ..why.counting import covering
from ..why.reasons import Subject, reasons_of
from .answers import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...framework.index.cluster import Cluster
    from ...models.plan import Plan, Tier
    from ...models.snapshot import Snapshot


_STATS: Final = Finding("stats: how the plan was found, how long it took", None, "not looked at")


def check_plan(snapshot: Snapshot, plan: Plan) -> list[Finding]:
    """Replay a plan of `solve -o json` and look at its bounds."""
    cluster = build_cluster(snapshot)
    last = plan.tiers[-1].name if plan.tiers else "none"
    try:
        replay(cluster, plan, last if last in PREFERENCES else "none")
        replayed = Finding("every step passes every filter", True, f"{len(plan.steps)} steps replayed")
    except ReplayFailure as error:
        replayed = Finding("every step passes every filter", False, str(error))
        return [replayed, *_bounds(cluster, plan), _STATS]
    return [replayed, *_admissible(cluster, plan), *_objects(plan), *_bounds(cluster, plan), _STATS]


def _admissible(cluster: Cluster, plan: Plan) -> Iterator[Finding]:
    """Judge a plan that says of itself that it is not admissible; others are judged by their replay.

    Of the optimal ones only greedy's own outcome may be so, where it beats every admissible plan that was
    found: a plan is never worse than greedy's.
    """
    if plan.stats.admissible:
        return
    moves = moves_of(cluster, plan)
    outcome = outcome_of(plan, moves, chosen_devices(cluster, plan))
    fault = next(inadmissible(cluster, moves), "")
    if not fault and not valuate(cluster, outcome).guarded:
        fault = "a guarded victim violates its budget"
    if not fault:
        yield Finding("the plan is not admissible", False, "no rule of a plan is broken")
    elif plan.scheduler == "optimal" and greedy_outcome(cluster)[0].moves != tuple(moves):
        yield Finding("the plan is admissible, or greedy's outcome", False, fault)
    else:
        yield Finding("the plan is not admissible", True, fault)


def _objects(plan: Plan) -> Iterator[Finding]:
    if plan.objects is None:
        yield Finding("objects are those that the steps touch", None, "the document has none")


def _bounds(cluster: Cluster, plan: Plan) -> Iterator[Finding]:
    most = _most_placed(cluster)
    for tier in plan.tiers:
        if tier.bound is None:
            continue
        claim = f"{tier.name} is {'at most' if tier.sense == 'max' else 'at least'} {tier.bound}"
        if _is_shown(tier, most):
            yield Finding(claim, True, "by counting")
        else:
            yield Finding(claim, None, "the solver's word, given the tiers above")


def _is_shown(tier: Tier, most: dict[str, int]) -> bool:
    """Whether counting shows a bound: all pods that have a node at all, or no cost."""
    assert tier.bound is not None
    if tier.sense == "min":
        return tier.bound <= 0
    return tier.name in most and tier.bound >= most[tier.name]


def _most_placed(cluster: Cluster) -> dict[str, int]:
    """Return for each tier `scheduled` the pods that counting alone leaves a node."""
    most = {tiers.scheduled(level): 0 for level in cluster.levels}
    hopeless: dict[int, bool] = {}
    for i in cluster.pending:
        info = cluster.pods[i]
        if info.cls not in hopeless:
            subject = Subject(cluster, f"Pod {info.key}", (i,))
            hopeless[info.cls] = covering(subject, reasons_of(subject)) is not None
        most[tiers.scheduled(info.priority)] += not hopeless[info.cls]
    return most
