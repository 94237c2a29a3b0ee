"""NodeResourcesFit: what a pod requests must be free on the node.

Source: kube-scheduler 1.34.1 plugins/noderesources (fit.go, resource_allocation.go, least_allocated.go,
most_allocated.go, requested_to_capacity_ratio.go).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np
from numpy.typing import NDArray

from ...models.config import NodeResourcesFitArgs, PluginArgs, ResourceSpec, UtilizationShapePoint
from ...models.errors import KubestowError
from ...models.requests import extended_resource
from .. import names
from ..domains import Ints
from ..dra.extended import mapped_resources
from ..resources import CPU, EPHEMERAL_STORAGE, MEMORY
from ..status import Code
from .base import MAX_NODE_SCORE, FilterPlugin, ScorePlugin, Verdicts

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..state import State

TOO_MANY_PODS: Final = "Too many pods"

_SHORT: Final = 1
_NEVER: Final = 2

Amounts = NDArray[Any]
"""int64, or Python integers where the cluster's amounts need them."""


@dataclass(slots=True, eq=False)
class _Wanted:
    """The resources that the pod asks for: row numbers and amounts, and whether devices may serve each."""

    rows: list[int]
    amounts: list[int]
    served: list[bool]


@dataclass(slots=True, eq=False)
class _Fork:
    """One node's room; `free` has an amount for each wanted row."""

    wanted: _Wanted
    node: int
    free: list[int]
    slots: int


