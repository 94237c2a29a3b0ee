"""Preemption's dry runs on many nodes at once, for the nodes where everything is a matter of room.

A node is *plain* for a preemptor when no pod that could leave it matters to any filter other than
NodeResourcesFit, no pod there is guarded or spared, and none is under two budgets. Then the other filters
answer the same throughout, beside the pods nominated to the node and without them, and putting pods back is
arithmetic: rank by rank, all nodes take back their next pod where the preemptor still has room. The outcome
is that of `preemption.dry_run` node by node, which remains the one for all other nodes except *hopeless*
ones: rejected even when all have left.

Arrays over victims-to-be are flat: those of the first node, the most important first, then the next node's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..plugins.node_resources_fit import NodeResourcesFit, Wanted
from ..rules.eviction_limits import spared
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.resources import Rows, block
from .budget_ledger import SEVERAL
from .candidate_cost import OFFSET, Candidate, CandidateCost
from .importance import importance_of
from .quick_rejection import hopeless
from .whole_groups import nodes_with_whole_groups

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State
    from .budget_ledger import Ledger
    from .filter_result import FilterResult
    from .runtime import Framework


@dataclass(frozen=True, slots=True, eq=False)
class _Leaving:
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

    def on(self, kept: Bools) -> "_Leaving":
        """Return those on some of the nodes (bool[K]), which are numbered anew."""
        mine = kept[self.at]
        return _Leaving(self.pods[mine], (np.cumsum(kept) - 1)[self.at[mine]], self.breaks[mine])


class DryRuns:
    """The dry runs of one preemptor on the plain ones among some nodes.

    Parameters
    ----------
    framework : Framework
        Of the preemptor's profile.
    state : State
    i : int
        The preemptor.
    result : FilterResult
        Its verdicts in this state.
    ledger : Ledger
    nodes : int64[K]
        Ascending, at least one; an eviction may help there.

    Attributes
    ----------
    judged : bool[K]
        The nodes that are plain or hopeless.
    helps : bool[K]
        The plain nodes that are candidates.
    violations : int64[K]
        How many of a candidate's victims break a budget.
    """

    __slots__ = (
        "_cluster", "_columns", "_gone", "_leaving", "_nodes", "_places", "helps", "judged", "violations",
    )  # fmt: skip

    def __init__(
        self,
        framework: "Framework",
        state: "State",
        i: int,
        result: "FilterResult",
        ledger: "Ledger",
        nodes: Ints,
    ) -> None:
        self._cluster = framework.cluster
        self._nodes = nodes
        self.judged: Bools = np.zeros(len(nodes), dtype=np.bool_)
        self.helps: Bools = np.zeros(len(nodes), dtype=np.bool_)
        self.violations: Ints = np.zeros(len(nodes), dtype=np.int64)
        wanted = _wanted(result)
        if wanted is None:
            return
        leaving = _leaving(framework.cluster, state, i, ledger, nodes)
        matters = framework.matters(result.cycle)
        plain = _plain(framework.cluster, state, i, ledger, leaving, matters, len(nodes))
        whole = nodes_with_whole_groups(framework.cluster, state)
        if whole is not None:
            plain &= ~whole[nodes]
        usage = framework.cluster.usage[:, wanted.at]
        free, slots = _room(framework.cluster, state, wanted.at, nodes)
        free += _sums(usage[leaving.pods], leaving.at, len(nodes))
        crowd = np.bincount(leaving.at, minlength=len(nodes))
        slots += crowd
        mixed: list[int] = []
        if state.nominated:
            expected = state.nominations.expected(i)
            free -= block(expected.usage, wanted.at, nodes).T
            slots -= expected.count[nodes]
            mixed = [] if matters is None else state.nominations.among(i, matters)
        need = wanted.need[:, 0]
        fits = (crowd > 0) & (free >= need).all(axis=1) & (slots > 0)
        fits &= ~hopeless(result, state, i, nodes, mixed, leaving.pods, leaving.at, plain & fits)
        self.judged = plain | ~fits
        fits &= plain & _others_pass(result, state, i, nodes)
        self._places = np.flatnonzero(fits)
        self._leaving = leaving.on(fits)
        self._gone = _put_back(self._leaving, usage[self._leaving.pods], free[fits] - need, slots[fits])
        self._weigh()

    def least(self, places: Sequence[int]) -> tuple[CandidateCost, int]:
        """Return the least cost among some places that help, and which place it is."""
        rows = np.searchsorted(np.flatnonzero(self.helps), places)
        columns = self._columns[:, rows]
        best = int(np.lexsort(columns[::-1])[0])
        return CandidateCost(*columns[:, best].tolist()), places[best]

    def candidate(self, place: int) -> Candidate:
        """Return the candidate at a place that helps."""
        leaving = self._leaving
        mine = np.flatnonzero(self._gone & (leaving.at == np.searchsorted(self._places, place)))
        pods = leaving.pods[mine]
        ranks = importance_of(self._cluster).ranks[pods]
        # Of equal ones those that break a budget come first: they were put back first.
        victims = tuple(pods[np.lexsort((~leaving.breaks[mine], ranks))].tolist())
        return Candidate(int(self._nodes[place]), victims, int(self.violations[place]))

    def _weigh(self) -> None:
        """Return the cost of each node, the first of its victims being the most important one."""
        importance, leaving, size = importance_of(self._cluster), self._leaving, len(self._places)
        at, pods = leaving.at[self._gone], leaving.pods[self._gone]
        first = _firsts(at)
        found = at[first]
        priorities = importance.priorities[pods]
        self._columns = np.array(
            (
                np.bincount(at, weights=leaving.breaks[self._gone], minlength=size)[found].astype(np.int64),
                priorities[first],
                _sums(priorities + OFFSET, at, size)[found],
                np.bincount(at, minlength=size)[found],
                -importance.starts[pods[first]],
                self._cluster.name_ranks[self._nodes[self._places[found]]],
            )
        )
        self.helps[self._places[found]] = True
        self.violations[self._places[found]] = self._columns[0]
        # A pod that fits without a victim was rejected for no reason: the dry run of one node reports that.
        self.judged[np.setdiff1d(self._places, self._places[found])] = False


def _wanted(result: "FilterResult") -> Wanted | None:
    """Return what the preemptor requests; None where its dry runs are not a matter of room alone."""
    cycle = result.cycle
    if cycle.rejected is not None or any(plugin.in_turn for plugin, _ in cycle.entries):
        return None
    for plugin, data in cycle.entries:
        if isinstance(plugin, NodeResourcesFit):
            wanted: Wanted = data
            exact = plugin.cluster.dtype is not object and not any(wanted.served)
            return wanted if exact else None
    return None


def _leaving(cluster: "Cluster", state: "State", i: int, ledger: "Ledger", nodes: Ints) -> _Leaving:
    """List the pods of lower priority, and which of them break a budget."""
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
    return _Leaving(pods, at, breaks)


def _plain(
    cluster: "Cluster",
    state: "State",
    i: int,
    ledger: "Ledger",
    leaving: _Leaving,
    matters: Bools | None,
    size: int,
) -> Bools:
    """Return which nodes are plain as far as the pods on them go; bool[size]."""
    pods = leaving.pods
    special = ledger.budget_of[pods] == SEVERAL
    guarded = cluster.guards[pods] > cluster.pods[i].priority
    limit = spared(cluster)
    kept = guarded if limit is None else guarded | limit[pods]
    special |= kept & ~state.terminating[pods]
    if matters is not None:
        special |= matters[pods]
    plain: Bools = np.bincount(leaving.at, weights=special, minlength=size) == 0
    return plain


def _others_pass(result: "FilterResult", state: "State", i: int, nodes: Ints) -> Bools:
    """Return which nodes pass all filters but NodeResourcesFit; bool[K]."""
    passed = np.ones(len(nodes), dtype=np.bool_)
    for plugin, data in result.cycle.entries:
        if not isinstance(plugin, NodeResourcesFit):
            passed &= plugin.filter_all(data, state, i)[nodes] == 0
    return passed


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


def _put_back(leaving: _Leaving, usage: Ints, spare: Ints, slots: Ints) -> Bools:
    """Put pods back while there is room for the preemptor; return which cannot stay.

    Parameters
    ----------
    leaving : _Leaving
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
