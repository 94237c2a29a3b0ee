"""Why a pod goes where it goes, or nowhere: what every node lacks, and what evictions there could do.

kube-scheduler tells the first filter that rejects a node and no more.  Here every filter is asked about every
node, so that a node which is one small thing away stands before one that fails in three ways.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...models.errors import KubestowError
from ...models.progress import Watch, unwatched
from ...models.snapshot import Snapshot
from ..build import build_cluster
from ..cycle.budget_ledger import Ledger
from ..cycle.cycle import Cycle, apply, complete, schedule_one
from ..cycle.filter_result import STATUS_OUTSIDE, FilterResult
from ..cycle.preemption import NOT_HELPFUL, dry_run
from ..cycle.runtime import Framework, framework_for
from ..index.cluster import Cluster
from ..index.missing import Missing
from ..plugins.scheduling_gates import gates_message
from ..rules.groups import Group, group_of
from ..rules.supported import require_supported
from ..state.state import State
from ..vocabulary.status import Code, Status
from ..workload.cycle import schedule_group
from ..workload.outcome import Member
from ..workload.units import opening, units
from .causes import causes, terminating_in_the_way

if TYPE_CHECKING:
    from ...models.pod import Pod
    from ..cycle.candidate_cost import Candidate

_NEAR: Final = 3
_ALIKE: Final = 0.75
"""How many names are offered where a pod is not found, and how much alike they must be."""


@dataclass(frozen=True, slots=True, eq=False)
class Rejection:
    """One filter's rejection of one node.

    Attributes
    ----------
    status : Status
    missing : tuple of Missing
    """

    status: Status
    missing: tuple[Missing, ...]

    def document(self) -> dict[str, Any]:
        """Return it as a JSON value."""
        return {
            "plugin": self.status.plugin,
            "code": self.status.code.text,
            "reasons": sorted(self.status.reasons),
            "missing": [item.document() for item in self.missing],
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Moment:
    """A pod's turn: the state in which it is tried, its cycle, the budgets, and what it is told."""

    state: State
    cycle: Cycle
    ledger: Ledger
    message: str
    group: str = ""
    placement: str = ""


def explain(
    snapshot: Snapshot, name: str, *, alone: bool = False, watch: Watch = unwatched
) -> dict[str, Any]:
    """Explain one pod.

    Parameters
    ----------
    snapshot : Snapshot
    name : str
        `namespace/name`, or the name alone where it is the only one.
    alone : bool
        Whether the pod is tried before all others, in the state of the input, instead of at its turn in the
        queue, after the pods before it were placed.
    watch : Watch
        Hears of the pods indexed.

    Returns
    -------
    dict
        A JSON value: `pod`, `priority`, `place` in the `queue`, `result`, `node`, `message`, and `nodes`, the
        ones that take it first, the best of them first, then the others, the nearest miss first.

    Raises
    ------
    KubestowError
        Where there is no such pod, or it is not waiting to be scheduled.
    """
    cluster = build_cluster(snapshot, watch)
    require_supported(cluster)
    i = find_pod(cluster, name)
    info = cluster.pods[i]
    document: dict[str, Any] = {"instance": snapshot.name, "pod": info.key, "priority": info.priority}
    if (limits := snapshot.limits.words()) is not None:
        document["limits"] = limits.model_dump(by_alias=True)
    queue = [k for k in cluster.pending if (group := group_of(cluster, k)) is None or group.enqueued]
    if i not in queue:
        return {
            **document,
            "place": None,
            "queue": len(queue),
            **_untried(cluster, i),
            "causes": [],
            "nodes": [],
        }
    document["place"] = None if alone else queue.index(i) + 1
    document["queue"] = len(queue)
    moment = _turn(cluster, i, alone=alone)
    rows = _nodes(cluster, moment)
    hidden = list(causes(rows)) if moment.cycle.outcome != "bound" else []
    return {**document, **_outcome(cluster, moment), "causes": hidden, "nodes": rows}


