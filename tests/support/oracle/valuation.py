"""The tiers of a plan from their definitions alone, slowly: the cross-check of `solver.plans.objective`.

Everything is read from labels, priorities and the parsed constraints; sets are tried one by one.
"""

from itertools import combinations

from kubestow.framework.rules.affinity import matches_incoming
from kubestow.framework.rules.budgets import budgets
from kubestow.framework.rules.spread import (
    eligible_nodes,
    fallen_back_constraints,
    requires_all_keys,
    soft_constraints,
)
from support.oracle.group_valuation import (
    desired_shortfall,
    has_preferences,
    is_broken,
    nodes_of_preemptors,
    preferred_excess,
)


def levels_of(cluster):
    """Priorities of pending pods, from the highest down."""
    return sorted({cluster.pods[i].priority for i in cluster.pending}, reverse=True)


def level_of(cluster, victim, *, violates=False):
    """The lowest level above a victim's own, for one that violates also at or above its guard; or None."""
    info = cluster.pods[victim]
    guard = info.guard if violates and info.guard is not None else info.priority
    return min(
        (level for level in levels_of(cluster) if level > info.priority and level >= guard), default=None
    )


def tiers_of(cluster, placed, left, prefer="none", allocations=()):
    """Value every tier of an end state.

    Parameters
    ----------
    placed : dict
        Pod of the round -> node.
    left : iterable of int
        Pods that ran and are gone.
    allocations : dict
        Claim -> allocation, of the round only.

    Returns
    -------
    dict of name to (sense, value), most important first; None where the guards of KEP-4664 admit no plan, or
    a pod group's rules do not.
    """
    if is_broken(cluster, placed, left):
        return None
    pods = cluster.pods
    gone = [v for v in left if not pods[v].terminating]
    tiers = best_of_levels(cluster, placed, gone)
    if tiers is None:
        return None
    tiers["fallback"] = "min", fallback_excess(cluster, placed, left)
    tiers["firstAvailable"] = "min", ranks_taken(cluster, dict(allocations))
    tiers["desiredCount"] = "min", desired_shortfall(cluster, placed, left)
    if has_preferences(cluster):
        tiers["preferredTopology"] = "min", preferred_excess(cluster, placed, left)
    if prefer != "none":
        sense, value = PREFERENCES[prefer]
        tiers[prefer] = sense, value(cluster, placed, left)
    return tiers


def best_of_levels(cluster, placed, gone):
    """The tiers of all levels with the violating set that makes them best; None where the guards admit none.

    A set is any of the victims whose guards are reached, such that the others fit every budget; it has no
    more members than the limit on violations.
    """
    drawn = {v: [b for b in budgets(cluster) if b.charges(cluster, v)] for v in gone}
    payers = [v for v in gone if drawn[v]]
    free = [v for v in payers if _may_violate(cluster, placed, v)]
    most = cluster.snapshot.limits.violations
    found = [
        of_levels(cluster, placed, gone, frozenset(chosen))
        for size in range(min(len(free), len(free) if most is None else most) + 1)
        for chosen in combinations(free, size)
        if all(sum(b in drawn[v] for v in payers if v not in chosen) <= b.allowed for b in budgets(cluster))
    ]
    return min(found, key=_in_order, default=None)


def of_levels(cluster, placed, gone, violating):
    """The tiers of all levels with one violating set."""
    pods = cluster.pods
    tiers = {}
    for level in levels_of(cluster):
        mine = [v for v in gone if level_of(cluster, v, violates=v in violating) == level]
        tiers[f"scheduled[priority={level}]"] = "max", sum(pods[i].priority == level for i in placed)
        tiers[f"violations[priority={level}]"] = "min", sum(v in violating for v in mine)
        below = {pods[v].priority for v in cluster.bound if level in _levels(cluster, v)}
        for q in sorted(below, reverse=True):
            tiers[f"evicted[priority={level},victim={q}]"] = "min", sum(pods[v].priority == q for v in mine)
    return tiers


def _in_order(tiers):
    return [-value if sense == "max" else value for sense, value in tiers.values()]


def _levels(cluster, victim):
    """The levels that a victim may count at."""
    covered = any(b.charges(cluster, victim) for b in budgets(cluster))
    return {level_of(cluster, victim), level_of(cluster, victim, violates=covered)}


def _may_violate(cluster, placed, victim):
    info = cluster.pods[victim]
    if info.guard is None:
        return True
    least = max(info.guard, info.priority + 1)
    return any(
        n in nodes_of_preemptors(cluster, victim)
        and cluster.pods[i].preempts
        and cluster.pods[i].priority >= least
        for i, n in placed.items()
    )


def fallback_excess(cluster, placed, left):
    """How far the domains that received fallen-back pods exceed maxSkew in the end; nodes without the key."""
    return excess_of(cluster, placed, left, fallen_back_constraints)


