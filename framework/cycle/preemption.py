"""DefaultPreemption: makes room for a pod by evicting less important ones.

For each node that Filter rejected but might take the pod: without all pods of lower priority, does it fit?
Then as many of them as possible are put back, those whose eviction would break a budget first, each time the
most important first; a pod that cannot stay is a victim. The node with the least cost wins.

Sources: kube-scheduler 1.34.1 framework/preemption/preemption.go,
plugins/defaultpreemption/default_preemption.go; KEP-4664 for the guard.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from ...models.errors import InternalError
from ..rules.eviction_limits import spared
from ..vocabulary import names
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.message import fit_error
from ..vocabulary.status import Code, Status
from .budget_ledger import Ledger
from .candidate_cost import Candidate, CandidateCost, cost_of
from .dry_runs import DryRuns
from .filter_result import FilterResult
from .node_filter import NodeFilter
from .whole_groups import nodes_with_whole_groups, units_of

if TYPE_CHECKING:
    from ...models.config import DefaultPreemptionArgs
    from ..index.cluster import Cluster
    from ..state.state import State
    from .runtime import Framework

NOT_HELPFUL: Final = Status(
    Code.UNRESOLVABLE, names.DEFAULT_PREEMPTION, ("Preemption is not helpful for scheduling",)
)
NO_VICTIMS: Final = Status(
    Code.UNRESOLVABLE, names.DEFAULT_PREEMPTION, ("No preemption victims found for incoming pod",)
)
GUARDED: Final = "node(s) had pods guarded by allowDisruptionByPriorityGreaterThanOrEqual: {guard}"
"""Why less important pods stay all the same (KEP-4664): the lowest of the guards that are not reached."""
NEVER: Final = "not eligible due to preemptionPolicy=Never."
WAITING: Final = "not eligible due to a terminating pod on the nominated node."
LIMITED: Final = "not made: it would exceed the limits on evictions."
NO_EVICTIONS: Final = "not made: no pod is to be evicted."


@dataclass(slots=True)
class Preemption:
    """The outcome of one attempt to make room.

    Attributes
    ----------
    best : Candidate or None
        The node chosen.
    ineligible : str
        Why the pod may not look for victims; then its nomination stays.
    limited : str
        Why it is not made although it may be: limits on evictions (`models.eviction_limits`).
    failed : dict
        The statuses of nodes that are no candidates although they were tried, as far as worked out.
    judged : bool[N]
        The nodes of which it is only known that they are none. Every other node was not worth trying.
    retry : callable
        Works out the status of such a node, while the state is what it was.
    """

    best: Candidate | None = None
    ineligible: str = ""
    limited: str = ""
    failed: dict[int, Status] = field(default_factory=dict)
    judged: Bools | None = None
    retry: Callable[[int], Candidate | Status] | None = None

    def message(self, n_nodes: int) -> str:
        """Write why no pod can be evicted for this one; empty where one can.

        Ask before the state changes.
        """
        if self.best is not None:
            return ""
        if self.ineligible:
            return f"preemption: {self.ineligible}"
        if self.limited:
            return f"preemption: {self.limited}"
        return f"preemption: {fit_error(n_nodes, map(self._status, range(n_nodes)))}"

    def _status(self, n: int) -> Status:
        """Return why node n is no candidate."""
        if n in self.failed:
            return self.failed[n]
        if self.retry is None or self.judged is None or not self.judged[n]:
            return NOT_HELPFUL
        tried = self.retry(n)
        assert isinstance(tried, Status)  # dry runs on many nodes at once agree with those on one
        self.failed[n] = tried
        return tried


def preempt(
    framework: "Framework", state: "State", i: int, result: FilterResult, ledger: Ledger
) -> Preemption:
    """Look for the node where pod i costs the least.

    Parameters
    ----------
    framework : Framework
        Of the pod's profile.
    state : State
        Not changed.
    i : int
        The preemptor.
    result : FilterResult
        Its verdicts in this state.
    ledger : Ledger
        The budgets; not changed.
    """
    cluster = framework.cluster
    ineligible = _ineligible(cluster, state, i, result)
    if ineligible:
        return Preemption(ineligible=ineligible)
    if cluster.snapshot.limits.evictions == 0:
        return Preemption(limited=NO_EVICTIONS)
    retry = partial(dry_run, framework, state, i, result=result, ledger=ledger)
    judged: Bools = np.zeros(cluster.n_nodes, dtype=np.bool_)
    outcome = Preemption(judged=judged, retry=retry)
    args = cast("DefaultPreemptionArgs", framework.profile.args(names.DEFAULT_PREEMPTION))
    potential = np.flatnonzero(result.codes == Code.UNSCHEDULABLE).astype(np.int64)
    if (
        cluster.pods[i].priority <= cluster.lowest_priority
        and nodes_with_whole_groups(cluster, state) is None
    ):
        outcome.failed = dict.fromkeys(potential.tolist(), NO_VICTIMS)
        return outcome
    wanted = max(
        cluster.n_nodes * args.min_candidate_nodes_percentage // 100, args.min_candidate_nodes_absolute
    )
    size = wanted + wanted // 4  # nodes at once: often enough, and not many more than that
    best: tuple[CandidateCost, Candidate | tuple[DryRuns, int]] | None = None
    found, clean = 0, False
    for start in range(0, len(potential), size):
        nodes = potential[start : start + size]
        together = DryRuns(framework, state, i, result, ledger, nodes)
        helps = together.helps.copy()
        broken = together.violations.copy()
        for place in np.flatnonzero(~together.judged).tolist():
            if _enough(helps[:place], broken[:place], found, clean=clean, wanted=wanted) is not None:
                break
            tried = retry(int(nodes[place]))
            if isinstance(tried, Status):
                outcome.failed[int(nodes[place])] = tried
                continue
            helps[place], broken[place] = True, tried.violations
            cost = cost_of(cluster, tried)
            if best is None or cost < best[0]:
                best = cost, tried
        end = _enough(helps, broken, found, clean=clean, wanted=wanted)
        mine = np.flatnonzero(together.helps[:end])
        if mine.size:
            cost, place = together.least(mine)
            if best is None or cost < best[0]:
                best = cost, (together, place)
        if end is not None:
            break
        judged[nodes[together.judged & ~together.helps]] = True
        found += int(helps.sum())
        clean |= bool((broken[helps] == 0).any())
    if best is not None:
        _, chosen = best
        if not isinstance(chosen, Candidate):
            together, place = chosen
            chosen = together.candidate(place)
        if ledger.within_limits(chosen.victims):
            outcome.best = chosen
        else:
            outcome.limited = LIMITED
    return outcome


def _enough(helps: Bools, broken: Ints, found: int, *, clean: bool, wanted: int) -> int | None:
    """Return after how many of some nodes there are enough candidates, one without violations among them.

    Parameters
    ----------
    helps : bool[K]
    broken : int64[K]
        How many budgets each candidate's victims break.
    found : int
        How many candidates there are already; `clean` says whether one of them is without violations.
    """
    done = clean | np.logical_or.accumulate(helps & (broken == 0))
    done &= found + np.cumsum(helps) >= wanted
    return int(done.argmax()) + 1 if done.any() else None


def _ineligible(cluster: "Cluster", state: "State", i: int, result: FilterResult) -> str:
    """Return why pod i may not preempt; empty where it may."""
    info = cluster.pods[i]
    if not info.preempts:
        return NEVER
    node = state.nominated.get(i)
    if node is None or result.codes[node] == Code.UNRESOLVABLE:
        return ""
    pods = cluster.pods
    waiting = any(
        pods[j].priority < info.priority
        and state.terminating[j]
        and (pods[j].preempted or not pods[j].terminating)
        for j in state.pods_on(node)
    )
    return WAITING if waiting else ""


def dry_run(
    framework: "Framework", state: "State", i: int, n: int, result: FilterResult, ledger: Ledger
) -> Candidate | Status:
    """Find the victims on one node; a status where no eviction there helps."""
    whole = nodes_with_whole_groups(framework.cluster, state)
    if whole is not None and whole[n]:
        return _dry_run_of_units(framework, state, i, n, result, ledger)
    pods = framework.cluster.pods
    priority = pods[i].priority
    lower = [j for j in state.pods_on(n) if pods[j].priority < priority]
    if not lower:
        return NO_VICTIMS
    node = NodeFilter(framework.cluster, state, result.cycle, n)
    nominated = state.nominations.beside(i, n)
    for j in lower:
        node.remove(j)
    status = node.run(nominated)
    if not status.ok:
        return status
    lower.sort(key=lambda j: (-pods[j].priority, pods[j].start))
    kept = protected(framework.cluster, state, lower, priority, ledger)
    if kept:
        for j in kept:
            node.add(j)
        if not node.passes(nominated):
            return guarded_by(framework.cluster, kept)
        lower = [j for j in lower if j not in kept]
    breaking = violating(framework.cluster, state, lower, priority, ledger)
    victims: list[int] = []
    violations = 0
    for j in (*(j for j in lower if j in breaking), *(j for j in lower if j not in breaking)):
        node.add(j)
        if not node.passes(nominated):
            node.remove(j)
            victims.append(j)
            violations += j in breaking
    if not victims:
        # With all pods back the node is as it was when Filter rejected it.
        raise InternalError(f"{pods[i].key}: node {framework.cluster.node_names[n]} passes without a victim")
    victims.sort(key=lambda j: (-pods[j].priority, pods[j].start))
    return Candidate(n, tuple(victims), violations)


def _dry_run_of_units(
    framework: "Framework", state: "State", i: int, n: int, result: FilterResult, ledger: Ledger
) -> Candidate | Status:
    """Find the victims on a node with a pod that is evicted with its group, as `dry_run` does."""
    cluster, pods = framework.cluster, framework.cluster.pods
    priority = pods[i].priority
    every = [unit for unit in units_of(cluster, state, state.pods_on(n)) if unit.priority < priority]
    if not every:
        return NO_VICTIMS
    kept = protected(cluster, state, [j for unit in every for j in unit.pods], priority, ledger)
    lower = [unit for unit in every if kept.isdisjoint(unit.pods)]
    node = NodeFilter(cluster, state, result.cycle, n)
    nominated = state.nominations.beside(i, n)
    here = {unit: [j for j in unit.pods if state.node_of[j] == n] for unit in every}
    for j in (j for unit in every for j in here[unit]):
        node.remove(j)
    status = node.run(nominated)
    if not status.ok:
        return status
    for j in (j for unit in every if unit not in lower for j in here[unit]):
        node.add(j)
    if kept and not node.passes(nominated):
        return guarded_by(cluster, kept)
    breaking = violating(cluster, state, [j for unit in lower for j in unit.pods], priority, ledger)
    victims: list[int] = []
    for unit in sorted(lower, key=lambda unit: breaking.isdisjoint(unit.pods)):
        for j in here[unit]:
            node.add(j)
        if not node.passes(nominated):
            for j in here[unit]:
                node.remove(j)
            victims += unit.pods
    victims.sort(key=lambda j: (-pods[j].priority, pods[j].start))
    return Candidate(n, tuple(victims), len(breaking.intersection(victims)))


def _is_guarded(cluster: "Cluster", state: "State", j: int, priority: int) -> bool:
    """Whether a preemptor of this priority may not break pod j's budgets (KEP-4664)."""
    guard = cluster.pods[j].guard
    # A pod that terminates already is not evicted again.
    return guard is not None and priority < guard and not state.terminating[j]


