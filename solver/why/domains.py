"""Where a group could start: for each domain, at most how many members have room, and how many it needs.

The room is counted by resource, node by node, from what can ever be free there: it is never too little. A
domain with room enough may still be too small in the end (constraints between pods); one without is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...framework.dra.extended import requested
from ...framework.index.missing import amount
from .counting import rejected, staying

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ...framework.rules.groups import Group
    from ...framework.vocabulary.arrays import Ints
    from .counting import Staying
    from .reasons import Reason, Subject

ANYWHERE = "(the whole cluster)"

MARKS = ("taint", "unschedulable", "nodeSelector", "nodeAffinity", "volumeReach")
"""Kinds of reasons by which a node takes no member at all, if they hold for all members."""


def domain_counts(subject: Subject, core: Sequence[Reason]) -> list[dict[str, Any]]:
    """Return a row for each domain of each required key of a gang, the one that misses least first.

    Returns
    -------
    list of dict
        `key`, `domain`, `needed` (minCount), `running` (members there), `room` (for how many waiting members
        at most; none where members stay elsewhere), `short` (how many are missing, of one newcomer at least;
        0 where counting leaves room), `limitedBy` (the resource that leaves room for the fewest, or null).
    """
    group = subject.group
    if group is None or group.min_count is None or not subject.whole:
        return []
    stays = staying(subject, core)
    rows = [
        {**row, "short": max(0, max(1, row["needed"] - row["running"]) - row["room"])}
        for row in _rows(subject, group, core, stays)
    ]
    return sorted(rows, key=lambda row: (row["key"], row["short"], row["domain"]))


def counting_proof_of_group(subject: Subject, core: Sequence[Reason]) -> dict[str, Any] | None:
    """Return the proof that no domain of some required key has room for a gang, as a JSON value, or None."""
    rows = domain_counts(subject, core)
    kinds = {reason.kind for reason in core}
    if "minCount" not in kinds and not (group_runs(subject) and "topology" in kinds):
        return None
    for key in dict.fromkeys(row["key"] for row in rows):
        mine = [row for row in rows if row["key"] == key]
        if all(row["short"] for row in mine):
            return {"kind": "countingByDomain", "domains": mine}
    return None


def covering_of_group(subject: Subject, reasons: Sequence[Reason]) -> list[Reason] | None:
    """Return reasons while which no domain has room for a gang by counting, none needless for that; or None.

    They are given up in the order of the list, as a core is.
    """
    if counting_proof_of_group(subject, reasons) is None:
        return None
    kept = list(reasons)
    for reason in reasons:
        less = [item for item in kept if item is not reason]
        if counting_proof_of_group(subject, less) is not None:
            kept = less
    return kept


def group_runs(subject: Subject) -> bool:
    """Whether members of the group run already: then one newcomer is enough to be counted for."""
    return subject.group is not None and bool(subject.group.running)


def _rows(
    subject: Subject, group: Group, core: Collection[Reason], stays: Staying
) -> Iterator[dict[str, Any]]:
    cluster = subject.cluster
    room, tightest = _room(subject, core, stays)
    running = np.array([cluster.pods[i].initial_node for i in group.running], dtype=np.int64)
    most = len(group.pending)
    held = {
        reason.facts["key"] for reason in core if reason.kind == "topology" and group.key in reason.object
    }
    keys = [key for key in group.topology_keys if key in held]
    for key in keys or [""]:
        ids = cluster.domains(key).ids if key else np.zeros(cluster.n_nodes, dtype=np.int32)
        names = cluster.domains(key).values if key else (ANYWHERE,)
        for d, name in enumerate(names):
            inside = ids == d
            elsewhere = any(
                not inside[cluster.pods[i].initial_node] for i in group.running if i in stays.pods
            )
            yield {
                "key": key,
                "domain": name,
                "needed": group.min_count,
                "running": int(np.count_nonzero(inside[running])) if len(running) else 0,
                "room": 0 if elsewhere else int(min(most, room[inside].sum())),
                "limitedBy": _limit(cluster.resources, tightest, inside, most),
            }


def _room(subject: Subject, core: Collection[Reason], stays: Staying) -> tuple[Ints, list[Ints]]:
    """Return for how many members each node has room at most, int64[N], and by each resource alone."""
    cluster = subject.cluster
    wanted = {
        (reason.facts["resource"], reason.facts["wanted"]) for reason in core if reason.kind == "request"
    }
    served = {name for i in subject.pods for name in requested(cluster, i)}
    most = len(subject.pods)
    room = np.full(cluster.n_nodes, most, dtype=np.int64)
    by_resource: list[Ints] = []
    for r, name in enumerate(cluster.resources):
        # A pod whose request is no rule of the core asks for nothing here.
        asked = [info.request[r] for info in subject.infos]
        least = min(number if (name, amount(name, number)) in wanted else 0 for number in asked)
        alone = np.full(cluster.n_nodes, most, dtype=np.int64)
        if name not in served and least > 0:
            free = np.maximum(cluster.allocatable[r] - stays.held[r], 0)
            alone = np.minimum(free // least, most).astype(np.int64)
        by_resource.append(alone)
        room = np.minimum(room, alone)
    if any(reason.kind == "slot" for reason in core):
        room = np.minimum(room, np.maximum(cluster.allowed_pods - stays.count, 0))
    for reason in core:
        # A mark keeps all members out only where all members are of one kind.
        if reason.kind in MARKS and len(subject.kinds) == 1:
            mask = rejected(subject, reason, stays)
            if mask is not None:
                room = np.where(mask, 0, room)
    return room, by_resource


def _limit(resources: Sequence[str], by_resource: Sequence[Ints], inside: Any, most: int) -> str | None:
    """Return the resource by which the fewest members have room in a domain; None where none limits them."""
    sums = [(int(alone[inside].sum()), r) for r, alone in enumerate(by_resource)]
    fewest, r = min(sums, default=(most, 0))
    return resources[r] if fewest < most else None