def find_pod(cluster: Cluster, name: str) -> int:
    """Return the pod that a user means.

    Raises
    ------
    KubestowError
        Where it is none of the cluster's, more than one, or one that is not to be placed.
    """
    found = [pod for pod in cluster.snapshot.pods if name in (pod.key, pod.name)]
    instance = cluster.snapshot.name
    if not found:
        waiting = [cluster.pods[i] for i in (*cluster.pending, *cluster.gated, *cluster.untried)]
        spelt = {info.key if "/" in name else info.pod.name for info in waiting}
        near = sorted(get_close_matches(name, sorted(spelt), n=_NEAR, cutoff=_ALIKE))
        hint = f"; did you mean {', '.join(near[:-1])}{' or ' if near[1:] else ''}{near[-1]}?" if near else ""
        raise KubestowError(f"{instance}: there is no pod '{name}'{hint}")
    if len(found) > 1:
        candidates = ", ".join(pod.key for pod in found)
        raise KubestowError(f"{instance}: '{name}' is the name of {len(found)} pods: {candidates}")
    return _placeable(cluster, found[0])


def _placeable(cluster: Cluster, pod: "Pod") -> int:
    """Return the number of a pod that is still to be placed."""
    i = cluster.pod_index.get(pod.key, -1)
    problem = ""
    if pod.is_terminal:
        problem = f"has finished ({pod.status.phase})"
    elif pod.spec.node_name:
        gone = "" if pod.spec.node_name in cluster.node_index else ", which is not in the input"
        problem = f"is on node {pod.spec.node_name} already{gone}"
    elif cluster.pods[i].terminating:
        problem = "is being deleted"
    if problem:
        raise KubestowError(
            f"{cluster.snapshot.name}: Pod {pod.key} {problem}; only waiting pods are explained"
        )
    return i


def _untried(cluster: Cluster, i: int) -> dict[str, Any]:
    info = cluster.pods[i]
    if i in cluster.gated:
        return {"result": "gated", "node": None, "message": gates_message(info.pod)}
    group = group_of(cluster, i)
    if group is not None and not group.enqueued:
        return {"result": "untried", "node": None, "message": group.waits}
    message = f"no profile of the configuration is called {info.scheduler!r}, the pod's schedulerName"
    return {"result": "untried", "node": None, "message": message}


# -- the pod's turn --


def _turn(cluster: Cluster, i: int, *, alone: bool) -> _Moment:
    """Schedule what is before pod i in the queue, then try pod i."""
    state, ledger = opening(cluster), Ledger(cluster)
    for unit in () if alone else units(cluster, cluster.pending):
        if isinstance(unit, Group):
            group = schedule_group(cluster, state, unit, ledger)
            if group is None:
                continue
            for member in group.members(state, ledger) if i in unit.pending else ():
                if member.cycle.pod == i:
                    return _of_member(state, member, ledger)
            group.happen(state, ledger)
        elif unit == i:
            break
        else:
            apply(state, schedule_one(framework_for(cluster, unit), state, unit, ledger), ledger)
    framework = framework_for(cluster, i)
    cycle = schedule_one(framework, state, i, ledger)
    complete(framework, state, cycle)
    return _Moment(state, cycle, ledger, cycle.message(cluster.n_nodes))


def _of_member(state: State, member: Member, ledger: Ledger) -> _Moment:
    """Look at a pod of a group beside the members that were placed before it."""
    cycle = member.cycle
    if cycle.result is not None:
        state = cycle.result.state
    return _Moment(state, cycle, ledger, member.message, member.group, member.placement)


def _outcome(cluster: Cluster, moment: _Moment) -> dict[str, Any]:
    cycle = moment.cycle
    return {
        "result": cycle.outcome,
        "node": cluster.node_names[cycle.node] if cycle.node >= 0 else None,
        "message": moment.message,
        **({"podGroup": moment.group} if moment.group else {}),
        **({"placement": moment.placement} if moment.placement else {}),
    }


# -- the nodes --


