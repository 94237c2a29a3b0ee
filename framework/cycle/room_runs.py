"""Dry runs on plain nodes as far as room goes, kept from one attempt of a class of pods to the next.

Pods of one class preempt one after another, and between two attempts a node or two have changed. What room
alone decides about a node is kept here: whether the preemptor fits there once all pods of lower priority have
left, beside the pods nominated to the node, and what its victims cost. It is worked out again where pods or
nominations of a node have changed, everywhere once a budget has paid, and never before a node is asked about.

Arrays over victims-to-be are flat: those of the first node, the most important first, then the next node's.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..plugins.node_resources_fit import Wanted
from ..rules.eviction_limits import spared
from ..state.dirty_nodes import NEVER, Moment
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.resources import Rows, block
from .budget_ledger import SEVERAL
from .candidate_cost import OFFSET, CandidateCost
from .importance import importance_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ..index.cluster import Cluster
    from ..state.state import State
    from .budget_ledger import Ledger
    from .nominated_pods import Mattering

_MOST_CLASSES: Final = 8
"""For how many classes runs are kept; the ones not asked for longest go first."""


class Attempt(NamedTuple):
    """One preemptor of a class in one state.

    Attributes
    ----------
    state : State
    i : int
        The preemptor.
    ledger : Ledger
    wanted : Wanted
        What it requests.
    matters : Mattering or None
        The pods that matter to its other filters.
    """

    state: "State"
    i: int
    ledger: "Ledger"
    wanted: Wanted
    matters: "Mattering | None"


@dataclass(frozen=True, slots=True, eq=False)
class Leaving:
    """The pods of lower priority (M) on some nodes (K).

    Attributes
    ----------
    pods, at : int64[M]
        The pods, and the place of each one's node among the nodes.
    breaks : bool[M]
        Whose eviction would break a budget, were they all evicted.
    """

    pods: Ints
    at: Ints
    breaks: Bools

    def on(self, kept: Bools) -> "Leaving":
        """Return those on some of the nodes (bool[K]), which are numbered anew."""
        mine = kept[self.at]
        return Leaving(self.pods[mine], (np.cumsum(kept) - 1)[self.at[mine]], self.breaks[mine])


class _Tried(NamedTuple):
    """What room decides about some nodes (K).

    Attributes
    ----------
    plain, fits : bool[K]
        As those of `RoomRuns`.
    leaving : Leaving
        The pods of lower priority on the plain nodes where the preemptor fits, numbered anew.
    gone : bool[M]
        Which of them are victims.
    """

    plain: Bools
    fits: Bools
    leaving: Leaving
    gone: Bools


class RoomRuns:
    """The dry runs of one class of preemptors, as far as room decides.

    Attributes
    ----------
    plain : bool[N]
        The nodes where none of the pods that could leave matters to another filter, is guarded or spared, or
        is under two budgets.
    fits : bool[N]
        The nodes that have pods of lower priority, and room for the preemptor without them.
    evicts : bool[N]
        The plain ones of these where not all pods can stay.
    costs : int64[6, N]
        A row for each of `CandidateCost`, where `evicts`.
    """

    __slots__ = ("_known", "_moments", "_paid", "costs", "evicts", "fits", "plain")

    def __init__(self, n_nodes: int) -> None:
        self._known: Bools = np.zeros(n_nodes, dtype=np.bool_)
        self._moments: tuple[Moment, Moment] = (NEVER, NEVER)
        self._paid: Hashable = None
        self.plain: Bools = np.zeros(n_nodes, dtype=np.bool_)
        self.fits: Bools = np.zeros(n_nodes, dtype=np.bool_)
        self.evicts: Bools = np.zeros(n_nodes, dtype=np.bool_)
        self.costs: Ints = np.zeros((len(CandidateCost._fields), n_nodes), dtype=np.int64)

    def learn(self, attempt: Attempt, nodes: Ints) -> None:
        """Work out what is not known of some nodes (int64[K])."""
        self._forget(attempt.state, attempt.ledger)
        new = nodes[~self._known[nodes]]
        if not new.size:
            return
        tried = _try(attempt, new)
        found = new[tried.plain & tried.fits]
        self._known[new] = True
        self.plain[new] = tried.plain
        self.fits[new] = tried.fits
        self.evicts[new] = False
        if found.size:
            self._weigh(attempt.state.cluster, found, tried)

    def _forget(self, state: "State", ledger: "Ledger") -> None:
        """Forget what may have changed."""
        logs = (state.dirty_nodes, state.nominations.dirty_nodes)
        changed = [log.since(moment) for log, moment in zip(logs, self._moments, strict=True)]
        if ledger.moment != self._paid:
            changed = [None]
        for dirty in changed:
            if dirty is None:
                self._known[:] = False
            else:
                self._known[dirty] = False
        self._paid = ledger.moment
        self._moments = (logs[0].moment, logs[1].moment)

    def _weigh(self, cluster: "Cluster", nodes: Ints, tried: _Tried) -> None:
        """Write down the costs of some nodes, the first of a node's victims being the most important one."""
        importance, leaving, size = importance_of(cluster), tried.leaving, len(nodes)
        at, pods = leaving.at[tried.gone], leaving.pods[tried.gone]
        first = _firsts(at)
        found = at[first]
        priorities = importance.priorities[pods]
        self.evicts[nodes[found]] = True
        self.costs[:, nodes[found]] = (
            np.bincount(at, weights=leaving.breaks[tried.gone], minlength=size)[found].astype(np.int64),
            priorities[first],
            _sums(priorities + OFFSET, at, size)[found],
            np.bincount(at, minlength=size)[found],
            -importance.starts[pods[first]],
            cluster.name_ranks[nodes[found]],
        )


