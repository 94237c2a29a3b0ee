"""What a round costs a cluster, in numbers that can be watched over time (docs/exporter.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..framework.build import build_cluster
from ..framework.measures.fragmentation import fragmentation
from ..framework.runs.free_nodes import free_nodes
from ..framework.state.state import State
from .api import solve_both

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..framework.runs.free_nodes import FreeNodes
    from ..models.plan import Plan
    from ..models.snapshot import Snapshot
    from .options import SolveOptions


class SchedulerMeasures(NamedTuple):
    """What one scheduler does in the round, in pods."""

    placed: int
    evictions: int
    violations: int


class RoundMeasures(NamedTuple):
    """A round in numbers.

    Attributes
    ----------
    pending : int
        Pods that wait in the active queue.
    schedulers : mapping
        `optimal` and `greedy`.
    gaps : mapping
        Tier to how far its bound is from its value; 0 is proven.
    proven : bool
        Whether every tier is.
    fragmentation : mapping
        Resource to the share of what is free now that the workload cannot use.
    nodes : FreeNodes
        How many are free, and how many more could be.
    interrupted : bool
        Whether Ctrl-C ended the search early.
    """

    pending: int
    schedulers: Mapping[str, SchedulerMeasures]
    gaps: Mapping[str, int]
    proven: bool
    fragmentation: Mapping[str, float]
    nodes: FreeNodes
    interrupted: bool = False


def measured(snapshot: Snapshot, options: SolveOptions) -> RoundMeasures:
    """Solve a round with both schedulers and measure it.

    Raises
    ------
    KubestowError
        As `api.solve`.
    """
    optimal, greedy = solve_both(snapshot, options)
    cluster = build_cluster(snapshot)
    return RoundMeasures(
        pending=len(cluster.pending),
        schedulers={plan.scheduler: _of(plan) for plan in (optimal, greedy)},
        gaps={t.name: abs(t.value - t.bound) for t in optimal.tiers if t.bound is not None},
        proven=optimal.status == "OPTIMAL",
        fragmentation=fragmentation(cluster, State.initial(cluster)),
        nodes=free_nodes(snapshot),
        interrupted=optimal.stats.interrupted,
    )


def _of(plan: Plan) -> SchedulerMeasures:
    return SchedulerMeasures(
        placed=len(plan.placed()),
        evictions=len(plan.evictions),
        violations=sum(bool(eviction.violates) for eviction in plan.evictions),
    )
