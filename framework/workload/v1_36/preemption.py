"""Workload-aware preemption: a group makes room for itself, the whole cluster being one domain.

Without all units of lower priority, does the group algorithm find a place?  Then units are put back, those
that break a budget first, each time the most important first, and the algorithm runs anew each time; who
cannot stay is a victim.  What the trial assigned is forgotten: only who leaves is kept.

Source: kube-scheduler 1.36.2 framework/preemption/podgrouppreemption.go, schedule_one_podgroup.go; KEP-5710.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ...cycle.preemption import LIMITED, NEVER, guarded_by, protected
from ...cycle.whole_groups import Unit
from ...vocabulary import names
from ...vocabulary.default_plugins import POST_FILTER
from ...vocabulary.status import Code
from ..placement import Placement, PodGroupInfo
from .alike import Alike
from .attempt import attempt, is_steady, take_off, takes_group
from .eviction_units import breaking, units_of
from .texts import NO_VICTIMS, NOT_REGISTERED, NOT_WITH_CONSTRAINTS, unavailable

if TYPE_CHECKING:
    from ...cycle.budget_ledger import Ledger
    from ...state.state import State
    from .variant import V1_36

_NONE: Final = ()


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """What came of looking for victims.

    Attributes
    ----------
    code : Code
        Success where room is made.
    message : str
        Why there is no room; empty where there is.
    tries : int
        How often the group algorithm ran.
    victims : tuple of int
        The most important first; a whole group's pods in the order in which they are found.
    """

    code: Code
    message: str
    tries: int = 0
    victims: tuple[int, ...] = _NONE


def make_room(variant: "V1_36", state: "State", info: PodGroupInfo, ledger: "Ledger") -> Room:
    """Look for who has to leave so that the group finds a place; changes nothing."""
    cluster, pods = variant.cluster, variant.cluster.pods
    if names.DEFAULT_PREEMPTION not in cluster.profile(info.pods[0]).points[POST_FILTER]:
        return Room(Code.UNSCHEDULABLE, NOT_REGISTERED)
    if info.group.topology_keys:
        return Room(Code.UNSCHEDULABLE, NOT_WITH_CONSTRAINTS)
    if any(pods[i].pod.spec.preemption_policy == "Never" for i in info.pods):
        return Room(Code.UNSCHEDULABLE, NEVER)
    priority = info.group.priority or 0
    every = sorted((u for u in units_of(cluster, state) if u.priority < priority), key=lambda unit: unit.rank)
    if not every:
        return Room(Code.UNRESOLVABLE, NO_VICTIMS)
    kept = protected(cluster, state, [j for unit in every for j in unit.pods], priority, ledger)
    lower = [unit for unit in every if kept.isdisjoint(unit.pods)]
    trial = take_off(state, info)
    everywhere = Placement("", np.ones(cluster.n_nodes, dtype=np.bool_))
    for unit in lower:
        for j in unit.pods:
            trial.remove(j, devices=False)
    first = attempt(variant, trial, info, everywhere, ledger, post=False)
    if not first.feasible:
        if first.error:
            return Room(Code.ERROR, first.error, 1)
        for j in (j for unit in every if unit not in lower for j in unit.pods):
            trial.remove(j, devices=False)
        if kept and attempt(variant, trial, info, everywhere, ledger, post=False).feasible:
            return Room(Code.UNSCHEDULABLE, guarded_by(cluster, kept).message, 2)
        return Room(Code.UNSCHEDULABLE, unavailable(variant, 1), 1)
    broken = breaking(lower, ledger)
    steady, alike = is_steady(variant, trial, info), Alike.of(variant, trial, info)
    gone: set[int] = set()
    for place in sorted(range(len(lower)), key=lambda place: (place not in broken, place)):
        _put_back(state, trial, lower[place])
        fits = None if alike is None else alike.fit(trial)
        if fits is None:
            fits = takes_group(variant, trial, info, everywhere, ledger, steady=steady)
        if not fits:
            for j in lower[place].pods:
                trial.remove(j, devices=False)
            gone.add(place)
    victims = tuple(j for place in sorted(gone) for j in lower[place].pods)
    if not ledger.within_limits(victims):
        return Room(Code.UNSCHEDULABLE, LIMITED, 1 + len(lower))
    return Room(Code.SUCCESS, "", 1 + len(lower), victims)


def _put_back(state: "State", trial: "State", unit: Unit) -> None:
    for j in unit.pods:
        trial.place(j, int(state.node_of[j]))
        if state.terminating[j]:
            trial.mark(j)
