"""The greedy baseline, run until nothing changes.

A pass is that of `trace`.  After a pass its victims leave and budgets drop by them; then nominated pods, in
queue order, bind where their nominated node still takes them, else they lose the nomination; then the next
pass.  A group's nominated pods bind all together, if enough of them can, or in the group's next cycle,
where its text wants one.  A pod that may not preempt since another one terminates on its nominated node
keeps the nomination and waits (default_preemption.go, PodEligibleToPreemptOthers).  It ends: a pod binds or
leaves once, each nomination of a pod removes one, and a pass that ends as an earlier one did, with no pod
bound or gone since, is the last.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ...models.progress import Watch, unwatched
from ..cycle.budget_ledger import Ledger
from ..cycle.cycle import Cycle, apply, schedule_one
from ..cycle.kinds import kind_of
from ..cycle.preemption import WAITING
from ..cycle.runtime import framework_for
from ..dra.index import claim_keys
from ..measures.composite_rules import gaining_stand
from ..rules.groups import Group
from ..state.moves import Bind, Deallocate, Leave, Mark, Move
from ..state.state import State
from ..workload.cycle import schedule_group
from ..workload.units import opening, units

if TYPE_CHECKING:
    from ..index.cluster import Cluster


@dataclass(slots=True)
class GreedyOutcome:
    """What kube-scheduler's algorithm made of a round.

    Attributes
    ----------
    steps : list of Move
        In order.
    node_of_new : dict
        Pod to node, for pods that were bound and not evicted afterwards.
    victims : list of (int, int, int)
        Who left, in order: pod, its node, and the pod for which it left (which may have ended elsewhere).
    nominations : dict
        Pod to (node, victims), for pods that were nominated and have bound there.
    state : State
        The end.  Who is nominated in it waits for a terminating pod to leave the node.
    passes : int
        How many passes it took, the last one that changed nothing among them.
    """

    state: State
    steps: list[Move] = field(default_factory=list)
    node_of_new: dict[int, int] = field(default_factory=dict)
    victims: list[tuple[int, int, int]] = field(default_factory=list)
    nominations: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    passes: int = 0


def run_to_quiescence(cluster: "Cluster", watch: Watch = unwatched) -> GreedyOutcome:
    """Run passes over the pending pods until one changes nothing; `watch` hears of the pods tried."""
    run = _Run(cluster, watch)
    while run.one_pass():
        pass
    return run.outcome


class _Run:
    def __init__(self, cluster: "Cluster", watch: Watch) -> None:
        self._cluster = cluster
        self._watch = watch
        self._ledger = Ledger(cluster)
        self._state = opening(cluster)
        self._waiting = list(cluster.pending)
        # A nomination of the input has no victims of its own.
        self._expected: dict[int, tuple[int, ...]] = {}
        self._hopeless: set[tuple[Hashable, int, int]] = set()
        # Who is told, in the pass that is run, to wait for a terminating pod on the nominated node.
        self._told_to_wait: set[int] = set()
        # The nominations that passes have ended with since a pod was last bound or left.
        self._seen: set[frozenset[tuple[int, int]]] = set()
        self.outcome = GreedyOutcome(self._state)

    def one_pass(self) -> bool:
        """Try every waiting pod once, let victims leave and nominated pods bind; say whether it mattered."""
        self.outcome.passes += 1
        before = len(self.outcome.steps)
        leaving: dict[int, int] = {}
        self._told_to_wait.clear()
        tried, phase = 0, f"greedy, pass {self.outcome.passes}: pods"
        for unit in units(self._cluster, self._waiting, first=self.outcome.passes == 1):
            self._watch(phase, tried, len(self._waiting))
            if isinstance(unit, Group):
                self._try_group(unit, leaving)
                tried += len(unit.pending)
            else:
                self._try(unit, leaving)
                tried += 1
        self._leave(leaving)
        lost = self._settle_nominations()
        done = {*self.outcome.node_of_new, *(victim for victim, _, _ in self.outcome.victims)}
        self._waiting = [i for i in self._waiting if i not in done]
        if len(self.outcome.steps) > before:
            self._seen.clear()
            return True
        # A group that is nominated without victims, and not bound, loses its nominations in every pass anew.
        ended = frozenset(self._state.nominated.items())
        again = ended in self._seen
        self._seen.add(ended)
        return lost and not again

    def _try(self, i: int, leaving: dict[int, int]) -> None:
        """Run a pod's cycle; nothing happens where a pod like it has just failed and nothing has changed."""
        state = self._state
        key = (kind_of(self._cluster, state, i), state.version, state.nominations_version)
        if i not in state.nominated and key in self._hopeless:
            return
        cycle = schedule_one(framework_for(self._cluster, i), state, i, self._ledger)
        if cycle.outcome == "unschedulable" and i not in state.nominated:
            self._hopeless.add(key)
        if cycle.outcome == "nominated":
            self._expected[i] = cycle.victims
        elif cycle.preemption is not None and cycle.preemption.ineligible == WAITING:
            self._told_to_wait.add(i)
        self._depart([(j, i) for j in cycle.victims], leaving)
        apply(state, cycle, self._ledger)
        self._note(cycle)

    def _try_group(self, group: Group, leaving: dict[int, int]) -> None:
        """Run a group's cycle; nothing happens where it has just failed and nothing has changed since."""
        state = self._state
        key = (~group.index, state.version, state.nominations_version)  # below the numbers of classes
        if key in self._hopeless:
            return
        gone = {victim for victim, _, _ in self.outcome.victims}
        cycle = schedule_group(self._cluster, state, group, self._ledger, gone)
        if cycle is None:
            return
        departures = list(cycle.departures())
        if not (cycle.placed or departures):
            self._hopeless.add(key)
        outcomes = cycle.outcomes()
        for own in outcomes:
            if own.outcome == "nominated":
                self._expected[own.pod] = tuple(j for j, i in departures if i == own.pod)
            elif own.outcome == "bound" and state.nominated.get(own.pod) == own.node:
                self.outcome.nominations[own.pod] = (own.node, self._expected.get(own.pod, ()))
        self._depart(departures, leaving)
        cycle.happen(state, self._ledger)
        freed: set[str] = set()  # members that fail alike free the same claim, once
        for own in outcomes:
            self._note(replace(own, deallocated="") if own.deallocated in freed else own)
            freed.add(own.deallocated)

    def _depart(self, departures: Sequence[tuple[int, int]], leaving: dict[int, int]) -> None:
        """Note who is evicted and for whom; who terminates already is not marked again."""
        self._ledger.count(j for j, _ in departures)
        for j, i in departures:
            if not self._state.terminating[j] and j not in leaving:
                self.outcome.steps.append(Mark(j))
            leaving.setdefault(j, i)

    def _note(self, cycle: Cycle) -> None:
        """Write down what a cycle has changed."""
        if cycle.deallocated:
            self.outcome.steps.append(Deallocate(claim_keys(self._cluster).index(cycle.deallocated)))
        if cycle.outcome == "bound":
            self._bound(cycle.pod, cycle.node)

    def _bound(self, i: int, node: int) -> None:
        self.outcome.steps.append(Bind(i, node))
        self.outcome.node_of_new[i] = node

    def _leave(self, leaving: dict[int, int]) -> None:
        """Let a pass's victims leave; they use their budgets, unless they were terminating in the input."""
        pods = self._cluster.pods
        self._ledger.pay(j for j in leaving if not pods[j].terminating)
        for j, preemptor in leaving.items():
            self.outcome.victims.append((j, int(self._state.node_of[j]), preemptor))
            self.outcome.steps.append(Leave(j))
            self.outcome.node_of_new.pop(j, None)
            self.outcome.nominations.pop(j, None)
            self._state.remove(j)

    def _settle_nominations(self) -> bool:
        """Bind nominated pods where their node still takes them; say whether any lost its nomination."""
        lost = False
        nominated = {i for i in self._waiting if i in self._state.nominated}
        for unit in units(self._cluster, [i for i in self._waiting if i in nominated], first=False):
            if isinstance(unit, Group) and unit.cycle.binds_in_cycle:
                continue
            together = [i for i in unit.pending if i in nominated] if isinstance(unit, Group) else [unit]
            lost |= self._settle(together, unit if isinstance(unit, Group) else None)
        return lost

    def _enough(self, bound: Sequence[int], group: Group | None) -> bool:
        """Whether what was bound by nominations stands: a pod by itself, a group, every group of a tree."""
        if group is None:
            return bool(bound)
        where = {i: int(self._state.node_of[i]) for i in group.members if self._state.node_of[i] >= 0}
        return gaining_stand(group, where, bound)

    def _worth_waiting(self, i: int, node: int) -> bool:
        """Whether a nominated pod passes once the pods that terminate on its node are gone.

        Where it does not, kube-scheduler clears the nomination as soon as they are: what came meanwhile has
        taken the room, and the nomination must not keep the rest of the node empty.
        """
        later = self._state.copy()
        for j in np.flatnonzero((later.node_of == node) & later.terminating).tolist():
            later.remove(j)
        return framework_for(self._cluster, i).filter_nominated(later, i, node).ok

    def _settle(self, pods: Sequence[int], group: Group | None) -> bool:
        """Bind the nominated pods of a unit that pass, if enough do; say whether any lost its nomination."""
        state, waiting = self._state, 0
        bound: list[tuple[int, int]] = []
        nodes = {i: state.nominated[i] for i in pods}
        if group is not None:  # in flight together: none holds a node against another
            for i in pods:
                state.withdraw(i)
        for i, node in nodes.items():
            framework = framework_for(self._cluster, i)
            passes = framework.filter_nominated(state, i, node).ok and not framework.binding_error(state, i)
            if not passes and i in self._told_to_wait and self._worth_waiting(i, node):
                waiting += 1
                continue
            if group is None:
                state.withdraw(i)
            if passes:
                state.place(i, node, framework.reserve(state, i, node))
                bound.append((i, node))
        if not self._enough([i for i, _ in bound], group):
            for i, _ in reversed(bound):
                state.take_back(i)
            return waiting < len(pods)
        for i, node in bound:
            self._bound(i, node)
            self.outcome.nominations[i] = (node, self._expected.get(i, ()))
        return len(bound) + waiting < len(pods)
