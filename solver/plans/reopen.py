"""A plan that a document holds, opened again: replayed on its instance, which gives its end state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...models.progress import Watch, unwatched
from ...models.tiers import PREFERENCES
from .device_allocations import chosen_devices
from .outcome import SolvedRound
from .replay import moves_of, outcome_of, replay

if TYPE_CHECKING:
    from ...framework.index.cluster import Cluster
    from ...models.plan import Plan


def reopen(cluster: Cluster, plan: Plan, watch: Watch = unwatched) -> SolvedRound:
    """Replay a plan on the cluster that it was made for; who is nominated for whom stands in the plan alone.

    `watch` hears of the steps replayed.

    Raises
    ------
    ReplayFailure
        Where the plan does not hold on this cluster: it was made for another one, or has been changed.
    """
    last = plan.tiers[-1].name if plan.tiers else ""
    prefer = last if last in PREFERENCES else "none"
    end = replay(cluster, plan, prefer, watch)
    outcome = outcome_of(plan, moves_of(cluster, plan), chosen_devices(cluster, plan))
    return SolvedRound(plan, outcome, cluster, end)
