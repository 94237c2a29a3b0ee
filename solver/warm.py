"""What a round leaves for the one after it, where the two differ little.

In a simulation, and in variants of one instance, most objects of a round are those of the round before it.
Three things are used again, each only as far as it can be seen to hold:

- *The index.* What it says of a pod whose object is the same is not worked out again (`Cluster`, `like`).
- *The plan.* Its steps are brought to the new round by name. They are a candidate like any other: the search
  follows them, keeps the part that passes every filter, completes and values it (`search.construction`), and
  keeps the result if it is better than what it has.
- *Bounds.* They hold of a round that is a *restriction* of the one before: all objects are the same, but some
  pods may no longer wait. Every plan of it, which leaves those pods out, is a plan of the round before with
  the same value in each tier, so what bounds all of those bounds all of these. Pods of groups, whose numbers
  count, have to be the same. Nothing is carried where kube-scheduler's outcome, which no admissible plan may
  be, was taken.

Source: docs/model.md, "Warm rounds".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from ..framework.dra.index import claim_keys
from ..framework.rules.groups import groups
from ..framework.state.moves import Bind, Deallocate, Leave, Mark
from ..models.snapshot import Snapshot
from ..models.tiers import PREFERENCES
from .plans.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..framework.index.cluster import Cluster
    from ..framework.index.podinfo import PodInfo
    from ..framework.state.moves import Move
    from ..models.plan import Tier
    from ..models.pod import Pod
    from .plans.outcome import SolvedRound


@dataclass(frozen=True)
class KnownBound:
    """A bound of a tier, of every plan whose first tiers cost no more than `given` (all plans if empty)."""

    tier: str
    value: int
    given: tuple[int, ...]


@dataclass(frozen=True)
class Warmth:
    """What a search may begin with, beside greedy's outcome.

    Attributes
    ----------
    start : Outcome or None
        Not to be taken for admissible.
    bounds : tuple of KnownBound
    """

    start: Outcome | None = None
    bounds: tuple[KnownBound, ...] = ()

    @classmethod
    def of(cls, before: SolvedRound, cluster: Cluster) -> Warmth:
        """Return what a round leaves for that of another cluster, under the same options."""
        return cls(start_from(before, cluster), tuple(bounds_from(before, cluster)))


COLD: Final = Warmth()
"""What a round begins with that follows none."""


def start_from(before: SolvedRound, cluster: Cluster) -> Outcome | None:
    """Bring the steps of an earlier plan to a round; None where none of its pods still waits.

    Returns
    -------
    Outcome
        Not to be taken for admissible: some steps may no longer be possible.
    """
    pending = frozenset(cluster.pending)
    moves = [move for old in before.outcome.moves if (move := _brought(before, cluster, old)) is not None]
    moves = [move for move in moves if not isinstance(move, Bind) or move.pod in pending]
    if not any(isinstance(move, Bind) for move in moves):
        return None
    keys = frozenset(claim_keys(cluster))
    chosen = {key: found for key, found in before.outcome.allocations.items() if key in keys}
    return Outcome(moves=tuple(moves), allocations=chosen, admissible=False)


def _brought(before: SolvedRound, cluster: Cluster, move: Move) -> Move | None:
    """Return a step in the numbers of another cluster, None where its objects are not there."""
    if isinstance(move, Deallocate):
        key = claim_keys(before.cluster)[move.claim]
        return Deallocate(claim_keys(cluster).index(key)) if key in claim_keys(cluster) else None
    pod = cluster.pod_index.get(before.cluster.pods[move.pod].key)
    if pod is None:
        return None
    info = cluster.pods[pod]
    if isinstance(move, Bind):
        node = cluster.node_index.get(before.cluster.node_names[move.node])
        return None if node is None else Bind(pod, node)
    if info.initial_node < 0 or (isinstance(move, Mark) and info.terminating):
        return None
    return Mark(pod) if isinstance(move, Mark) else Leave(pod)


def bounds_from(before: SolvedRound, cluster: Cluster) -> Iterator[KnownBound]:
    """Yield the bounds of an earlier round that hold of a restriction of it; none if it is no restriction.

    The tier of a preference is left out: what it counts may depend on who waits.
    """
    if not before.plan.stats.admissible or not is_restriction(cluster, before.cluster):
        return
    given: list[int] = []
    for tier in before.plan.tiers:
        if tier.bound is None or tier.name in PREFERENCES:
            return
        yield KnownBound(tier.name, tier.bound, tuple(given))
        given.append(_cost(tier))


def _cost(tier: Tier) -> int:
    return -tier.value if tier.sense == "max" else tier.value


def is_restriction(cluster: Cluster, of: Cluster) -> bool:
    """Whether a round is another one in which some pods, members of no group, no longer wait."""
    mine, theirs = cluster.snapshot, of.snapshot
    if any(
        getattr(mine, item.name) is not getattr(theirs, item.name)
        and getattr(mine, item.name) != getattr(theirs, item.name)
        for item in fields(Snapshot)
        if item.name not in _MAY_DIFFER
    ):
        return False
    if mine.now != theirs.now and _watches_clock(theirs):
        return False
    waiting, waited = frozenset(cluster.pending), frozenset(of.pending)
    if len(of.pods) - len(cluster.pods) != len(waited) - len(waiting):
        return False
    if len(waiting) < len(waited) and (groups(of) or cluster.levels != of.levels):
        return False
    for info in cluster.pods:
        there = of.pod_index.get(info.key)
        if there is None or (info.index in waiting) != (there in waited):
            return False
        if not _alike(info, of.pods[there], runs=info.index not in waiting):
            return False
    return True


_MAY_DIFFER: Final = ("name", "now", "pods")
"""Fields of a snapshot of which the first says nothing, and the others are seen in what is read of pods."""


def _watches_clock(snapshot: Snapshot) -> bool:
    """Whether the time means more than `PodInfo` has of it: deadlines of devices and of evictions."""
    budgets = snapshot.pod_disruption_budgets
    return bool(snapshot.resource_claims) or any(budget.status.disrupted_pods for budget in budgets)


def _alike(one: PodInfo, other: PodInfo, *, runs: bool) -> bool:
    """Whether a pod means the same in two rounds: the pod itself, and what the time makes of it."""
    if one.held != other.held or one.nominated != other.nominated or one.created != other.created:
        return False
    if runs:
        return one.pod is other.pod and one.start == other.start
    mine, theirs = one.pod, other.pod
    return mine is theirs or _unconditioned(mine) == _unconditioned(theirs)


def _unconditioned(pod: Pod) -> Pod:
    """Return a pod without conditions, which each attempt writes anew: what counts of them is in `held`."""
    return pod.model_copy(update={"status": pod.status.model_copy(update={"conditions": ()})})
