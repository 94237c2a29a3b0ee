"""Counting proofs: why no plan places a pod, node by node, in sums that anyone can add up.

For each node one reason of the core is enough: a mark of the node that keeps the pod away, or an amount that
cannot be free there in any plan. The most that can ever be free is what the node offers less what stays: the
running pods that no preemptor of the round may evict. Nothing here knows a solver or an encoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...framework.dra.extended import requested
from ...framework.index.affinity import parse_term
from ...framework.index.missing import amount
from ...framework.index.ports import ANY_ADDRESS, HostPort, conflict
from ...framework.rules.budgets import budgets
from ...framework.vocabulary import names
from ...framework.volumes.claims import claims_of
from ...models.selectors import requirement
from .counting_pods import keeps_distance, lacks_company, spread_bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ...framework.index.cluster import Cluster
    from ...framework.vocabulary.arrays import Bools, Ints
    from .reasons import Reason, Subject

EVERYWHERE = ("schedulingGate", "schedulerName")
"""Kinds of reasons that keep a pod from every node."""

BEARING = ("preemptionPolicy", "guard", "budget", "terminating")
"""Kinds of reasons that decide which running pods stay."""


@dataclass(frozen=True, eq=False)
class Staying:
    """What stays on the nodes in every plan, as far as some reasons stand.

    Attributes
    ----------
    pods : tuple of int
        Running pods that no pod of the round may evict.
    held : int[R, N]
        What they use.
    count : int64[N]
        How many they are.
    """

    pods: tuple[int, ...]
    held: Any
    count: Ints


def staying(subject: Subject, standing: Collection[Reason]) -> Staying:
    """Return what no preemptor of the round may evict while some reasons stand and the others do not."""
    cluster = subject.cluster
    kinds = {reason.kind for reason in standing}
    own = set(subject.pods)
    # A pod of the round that is asked about may evict unless its policy stands; others as they are.
    able = [
        info.priority
        for i in {*cluster.pending, *own}
        if (info := cluster.pods[i]).preempts or (i in own and "preemptionPolicy" not in kinds)
    ]
    reach = max(able, default=None)
    guards = {reason.facts["guard"] for reason in standing if reason.kind == "guard"}
    spent = {reason.object.partition(" ")[2] for reason in standing if reason.kind == "budget"}
    exhausted = [b for b in budgets(cluster) if b.key in spent and b.allowed <= 0]
    kept = []
    for v in cluster.bound:
        info = cluster.pods[v]
        if info.terminating:
            stays = "terminating" in kinds and (reach is None or info.priority >= reach)
        elif reach is None or info.priority >= reach:
            stays = True
        else:
            guarded = info.guard is not None and info.guard in guards and reach < info.guard
            stays = guarded and any(budget.charges(cluster, v) for budget in exhausted)
        if stays:
            kept.append(v)
    held: Any = np.zeros((len(cluster.resources), cluster.n_nodes), dtype=cluster.dtype)
    count = np.zeros(cluster.n_nodes, dtype=np.int64)
    for v in kept:
        node = cluster.pods[v].initial_node
        held[:, node] += cluster.usage[v]
        count[node] += 1
    return Staying(tuple(kept), held, count)


def rejected(subject: Subject, reason: Reason, stays: Staying) -> Bools | None:
    """Return the nodes that a reason keeps a pod from in every plan, bool[N]; None where it is not known."""
    judge = _JUDGES.get(reason.kind)
    if reason.kind in EVERYWHERE:
        return np.ones(subject.cluster.n_nodes, dtype=np.bool_)
    return None if judge is None else judge(subject, reason, stays)


def covering(subject: Subject, reasons: Sequence[Reason]) -> list[Reason] | None:
    """Return reasons that together keep a single pod from every node by counting, none needless; or None.

    They are given up in the order of the list, as a core is.
    """
    if len(subject.pods) != 1:
        return None
    bearing = [reason for reason in reasons if reason.kind in BEARING]
    for standing in ([], bearing):
        stays = staying(subject, standing)
        masks = [(r, mask) for r in reasons if (mask := rejected(subject, r, stays)) is not None]
        if masks and np.logical_or.reduce([mask for _, mask in masks]).all():
            kept = _fewer(masks)
            return [reason for reason in reasons if reason in standing or reason in kept]
    return None


def _fewer(masks: list[tuple[Reason, Bools]]) -> list[Reason]:
    hits = np.sum([mask for _, mask in masks], axis=0)
    kept = []
    for reason, mask in masks:
        if (hits[mask] > 1).all():
            hits -= mask
        else:
            kept.append(reason)
    return kept


def counting_proof(subject: Subject, core: Sequence[Reason]) -> dict[str, Any] | None:
    """Return the proof that a core keeps a single pod from every node, as a JSON value, or None.

    For each node: `node`, `reason` (its place in the core), for an amount `wanted`, `allocatable`, `held` and
    `free` of the `resource`, and for a spread constraint `domain`, `counted` and `minimum`.
    """
    if len(subject.pods) != 1:
        return None
    cluster, stays = subject.cluster, staying(subject, core)
    found: list[dict[str, Any] | None] = [None] * cluster.n_nodes
    for place, reason in enumerate(core):
        mask = rejected(subject, reason, stays)
        for n in [] if mask is None else np.flatnonzero(mask).tolist():
            if found[n] is None:
                found[n] = {
                    "node": cluster.node_names[n],
                    "reason": place,
                    **_sums(subject, reason, stays, n),
                }
    if any(row is None for row in found):
        return None
    return {
        "kind": "counting",
        "staying": [cluster.pods[v].key for v in stays.pods],
        "nodes": found,
    }


def _sums(subject: Subject, reason: Reason, stays: Staying, n: int) -> dict[str, Any]:
    if reason.kind == "topologySpread":
        bounds = spread_bounds(subject, reason, stays.pods)
        return {} if bounds is None else bounds.sums(n)
    cluster = subject.cluster
    if reason.kind == "slot":
        offered, held = int(cluster.allowed_pods[n]), int(stays.count[n])
        return {"resource": "pods", "wanted": "1", **_written("pods", offered, held)}
    if reason.kind != "request":
        return {}
    resource = reason.facts["resource"]
    r = cluster.resource_index[resource]
    offered, held = int(cluster.allocatable[r, n]), int(stays.held[r, n])
    return {
        "resource": resource,
        "wanted": reason.facts["wanted"],
        **_written(resource, offered, held),
    }


def _written(resource: str, offered: int, held: int) -> dict[str, str]:
    numbers = {"allocatable": offered, "held": held, "free": offered - held}
    return {name: amount(resource, number) for name, number in numbers.items()}


# -- what each kind of reason says of nodes --


def _taint(subject: Subject, reason: Reason, stays: Staying) -> Bools:
    return _named(subject.cluster, reason.facts["nodes"])


def _named(cluster: Cluster, names: Iterable[str]) -> Bools:
    mask = np.zeros(cluster.n_nodes, dtype=np.bool_)
    mask[[cluster.node_index[name] for name in names]] = True
    return mask


def _by_labels(cluster: Cluster, takes: Callable[[Mapping[str, str], str], bool]) -> Bools:
    nodes = ((node.metadata.labels, node.name) for node in cluster.nodes)
    return np.array([not takes(labels, name) for labels, name in nodes], dtype=np.bool_)


def _selector(subject: Subject, reason: Reason, stays: Staying) -> Bools:
    wanted = requirement(reason.facts["key"], "In", (reason.facts["value"],))
    return _by_labels(subject.cluster, lambda labels, _: wanted.matches(labels))


def _affinity(subject: Subject, reason: Reason, stays: Staying) -> Bools | None:
    affinity = subject.infos[0].pod.spec.affinity
    required = affinity.node_affinity.required if affinity and affinity.node_affinity else None
    if required is None:
        return None
    if "key" not in reason.facts:
        return _by_labels(subject.cluster, required.matches)
    facts = reason.facts
    wanted = requirement(facts["key"], facts["operator"], tuple(facts["values"]))
    if facts["ofFields"]:
        return _by_labels(subject.cluster, lambda _, name: wanted.matches({wanted.key: name}))
    return _by_labels(subject.cluster, lambda labels, _: wanted.matches(labels))


def _request(subject: Subject, reason: Reason, stays: Staying) -> Bools | None:
    cluster, resource, i = subject.cluster, reason.facts["resource"], subject.pods[0]
    if resource in requested(cluster, i):
        return None  # devices may serve it
    r = cluster.resource_index[resource]
    short = cluster.pods[i].request[r] > cluster.allocatable[r] - stays.held[r]
    return np.asarray(short, dtype=np.bool_)


def _slot(subject: Subject, reason: Reason, stays: Staying) -> Bools:
    return np.asarray(subject.cluster.allowed_pods - stays.count < 1, dtype=np.bool_)


def _port(subject: Subject, reason: Reason, stays: Staying) -> Bools:
    facts, cluster = reason.facts, subject.cluster
    wanted = HostPort(facts["hostIP"] or ANY_ADDRESS, facts["protocol"], facts["port"])
    taken = [v for v in stays.pods if conflict([wanted], cluster.pods[v].ports)]
    return _at(cluster, taken)


def _at(cluster: Cluster, pods: Iterable[int]) -> Bools:
    return _named(cluster, {cluster.node_names[cluster.pods[v].initial_node] for v in pods})


def _reach(subject: Subject, reason: Reason, stays: Staying) -> Bools | None:
    if not subject.cluster.profile(subject.pods[0]).filters(names.VOLUME_BINDING):
        return None
    claims = claims_of(subject.cluster)
    number = claims.storage.volume_number.get(reason.facts["volume"])
    return None if number is None else ~claims.reach(number)


def _running_terms(subject: Subject, reason: Reason, stays: Staying) -> Bools:
    """Return the nodes of the domains in which a pod with the term stays."""
    cluster = subject.cluster
    info = subject.infos[0]
    mask = np.zeros(cluster.n_nodes, dtype=np.bool_)
    named = frozenset(reason.facts["pods"])
    for v in stays.pods:
        other = cluster.pods[v].pod
        if other.key not in named or not other.spec.affinity or not other.spec.affinity.pod_anti_affinity:
            continue
        for written in other.spec.affinity.pod_anti_affinity.required:
            term = parse_term(written, other.namespace, cluster.namespaces)
            if written.topology_key == reason.facts["topologyKey"] and term.accepts(
                info.namespace, info.labels, cluster.namespaces
            ):
                ids = cluster.domains(written.topology_key).ids
                here = ids[cluster.pods[v].initial_node]
                mask |= (ids == here) & (here >= 0)
    return mask


def _company(subject: Subject, reason: Reason, stays: Staying) -> Bools:
    return lacks_company(subject, reason)


def _distance(subject: Subject, reason: Reason, stays: Staying) -> Bools:
    return keeps_distance(subject, reason, stays.pods)


def _spread(subject: Subject, reason: Reason, stays: Staying) -> Bools | None:
    bounds = spread_bounds(subject, reason, stays.pods)
    return None if bounds is None else bounds.rejects


_JUDGES: dict[str, Callable[[Subject, Reason, Staying], Bools | None]] = {
    "taint": _taint,
    "unschedulable": _taint,
    "nodeSelector": _selector,
    "nodeAffinity": _affinity,
    "request": _request,
    "slot": _slot,
    "hostPort": _port,
    "volumeReach": _reach,
    "runningAntiAffinity": _running_terms,
    "podAffinity": _company,
    "podAntiAffinity": _distance,
    "topologySpread": _spread,
}