class NodeResourcesFit(FilterPlugin, ScorePlugin):
    """Rejects nodes without enough of something; scores by LeastAllocated, MostAllocated or a shape."""

    name: ClassVar[str] = names.NODE_RESOURCES_FIT
    codes: ClassVar[tuple[Code, ...]] = (Code.SUCCESS, Code.UNSCHEDULABLE, Code.UNRESOLVABLE)

    def __init__(self, cluster: "Cluster", args: PluginArgs) -> None:
        super().__init__(cluster, args)
        fit = cast("NodeResourcesFitArgs", args)
        self._checked = checked_resources(cluster, fit)
        self._strategy = fit.scoring_strategy
        shape = self._strategy.requested_to_capacity_ratio
        if self._strategy.type == "RequestedToCapacityRatio":
            if shape is None or not shape.shape:
                raise KubestowError(
                    f"KubeSchedulerConfiguration: {self.name}: scoringStrategy: "
                    "requestedToCapacityRatio.shape needs at least one point"
                )
            self._shape = shape_table(shape.shape)
        self._wanted: dict[int, _Wanted] = {}
        self._served = {cluster.resource_index[name] for name in mapped_resources(cluster)}

    def pre_filter(self, state: "State", i: int) -> _Wanted:
        """Return what the pod asks for, in the order in which shortages are told."""
        info = self.cluster.pods[i]
        wanted = self._wanted.get(info.cls)
        if wanted is None:
            rows = [r for r, amount in enumerate(info.request) if amount > 0 and self._checked[r]]
            served = [r in self._served for r in rows]
            wanted = self._wanted[info.cls] = _Wanted(rows, [info.request[r] for r in rows], served)
        return wanted

    def filter_all(self, data: _Wanted, state: "State", i: int) -> Verdicts:
        """Judge every node."""
        cluster = self.cluster
        short = state.pod_count + 1 > cluster.allowed_pods
        never = np.zeros(cluster.n_nodes, dtype=np.bool_)
        for r, amount, served in zip(data.rows, data.amounts, data.served, strict=True):
            offered = cluster.allocatable[r]
            # Devices may serve what the node does not offer: that is DynamicResources' business.
            judged = offered > 0 if served else True
            short = short | (judged & (amount > offered - state.requested[r])).astype(np.bool_)
            never |= (judged & (amount > offered)).astype(np.bool_)
        return np.where(never, _NEVER, short).astype(np.uint8)

    def fork(self, data: _Wanted, state: "State", i: int, n: int) -> _Fork:
        """Return the node's room."""
        cluster = self.cluster
        if any(
            served and not cluster.allocatable[r, n] for r, served in zip(data.rows, data.served, strict=True)
        ):
            data = self._offered(data, n)
        free = [int(cluster.allocatable[r, n]) - int(state.requested[r, n]) for r in data.rows]
        return _Fork(data, n, free, int(cluster.allowed_pods[n]) - int(state.pod_count[n]))

    def _offered(self, wanted: _Wanted, n: int) -> _Wanted:
        """Return what is wanted of node n without what devices serve there."""
        kept = [
            k for k, r in enumerate(wanted.rows) if self.cluster.allocatable[r, n] or not wanted.served[k]
        ]
        return _Wanted(
            [wanted.rows[k] for k in kept],
            [wanted.amounts[k] for k in kept],
            [wanted.served[k] for k in kept],
        )

    def add(self, fork: _Fork, j: int) -> None:
        """Take pod j's usage from the room."""
        self._change(fork, j, 1)

    def remove(self, fork: _Fork, j: int) -> None:
        """Give pod j's usage back."""
        self._change(fork, j, -1)

    def _change(self, fork: _Fork, j: int, by: int) -> None:
        usage = self.cluster.pods[j].usage
        fork.slots -= by
        for k, r in enumerate(fork.wanted.rows):
            fork.free[k] -= by * usage[r]

    def check(self, fork: _Fork) -> int:
        """Judge the node: more than all that it has is never possible."""
        verdict = _SHORT if fork.slots < 1 else 0
        for k, amount in enumerate(fork.wanted.amounts):
            if amount > fork.free[k]:
                verdict = max(verdict, _SHORT)
                if amount > self.cluster.allocatable[fork.wanted.rows[k], fork.node]:
                    return _NEVER
        return verdict

    def reasons(self, fork: _Fork, verdict: int) -> tuple[str, ...]:
        """Name every shortage."""
        short = zip(fork.wanted.rows, fork.wanted.amounts, fork.free, strict=True)
        lacking = [f"Insufficient {self.cluster.resources[r]}" for r, amount, free in short if amount > free]
        return ((TOO_MANY_PODS,) if fork.slots < 1 else ()) + tuple(lacking)

    def score(self, data: Any, state: "State", i: int, nodes: Ints) -> Ints:
        """Average the configured resources' scores by weight."""
        total: Ints = np.zeros(len(nodes), dtype=np.int64)
        weights: Ints = np.zeros(len(nodes), dtype=np.int64)
        for item, offered, asked in allocations(
            self.cluster, state, i, nodes, self._strategy.resources, nonzero=True
        ):
            has = (offered > 0).astype(np.bool_)
            points = self._points(asked, np.where(has, offered, 1))
            if self._strategy.type == "RequestedToCapacityRatio":
                has &= points > 0
            total += np.where(has, points * item.weight, 0)
            weights += np.where(has, item.weight, 0)
        divisor = np.where(weights > 0, weights, 1)
        if self._strategy.type == "RequestedToCapacityRatio":
            # Halves are rounded up; in integers, so that no float is in the way.
            total, divisor = 2 * total + divisor, 2 * divisor
        average: Ints = total // divisor
        return average

    def _points(self, asked: Amounts, offered: Amounts) -> Ints:
        """Score one resource: int64, 0..100."""
        over = (asked > offered).astype(np.bool_)
        used = np.where(over, offered, asked)
        match self._strategy.type:
            case "LeastAllocated":
                return np.where(over, 0, (offered - used) * MAX_NODE_SCORE // offered).astype(np.int64)
            case "MostAllocated":
                return (used * MAX_NODE_SCORE // offered).astype(np.int64)
            case "RequestedToCapacityRatio":
                return self._shape[(used * 100 // offered).astype(np.int64)]


def checked_resources(cluster: "Cluster", fit: NodeResourcesFitArgs) -> list[bool]:
    """Say for each resource of the cluster whether the plugin looks at it: extended ones may be ignored."""
    ignored, groups = set(fit.ignored_resources), set(fit.ignored_resource_groups)
    return [
        not (extended_resource(name) and (name in ignored or name.split("/")[0] in groups))
        for name in cluster.resources
    ]


def allocations(
    cluster: "Cluster",
    state: "State",
    i: int,
    nodes: Ints,
    resources: Sequence[ResourceSpec],
    *,
    nonzero: bool,
) -> list[tuple[ResourceSpec, Amounts, Amounts]]:
    """Return what nodes have of each resource, and what would be taken of it with pod i there.

    Parameters
    ----------
    cluster, state : Cluster, State
    i : int
        The pod.  A resource other than cpu, memory and ephemeral-storage that it does not request is left
        out.
    nodes : int64[K]
    resources : sequence of ResourceSpec
    nonzero : bool
        Whether cpu and memory count with the scorer's defaults for containers that request none.

    Returns
    -------
    list of (resource, allocatable[K], taken[K])
    """
    info = cluster.pods[i]
    request = info.score_request if nonzero else info.request
    found: list[tuple[ResourceSpec, Amounts, Amounts]] = []
    for item in resources:
        r = cluster.resource_index[item.name]
        if r > EPHEMERAL_STORAGE and request[r] == 0:
            continue
        sums = state.nonzero[r] if nonzero and r in (CPU, MEMORY) else state.requested[r]
        found.append((item, cluster.allocatable[r, nodes], sums[nodes] + request[r]))
    return found


def shape_table(shape: Sequence[UtilizationShapePoint]) -> Ints:
    """Return the score (0..100) of each utilisation 0..100: linear between points, constant outside them.

    Source: plugins/helper/shape_score.go; divisions truncate toward zero.
    """
    points = [(point.utilization, point.score * 10) for point in shape]
    table: list[int] = []
    for used in range(101):
        right = next((k for k, (x, _) in enumerate(points) if used <= x), None)
        if right is None:
            table.append(points[-1][1])
        elif right == 0:
            table.append(points[0][1])
        else:
            (x0, y0), (x1, y1) = points[right - 1], points[right]
            rise = (y1 - y0) * (used - x0)
            step = abs(rise) // (x1 - x0)
            table.append(y0 + (step if rise >= 0 else -step))
    return np.array(table, dtype=np.int64)
