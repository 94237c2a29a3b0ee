"""The tiers of a plan of moves: what its goal gains, then the moves (docs/rebalance.md).

Nothing here knows the model: the numbers come from the state in which the plan ends.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ...framework.dra.ranks import first_available_ranks
from ...framework.measures.group_preferences import desired_count_shortfall
from ...framework.measures.group_rules import faults_of_groups
from ...framework.measures.preferences import PREFERENCE_VALUES
from ...framework.measures.skew import excess
from ...framework.rules.spread import fallen_back_constraints
from ...models import tiers
from ..plans.objective import ObjectiveVector, TierValue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...encoders.mobility import Mobility
    from ...framework.index.cluster import Cluster
    from ...framework.state.state import State
    from ...framework.vocabulary.arrays import Bools
    from ..plans.outcome import Outcome


def value_of(
    cluster: Cluster, mobility: Mobility, outcome: Outcome, end: State, prefer: str = "none"
) -> ObjectiveVector:
    """Value a plan of moves.

    Parameters
    ----------
    cluster : Cluster
        With the successors among its pending pods.
    end : State
        Where its steps end.
    """
    faults = faults_of_groups(cluster, outcome.placed, outcome.victims)
    return ObjectiveVector(
        tiers=tuple(_tiers(cluster, mobility, outcome, end, prefer)),
        violates={},
        guarded=not any(True for _ in faults),
    )


def free_nodes(cluster: Cluster, mobility: Mobility, end: State) -> Bools:
    """Return the nodes on which nobody stands in the end who could go elsewhere; bool[N]."""
    movers = {*mobility.successors, *mobility.successors.values()}
    if mobility.waiting:
        movers.update(cluster.pending)
    there = {int(end.node_of[i]) for i in movers} - {-1}
    free = ~mobility.kept
    free[list(there)] = False
    return np.asarray(free)


def waiting_levels(cluster: Cluster, mobility: Mobility) -> Counter[int]:
    """Priority -> pods that wait in the input."""
    made = frozenset(mobility.successors.values())
    return Counter(cluster.pods[i].priority for i in cluster.pending if i not in made)


def _tiers(
    cluster: Cluster, mobility: Mobility, outcome: Outcome, end: State, prefer: str
) -> Iterator[TierValue]:
    placed = outcome.placed
    if mobility.admits:
        made = frozenset(mobility.successors.values())
        came = Counter(cluster.pods[i].priority for i in placed if i not in made)
        for level in sorted(waiting_levels(cluster, mobility), reverse=True):
            yield TierValue(tiers.scheduled(level), "max", came[level])
    if mobility.goal == "admit":
        broken = excess(cluster, end, placed, fallen_back_constraints)
        yield TierValue(tiers.FALLBACK, "min", broken)
        yield TierValue(tiers.FIRST_AVAILABLE, "min", first_available_ranks(cluster, outcome.allocations))
        yield TierValue(tiers.DESIRED_COUNT, "min", desired_count_shortfall(cluster, end, placed))
    elif mobility.goal in PREFERENCE_VALUES:
        sense, measure = PREFERENCE_VALUES[mobility.goal]
        yield TierValue(mobility.goal, sense, measure(cluster, end, placed))
    else:
        free = free_nodes(cluster, mobility, end)
        if mobility.prices is not None:
            yield TierValue(tiers.PRICE, "min", int(mobility.prices[~free].sum()))
        if mobility.goal == "free-nodes":
            yield TierValue(tiers.FREE_NODES, "max", int(free.sum()))
    yield TierValue(tiers.MOVES, "min", len(outcome.victims))
    if mobility.memory:
        memory = cluster.resources.index("memory")
        moved = sum(int(cluster.usage[v][memory]) for v in outcome.victims)
        yield TierValue(tiers.MOVED_MEMORY, "min", moved)
    if prefer not in ("none", mobility.goal):
        sense, measure = PREFERENCE_VALUES[prefer]
        yield TierValue(prefer, sense, measure(cluster, end, placed))
