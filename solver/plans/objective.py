"""The tier vector of an outcome: the one place where plans are valued, ours and greedy's alike.

Nothing here knows a solver: the numbers come from the placements, the evictions and the framework's own
rules. Source: docs/model.md.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...framework.dra.ranks import first_available_ranks
from ...framework.measures.group_preferences import desired_count_shortfall, preferred_topology_excess
from ...framework.measures.preferences import PREFERENCE_VALUES
from ...framework.measures.skew import excess
from ...framework.rules.belonging import belonging_level, victim_priorities
from ...framework.rules.budgets import budgets, budgets_of
from ...framework.rules.eviction_limits import broken_limits
from ...framework.rules.eviction_units import preemptor_nodes
from ...framework.rules.groups import groups
from ...framework.rules.spread import fallen_back_constraints
from ...framework.state.moves import Mark
from ...framework.state.state import State
from ...models import tiers
from .apply import apply_moves
from .budget_violations import Charge, in_turn, violating_victims

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
class ObjectiveVector:
    """The vector of an outcome, and for each violating victim the budgets that refuse it.

    Attributes
    ----------
    guarded : bool
        False where no violating set respects the guards of KEP-4664 and the limit on violations, or where
        another limit on evictions is broken: the outcome is no plan.
    in_turn : bool
        Whether the eviction API, asked in the order of the steps, refuses the violating victims alone.
    """

    tiers: tuple[TierValue, ...]
    violates: Mapping[int, tuple[str, ...]]
    guarded: bool
    in_turn: bool = True

    @property
    def costs(self) -> tuple[int, ...]:
        """Costs in order: lexicographically smaller is better."""
        return tuple(t.cost for t in self.tiers)

    def by_name(self) -> dict[str, int]:
        """Tier name -> value."""
        return {t.name: t.value for t in self.tiers}


def valuate(
    cluster: Cluster, outcome: Outcome, prefer: str = "none", *, end: State | None = None
) -> ObjectiveVector:
    """Compute every tier of an outcome, most important first.

    Parameters
    ----------
    end : State, optional
        The state in which the outcome's moves end, where it is known already; it is only read.
    """
    pods = cluster.pods
    leaving = [v for v in outcome.victims if not pods[v].terminating]
    charges = _charges(cluster, outcome, leaving)
    allowed = [b.allowed for b in budgets(cluster)]
    violating = violating_victims(charges, allowed, cluster.snapshot.limits.violations)
    guarded = violating is not None and not any(True for _ in broken_limits(cluster, leaving, 0))
    if violating is None:
        free = [c.unguarded() for c in charges]
        violating = violating_victims(free, allowed, cluster.snapshot.limits.violations)
        violating = violating_victims(free, allowed) if violating is None else violating
        assert violating is not None  # every victim may violate

    placed = Counter(pods[i].priority for i in outcome.placed)
    costs: Counter[str] = Counter()
    for v in leaving:
        costs.update(_cost(cluster, v, violates=v in violating))
    values: list[TierValue] = []
    if cluster.kept:
        values.append(TierValue(tiers.KEPT, "max", sum(i in outcome.placed for i in cluster.kept)))
    if cluster.asked:
        values.append(TierValue(tiers.ASKED, "max", int(any(i in outcome.placed for i in cluster.asked))))
    for level, victims in victim_priorities(cluster).items():
        values.append(TierValue(tiers.scheduled(level), "max", placed[level]))
        values += [TierValue(name, "min", costs[name]) for name in _tiers_of_victims(level, victims)]
    end = end_state(cluster, outcome) if end is None else end
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

    return ObjectiveVector(
        tiers=tuple(values),
        violates=_violates(cluster, charges, allowed, violating),
        guarded=guarded,
        in_turn={c.pod for c, refusing in in_turn(charges, allowed) if refusing} == violating,
    )


def _prefers_topology(cluster: Cluster) -> bool:
    """Whether the round has the tier: some group with a preferred key may gain a member."""

    def look() -> bool:
        coming = frozenset(cluster.round)
        return any(g.preferred_keys and not coming.isdisjoint(g.members) for g in groups(cluster))

    return cluster.memo("prefers topology", look)


def end_state(cluster: Cluster, outcome: Outcome) -> State:
    """Return the state in which the outcome's moves end."""
    state = State.initial(cluster)
    apply_moves(cluster, state, outcome.moves, outcome.allocations)
    return state


def _charges(cluster: Cluster, outcome: Outcome, leaving: Sequence[int]) -> list[Charge]:
    """Budgets of each victim, in the order of the marks, and whether it may violate them (KEP-4664)."""
    pods = cluster.pods
    strongest: dict[int, int] = {}
    for i, node in outcome.placed.items():
        if pods[i].preempts:
            strongest[node] = max(strongest.get(node, pods[i].priority), pods[i].priority)
    turn = {move.pod: k for k, move in enumerate(outcome.moves) if isinstance(move, Mark)}
    names = [n for level, qs in victim_priorities(cluster).items() for n in _tiers_of_victims(level, qs)]
    prices: dict[tuple[int, int | None], tuple[int, ...]] = {}
    charges = []
    for v in sorted(leaving, key=turn.__getitem__):
        drawn = tuple(b.index for b in budgets_of(cluster, v) if b.charges(cluster, v))
        if not drawn:
            continue
        priority, guard = pods[v].priority, pods[v].guard
        here = max(strongest.get(n, priority) for n in preemptor_nodes(cluster, v))
        may = guard is None or here >= max(guard, priority + 1)
        if (priority, guard) not in prices:
            change = _cost(cluster, v, violates=True)
            change.subtract(_cost(cluster, v, violates=False))
            prices[priority, guard] = tuple(change[name] for name in names)
        charges.append(Charge(v, drawn, prices[priority, guard], may))
    return charges


def _tiers_of_victims(level: int, victims: Sequence[int]) -> list[str]:
    return [tiers.violations(level), *(tiers.evicted(level, q) for q in victims)]


def _cost(cluster: Cluster, victim: int, *, violates: bool) -> Counter[str]:
    """Tiers in which a victim counts; a guarded one that violates counts where its guard is reached."""
    levels, priority, guard = cluster.levels, cluster.pods[victim].priority, cluster.pods[victim].guard
    level = belonging_level(levels, priority, guard if violates else None)
    if level is None:  # its guard is above the whole queue: no plan, valued for what it is without the guard
        level = belonging_level(levels, priority)
    if level is None:
        return Counter()
    return Counter([tiers.evicted(level, priority), *([tiers.violations(level)] if violates else ())])


def _violates(
    cluster: Cluster, charges: Sequence[Charge], allowed: Sequence[int], violating: frozenset[int]
) -> dict[int, tuple[str, ...]]:
    """Name the budgets that refuse each violating victim at its turn.

    Where the filters require it to leave before others and no budget refuses it yet, those that are exhausted
    then.
    """
    keys = [b.key for b in budgets(cluster)]
    drawn = Counter(b for c in charges if c.pod not in violating for b in c.budgets)
    return {
        c.pod: tuple(keys[b] for b in refusing or c.budgets if drawn[b] >= allowed[b])
        for c, refusing in in_turn(charges, allowed, violating)
        if c.pod in violating
    }
