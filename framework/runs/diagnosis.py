"""Why a pod was left out: kube-scheduler's own words about a given state."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..cycle.budget_ledger import Ledger
from ..cycle.cycle import schedule_one
from ..cycle.kinds import kind_of
from ..cycle.preemption import statuses_of
from ..cycle.runtime import framework_for
from ..plugins.scheduling_gates import gates_message
from ..rules.groups import Group
from ..vocabulary import names
from ..vocabulary.message import NO_NODES, fit_error
from ..workload.reasons import Reason, reasons_of_group
from ..workload.units import group_in_cycle

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ..cycle.filter_result import FilterResult
    from ..cycle.runtime import Framework
    from ..index.cluster import Cluster
    from ..state.state import State


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why a pod is not placed.

    Attributes
    ----------
    message : str
        The text of its condition.
    blocked_by : tuple of str
        The plugins that rejected it, in the order in which the profile calls them.
    """

    message: str
    blocked_by: tuple[str, ...] = ()


def diagnose(cluster: "Cluster", state: "State", i: int) -> Diagnosis:
    """Say why pod i is not placed in `state`.

    Parameters
    ----------
    cluster : Cluster
    state : State
        As it is in the end, with the nominations that count.  Pods of the input that are gone from it have
        used their budgets.
    i : int
        A pending, gated or untried pod that is on no node.
    """
    info = cluster.pods[i]
    if info.pod.spec.scheduling_gates:
        return Diagnosis(gates_message(info.pod), (names.SCHEDULING_GATES,))
    if info.scheduler not in cluster.profiles:
        return Diagnosis(
            f"no profile of the configuration is called {info.scheduler!r}, the pod's schedulerName"
        )
    group = group_in_cycle(cluster, i)
    if group is not None:
        found = _reasons(cluster, state, group).get(i)
        if found is not None:
            return Diagnosis(*found)
    if not cluster.n_nodes:
        return Diagnosis(NO_NODES)
    # Pods alike hear the same about one state, as far as they are nominated to the same node.
    known: dict[Hashable, tuple[_Moment, Diagnosis]] = cluster.memo("diagnoses", dict)
    nominated = state.nominated.get(i)
    for kind in (kind_of(cluster, state, i), info.cls):
        moment, diagnosis = known.get((kind, nominated), (None, None))
        if diagnosis is not None and moment == _moment(state):
            return diagnosis
    kind, diagnosis = _judge(cluster, state, i)
    known[kind, nominated] = _moment(state), diagnosis
    return diagnosis


_Moment = tuple[int, int]


def _moment(state: "State") -> _Moment:
    return state.version, state.nominations_version


def _reasons(cluster: "Cluster", state: "State", group: Group) -> dict[int, Reason]:
    """Return why a group's members are not placed, judged once for each state."""
    known: dict[int, tuple[_Moment, dict[int, Reason]]] = cluster.memo("reasons of groups", dict)
    moment, found = known.get(group.index, (None, {}))
    if moment != _moment(state):
        found = reasons_of_group(cluster, state, group, _spent(cluster, state))
        known[group.index] = _moment(state), found
    return found


def _spent(cluster: "Cluster", state: "State") -> Ledger:
    """Return the budgets after those that are gone have used them."""
    ledger = Ledger(cluster)
    gone = [j for j in cluster.bound if state.node_of[j] < 0 and not cluster.pods[j].terminating]
    ledger.pay(gone)
    ledger.count(gone)
    return ledger


def _judge(cluster: "Cluster", state: "State", i: int) -> "tuple[Hashable, Diagnosis]":
    """Diagnose pod i; return also what all have in common who hear the same."""
    framework = framework_for(cluster, i)
    result = framework.filter_all(state, i, nominated=True)
    # errors and PreFilter's refusals name the pod's claims
    named = result.pre_filter is not None or bool(result.error())
    kind = cluster.pods[i].cls if named else kind_of(cluster, state, i)
    return kind, _words(framework, state, i, result)


def _words(framework: "Framework", state: "State", i: int, result: "FilterResult") -> Diagnosis:
    cluster = framework.cluster
    refusal = result.pre_filter
    rejectors = {refusal.plugin} if refusal is not None else set(result.plugins)
    blocked_by = tuple(name for name in framework.profile.rejectors if name in rejectors)
    failed = None if result.error() else framework.binding_error(state, i)
    if len(result.feasible) and failed is not None:
        return Diagnosis(failed.message, (*blocked_by, failed.plugin))
    if len(result.feasible) and not result.error():
        # Some node would take the pod now: the round ended before it was its turn there.
        text = fit_error(cluster.n_nodes, statuses_of(result))
        return Diagnosis(f"{len(result.feasible)}{text[1:]}", blocked_by)
    cycle = schedule_one(framework, state, i, _spent(cluster, state))
    return Diagnosis(cycle.message(cluster.n_nodes), blocked_by)