def _nodes(cluster: Cluster, moment: _Moment) -> list[dict[str, Any]]:
    """Write a row for each node: those that fit by their totals, the others the nearest first."""
    cycle, state = moment.cycle, moment.state
    if not cluster.n_nodes:
        return []
    framework = framework_for(cluster, cycle.pod)
    result = cycle.result or framework.filter_all(state, cycle.pod, nominated=True)
    if result.error(cycle.within):
        return []
    nominations = state.nominations.all_beside(cycle.pod)
    rows: list[tuple[tuple[float, ...], dict[str, Any]]] = []
    for n, rejections in _rejections(framework, state, cycle, result, nominations):
        document: dict[str, Any] = {"node": cluster.node_names[n], "fits": not rejections}
        rank = float(cluster.name_ranks[n])
        if rejections:
            document |= rejections[0].document()
            document["also"] = [rejection.document() for rejection in rejections[1:]]
            document["nominated"] = [cluster.pods[j].key for j in nominations.get(n, ())]
            document["preemption"] = _preemption(cluster, moment, result, n)
            leaving = terminating_in_the_way(
                cluster, state, result, n, state.nominations.beside(cycle.pod, n)
            )
            document["terminating"] = [cluster.pods[j].key for j in leaving]
            rows.append(((1.0, *_distance(rejections), rank), document))
        else:
            document |= _scores(cycle, n)
            document["chosen"] = n == cycle.node
            rows.append(((0.0, -float(document["total"] or 0), rank), document))
    return [document for _, document in sorted(rows, key=lambda row: row[0])]


def _distance(rejections: Sequence[Rejection]) -> tuple[float, float, float]:
    """Measure how far a node is from taking the pod: filters that fail, whether for good, the widest gap."""
    final = any(rejection.status.code is Code.UNRESOLVABLE for rejection in rejections)
    gaps = [item.gap for rejection in rejections for item in rejection.missing]
    return float(len(rejections)), float(final), max(gaps, default=1.0)


def _scores(cycle: Cycle, n: int) -> dict[str, Any]:
    """Return what a node that fits scored; nulls where it was the only one."""
    place = np.flatnonzero(cycle.feasible == n)
    if not cycle.scores or not place.size:
        return {"scores": None, "total": None}
    scores = {plugin: int(values[place[0]]) for plugin, values in cycle.scores.items()}
    return {"scores": scores, "total": sum(scores.values())}


def _rejections(
    framework: Framework,
    state: State,
    cycle: Cycle,
    result: FilterResult,
    nominations: Mapping[int, Sequence[int]],
) -> Iterator[tuple[int, list[Rejection]]]:
    """Ask every filter about every node, upstream's own answer first.

    A filter that is asked in turn only speaks about nodes that pass the others.
    """
    i = cycle.pod
    refusal = result.pre_filter
    for n in range(framework.cluster.n_nodes):
        if cycle.within is not None and not cycle.within[n]:
            continue
        if refusal is not None:
            yield n, [Rejection(refusal, ())]
        elif result.cycle.outside is not None and result.cycle.outside[n]:
            yield n, [Rejection(STATUS_OUTSIDE, ())]
        else:
            found = _asked(result, state, i, n, nominations.get(n, ()))
            if not found and n in nominations:
                found = _asked(result, state, i, n, ())  # nothing may rest on a pod that may never come
            yield n, found


def _asked(result: FilterResult, state: State, i: int, n: int, beside: Sequence[int]) -> list[Rejection]:
    """Ask the filters about one node, with some nominated pods on it."""
    found: list[Rejection] = []
    for plugin, data in result.cycle.entries:
        if plugin.in_turn and found:
            continue
        fork = plugin.fork(data, state, i, n)
        for j in beside:
            plugin.add(fork, j)
        verdict = plugin.check(fork)
        if verdict:
            found.append(Rejection(plugin.status(fork, verdict), plugin.missing(fork, verdict, state, i)))
    return found


def _preemption(cluster: Cluster, moment: _Moment, result: FilterResult, n: int) -> dict[str, Any] | None:
    """Say what evictions would do on a node; None where the pod may not or need not evict."""
    cycle, made = moment.cycle, moment.cycle.preemption
    if made is None or made.ineligible or cycle.result is None:
        return None
    tried: Candidate | Status = NOT_HELPFUL
    if result.codes[n] == Code.UNSCHEDULABLE:
        framework = framework_for(cluster, cycle.pod)
        tried = dry_run(framework, moment.state, cycle.pod, n, result, moment.ledger)
    if isinstance(tried, Status):
        return {"helps": False, "reasons": list(tried.reasons)}
    return {
        "helps": True,
        "victims": [
            {"pod": cluster.pods[j].key, "priority": cluster.pods[j].priority} for j in tried.victims
        ],
        "violations": tried.violations,
        "chosen": made.best is not None and made.best.node == n,
    }
