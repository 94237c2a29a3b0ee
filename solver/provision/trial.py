"""Purchases tried out: the cluster with their nodes, its best round, and what it is worth.

A purchase is worth what it places, level by level from the highest, then its price, then its nodes. Nothing
is evicted for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ...models import tiers
from ...models.progress import unwatched
from ..api import solve_both, solve_round
from ..what_if import settled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...models.changes import Changed, ChangeSet
    from ...models.plan import Plan
    from ...models.progress import Watch
    from ...models.purchases import Catalogue
    from ...models.snapshot import Snapshot
    from ..options import ProgressCallback, SolveOptions
    from ..plans.outcome import Outcome

Change = Callable[["Snapshot", "ChangeSet"], "Changed"]

Counts = tuple[int, ...]
"""How many nodes are bought of each offer."""

Worth = tuple[Counts, int, int]
"""Less is better: pods placed of each level, negative; millionths; nodes."""


@dataclass(frozen=True)
class Trial:
    """A purchase and the round after it.

    Attributes
    ----------
    placed, placed_by_greedy : tuple of int
        Pods of each level that the plan places, and those that kube-scheduler places.
    greedy : Plan or None
        None where a plan was known to begin with.
    proven : bool
        Whether no plan of that cluster places more, level by level.
    """

    counts: Counts
    price: int
    placed: Counts
    placed_by_greedy: Counts | None
    proven: bool
    plan: Plan
    greedy: Plan | None

    @property
    def worth(self) -> Worth:
        """What is compared."""
        return worth(self.placed, self.price, sum(self.counts))


def worth(placed: Iterable[int], price: int, nodes: int) -> Worth:
    """Return what makes one purchase better than another."""
    return tuple(-n for n in placed), price, nodes


@dataclass(frozen=True)
class Bought:
    """A cluster with more nodes.

    Attributes
    ----------
    snapshot : Snapshot
        With the DaemonSets' pods of the new nodes.
    nodes : tuple
        Names of the new nodes of each offer.
    daemons : tuple of str
        Keys of those pods.
    """

    snapshot: Snapshot
    nodes: tuple[tuple[str, ...], ...]
    daemons: tuple[str, ...]


class Market:
    """A round, and what can be bought for it.

    Parameters
    ----------
    options : SolveOptions
        Those of each round but for its time.
    change : callable
        Makes changes of a cluster (`instances.what_if.apply.changed_by`).
    """

    def __init__(
        self,
        snapshot: Snapshot,
        catalogue: Catalogue,
        options: SolveOptions,
        change: Change,
        progress: ProgressCallback | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self.catalogue = catalogue
        self._change = change
        self.options = replace(options, limits=replace(options.limits, evictions=0))
        self.snapshot = replace(snapshot, limits=self.options.limits)
        self.trials: dict[Counts, Trial] = {}
        self._progress = progress
        self._watch = watch

    @cached_property
    def waiting(self) -> dict[str, int]:
        """Pods that wait, with their priority."""
        from ...framework.build import build_cluster

        cluster = build_cluster(self.snapshot, self._watch)
        return {cluster.pods[i].key: cluster.pods[i].priority for i in cluster.pending}

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Priorities of pods that wait, from the highest."""
        return tuple(sorted({*self.waiting.values()}, reverse=True))

    @cached_property
    def most(self) -> Counts:
        """How many pods there are of each level."""
        return self._by_level(self.waiting)

    def _by_level(self, pods: Iterable[str]) -> Counts:
        found = Counter(self.waiting[pod] for pod in pods if pod in self.waiting)
        return tuple(found[level] for level in self.levels)

    def bought(self, counts: Counts) -> Bought:
        """Return the cluster with a purchase."""
        if not any(counts):
            return Bought(self.snapshot, ((),) * len(counts), ())
        changed = self._change(self.snapshot, self.catalogue.change_set(counts))
        snapshot, daemons = settled(self.snapshot, changed)
        return Bought(snapshot, _by_offer(changed, counts), daemons)

    def names(self, counts: Counts) -> tuple[tuple[str, ...], ...]:
        """Return the names of the new nodes of each offer alone."""
        return _by_offer(self._change(self.snapshot, self.catalogue.change_set(counts)), counts)

    def stripped(self, counts: Counts) -> Bought:
        """Return the cluster with a purchase without DaemonSets' pods that have no room on its nodes.

        They wait for evictions, so no plan of these rounds ever places them.
        """
        found = self.bought(counts)
        waiting = {pod for pod in found.daemons}
        pods = tuple(pod for pod in found.snapshot.pods if pod.spec.node_name or pod.key not in waiting)
        return replace(found, snapshot=replace(found.snapshot, pods=pods))

    def trial(self, counts: Counts, seconds: float, known: Outcome | None = None) -> Trial:
        """Solve the round after a purchase, from a plan that is known; each is solved once.

        Once more where kube-scheduler's plan is wanted, too: where no plan is known.
        """
        there = self.trials.get(counts)
        if there is None or (known is None and there.greedy is None):
            options = replace(self.options, time_limit=max(seconds, 1e-6))
            snapshot, greedy = self.bought(counts).snapshot, None
            if known is None:
                plan, greedy = solve_both(snapshot, options, self._progress, watch=self._watch)
            else:
                plan = solve_round(snapshot, options, self._progress, watch=self._watch, known=known).plan
            self.trials[counts] = Trial(
                counts=counts,
                price=self.catalogue.price(counts),
                placed=self._by_level(plan.placed()),
                placed_by_greedy=None if greedy is None else self._by_level(greedy.placed()),
                proven=self._proven(plan),
                plan=plan,
                greedy=greedy,
            )
        return self.trials[counts]

    def _proven(self, plan: Plan) -> bool:
        placed = {tiers.scheduled(level) for level in self.levels}
        lowest = max((k for k, tier in enumerate(plan.tiers) if tier.name in placed), default=-1)
        return all(tier.proven for tier in plan.tiers[: lowest + 1])


def _by_offer(changed: Changed, counts: Counts) -> tuple[tuple[str, ...], ...]:
    """Divide the new nodes of a purchase by offer."""
    names = iter(changed.new_nodes)
    return tuple(tuple(next(names) for _ in range(n)) for n in counts)
