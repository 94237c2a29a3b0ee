"""Rows about pods: the room of nodes, who leaves for whom, budgets and guards, groups.

Each is a consequence of the rules of a plan, said of its end. Groups of groups have no rows of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....framework.rules.budgets import budgets
from ....framework.rules.eviction_units import preemptor_nodes, units
from ....framework.rules.groups import OFF_KEY, Group, groups
from ....framework.vocabulary import names
from ...plans.preemptors import serves

if TYPE_CHECKING:
    from ....framework.index.cluster import Cluster
    from .model import Booleans, Linear


def add_pods(made: Booleans) -> None:
    """Add the rows."""
    if all(_fits(made.cluster, i) for i in made.cluster.pending):
        _room(made)
    _victims(made)
    _budgets(made)
    for group in groups(made.cluster):
        _group(made, group)


def _fits(cluster: Cluster, i: int) -> bool:
    return cluster.profile(i).calls(names.NODE_RESOURCES_FIT, "pre_filter", "filter")


def _room(made: Booleans) -> None:
    """Hold the pods of a node to its room: who comes asks for no more than the others leave in the end.

    A node that holds more than it offers from the start takes nothing by that; only resources that every
    scheduler looks at, and that no device serves, have rows.
    """
    cluster = made.cluster
    for r, name in enumerate(cluster.resources):
        if "/" in name:
            continue
        for n in range(cluster.n_nodes):
            running = {
                v: int(cluster.usage[v][r]) for v in cluster.bound if cluster.pods[v].initial_node == n
            }
            coming = [
                (amount, made.at[i, n])
                for i in cluster.pending
                if (i, n) in made.at
                and (amount := min(int(cluster.usage[i][r]), cluster.pods[i].request[r])) > 0
            ]
            if coming:
                leaving = [(-amount, made.gone[v]) for v, amount in running.items() if v in made.gone]
                held = sum(running.values())
                made.at_most([*coming, *leaving], max(int(cluster.allocatable[r][n]) - held, 0))


def _victims(made: Booleans) -> None:
    """Let a pod leave only where one comes that may evict it; what leaves as one leaves together."""
    cluster, limits = made.cluster, made.cluster.snapshot.limits
    for v, leaves in made.gone.items():
        able = [i for i in cluster.pending if serves(cluster, i, v)]
        made.model.add(leaves <= made.placed(able, preemptor_nodes(cluster, v)))
    for unit in units(cluster):
        first, *others = unit.unit
        for v in others:
            made.model.add(_leaves(made, v) == _leaves(made, first))
    if limits.evictions is not None:
        evicted = [leaves for v, leaves in made.gone.items() if not cluster.pods[v].terminating]
        made.model.add(sum(evicted) <= limits.evictions)


def _leaves(made: Booleans, v: int) -> Linear:
    return made.gone.get(v, 0)


def _budgets(made: Booleans) -> None:
    """Hold victims to their budgets, but for those that violate one; a guard forbids that."""
    cluster, violating = made.cluster, {}
    covering = {
        budget: [v for v in made.victims if budget.charges(cluster, v) and not cluster.pods[v].terminating]
        for budget in budgets(cluster)
    }
    for v in {v for victims in covering.values() for v in victims}:
        violates = violating[v] = made.model.new_bool_var(f"{v} violates")
        made.model.add(violates <= made.gone[v])
        guard = cluster.pods[v].guard
        if guard is not None:
            able = [i for i in cluster.pending if serves(cluster, i, v) and cluster.pods[i].priority >= guard]
            made.model.add(violates <= made.placed(able, preemptor_nodes(cluster, v)))
    for budget, victims in covering.items():
        made.model.add(sum(made.gone[v] - violating[v] for v in victims) <= budget.allowed)
    if cluster.snapshot.limits.violations is not None:
        made.model.add(sum(violating.values()) <= cluster.snapshot.limits.violations)


def _group(made: Booleans, group: Group) -> None:
    """Hold a group that gains a member to its quorum and to one domain of each key."""
    cluster, model = made.cluster, made.model
    comes = {i: made.placed([i]) for i in group.pending}
    stays = {v: 1 - _leaves(made, v) for v in group.running}
    if group.waits is not None:
        model.add(sum(comes.values()) == 0)
        return
    for gains in comes.values():
        model.add(group.quorum * gains <= sum(comes.values()) + sum(stays.values()))
    for key in group.topology_keys:
        ids = cluster.domains(key).ids
        chosen = {
            domain: model.new_bool_var(f"{group.key} in {key} {domain}")
            for domain in range(len(cluster.domains(key).values))
        }
        model.add_at_most_one(chosen.values())
        for i in group.pending:
            for n in made.nodes_of(i):
                model.add(made.at[i, n] <= (0 if ids[n] == OFF_KEY else chosen[int(ids[n])]))
        for v, stay in stays.items():
            home = int(ids[cluster.pods[v].initial_node])
            for gains in comes.values():
                model.add(gains + stay <= 1 + (0 if home == OFF_KEY else chosen[home]))
