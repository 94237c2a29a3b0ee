"""Checks of what an answer says beside its evidence: who is placed, who pays, in which tier.

All of it is read off the steps once more, which are replayed before (`answers`). How good a plan is, in words
and bounds, stays the solver's word.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...framework.build import build_cluster
from ...framework.state.state import State
from ..plans.nominations import derive_nominations
from ..plans.objective import valuate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...framework.index.cluster import Cluster
    from ...models.snapshot import Snapshot
    from ..plans.outcome import Outcome


def fault_of_place(cluster: Cluster, outcome: Outcome, document: Mapping[str, Any]) -> str:
    """Compare `placed`, and `victims` or `evicted` of a plan that places the pods, with its steps."""
    keys = [info.key for info in cluster.pods]
    placed = {keys[i]: cluster.node_names[n] for i, n in outcome.placed.items() if i in cluster.asked}
    if document["placed"] != placed:
        return "placed is not where the steps bind the pods"
    if "victims" in document:
        initial = State.initial(cluster)
        served = derive_nominations(cluster, initial, outcome.moves, outcome.allocations).nominations
        victims = sorted({keys[v] for i, gone in served.items() if i in cluster.asked for v in gone})
        if document["victims"] != victims:
            return "victims is not who leaves for the pods"
    elif document["answer"] == "placeable" and document["evicted"] != _evicted(cluster, outcome):
        return "evicted is not who leaves in the steps"
    return ""


def fault_of_price(snapshot: Snapshot, best: Outcome, forced: Outcome, document: Mapping[str, Any]) -> str:
    """Compare who pays, and the first tier that differs, with the steps of both plans."""
    cluster = build_cluster(replace(snapshot, asked=()))
    keys = [info.key for info in cluster.pods]
    ours, theirs = _evicted(cluster, best), _evicted(cluster, forced)
    found: dict[str, Any] = {
        "leftOut": sorted(keys[i] for i in best.placed.keys() - forced.placed.keys()),
        "evicted": sorted(set(theirs) - set(ours)),
        "spared": sorted(set(ours) - set(theirs)),
    }
    for name, pods in found.items():
        if document[name] != pods:
            return f"{name} is {', '.join(pods) or 'nothing'} by the steps of both plans"
    pairs = zip(valuate(cluster, best).tiers, valuate(cluster, forced).tiers, strict=True)
    first = next(((one, other) for one, other in pairs if one.value != other.value), None)
    tier = document["tier"]
    if first is None or tier is None:
        return "" if first is None and tier is None else "the plans do not differ in that tier first"
    told = (tier["name"], tier["sense"], tier["best"], tier["with"])
    counted = (first[0].name, first[0].sense, first[0].value, first[1].value)
    return "" if told == counted else f"the first tier that differs is {counted[0]}: {counted[2:]}"


def _evicted(cluster: Cluster, outcome: Outcome) -> list[str]:
    return sorted(cluster.pods[v].key for v in outcome.victims if not cluster.pods[v].terminating)
