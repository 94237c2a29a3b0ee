"""Preemption's dry runs on many nodes at once, for the nodes where everything is a matter of room.

A node is *plain* for a preemptor when no pod that could leave it matters to any filter other than
NodeResourcesFit, no pod there is guarded or spared, and none is under two budgets. Then the other filters
answer the same throughout, beside the pods nominated to the node and without them, and putting pods back is
arithmetic: rank by rank, all nodes take back their next pod where the preemptor still has room. The outcome
is that of `preemption.dry_run` node by node, which remains the one for all other nodes except *hopeless*
ones: rejected even when all have left.
"""

from typing import TYPE_CHECKING, Final

import numpy as np

from ..plugins.node_resources_fit import NodeResourcesFit, Wanted
from ..vocabulary.arrays import Bools, Ints
from .candidate_cost import Candidate, CandidateCost
from .quick_rejection import hopeless
from .room_runs import Attempt, leaving_from, victims_on
from .whole_groups import nodes_with_whole_groups

if TYPE_CHECKING:
    from ..state.state import State
    from .budget_ledger import Ledger
    from .filter_result import FilterResult
    from .runtime import Framework

_NONE: Final[Ints] = np.zeros(0, dtype=np.int64)


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

    __slots__ = ("_attempt", "_nodes", "_runs", "helps", "judged", "violations")

    def __init__(
        self,
        framework: "Framework",
        state: "State",
        i: int,
        result: "FilterResult",
        ledger: "Ledger",
        nodes: Ints,
    ) -> None:
        self._nodes = nodes
        self.judged: Bools = np.zeros(len(nodes), dtype=np.bool_)
        self.helps: Bools = np.zeros(len(nodes), dtype=np.bool_)
        self.violations: Ints = np.zeros(len(nodes), dtype=np.int64)
        wanted = _wanted(result)
        if wanted is None:
            return
        self._attempt = Attempt(state, i, ledger, wanted, framework.matters(result.cycle))
        self._runs = framework.room_runs.of(self._attempt)
        self._runs.learn(self._attempt, nodes)
        plain, fits = self._runs.plain[nodes], self._runs.fits[nodes]
        whole = nodes_with_whole_groups(framework.cluster, state)
        if whole is not None:
            plain &= ~whole[nodes]
        fits[plain] &= _others_pass(result, state, i, nodes[plain])
        fits &= ~self._hopeless(result, fits, plain)
        evicts = self._runs.evicts[nodes]
        # A pod that fits without a victim was rejected for no reason: the dry run of one node reports that.
        self.judged = np.where(plain, ~fits | evicts, ~fits)
        self.helps = plain & fits & evicts
        self.violations = np.where(self.helps, self._runs.costs[0, nodes], 0)

    def _hopeless(self, result: "FilterResult", fits: Bools, plain: Bools) -> Bools:
        """Return on which of the nodes that have room the preemptor is rejected all the same; bool[K]."""
        state, i, ledger, _, matters = self._attempt
        rejected = np.zeros(len(self._nodes), dtype=np.bool_)
        special = fits & ~plain
        if special.any():
            nodes = self._nodes[special]
            leaving = leaving_from(state, i, ledger, nodes)
            no = np.zeros(len(nodes), dtype=np.bool_)
            rejected[special] = hopeless(result, state, i, nodes, matters, leaving.pods, leaving.at, no)
        if matters is not None and state.nominated:
            _, named = state.nominations.among(i, matters.pods)
            mixed = fits & plain & np.isin(self._nodes, named)
            if mixed.any():  # of the pods that leave none matters
                nodes, yes = self._nodes[mixed], np.ones(int(mixed.sum()), dtype=np.bool_)
                rejected[mixed] = hopeless(result, state, i, nodes, matters, _NONE, _NONE, yes)
        return rejected

    def least(self, places: Ints) -> tuple[CandidateCost, int]:
        """Return the least cost among some places that help (at least one), and which place it is."""
        nodes = self._nodes[places]
        for costs in self._runs.costs:
            if len(nodes) > 1:
                least = costs[nodes]
                kept = least == least.min()
                nodes, places = nodes[kept], places[kept]
        return CandidateCost(*self._runs.costs[:, nodes[0]].tolist()), int(places[0])

    def candidate(self, place: int) -> Candidate:
        """Return the candidate at a place that helps."""
        n = int(self._nodes[place])
        return Candidate(n, victims_on(self._attempt, n), int(self.violations[place]))


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


def _others_pass(result: "FilterResult", state: "State", i: int, nodes: Ints) -> Bools:
    """Return which nodes pass all filters but NodeResourcesFit; bool[K]."""
    passed = np.ones(len(nodes), dtype=np.bool_)
    for plugin, data in result.cycle.entries:
        if not isinstance(plugin, NodeResourcesFit):
            passed &= plugin.filter_all(data, state, i)[nodes] == 0
    return passed
