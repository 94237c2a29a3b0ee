"""The greedy baseline, cycle by cycle: one pass over the pending pods, each tried once.

A victim stays on its node for the rest of the pass, as a terminating pod does; a nominated pod holds its node
against later pods of the same or lower priority.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...models.progress import Watch, unwatched
from ...models.snapshot import Snapshot
from ..build import build_cluster
from ..cycle.budget_ledger import Ledger
from ..cycle.cycle import Cycle, apply, complete, schedule_one
from ..cycle.runtime import framework_for
from ..index.cluster import Cluster
from ..index.queue_order import queue_key
from ..rules.groups import Group, groups
from ..rules.supported import require_supported
from ..state.state import State
from ..vocabulary.arrays import Bools
from ..vocabulary.status import Status
from ..workload.cycle import schedule_group
from ..workload.units import opening, units

if TYPE_CHECKING:
    from ..cycle.filter_result import FilterResult
    from ..workload.outcome import GroupCycle


def trace(snapshot: Snapshot, watch: Watch = unwatched) -> dict[str, Any]:
    """Return the contract's document for one pass over a snapshot; `watch` hears of the cycles.

    Raises
    ------
    KubestowError
        Where a pending pod needs what is not built.
    """
    cluster = build_cluster(snapshot, watch)
    require_supported(cluster)
    return trace_cluster(cluster, watch)


def trace_cluster(cluster: Cluster, watch: Watch = unwatched) -> dict[str, Any]:
    """Return the contract's document for one pass over a cluster."""
    state, ledger = opening(cluster), Ledger(cluster)
    cycles: list[dict[str, Any]] = []
    of_groups: list[dict[str, Any]] = []
    for unit in units(cluster, cluster.pending):
        watch("tracing: cycles", len(cycles), len(cluster.pending))
        if isinstance(unit, Group):
            group = schedule_group(cluster, state, unit, ledger)
            if group is not None:
                entry = group.document(state, ledger)
                of_groups += [] if entry is None else [entry]
                cycles += _members(cluster, state, group, ledger)
            continue
        cycle = schedule_one(framework_for(cluster, unit), state, unit, ledger)
        document = _document(cluster, state, cycle)
        _clear(cluster, document, apply(state, cycle, ledger))
        cycles.append(document)
    if not (groups(cluster) or cluster.snapshot.pod_groups):
        return {"version": 1, "cycles": cycles}
    gated = [cluster.pods[i].key for i in _kept_out(cluster)]
    return {"version": 1, "cycles": cycles, "groups": of_groups, "gated": gated}


def _kept_out(cluster: Cluster) -> list[int]:
    """Return the pods that PreEnqueue keeps out of the queue, in the order that they would have there."""
    waiting = {i for group in groups(cluster) if not group.enqueued for i in group.pending}
    gated = {i for i in cluster.gated if cluster.pods[i].scheduler in cluster.profiles}
    return sorted(waiting | gated, key=lambda i: (*queue_key(cluster.pods[i]), i))


def _clear(cluster: Cluster, document: dict[str, Any], cleared: Sequence[int]) -> None:
    if cleared:
        document["clearedNominations"] = [cluster.pods[j].key for j in cleared]


def _members(cluster: Cluster, state: State, cycle: "GroupCycle", ledger: Ledger) -> list[dict[str, Any]]:
    """Write the cycles of a group's members, each with its group and placement; let them happen."""
    documents: dict[int, dict[str, Any]] = {}
    for member in cycle.members(state, ledger):
        own = member.cycle
        document = {**_document(cluster, state, own), "podGroup": member.group}
        if own.outcome != "bound":
            document["message"] = member.message
        if member.placement:
            document["placement"] = member.placement
        documents[own.pod] = document
    for i, cleared in cycle.happen(state, ledger).items():
        _clear(cluster, documents[i], cleared)
    return list(documents.values())


def _document(cluster: Cluster, state: State, cycle: Cycle) -> dict[str, Any]:
    """Write one cycle; the state must still be what it was."""
    complete(framework_for(cluster, cycle.pod), state, cycle)
    names = cluster.node_names
    result = cycle.result
    document: dict[str, Any] = {"pod": cluster.pods[cycle.pod].key}
    if result is not None and result.pre_filter is not None:
        document["preFilter"] = _status(result.pre_filter)
    document["filter"] = {} if result is None else _rejections(cluster, result, cycle.within)
    feasible = cycle.feasible.tolist()
    document["feasible"] = [names[n] for n in feasible]
    if cycle.scores:
        columns = {plugin: scores.tolist() for plugin, scores in cycle.scores.items()}
        document["scores"] = {
            names[n]: {plugin: scores[k] for plugin, scores in columns.items()}
            for k, n in enumerate(feasible)
        }
        document["totals"] = {
            names[n]: total for n, total in zip(feasible, cycle.totals.tolist(), strict=True)
        }
    document["result"] = cycle.outcome
    document["node"] = names[cycle.node] if cycle.node >= 0 else None
    document["victims"] = [cluster.pods[j].key for j in cycle.victims]
    document["pdbViolations"] = cycle.violations
    if cycle.allocations:
        document["allocations"] = [
            {"claim": key, "devices": allocation.document()} for key, allocation in cycle.allocations.items()
        ]
    if cycle.deallocated:
        document["deallocated"] = [cycle.deallocated]
    if cycle.outcome != "bound":
        document["message"] = cycle.message(cluster.n_nodes)
    if cycle.error and cluster.n_nodes:
        document["error"] = True
    return document


def _rejections(cluster: Cluster, result: "FilterResult", within: Bools | None) -> dict[str, Any]:
    return {cluster.node_names[n]: _status(result.status(n)) for n in result.rejected(within)}


def _status(status: Status) -> dict[str, Any]:
    return {"plugin": status.plugin, "code": status.code.text, "reasons": sorted(status.reasons)}
