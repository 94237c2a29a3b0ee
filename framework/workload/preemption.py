"""Preemption for a group in 1.37: the whole cluster is one domain, the group one preemptor.

Without all pods of lower priority, is there a place for the group? Then its members keep the nodes they
found, and as many pods as possible are put back, those whose eviction would break a budget first, each time
the most important first; what cannot stay is a victim. A group that is evicted whole is put back or leaves as
one. Fewest violations are not aimed at, as upstream has it.

Source: KEP-5710; kube-scheduler plugins/defaultpreemption (PodGroupPostFilter).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..cycle.cycle import apply, find_node
from ..cycle.preemption import (
    LIMITED,
    NEVER,
    NO_VICTIMS,
    NOT_HELPFUL,
    guarded_by,
    protected,
    violating,
)
from ..cycle.runtime import framework_for
from ..cycle.whole_groups import units_of
from ..index.affinity import PodTerms
from ..rules.spread import hard_constraints
from ..vocabulary import names
from ..vocabulary.default_plugins import POST_FILTER
from .attempt import attempt
from .placement import Assignment, Placement, PodGroupInfo
from .variants import WorkloadCycleVariant

if TYPE_CHECKING:
    from ..cycle.budget_ledger import Ledger
    from ..state.state import State

CONSTRAINED: Final = "workload aware preemption is not supported for pod groups with scheduling constraints"
NO_PLUGIN: Final = "default preemption plugin is not registered, workload aware preemption is disabled"


@dataclass(frozen=True, slots=True, eq=False)
class GroupPreemption:
    """The room that is made for a group.

    Attributes
    ----------
    assignment : mapping
        Member to the node where it is nominated.
    victims : tuple of int
        The most important first.
    violations : frozenset of int
        The victims that break a budget, by upstream's count.
    serves : mapping
        Member to the victims that leave for it: those on its node, of which the first member there answers
        for all; victims on other nodes are with the first member.
    """

    assignment: Mapping[int, int]
    victims: tuple[int, ...]
    violations: frozenset[int]
    serves: Mapping[int, tuple[int, ...]]


def preempt_for_group(
    variant: WorkloadCycleVariant, state: "State", info: PodGroupInfo, ledger: "Ledger"
) -> GroupPreemption | str:
    """Look for victims; the reason in upstream's words where there is no way."""
    if info.group.topology_keys and has_plugin(variant, info):
        return CONSTRAINED
    everywhere = Placement("", np.ones(variant.cluster.n_nodes, dtype=np.bool_))

    def place(emptied: "State") -> Assignment:
        found = attempt(variant, emptied, info, everywhere, ledger)
        return {} if found.refusal else found.assignment

    return make_room(variant, state, info, ledger, place)


def has_plugin(variant: WorkloadCycleVariant, info: PodGroupInfo) -> bool:
    """Whether the profile of a group's pods preempts at all."""
    return names.DEFAULT_PREEMPTION in variant.cluster.profile(info.pods[0]).points[POST_FILTER]


def _never_apart(j: int, assignment: Assignment) -> bool:
    return False