def victims_on(attempt: Attempt, n: int) -> tuple[int, ...]:
    """Return the victims on a plain node where the preemptor fits, the most important first."""
    tried = _try(attempt, np.array([n], dtype=np.int64))
    pods, breaks = tried.leaving.pods[tried.gone], tried.leaving.breaks[tried.gone]
    ranks = importance_of(attempt.state.cluster).ranks[pods]
    # Of equal ones those that break a budget come first: they were put back first.
    return tuple(pods[np.lexsort((~breaks, ranks))].tolist())


class RoomRunsByClass:
    """The runs of the classes that have preempted last."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[Hashable, RoomRuns] = {}

    def of(self, attempt: Attempt) -> RoomRuns:
        """Return the runs of a preemptor's class; new ones where its own nomination does not count for it."""
        cluster, matters = attempt.state.cluster, attempt.matters
        if attempt.i in attempt.state.nominated:
            return RoomRuns(cluster.n_nodes)
        key = cluster.pods[attempt.i].cls, None if matters is None else matters.filters
        runs = self._kept.pop(key, None) or RoomRuns(cluster.n_nodes)
        if len(self._kept) >= _MOST_CLASSES:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = runs
        return runs


def _try(attempt: Attempt, nodes: Ints) -> _Tried:
    """Let all pods of lower priority leave some nodes, and put back those that can stay on plain ones."""
    state, i, wanted = attempt.state, attempt.i, attempt.wanted
    cluster, size = state.cluster, len(nodes)
    leaving = leaving_from(state, i, attempt.ledger, nodes)
    plain = _plain(attempt, leaving, size)
    usage = cluster.usage[leaving.pods][:, wanted.at]
    free, slots = _room(cluster, state, wanted.at, nodes)
    free += _sums(usage, leaving.at, size)
    crowd = np.bincount(leaving.at, minlength=size)
    slots += crowd
    if state.nominated:
        expected = state.nominations.expected(i)
        free -= block(expected.usage, wanted.at, nodes).T
        slots -= expected.count[nodes]
    need = wanted.need[:, 0]
    fits: Bools = (crowd > 0) & (free >= need).all(axis=1) & (slots > 0)
    put = plain & fits
    kept = leaving.on(put)
    gone = _put_back(kept, usage[put[leaving.at]], free[put] - need, slots[put])
    return _Tried(plain, fits, kept, gone)