def excess_of(cluster, placed, left, constraints_of):
    """How far the domains that received carriers of some constraints exceed maxSkew in the end."""
    groups = {}
    for i in placed:
        for constraint in constraints_of(cluster, i):
            mask = eligible_nodes(cluster, i, constraint)
            same = (
                constraint.namespace,
                constraint.topology_key,
                constraint.selector,
                constraint.max_skew,
                constraint.min_domains,
                mask.tobytes(),
            )
            groups.setdefault(same, (constraint, mask, []))[2].append(i)
    return sum(_excess(cluster, placed, left, *group) for group in groups.values())


def _excess(cluster, placed, left, constraint, mask, carriers):
    def domain(n):
        return cluster.nodes[n].metadata.labels.get(constraint.topology_key)

    def counts(i):
        info, asked = cluster.pods[i], constraint.selector
        # a selector that asks for nothing counts no pod
        wanted = asked is not None and asked.requirements and asked.matches(info.labels)
        return wanted and info.namespace == constraint.namespace

    eligible = [n for n in range(cluster.n_nodes) if mask[n] and domain(n) is not None]
    runs = {v: cluster.pods[v].initial_node for v in cluster.bound if not cluster.pods[v].terminating}
    there = {i: n for i, n in runs.items() if i not in left} | placed
    totals = {domain(n): 0 for n in eligible}
    for i, n in there.items():
        if n in eligible and counts(i):
            totals[domain(n)] += 1
    minimum = min(totals.values()) if len(totals) >= constraint.min_domains and totals else 0
    received = {domain(placed[i]) for i in carriers}
    over = sum(max(0, totals[d] - minimum - constraint.max_skew) for d in received & totals.keys())
    # without the key: one more than a domain with every matching pod in it
    worst = max(0, sum(1 for i in (*runs, *cluster.pending) if counts(i)) - constraint.max_skew)
    lost = [i for i in carriers if domain(placed[i]) is None and requires_all_keys(cluster, i)]
    return over + len(lost) * (worst + 1)


def ranks_taken(cluster, allocations):
    """How far down their lists of alternatives requests had to go."""
    total = 0
    for claim in cluster.snapshot.resource_claims:
        if claim.key not in allocations:
            continue
        served = {result.request for result in allocations[claim.key].results}
        for request in claim.spec.devices.requests:
            for rank, alternative in enumerate(request.first_available):
                total += rank * (f"{request.name}/{alternative.name}" in served)
    return total


# -- preferences --


def standing(cluster, placed, left):
    """Pod -> node of everyone in the end."""
    stays = {v: cluster.pods[v].initial_node for v in cluster.bound if v not in left}
    return stays | placed


def nodes_in_use(cluster, placed, left):
    return len(set(standing(cluster, placed, left).values()))


def squared_load(cluster, placed, left):
    where = list(standing(cluster, placed, left).values())
    return sum(where.count(n) ** 2 for n in range(cluster.n_nodes))


def soft_points(cluster, placed, left):
    """What the newcomers' soft criteria are worth, with the default weights of kube-scheduler's plugins."""
    everyone = standing(cluster, placed, left)
    points = sum(
        2 * _node_points(cluster, i, n)
        - 3 * 100 * _unwelcome(cluster, i, n)
        + 2 * _company(cluster, i, everyone)
        for i, n in placed.items()
    )

    def written_soft(cluster, i):
        return [c for c in soft_constraints(cluster, i) if c.when == "ScheduleAnyway"]

    return points - 2 * 100 * excess_of(cluster, placed, left, written_soft)


def _node_points(cluster, i, n):
    affinity = cluster.pods[i].pod.spec.affinity
    node = cluster.nodes[n]
    preferred = affinity.node_affinity.preferred if affinity and affinity.node_affinity else ()
    return sum(p.weight for p in preferred if p.preference.matches(node.metadata.labels, node.name))


def _unwelcome(cluster, i, n):
    """How many PreferNoSchedule taints of the node the pod does not tolerate."""

    def tolerated(taint):
        return any(
            t.effect in ("", "PreferNoSchedule")
            and t.key in ("", taint.key)
            and (t.operator == "Exists" or t.value == taint.value)
            for t in cluster.pods[i].pod.spec.tolerations
        )

    return sum(t.effect == "PreferNoSchedule" and not tolerated(t) for t in cluster.nodes[n].spec.taints)


def _company(cluster, i, everyone):
    """Weights of the preferred terms that another pod in the domain meets; of anti-affinity negative."""
    terms = cluster.pods[i].terms
    signed = [(t, 1) for t in terms.preferred_affinity] + [(t, -1) for t in terms.preferred_anti_affinity]

    def domain(pod, term):
        return cluster.nodes[everyone[pod]].metadata.labels.get(term.topology_key)

    return sum(
        sign * term.weight
        for term, sign in signed
        if domain(i, term) is not None
        and any(
            matches_incoming(cluster, term, j) and domain(j, term) == domain(i, term)
            for j in everyone.keys() - {i}
        )
    )


PREFERENCES = {
    "scores": ("max", soft_points),
    "pack": ("min", nodes_in_use),
    "spread": ("min", squared_load),
}
