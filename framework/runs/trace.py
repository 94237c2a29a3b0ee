"""The greedy baseline, cycle by cycle: one pass over the pending pods, each tried once.

A victim stays on its node for the rest of the pass, as a terminating pod does; a nominated pod holds its node
against later pods of the same or lower priority.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...models.snapshot import Snapshot
from ..build import build_cluster
from ..cycle.budget_ledger import Ledger
from ..cycle.cycle import Cycle, apply, complete, schedule_one
from ..cycle.runtime import framework_for
from ..index.cluster import Cluster
from ..rules.groups import Group
from ..rules.supported import require_supported
from ..state.state import State
from ..vocabulary.arrays import Bools
from ..vocabulary.status import Code, Status
from ..workload.cycle import cycles_to_apply
from ..workload.units import members_of, schedule_unit, units

if TYPE_CHECKING:
    from ..cycle.filter_result import FilterResult


def trace(snapshot: Snapshot) -> dict[str, Any]:
    """Return the contract's document for one pass over a snapshot.

    Raises
    ------
    KubestowError
        Where a pending pod needs what is not built.
    """
    cluster = build_cluster(snapshot)
    require_supported(cluster)
    return trace_cluster(cluster)


def trace_cluster(cluster: Cluster) -> dict[str, Any]:
    """Return the contract's document for one pass over a cluster."""
    state = State.initial(cluster, nominations=True)
    ledger = Ledger(cluster)
    cycles: list[dict[str, Any]] = []
    for unit in units(cluster, cluster.pending):
        if isinstance(unit, Group):
            cycles += _group(cluster, state, unit, ledger)
            continue
        cycle = schedule_one(framework_for(cluster, unit), state, unit, ledger)
        document = _document(cluster, state, cycle)
        _clear(cluster, document, apply(state, cycle, ledger))
        cycles.append(document)
    return {"version": 1, "cycles": cycles}


def _clear(cluster: Cluster, document: dict[str, Any], cleared: Sequence[int]) -> None:
    if cleared:
        document["clearedNominations"] = [cluster.pods[j].key for j in cleared]


def _group(cluster: Cluster, state: State, group: Group, ledger: Ledger) -> list[dict[str, Any]]:
    """Try a group; write the cycles of its members, each with its group and the placement it was tried in."""
    cycle = schedule_unit(cluster, state, group, ledger)
    assert cycle is not None  # in one pass every group is tried once, by its first member
    documents: dict[int, dict[str, Any]] = {}
    for member in members_of(state, cycle, ledger):
        own = member.cycle
        document = {**_document(cluster, state, own), "podGroup": member.group}
        if own.outcome != "bound":
            document["message"] = member.message
        if member.placement:
            document["placement"] = member.placement
        documents[own.pod] = document
    for own in cycles_to_apply(cycle):
        _clear(cluster, documents[own.pod], apply(state, own, ledger))
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
    return {
        name: _status(result.status(n))
        for n, name in enumerate(cluster.node_names)
        if result.codes[n] != Code.SUCCESS and (within is None or within[n])
    }


def _status(status: Status) -> dict[str, Any]:
    return {"plugin": status.plugin, "code": status.code.text, "reasons": sorted(status.reasons)}
