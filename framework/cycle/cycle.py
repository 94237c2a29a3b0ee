"""One scheduling cycle: a pod is filtered, scored and bound, or room is made for it, or it waits.

Every tie that kube-scheduler breaks at random goes to the smallest node name, and every node is scored.
Binding (DefaultBinder) is `apply`, with what DynamicResources has reserved.

Source: kube-scheduler 1.34.1 schedule_one.go.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from ..dra.allocation import Allocation
from ..plugins.dynamic_resources import NO_STATE
from ..state.state import NO_ALLOCATIONS
from ..vocabulary import names
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.default_plugins import POST_FILTER, PRE_FILTER
from ..vocabulary.message import NO_NODES, fit_error
from ..vocabulary.status import Code, Status
from .budget_ledger import Ledger
from .filter_result import FilterResult
from .preemption import Preemption, preempt, statuses_of

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State
    from .class_view import ClassView
    from .runtime import Framework

Outcome = Literal["bound", "nominated", "unschedulable"]

_NO_NODES: Final[Ints] = np.zeros(0, dtype=np.int64)


@dataclass(slots=True)
class Cycle:
    """What happened to one pod.

    Attributes
    ----------
    pod : int
    result : FilterResult or None
        The verdicts; None where the nominated node took the pod, or no verdict was reached, or the cycle is
        brief.
    feasible : int64[K]
        The nodes that passed, in input order; empty where the cycle is brief.
    scores : dict of plugin to int64[K]
        Weighted; empty with fewer than two feasible nodes, or where the cycle is brief.
    outcome : str
    node : int
        Where it was bound or nominated, -1 for nowhere.
    preemption : Preemption or None
        What PostFilter found, where it looked.
    post_filter : tuple of str
        PostFilter's messages before preemption's.
    error : str
        The text of an attempt that ended in an error.
    keeps_nomination : bool
        Whether a failed pod keeps its nominated node.
    within : bool[N] or None
        The nodes that were looked at (a pod group's placement); None for all.
    allocations : mapping
        The devices that a bound pod brings along, by claim.
    deallocated : str
        The claim that PostFilter frees, empty for none.
    brief : bool
        Whether verdicts and scores were not written down one by one; `complete` does that.
    """

    pod: int
    result: FilterResult | None = None
    feasible: Ints = field(default_factory=lambda: _NO_NODES)
    scores: dict[str, Ints] = field(default_factory=dict)
    outcome: Outcome = "unschedulable"
    node: int = -1
    preemption: Preemption | None = None
    post_filter: tuple[str, ...] = ()
    error: str = ""
    keeps_nomination: bool = False
    within: Bools | None = None
    allocations: Mapping[str, Allocation] = field(default_factory=lambda: NO_ALLOCATIONS)
    deallocated: str = ""
    brief: bool = False

    @property
    def victims(self) -> tuple[int, ...]:
        """The victims of a nominated pod, the most important first."""
        best = self.preemption.best if self.preemption else None
        return best.victims if best else ()

    @property
    def violations(self) -> int:
        """How many of the victims break a budget, by upstream's count."""
        best = self.preemption.best if self.preemption else None
        return best.violations if best else 0

    @property
    def totals(self) -> Ints:
        """The sum of the scores; int64[K]."""
        total: Ints = np.zeros(len(self.feasible), dtype=np.int64)
        for scores in self.scores.values():
            total = total + scores
        return total

    def message(self, n_nodes: int) -> str:
        """Write the text of the pod's condition; ask before the state changes. Empty where it was bound."""
        if self.outcome == "bound":
            return ""
        if self.error or self.result is None:
            return self.error  # nothing else is known about a pod without nodes or without scores
        pre_filter = self.result.pre_filter
        statuses = () if pre_filter is not None else statuses_of(self.result, self.within)
        post: list[str] = []
        if self.outcome == "unschedulable":
            post = [*self.post_filter]
            if self.preemption is not None:
                post.append(self.preemption.message(n_nodes))
        looked_at = n_nodes if self.within is None else int(self.within.sum())
        return fit_error(looked_at, statuses, pre_filter=pre_filter, post_filter=", ".join(post))


def schedule_one(framework: "Framework", state: "State", i: int, ledger: Ledger) -> Cycle:
    """Try to place pod i; changes nothing.

    Parameters
    ----------
    framework : Framework
        Of the pod's profile.
    state : State
        With the nominations that count.
    i : int
    ledger : Ledger
        The budgets at this moment.
    """
    cycle = find_node(framework, state, i)
    if cycle.outcome != "bound" and not cycle.error:
        run_post_filter(framework, state, cycle, ledger)
    return cycle


def find_node(framework: "Framework", state: "State", i: int, within: Bools | None = None) -> Cycle:
    """Filter and score nodes for pod i, without PostFilter; changes nothing.

    Parameters
    ----------
    framework : Framework
        Of the pod's profile.
    state : State
        With the nominations that count.
    i : int
    within : bool[N], optional
        The nodes to look at; plugins see all of them either way.
    """
    cluster = framework.cluster
    cycle = Cycle(i, within=within)
    if not cluster.n_nodes:
        cycle.error = NO_NODES
        return cycle
    nominated = state.nominated.get(i)
    if (
        nominated is not None
        and (within is None or within[nominated])
        and framework.filter_nominated(state, i, nominated).ok
    ):
        cycle.feasible = np.array([nominated], dtype=np.int64)
        _bind(framework, state, cycle, nominated)
        return cycle
    view = framework.view(state, i)
    chosen = None if view is None else _choose(framework, view, state, cycle)
    if chosen is not None:
        cycle.brief = True
    else:
        totals = _in_turn(framework, state, cycle)  # where nothing passes, every reason is asked for
        if isinstance(totals, Status):
            chosen = totals
        elif len(cycle.feasible) and not cycle.error:
            chosen = _select_host(cluster, cycle.feasible, totals)
    if isinstance(chosen, Status):
        cycle.error = chosen.message
    elif chosen is not None:
        _bind(framework, state, cycle, chosen)
    return cycle


def _choose(framework: "Framework", view: "ClassView", state: "State", cycle: Cycle) -> int | Status | None:
    """Return where the pod goes by what its class knows; None where nothing passes."""
    i = cycle.pod
    by_order = not view.relative and view.error is None
    if by_order and cycle.within is None:
        first = framework.first(view, state, i)
        if first is not None:
            return first
    passed = framework.passed(view, state, i, cycle.within)
    if by_order:
        return view.best(passed)
    nodes = np.flatnonzero(passed)
    if not len(nodes):
        return None
    totals = framework.totals(view, state, i, nodes) if len(nodes) > 1 else None
    return totals if isinstance(totals, Status) else _select_host(framework.cluster, nodes, totals)


def _in_turn(framework: "Framework", state: "State", cycle: Cycle) -> Ints | Status | None:
    """Filter and score, and write down every verdict and score; return the totals where they matter."""
    i, within = cycle.pod, cycle.within
    result = framework.filter_all(state, i, nominated=True, within=within)
    error = result.error(within)
    if error:
        cycle.error = error
        return None
    feasible = result.feasible
    cycle.result = result
    cycle.feasible = feasible if within is None else feasible[within[feasible]]
    if len(cycle.feasible) < 2:
        return None
    scores = framework.score(state, i, cycle.feasible)
    if isinstance(scores, Status):
        return scores
    cycle.scores = scores
    return cycle.totals


def complete(framework: "Framework", state: "State", cycle: Cycle) -> None:
    """Write down the verdicts and scores of a brief cycle; the state must still be what it was."""
    if cycle.brief:
        _in_turn(framework, state, cycle)
        cycle.brief = False


def _bind(framework: "Framework", state: "State", cycle: Cycle, n: int) -> None:
    failed = framework.binding_error(state, cycle.pod)
    if failed is not None:
        cycle.error = failed.message
        return
    cycle.outcome = "bound"
    cycle.node = n
    cycle.allocations = framework.reserve(state, cycle.pod, n)


def _select_host(cluster: "Cluster", nodes: Ints, totals: Ints | None) -> int:
    """Return the node with the highest total, the smallest name among equals."""
    best = nodes if totals is None else nodes[totals == totals.max()]
    return int(best[cluster.name_ranks[best].argmin()])


def run_post_filter(
    framework: "Framework", state: "State", cycle: Cycle, ledger: Ledger, *, ineligible: str = ""
) -> None:
    """Run PostFilter: DynamicResources decides about claims, DefaultPreemption looks for victims.

    Parameters
    ----------
    framework : Framework
        Of the pod's profile.
    state : State
    cycle : Cycle
        Of a pod that fits nowhere; changed.
    ledger : Ledger
    ineligible : str
        Why no pod may look for victims by itself, empty where it may.
    """
    assert cycle.result is not None
    cycle.keeps_nomination = True
    for name in framework.profile.points[POST_FILTER]:
        if name == names.DYNAMIC_RESOURCES:
            if not _reached(framework, cycle.result.pre_filter, name):
                # Its PreFilter never ran: its PostFilter finds no state, an error, which ends PostFilter.
                cycle.post_filter = (NO_STATE,)
                return
            freed = framework.free_claim(state, cycle.pod, cycle.result)
            cycle.post_filter = (*cycle.post_filter, freed.reason)
            cycle.deallocated = freed.claim
        elif name == names.DEFAULT_PREEMPTION:
            found = (
                Preemption(ineligible=ineligible)
                if ineligible
                else preempt(framework, state, cycle.pod, cycle.result, ledger)
            )
            cycle.preemption = found
            cycle.keeps_nomination = bool(found.ineligible)
            if found.best is not None:
                cycle.outcome = "nominated"
                cycle.node = found.best.node
                return


def _reached(framework: "Framework", refusal: Status | None, plugin: str) -> bool:
    """Whether a plugin's PreFilter ran, given PreFilter's refusal."""
    order = framework.profile.points[PRE_FILTER]
    if plugin not in order:
        return False
    if refusal is None or refusal.code is not Code.UNRESOLVABLE:
        return True
    return order.index(plugin) <= order.index(refusal.plugin)


def apply(state: "State", cycle: Cycle, ledger: Ledger) -> list[int]:
    """Apply a cycle's outcome: bind the pod, or nominate it and mark its victims as terminating.

    Victims stay on their node; guarded ones are paid for. Pods of lower priority that were nominated to the
    node lose their nomination, unless all victims were terminating before.

    Returns
    -------
    list of int
        The pods that lost their nomination to this one.
    """
    cluster = state.cluster
    if cycle.outcome == "bound":
        state.withdraw(cycle.pod)
        state.place(cycle.pod, cycle.node, cycle.allocations)
        return []
    if cycle.deallocated:
        state.deallocate(cycle.deallocated)
    if cycle.outcome == "unschedulable":
        if not cycle.keeps_nomination:
            state.withdraw(cycle.pod)
        return []
    fresh = [j for j in cycle.victims if not state.terminating[j]]
    priority = cluster.pods[cycle.pod].priority
    there = state.nominations.on(cycle.node) if fresh else ()
    cleared = [j for j in there if cluster.pods[j].priority < priority]
    for j in cleared:
        state.withdraw(j)
    for j in fresh:
        state.mark(j)
    ledger.pay(j for j in fresh if cluster.pods[j].guard is not None)
    state.nominate(cycle.pod, cycle.node)
    return cleared
