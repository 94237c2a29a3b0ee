"""One set of steps tried out: the changed round, and whether its best plan places the pods.

A set of steps *helps* if a best plan of the changed round places the subject, and leaves none of the pods
worse off that ran or were placed in the best plan before (unless others may wait). Three facts rule it out,
and each of them rules out other sets as well (`Trial.exact`):

- no plan places the subject without taking from those pods: nor does one after fewer steps, as more steps
  take nothing from a plan, but for steps that change what is counted (`Step.counts`);
- no best plan places the subject: with fewer of its *own* steps neither. A plan that leaves the subject out
  is a plan of both rounds, and one that places it after fewer steps is one after all of them;
- the best plans that place it take from others: this says nothing of other sets.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from ...models.errors import KubestowError
from ...models.tiers import ASKED, KEPT
from ..api import solve_round
from ..what_if import settled
from ..why.placeable import Verdict, placeable
from .change_sets import change_set_of, changed_fields
from .step import Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ...framework.index.cluster import Cluster
    from ...models.changes import Changed, ChangeSet
    from ...models.plan import Plan, Tier
    from ...models.snapshot import Snapshot
    from ..options import SolveOptions
    from .step import Menu, Step

    Make = Callable[[Snapshot, ChangeSet], Changed]

_LEAST = 0.2
"""Seconds that a question gets although time is out: most are answered at once."""


class Outcome(Enum):
    """What a trial shows."""

    HELPS = "helps"
    NO_ROOM = "no room"
    NOT_BEST = "not best"
    AT_OTHERS_COST = "at others' cost"
    INVALID = "invalid"
    OPEN = "open"


class Room(Enum):
    """Whether any plan places the pods in question.

    `NEVER` is so whatever the others that wait do, `NONE` as they are.
    """

    SOME = "some"
    NONE = "none"
    NEVER = "never"
    OPEN = "open"


@dataclass(frozen=True, eq=False)
class Trial:
    """What became of a set of steps.

    Attributes
    ----------
    steps : tuple of Step
    outcome : Outcome
    exact : frozenset of str
        The series of which another set has to take the same step to be ruled out with this one.
    changed : ChangeSet
    plan : Plan or None
        A replayed plan of the changed round that shows that it helps.
    proven : bool
        Whether the plan is proven to be a best one.
    room : Room
        What is known without the whole round.
    """

    steps: tuple[Step, ...]
    outcome: Outcome
    exact: frozenset[str]
    changed: ChangeSet
    plan: Plan | None = None
    proven: bool = True
    room: Room = Room.SOME


class Trials:
    """Trials of sets of steps on one round, each made once.

    Parameters
    ----------
    snapshot : Snapshot
    cluster : Cluster
        Its index.
    keys : frozenset of str
        The pods in question.
    kept : frozenset of str
        The pods that may not be worse off.
    menu : Menu
    options : SolveOptions
    make : function
        Makes changes (`instances.what_if.apply.changed_by`).
    deadline : float
        The time by `time.monotonic` at which trials end.
    node_groups : tuple of mapping
        Node groups of which nodes can be added.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        cluster: Cluster,
        keys: frozenset[str],
        kept: frozenset[str],
        menu: Menu,
        options: SolveOptions,
        make: Make,
        deadline: float,
        node_groups: tuple[Mapping[str, Any], ...] = (),
    ) -> None:
        self._snapshot = snapshot
        self._cluster = cluster
        self._asked = tuple(sorted(keys))
        self.kept = kept
        self._kept = tuple(sorted(kept))
        self._options = replace(options, prefer="none", tiers=None)
        self._make = make
        self._node_groups = node_groups
        self.deadline = deadline
        self.rounds = 0
        series = menu.series.values()
        self._counting = frozenset(step.series for step in series if step.counts)
        self._counting_for_it = frozenset(step.series for step in series if step.counts_for_it)
        self._not_own = frozenset(step.series for step in series if not step.own)
        self._all = frozenset(step.series for step in series)
        running = {pod.key for pod in snapshot.pods if pod.spec.node_name}
        self._menu = frozenset(menu.steps)
        self._roomy: list[Profile] = []
        self._kept_running = kept & running

    def seconds_left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.monotonic()

    def change_set(self, steps: Sequence[Step], name: str = "trial") -> ChangeSet:
        """Return steps as changes."""
        return change_set_of(self._snapshot, steps, name, self._node_groups)

    def room(self, steps: Sequence[Step]) -> Room:
        """Ask whether any plan of the changed round places the subject and evicts none that may not be.

        Whether the API server takes the changes is not asked. What is known of other sets is used: where
        one has room, so has each that goes further, and takes the same of the steps that count.
        """
        profile = Profile.of(steps)
        listed = self._menu.issuperset(steps)
        if listed and any(profile.goes_further(other, self._counting) for other in self._roomy):
            return Room.SOME
        found = self._room_in(self.after(steps))
        if listed and found is Room.SOME:
            self._roomy.append(profile)
        return found

    def after(self, steps: Sequence[Step]) -> Snapshot:
        """Return the round after steps, whether or not the API server takes them."""
        changed = changed_fields(self._snapshot, steps)
        others = [step for step in steps if step.change is not None]
        if others:
            changes = change_set_of(changed, others, "trial", self._node_groups)
            changed, _ = settled(changed, self._make(changed, changes))
        return changed

    def run(self, steps: tuple[Step, ...]) -> Trial:
        """Try a set of steps."""
        changes = self.change_set(steps)
        changed = self._round(changes)

        def trial(outcome: Outcome, exact: frozenset[str], plan: Plan | None = None) -> Trial:
            proven = plan is None or plan.status == "OPTIMAL"
            return Trial(steps, outcome, exact, changes, plan, proven)

        if changed is None:
            return trial(Outcome.INVALID, self._all)
        room = self._room_in(changed)
        if room in (Room.NONE, Room.NEVER):
            exact = self._counting if room is Room.NONE else self._counting_for_it
            return replace(trial(Outcome.NO_ROOM, exact), room=room)
        if room is Room.OPEN:
            return trial(Outcome.OPEN, self._all)
        best = self._solve(changed)
        if self._is_good(best):
            return trial(Outcome.HELPS, self._all, best)
        forced = self._solve(replace(changed, asked=self._asked, kept=self._kept))
        wanted = [tier for tier in forced.tiers if tier.name in (KEPT, ASKED)]
        full = {KEPT: len(self._kept) - len(self._kept_running), ASKED: 1}
        lacking = next((tier for tier in wanted if tier.value < full[tier.name]), None)
        if lacking is not None:
            known = lacking.proven
            return trial(Outcome.NO_ROOM if known else Outcome.OPEN, self._counting if known else self._all)
        compared = _compared(best, forced)
        if compared is None:
            return trial(Outcome.OPEN, self._all)
        if compared:
            return trial(Outcome.HELPS, self._all, forced)
        if self._kept:
            free = _compared(best, self._solve(replace(changed, asked=self._asked)))
            if free is not False:
                return trial(Outcome.AT_OTHERS_COST, self._all)
        return trial(Outcome.NOT_BEST, self._not_own)

    def _round(self, changes: ChangeSet) -> Snapshot | None:
        """Return the changed round; None where the API server refuses the changes."""
        try:
            changed = self._make(self._snapshot, changes)
        except KubestowError:
            return None
        snapshot, _ = settled(self._snapshot, changed)
        return snapshot

    def _limited(self) -> SolveOptions:
        return replace(self._options, time_limit=max(self.seconds_left(), _LEAST))

    def _room_in(self, changed: Snapshot) -> Room:
        self.rounds += 1
        asked = replace(changed, asked=self._asked, kept=tuple(sorted(self._kept_running)))
        answer = placeable(asked, self._limited(), self._cluster)
        match answer.verdict:
            case Verdict.YES:
                return Room.SOME
            case Verdict.NO:
                return Room.NEVER if answer.alone else Room.NONE
            case Verdict.OPEN:
                return Room.OPEN

    def _solve(self, changed: Snapshot) -> Plan:
        self.rounds += 1
        plan = solve_round(changed, self._limited()).plan
        if plan.stats.interrupted:
            raise KeyboardInterrupt
        return plan

    def _is_good(self, plan: Plan) -> bool:
        """Whether a plan places the subject and leaves no pod worse off that may not be."""
        placed = plan.placed()
        evicted = {item.pod for item in plan.evictions}
        return not placed.keys().isdisjoint(self._asked) and all(
            key not in evicted if key in self._kept_running else key in placed for key in self._kept
        )


def _compared(best: Plan, forced: Plan) -> bool | None:
    """Return whether a plan with other tiers first is a best plan; None where that is not proven."""
    theirs = [tier for tier in forced.tiers if tier.name not in (KEPT, ASKED)]
    for ours, other in zip(best.tiers, theirs, strict=True):
        if ours.value != other.value:
            return False if _proven(ours, other) else None
    return True


def _proven(ours: Tier, other: Tier) -> bool:
    """Whether two values of a tier that differ are both proven to be the best."""
    return ours.proven and other.proven