def make_room(
    variant: WorkloadCycleVariant,
    state: "State",
    info: PodGroupInfo,
    ledger: "Ledger",
    place: Callable[["State"], Assignment],
    apart: Callable[[int, Assignment], bool] = _never_apart,
) -> GroupPreemption | str:
    """Look for victims; the reason in upstream's words where there is no way.

    Parameters
    ----------
    variant, state, info, ledger
        As for `preempt_for_group`.
    place : callable
        From a state without the possible victims, the members that find a node there, with their nodes.
    apart : callable
        Whether a running pod would keep a group that gains these members out of one domain, if it stayed.
    """
    cluster, pods = variant.cluster, variant.cluster.pods
    if not has_plugin(variant, info):
        return NO_PLUGIN
    if not all(pods[i].preempts for i in info.pods):
        return f"pod group preemption: {NEVER}"
    priority = min(pods[i].priority for i in info.pods)
    running = np.flatnonzero(state.node_of >= 0).tolist()
    every = [unit for unit in units_of(cluster, state, running) if unit.priority < priority]
    if not every:
        return f"pod group preemption: {NO_VICTIMS.message}"
    kept = protected(cluster, state, [j for unit in every for j in unit.pods], priority, ledger)
    lower = [unit for unit in every if kept.isdisjoint(unit.pods)]
    trial = state.copy()
    leaving = [j for unit in lower for j in unit.pods]
    for j in leaving:
        trial.remove(j, devices=False)
    assignment = place(trial)
    if not assignment:
        for j in (j for unit in every if unit not in lower for j in unit.pods):
            trial.remove(j, devices=False)
        helpful = bool(kept) and bool(place(trial))
        why = guarded_by(cluster, kept) if helpful else NOT_HELPFUL
        return f"pod group preemption: {why.message}"
    breaking = violating(cluster, state, leaving, priority, ledger)
    reprieve = _Reprieve(variant, state, trial, assignment, ledger)
    gone: set[int] = set()
    for unit in sorted(lower, key=lambda unit: breaking.isdisjoint(unit.pods)):
        if any(apart(j, assignment) for j in unit.pods) or not reprieve.stay(unit.pods):
            gone.update(unit.pods)
    victims = tuple(j for j in leaving if j in gone)
    if not ledger.within_limits(victims):
        return f"pod group preemption: {LIMITED}"
    serves = _serves(state, assignment, victims)
    return GroupPreemption(assignment, victims, breaking & gone, serves)


class _Reprieve:
    """Puts pods and whole groups back one by one, as long as every member still passes on its node."""

    def __init__(
        self,
        variant: WorkloadCycleVariant,
        state: "State",
        trial: "State",
        assignment: Mapping[int, int],
        ledger: "Ledger",
    ) -> None:
        self._cluster = variant.cluster
        self._ledger = ledger
        self._state = state
        self._trial = trial
        self._members = assignment
        self._local = all(self._is_local(i) for i in assignment)

    def _is_local(self, i: int) -> bool:
        """Whether the filters look at nothing but the pods of one node when pod i comes to it."""
        spec = self._cluster.pods[i].pod.spec
        return not (hard_constraints(self._cluster, i) or spec.volumes or spec.resource_claims) and (
            self._cluster.pods[i].terms == PodTerms()
        )

    def stay(self, pods: Sequence[int]) -> bool:
        """Put pods back that stay or leave together, if that leaves room for all members."""
        nodes = {int(self._state.node_of[j]) for j in pods}
        near = self._local and all(self._cluster.pods[j].terms == PodTerms() for j in pods)
        concerned = [i for i, n in self._members.items() if n in nodes or not near]
        for j in pods:
            self._trial.place(j, int(self._state.node_of[j]))
            if self._state.terminating[j]:
                self._trial.mark(j)
        if self._all_pass(concerned):
            return True
        for j in pods:
            self._trial.remove(j, devices=False)
        return False

    def _all_pass(self, members: list[int]) -> bool:
        """Whether members pass on their nodes, each with the earlier ones there, not the later ones."""
        trial = self._trial
        there: list[int] = []
        for i in members:
            only = np.zeros(self._cluster.n_nodes, dtype=np.bool_)
            only[self._members[i]] = True
            cycle = find_node(framework_for(self._cluster, i), trial, i, only)
            if cycle.outcome != "bound":
                break
            apply(trial, cycle, self._ledger)
            there.append(i)
        for i in reversed(there):
            trial.take_back(i)
        return len(there) == len(members)


def _serves(
    state: "State", assignment: Mapping[int, int], victims: tuple[int, ...]
) -> dict[int, tuple[int, ...]]:
    first = next(iter(assignment))
    at: dict[int, int] = {}
    for i, n in assignment.items():
        at.setdefault(n, i)
    found: dict[int, tuple[int, ...]] = {i: () for i in assignment}
    for j in victims:
        i = at.get(int(state.node_of[j]), first)
        found[i] = (*found[i], j)
    return found