def protected(
    cluster: "Cluster", state: "State", lower: Sequence[int], priority: int, ledger: Ledger
) -> frozenset[int]:
    """Return the pods that must stay: guarded, and beyond what their budgets take; or spared by a limit.

    From the least important up, a guarded pod may go only while each of its budgets has something left after
    all that may go already.
    """
    limit = spared(cluster)
    kept: set[int] = set() if limit is None else {j for j in lower if limit[j] and not state.terminating[j]}
    if not any(_is_guarded(cluster, state, j, priority) for j in lower):
        return frozenset(kept)
    left = list(ledger.allowed)
    for j in reversed(lower):
        if state.terminating[j] or j in kept:
            continue
        charges = ledger.charges(j)
        if _is_guarded(cluster, state, j, priority) and any(left[b] <= 0 for b in charges):
            kept.add(j)
            continue
        for b in charges:
            left[b] -= 1
    return frozenset(kept)


def guarded_by(cluster: "Cluster", kept: Collection[int]) -> Status:
    """Return why no eviction helps where pods that are guarded, or spared by a limit, have to stay."""
    guard = min((guard for j in kept if (guard := cluster.pods[j].guard) is not None), default=None)
    if guard is None:
        return NOT_HELPFUL
    return Status(Code.UNRESOLVABLE, names.DEFAULT_PREEMPTION, (GUARDED.format(guard=guard),))


def violating(
    cluster: "Cluster", state: "State", lower: Sequence[int], priority: int, ledger: Ledger
) -> frozenset[int]:
    """Return the pods whose eviction would break a budget, were all of `lower` evicted, best first.

    Guarded pods pay first: the others may break a budget, they may not.
    """
    left = list(ledger.allowed)
    found: set[int] = set()
    for j in sorted(lower, key=lambda j: not _is_guarded(cluster, state, j, priority)):
        for b in ledger.charges(j):
            left[b] -= 1
            if left[b] < 0:
                found.add(j)
    return frozenset(found)


def statuses_of(result: FilterResult, within: Bools | None = None) -> Iterator[Status]:
    """Return every rejected node's status, of the nodes in `within` where only those were looked at."""
    return (result.status(n) for n in result.rejected(within))