def leaving_from(state: "State", i: int, ledger: "Ledger", nodes: Ints) -> Leaving:
    """List the pods of lower priority, and which of them break a budget."""
    cluster = state.cluster
    importance = importance_of(cluster)
    lists = importance.on(state, nodes)
    pods = np.concatenate(lists)
    at = np.repeat(np.arange(len(nodes), dtype=np.int64), [len(pods) for pods in lists])
    lower = importance.priorities[pods] < cluster.pods[i].priority
    pods, at = pods[lower], at[lower]
    breaks = np.zeros(len(pods), dtype=np.bool_)
    budget = ledger.budget_of[pods]
    charged = np.flatnonzero(budget >= 0)
    if charged.size:
        # Of a node's pods under one budget, the first `allowed` may go.
        key = at[charged] * len(ledger.allowed) + budget[charged]
        order = np.argsort(key, kind="stable")
        charged, start = charged[order], _firsts(key[order])
        turn = np.arange(len(charged)) - np.repeat(start, np.diff(start, append=len(charged)))
        breaks[charged] = turn >= np.array(ledger.allowed, dtype=np.int64)[budget[charged]]
    return Leaving(pods, at, breaks)


def _plain(attempt: Attempt, leaving: Leaving, size: int) -> Bools:
    """Return which nodes are plain as far as the pods on them go; bool[size]."""
    state, i, ledger, _, matters = attempt
    cluster, pods = state.cluster, leaving.pods
    special = ledger.budget_of[pods] == SEVERAL
    guarded = cluster.guards[pods] > cluster.pods[i].priority
    limit = spared(cluster)
    kept = guarded if limit is None else guarded | limit[pods]
    special |= kept & ~state.terminating[pods]
    if matters is not None:
        special |= matters.mask[pods]
    plain: Bools = np.bincount(leaving.at, weights=special, minlength=size) == 0
    return plain


def _room(cluster: "Cluster", state: "State", rows: Rows, nodes: Ints) -> tuple[Ints, Ints]:
    """Return what nodes have left of some resources and of slots for pods; int64[K, R], int64[K]."""
    free: Ints = block(cluster.allocatable, rows, nodes) - block(state.requested, rows, nodes)
    return free.T.copy(), cluster.allowed_pods[nodes] - state.pod_count[nodes]


def _firsts(values: Ints) -> Ints:
    """Return where each run of equal values begins."""
    return np.flatnonzero(np.diff(values, prepend=-1))


def _sums(values: Ints, at: Ints, size: int) -> Ints:
    """Add up values (int64[M, ...]) by place, where `at` ascends; exact, unlike bincount with weights."""
    sums = np.zeros((len(values) + 1, *values.shape[1:]), dtype=np.int64)
    np.cumsum(values, axis=0, out=sums[1:])
    edges = np.searchsorted(at, np.arange(size + 1))
    total: Ints = sums[edges[1:]] - sums[edges[:-1]]
    return total


def _put_back(leaving: Leaving, usage: Ints, spare: Ints, slots: Ints) -> Bools:
    """Put pods back while there is room for the preemptor; return which cannot stay.

    Parameters
    ----------
    leaving : Leaving
        M pods on K nodes.
    usage : int64[M, R]
    spare : int64[K, R]
        What is left beside the preemptor when all are gone.
    slots : int64[K]
        Likewise, the preemptor's own among them.

    Returns
    -------
    bool[M]
    """
    gone = np.zeros(len(leaving.pods), dtype=np.bool_)
    crowd = np.bincount(leaving.at, minlength=len(slots))
    order = np.argsort(leaving.at * 2 + ~leaving.breaks, kind="stable")  # pods that break a budget come first
    by_crowd = np.argsort(-crowd, kind="stable")
    crowd, spare, slots = crowd[by_crowd], spare[by_crowd], slots[by_crowd]
    start = np.searchsorted(leaving.at, by_crowd)
    for step in range(int(crowd.max(initial=0))):
        active = int(np.searchsorted(-crowd, -step))
        pods = order[start[:active] + step]
        left = spare[:active] - usage[pods]
        stays = (left >= 0).all(axis=1) & (slots[:active] > 1)
        np.copyto(spare[:active], left, where=stays[:, None])
        slots[:active] -= stays
        gone[pods] = ~stays
    return gone
