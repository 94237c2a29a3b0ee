"""Build the problem of a round: classes of pending pods, and classes of possible victims."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..framework.cycle.runtime import framework_for
from ..framework.dra.extended import offered, requested
from ..framework.index.signature import signature
from ..framework.plugins.node_resources_fit import wanted_room
from ..framework.rules.budgets import budgets, budgets_of
from ..framework.rules.eviction_limits import spared
from ..framework.rules.eviction_units import preemptor_nodes, unit_group, units
from ..framework.state.state import State
from ..framework.volumes.signature import VolumeSignatures
from ..models.progress import Watch, unwatched
from . import ENCODERS
from .dra.build import device_problem
from .dra.problem import may_merge
from .problem import PodClass, Problem, VictimClass

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from ..framework.index.cluster import Cluster
    from ..framework.vocabulary.arrays import Bools, Ints
    from .dra.problem import DeviceProblem
    from .mobility import Mobility


# Running pods between two reports of how many are looked at.
_PODS_UNHEARD: Final = 1024


def build_problem(cluster: Cluster, watch: Watch = unwatched, mobility: Mobility | None = None) -> Problem:
    """Group the pods of a round into classes, and find who may leave; `watch` hears of both.

    Parameters
    ----------
    mobility : Mobility, optional
        Who may move; nobody is evicted then.
    """
    watch("finding classes: pods")
    state = State.initial(cluster)
    all_budgets = tuple(budgets(cluster))
    devices = device_problem(cluster, state)
    alike = _apart(cluster, _alike(cluster, devices))
    groups: dict[Hashable, list[int]] = {}
    for i in cluster.pending:
        groups.setdefault(alike(i), []).append(i)
    static = {cls: framework_for(cluster, pods[0]).static_mask(pods[0]) for cls, pods in groups.items()}
    if mobility is None:
        victims = _victim_classes(cluster, state, groups, static, watch)
    else:
        victims = _moving_classes(cluster, state, mobility, alike)
    victims_on: dict[int, list[VictimClass]] = {}
    for v in victims:
        victims_on.setdefault(v.node, []).append(v)

    problem = Problem(
        cluster=cluster,
        state=state,
        classes=(),
        victims=victims,
        budgets=all_budgets,
        devices=devices,
        mobility=mobility,
        levels=cluster.levels,
        victims_on={n: tuple(vs) for n, vs in victims_on.items()},
    )
    classes = []
    for index, (cls, pods) in enumerate(groups.items()):
        watch("finding classes: classes", index, len(groups))
        classes.append(_pod_class(problem, index, tuple(pods), static[cls]))
    return replace(problem, classes=tuple(classes))


def _apart(cluster: Cluster, alike: Callable[[int], Hashable]) -> Callable[[int], Hashable]:
    """Keep pods that the round is asked about, and those that are kept, out of the classes of others."""
    if not (cluster.asked or cluster.kept):
        return alike
    return lambda i: (i in cluster.asked, i in cluster.kept, alike(i))


def _alike(cluster: Cluster, devices: DeviceProblem | None) -> Callable[[int], Hashable]:
    """Key of each pod's class: its signature, and its private claims only by what they ask for.

    Private claims that ask for the same count together where that stays exact (`may_merge`, `apart`).
    """
    if devices is None or devices.apart:
        return lambda i: cluster.pods[i].cls
    volumes = VolumeSignatures(cluster)

    def key(i: int) -> Hashable:
        info = cluster.pods[i]
        private = devices.private[i]
        specs = tuple(devices.spec(claim) for claim in private)
        named = info.pod.spec.resource_claims
        if not private or len(private) != len(named) or not all(may_merge(spec) for spec in specs):
            return info.cls
        numbers = tuple(spec.number for spec in specs)
        return (info.unit, *signature(info, volumes.of(i), numbers))

    return key


def _pod_class(problem: Problem, index: int, pods: tuple[int, ...], static: Bools) -> PodClass:
    """Return a class with the nodes and limits that each family leaves it."""
    cluster = problem.cluster
    info = cluster.pods[pods[0]]
    wanted = wanted_room(cluster, info.index)
    found = PodClass(
        index=index,
        pods=pods,
        priority=info.priority,
        preempts=info.preempts,
        request=np.array(wanted or [0] * len(cluster.resources), dtype=cluster.dtype),
        bounded=wanted is not None,
        mask=static,
        limit=np.where(static, len(pods), 0).astype(np.int64),
        served={
            cluster.resource_index[name]: ~offered(cluster, name) for name in requested(cluster, info.index)
        },
    )
    for family in ENCODERS:
        limit = family.limit(problem, found)
        if limit is not None:
            limit = np.minimum(found.limit, np.maximum(limit, 0)).astype(np.int64)
            found = replace(found, limit=limit, mask=limit > 0)
    return found


def _victim_classes(
    cluster: Cluster,
    state: State,
    groups: dict[Hashable, list[int]],
    static: dict[Hashable, Bools],
    watch: Watch,
) -> tuple[VictimClass, ...]:
    """Running pods below a preemptor that could come to their node, grouped by what they cost and free.

    Pods that a limit spares are not among them, and a group that is evicted whole only if there could be a
    preemptor for every member.
    """
    reach: dict[int, Bools] = {}
    for cls, pods in groups.items():
        info = cluster.pods[pods[0]]
        if info.preempts:
            reach[info.priority] = reach.get(info.priority, np.zeros(cluster.n_nodes, bool)) | static[cls]
    highest = np.full(cluster.n_nodes, np.iinfo(np.int64).min, dtype=np.int64)
    for priority, nodes in reach.items():
        highest[nodes] = np.maximum(highest[nodes], priority)

    limit = spared(cluster)
    staying = _staying_units(cluster, highest, limit)
    charges = _charges(cluster)
    claims = _claims_held(state)
    grouped: dict[tuple[object, ...], list[int]] = {}
    for number, i in enumerate(cluster.bound):
        if number % _PODS_UNHEARD == 0:
            watch("finding victims: pods", number, len(cluster.bound))
        info = cluster.pods[i]
        node = int(state.node_of[i])
        group = unit_group(cluster, i)
        if group.index in staying if group is not None else info.priority >= highest[node]:
            continue
        if limit is not None and limit[i]:
            continue
        drawn = () if info.terminating else charges(i)
        held = claims.get(i, ())
        unit = None if group is None else group.index
        key = (node, unit, info.cls, info.usage, info.guard, info.terminating, held, drawn)
        grouped.setdefault(key, []).append(i)
    return tuple(
        _victim_class(cluster, index, key, pods) for index, (key, pods) in enumerate(grouped.items())
    )


def _moving_classes(
    cluster: Cluster, state: State, mobility: Mobility, alike: Callable[[int], Hashable]
) -> tuple[VictimClass, ...]:
    """Running pods that may move, grouped by what they free and by the class of what comes in their place."""
    claims = _claims_held(state)
    grouped: dict[tuple[object, ...], list[int]] = {}
    for i, successor in mobility.successors.items():
        info = cluster.pods[i]
        node, drawn = int(state.node_of[i]), mobility.charges[i]
        key = (node, None, alike(successor), info.usage, claims.get(i, ()), drawn)
        grouped.setdefault(key, []).append(i)
    return tuple(
        _victim_class(cluster, index, key, pods) for index, (key, pods) in enumerate(grouped.items())
    )


def _staying_units(cluster: Cluster, highest: Ints, limit: Bools | None) -> frozenset[int]:
    """Return the groups that are evicted whole or not at all and have a member that no newcomer preempts.

    Parameters
    ----------
    highest : int64[N]
        Highest priority of a preemptor that could come to each node.
    limit : bool[P] or None
        The pods that a limit spares.
    """
    return frozenset(
        group.index
        for group in units(cluster)
        if (limit is not None and limit[list(group.unit)].any())
        or max(cluster.pods[i].priority for i in group.unit)
        >= highest[list(preemptor_nodes(cluster, group.unit[0]))].max()
    )


def _victim_class(cluster: Cluster, index: int, key: tuple[object, ...], pods: Iterable[int]) -> VictimClass:
    infos = [cluster.pods[i] for i in pods]
    infos.sort(key=lambda p: (p.start, p.index), reverse=True)
    node, unit, drawn = key[0], key[1], key[-1]
    assert isinstance(node, int)
    assert unit is None or isinstance(unit, int)
    assert isinstance(drawn, tuple)
    return VictimClass(
        index=index,
        node=node,
        pods=tuple(p.index for p in infos),
        priority=infos[0].priority,
        usage=cluster.usage[infos[0].index],
        free=infos[0].terminating,
        guard=infos[0].guard,
        charges=drawn,
        unit=unit,
    )


def _claims_held(state: State) -> dict[int, tuple[str, ...]]:
    """Running pod -> resource claims reserved for it, whose devices it gives back when it leaves."""
    held: dict[int, tuple[str, ...]] = {}
    for key, consumers in state.claims.reserved.items() if state.claims is not None else ():
        for i in consumers:
            if isinstance(i, int):
                held[i] = (*held.get(i, ()), key)
    return held


def _charges(cluster: Cluster) -> Callable[[int], tuple[int, ...]]:
    """Return the budgets that a running pod's eviction draws on (those that already list it are paid)."""

    def drawn(i: int) -> tuple[int, ...]:
        name = cluster.pods[i].pod.name
        return tuple(b.index for b in budgets_of(cluster, i) if name not in b.disrupted)

    return drawn
