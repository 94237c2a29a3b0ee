"""The tier vector of an outcome: the one place where plans are valued, ours and greedy's alike.

Nothing here knows a solver: the numbers come from the placements, the evictions and the framework's own
rules. Source: design, "The objective".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...framework.dra.ranks import first_available_ranks
from ...framework.measures.group_preferences import desired_count_shortfall, preferred_topology_excess
from ...framework.measures.preferences import PREFERENCE_VALUES
from ...framework.measures.skew import excess
from ...framework.rules.budgets import budgets
from ...framework.rules.groups import groups
from ...framework.rules.spread import fallen_back_constraints
from ...framework.state.state import State
from ...models import tiers
from .apply import play
from .budget_violations import Charge, violating_victims

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...framework.index.cluster import Cluster
    from ...models.plan import Sense
    from .outcome import Outcome


@dataclass(frozen=True)
class TierValue:
    """Value of one tier."""

    name: str
    sense: Sense
    value: int

    @property
    def cost(self) -> int:
        """Value to compare by: smaller is better."""
        return -self.value if self.sense == "max" else self.value


@dataclass(frozen=True)
class Valuation:
    """The vector of an outcome, and for each violating victim the budgets that it breaks.

    `guarded` is false where no violating set respects the guards of KEP-4664: the outcome is no plan.
    """

    tiers: tuple[TierValue, ...]
    violates: Mapping[int, tuple[str, ...]]
    guarded: bool

    @property
    def costs(self) -> tuple[int, ...]:
        """Costs in order: lexicographically smaller is better."""
        return tuple(t.cost for t in self.tiers)

    def by_name(self) -> dict[str, int]:
        """Tier name -> value."""
        return {t.name: t.value for t in self.tiers}


def victim_priorities(cluster: Cluster) -> dict[int, list[int]]:
    """Priority level -> victim priorities that belong to it, from the highest down.

    Levels are the priorities of pending pods.  A pod of the round counts as well: greedy may evict what it
    bound.
    """
    levels = cluster.levels
    belongs: dict[int, list[int]] = {level: [] for level in levels}
    for priority in cluster.priorities:
        level = belonging_level(levels, priority)
        if level is not None:
            belongs[level].append(priority)
    return belongs


def belonging_level(levels: Sequence[int], priority: int) -> int | None:
    """Give the lowest pending priority above a victim's own; None where no pending pod is above it."""
    above = [level for level in levels if level > priority]
    return min(above) if above else None


def valuate(cluster: Cluster, outcome: Outcome, prefer: str = "none") -> Valuation:
    """Compute every tier of an outcome, most important first."""
    pods = cluster.pods
    levels = cluster.levels
    leaving = [v for v in outcome.victims if not pods[v].terminating]
    charges = _charges(cluster, outcome, leaving, levels)
    allowed = [b.allowed for b in budgets(cluster)]
    violating = violating_victims(charges, allowed)
    guarded = violating is not None
    if violating is None:
        violating = violating_victims([c.unguarded() for c in charges], allowed) or frozenset()

    placed = Counter(pods[i].priority for i in outcome.placed)
    gone = Counter(pods[v].priority for v in leaving)
    broken = Counter(belonging_level(levels, pods[v].priority) for v in violating)
    values: list[TierValue] = []
    for level, victims in victim_priorities(cluster).items():
        values.append(TierValue(tiers.scheduled(level), "max", placed[level]))
        values.append(TierValue(tiers.violations(level), "min", broken[level]))
        values += [TierValue(tiers.evicted(level, q), "min", gone[q]) for q in victims]
    end = end_state(cluster, outcome)
    values.append(
        TierValue(tiers.FALLBACK, "min", excess(cluster, end, outcome.placed, fallen_back_constraints))
    )
    ranks = first_available_ranks(cluster, outcome.allocations)
    values.append(TierValue(tiers.FIRST_AVAILABLE, "min", ranks))
    shortfall = desired_count_shortfall(cluster, end, outcome.placed)
    values.append(TierValue(tiers.DESIRED_COUNT, "min", shortfall))
    if _prefers_topology(cluster):
        apart = preferred_topology_excess(cluster, end, outcome.placed)
        values.append(TierValue(tiers.PREFERRED_TOPOLOGY, "min", apart))
    if prefer != "none":
        sense, value_of = PREFERENCE_VALUES[prefer]
        values.append(TierValue(prefer, sense, value_of(cluster, end, outcome.placed)))

    names = {c.pod: c.budgets for c in charges}
    keys = [b.key for b in budgets(cluster)]
    return Valuation(
        tiers=tuple(values),
        violates={v: tuple(keys[b] for b in names[v]) for v in sorted(violating)},
        guarded=guarded,
    )


def _prefers_topology(cluster: Cluster) -> bool:
    """Say whether the round has the tier: some group that wishes for a domain may gain a member."""

    def look() -> bool:
        coming = frozenset(cluster.round)
        return any(g.preferred_keys and not coming.isdisjoint(g.members) for g in groups(cluster))

    return cluster.memo("prefers topology", look)


def end_state(cluster: Cluster, outcome: Outcome) -> State:
    """Where everything is when the outcome is done."""
    state = State.initial(cluster)
    play(cluster, state, outcome.moves, outcome.allocations)
    return state


def _charges(
    cluster: Cluster, outcome: Outcome, leaving: Sequence[int], levels: Sequence[int]
) -> list[Charge]:
    """Who draws on which budget, and who may be violating at all (KEP-4664)."""
    pods = cluster.pods
    strongest: dict[int, int] = {}
    for i, node in outcome.placed.items():
        if pods[i].preempts:
            strongest[node] = max(strongest.get(node, pods[i].priority), pods[i].priority)
    initial = State.initial(cluster).node_of
    charges = []
    for v in leaving:
        drawn = tuple(b for b, budget in enumerate(budgets(cluster)) if budget.charges(cluster, v))
        if not drawn:
            continue
        guard = pods[v].guard
        node = int(initial[v])
        may = guard is None or strongest.get(node, guard - 1) >= max(guard, pods[v].priority + 1)
        level = belonging_level(levels, pods[v].priority)
        rank = len(levels) if level is None else levels.index(level)
        charges.append(Charge(pod=v, budgets=drawn, rank=rank, may_violate=may))
    return charges
