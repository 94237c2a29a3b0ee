"""What pod groups ask for and wish for, from the definitions alone: their part of `valuation`."""

import math

from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.rules.groups import group_of, groups
from support.oracle.tree_valuation import Trees


def is_broken(cluster, placed, left):
    """Whether a group breaks a rule in the end.

    Where it gained a member: a gang stands with at least minCount, all members are in one domain of each
    required key, and a group that waits for objects or members, or was evicted whole, gains no member. A
    group that is evicted whole leaves with all members. The groups of groups above a group that gained a
    member keep their rules.
    """
    if any(not evicted_with(cluster, v) <= set(left) for v in left):
        return True
    gaining = [group for group, _ in _gaining(cluster, placed)]
    if any(
        _breaks(cluster, group, standing(group, cluster, placed, left))
        or not _leaving_with(cluster, group).isdisjoint(left)
        for group in gaining
    ):
        return True
    trees = Trees(cluster.snapshot)
    if not trees.inner or not gaining:
        return False
    where = {g.key: list(standing(g, cluster, placed, left).values()) for g in groups(cluster)}
    return trees.is_broken(where, {g.key for g in gaining}, lambda n, key: _label(cluster, n, key))


def evicted_with(cluster, v):
    """The running pods that leave with one of them, by the objects as they are written."""
    group = group_of(cluster, v)
    if group is None or cluster.pods[v].terminating:
        return {v}
    return _leaving_with(cluster, group) or {v}


def _leaving_with(cluster, group):
    """The running pods that are evicted together if one of a group is; none where each may be by itself."""
    trees = Trees(cluster.snapshot)
    top = trees.evicted_whole(group.key)
    if top is not None and cluster.snapshot.feature_gates.enabled("WorkloadAwarePreemption"):
        together = [g for g in groups(cluster) if top in trees.path(g.key)]
    else:
        together = [group] if _is_evicted_whole(cluster, group) else []
    members = [cluster.pods[i] for g in together for i in g.members]
    return {info.index for info in members if info.initial_node >= 0 and not info.terminating}


def nodes_of_preemptors(cluster, v):
    """The nodes where a newcomer may be a victim's preemptor: those of all who leave with it."""
    return {cluster.pods[i].initial_node for i in evicted_with(cluster, v)}


def _is_evicted_whole(cluster, group):
    snapshot = cluster.snapshot
    if not snapshot.feature_gates.enabled("WorkloadAwarePreemption"):
        return False
    specs = {item.key: item.spec for item in snapshot.pod_groups}
    specs |= {f"{w.key}/{spec.name}": spec for w in snapshot.workloads for spec in w.spec.pod_group_templates}
    parts = group.key.split("/")
    spec = specs.get(group.key if len(parts) == 2 else "/".join(parts[:3]))
    return spec is not None and spec.disruption_mode == "all"


def _breaks(cluster, group, stands):
    if group.waits is not None or (group.min_count is not None and len(stands) < group.min_count):
        return True
    for key in group.topology_keys:
        domains = {_label(cluster, n, key) for n in stands.values()}
        if len(domains) > 1 or None in domains:
            return True
    return False


def standing(group, cluster, placed, left):
    """Member -> node of a group's members in the end, without those that left and gated ones."""
    stays = {i: cluster.pods[i].initial_node for i in group.members if cluster.pods[i].initial_node >= 0}
    return {i: n for i, n in stays.items() if i not in left} | {
        i: placed[i] for i in group.members if i in placed
    }


def has_preferences(cluster):
    """Whether a group with pending members has a preferred key, so that the round has the tier."""
    return any(group.pending and group.preferred_keys for group in groups(cluster))


def preferred_excess(cluster, placed, left):
    """Count the domains of preferred keys that groups stand in beyond the first."""
    return sum(
        len({_label(cluster, n, key) for n in standing(group, cluster, placed, left).values()}) - 1
        for group, _ in _gaining(cluster, placed)
        for key in group.preferred_keys
    )


def desired_shortfall(cluster, placed, left):
    """Count the expected members for which the group's domains have no room left by resources and slots."""
    total = 0
    for group, new in _gaining(cluster, placed):
        if group.desired_count is None or not group.topology_keys:
            continue
        stands = standing(group, cluster, placed, left)
        here = [
            n
            for n in range(cluster.n_nodes)
            if all(
                _label(cluster, n, key) == _label(cluster, placed[new[0]], key) for key in group.topology_keys
            )
        ]
        room = sum(_room(cluster, placed, left, group.pending[0], n) for n in here)
        total += max(0, group.desired_count - len(stands) - room)
    return total


def _room(cluster, placed, left, like, n):
    """How many more pods like one fit on a node, one after another."""
    if not framework_for(cluster, like).static_mask(like)[n]:
        return 0
    where = {v: cluster.pods[v].initial_node for v in cluster.bound if v not in left} | placed
    there = [i for i, node in where.items() if node == n]
    free = [
        int(cluster.allocatable[r][n]) - sum(int(cluster.usage[i][r]) for i in there)
        for r in range(len(cluster.resources))
    ]
    slots = int(cluster.allowed_pods[n]) - len(there)
    asked = [int(amount) for amount in cluster.pods[like].request]
    profile = cluster.profile(like)
    if "NodeResourcesFit" not in profile.points["filter"]:
        return math.inf
    args = profile.args("NodeResourcesFit")
    for r, name in enumerate(cluster.resources):
        if name in args.ignored_resources or (
            "/" in name and name.split("/")[0] in args.ignored_resource_groups
        ):
            asked[r] = 0
    room = 0
    while slots > room and all((room + 1) * a <= f for a, f in zip(asked, free, strict=True) if a):
        room += 1
    return room


def _gaining(cluster, placed):
    for group in groups(cluster):
        new = [i for i in group.members if i in placed]
        if new:
            yield group, new


def _label(cluster, n, key):
    return cluster.nodes[n].metadata.labels.get(key)
