"""NodeResourcesFit: what a pod requests must be free on the node.

Source: kube-scheduler 1.34.1 plugins/noderesources (fit.go, resource_allocation.go, least_allocated.go,
most_allocated.go, requested_to_capacity_ratio.go).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from ...models.config import NodeResourcesFitArgs, PluginArgs, UtilizationShapePoint
from ...models.errors import KubestowError
from ...models.requests import extended_resource
from ..dra.extended import mapped_resources
from ..dra.extended import offered as nodes_that_offer
from ..index.missing import Missing, short_of
from ..rules.scored_resources import Amounts, ScoredResources
from ..vocabulary import names
from ..vocabulary.arrays import Ints
from ..vocabulary.resources import Rows, block, rows_of
from ..vocabulary.status import Code
from .base import MAX_NODE_SCORE, LocalFilter, Nodes, ScorePlugin, Verdicts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..index.cluster import Cluster
    from ..state.nominations import Expected
    from ..state.state import State

TOO_MANY_PODS: Final = "Too many pods"

_SHORT: Final = 1
_NEVER: Final = 2


@dataclass(slots=True, eq=False)
class Wanted:
    """The resources that the pod asks for: row numbers and amounts, and whether devices may serve each.

    `at` and `need` (int[R, 1]) are numbers and amounts for a look at many nodes.
    """

    rows: list[int]
    amounts: list[int]
    served: list[bool]
    at: Rows
    need: Amounts


@dataclass(slots=True, eq=False)
class _Fork:
    """One node's room; `free` has an amount for each wanted row."""

    wanted: Wanted
    node: int
    free: list[int]
    slots: int


class NodeResourcesFit(LocalFilter, ScorePlugin):
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
        self._wanted: dict[int, Wanted] = {}
        self._scored: dict[int, ScoredResources] = {}
        self._served = {cluster.resource_index[name] for name in mapped_resources(cluster)}

    def pre_filter(self, state: "State", i: int) -> Wanted:
        """Return what the pod asks for, in the order in which shortages are told."""
        info = self.cluster.pods[i]
        wanted = self._wanted.get(info.but_claims)
        if wanted is None:
            rows = [r for r, amount in enumerate(info.request) if amount > 0 and self._checked[r]]
            served = [r in self._served for r in rows]
            wanted = self._wanted[info.but_claims] = self._make(rows, [info.request[r] for r in rows], served)
        return wanted

    def is_settled(self, i: int) -> bool:
        """Whether it finds the same wherever pods are: always."""
        return True

    def _make(self, rows: list[int], amounts: list[int], served: list[bool]) -> Wanted:
        need: Amounts = np.array(amounts, dtype=self.cluster.dtype).reshape(-1, 1)
        return Wanted(rows, amounts, served, rows_of(rows), need)

    def by_load(self, data: Wanted | ScoredResources) -> bool:
        """Whether no device may serve what a node does not offer."""
        return isinstance(data, ScoredResources) or not any(data.served)

    def judge(self, data: Wanted, state: "State", i: int, nodes: Nodes) -> Verdicts:
        """Judge some nodes."""
        return self._judge(data, nodes, block(state.requested, data.at, nodes), state.pod_count[nodes])

    def judge_beside(self, data: Wanted, state: "State", nodes: Nodes, expected: "Expected") -> Verdicts:
        """Judge some nodes as if the pods that are expected there had come."""
        taken = block(state.requested, data.at, nodes) + block(expected.usage, data.at, nodes)
        return self._judge(data, nodes, taken, state.pod_count[nodes] + expected.count[nodes])

    def _judge(self, data: Wanted, nodes: Nodes, taken: Amounts, pods: Ints) -> Verdicts:
        cluster = self.cluster
        full = pods >= cluster.allowed_pods[nodes]
        offered = block(cluster.allocatable, data.at, nodes)
        short = np.asarray(data.need > offered - taken, dtype=np.bool_)
        never = np.asarray(data.need > offered, dtype=np.bool_)
        if any(data.served):
            # Devices may serve what the node does not offer: that is DynamicResources' business.
            judged = np.ones(short.shape, dtype=np.bool_)
            for k, r in enumerate(data.rows):
                if data.served[k]:
                    judged[k] = nodes_that_offer(cluster, cluster.resources[r])[nodes]
            short, never = short & judged, never & judged
        lacking = np.logical_or.reduce(short, axis=0) | full
        verdicts: Verdicts = lacking.astype(np.uint8) + np.logical_or.reduce(never, axis=0)
        return verdicts

    def fork(self, data: Wanted, state: "State", i: int, n: int) -> _Fork:
        """Return the node's room."""
        cluster = self.cluster
        if any(data.served):
            data = self._judged(data, n)
        free = [int(cluster.allocatable[r, n]) - int(state.requested[r, n]) for r in data.rows]
        return _Fork(data, n, free, int(cluster.allowed_pods[n]) - int(state.pod_count[n]))

    def _judged(self, wanted: Wanted, n: int) -> Wanted:
        """Return what is wanted of node n without what devices serve there."""
        cluster = self.cluster
        kept = [
            k
            for k, r in enumerate(wanted.rows)
            if not wanted.served[k] or nodes_that_offer(cluster, cluster.resources[r])[n]
        ]
        if len(kept) == len(wanted.rows):
            return wanted
        return self._make(
            [wanted.rows[k] for k in kept],
            [wanted.amounts[k] for k in kept],
            [wanted.served[k] for k in kept],
        )

    def add(self, fork: _Fork, j: int) -> None:
        """Take pod j's usage from the room."""
        usage = self.cluster.pods[j].usage
        fork.slots -= 1
        for k, r in enumerate(fork.wanted.rows):
            fork.free[k] -= usage[r]

    def remove(self, fork: _Fork, j: int) -> None:
        """Give pod j's usage back."""
        usage = self.cluster.pods[j].usage
        fork.slots += 1
        for k, r in enumerate(fork.wanted.rows):
            fork.free[k] += usage[r]

    def take(self, fork: _Fork, usage: "NDArray[Any]", count: int) -> None:
        """Take what so many pods use together (int[R]) from the room."""
        fork.slots -= count
        for k, r in enumerate(fork.wanted.rows):
            fork.free[k] -= int(usage[r])

    def take_slots(self, fork: _Fork, count: int) -> None:
        """Let so many pods without requests be on the node, or fewer."""
        fork.slots -= count

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

    def missing(self, fork: _Fork, verdict: int, state: "State", i: int) -> tuple[Missing, ...]:
        """Tell every shortage in numbers."""
        cluster, n = self.cluster, fork.node
        found: list[Missing] = []
        if fork.slots < 1:
            found.append(short_of("pods", 1, fork.slots, int(cluster.allowed_pods[n])))
        for r, wanted, free in zip(fork.wanted.rows, fork.wanted.amounts, fork.free, strict=True):
            if wanted > free:
                found.append(short_of(cluster.resources[r], wanted, free, int(cluster.allocatable[r, n])))
        return tuple(found)

    def pre_score(self, state: "State", i: int, nodes: Ints) -> ScoredResources:
        """Choose the resources that count, made once for each class of pods."""
        cls = self.cluster.pods[i].but_claims
        scored = self._scored.get(cls)
        if scored is None:
            scored = ScoredResources.of(self.cluster, i, self._strategy.resources, defaults=True)
            self._scored[cls] = scored
        return scored

    def score(self, data: ScoredResources, state: "State", i: int, nodes: Ints) -> Ints:
        """Average the configured resources' scores by weight."""
        has, offered, taken = data.on(self.cluster, state, nodes)
        points = self._points(taken, offered)
        if self._strategy.type == "RequestedToCapacityRatio":
            has = has & (points > 0)
        weights = data.weights * has
        total: Ints = np.add.reduce(points * weights, axis=0)
        divisor = np.maximum(np.add.reduce(weights, axis=0), 1)
        if self._strategy.type == "RequestedToCapacityRatio":
            # Halves are rounded up; in integers, so that no float is in the way.
            total, divisor = 2 * total + divisor, 2 * divisor
        average: Ints = total // divisor
        return average

    def _points(self, taken: Amounts, offered: Amounts) -> Ints:
        """Score each resource by itself: int64, 0..100."""
        match self._strategy.type:
            case "LeastAllocated":
                points: Amounts = np.maximum(offered - taken, 0) * MAX_NODE_SCORE // offered
            case "MostAllocated":
                points = np.minimum(taken, offered) * MAX_NODE_SCORE // offered
            case "RequestedToCapacityRatio":
                return self._shape[(np.minimum(taken, offered) * 100 // offered).astype(np.int64)]
        return points.astype(np.int64, copy=False)


def checked_resources(cluster: "Cluster", fit: NodeResourcesFitArgs) -> list[bool]:
    """Say for each resource of the cluster whether the plugin looks at it: extended ones may be ignored."""
    ignored, groups = set(fit.ignored_resources), set(fit.ignored_resource_groups)
    return [
        not (extended_resource(name) and (name in ignored or name.split("/")[0] in groups))
        for name in cluster.resources
    ]


def wanted_room(cluster: "Cluster", i: int) -> tuple[int, ...] | None:
    """Return what must be free on a node for pod i, by resource of the cluster: 0 for what is ignored.

    Returns
    -------
    tuple of int or None
        None where the pod's profile does not filter by resources, pod slots included.
    """

    def look() -> tuple[int, ...] | None:
        profile = cluster.profile(i)
        if not profile.filters(names.NODE_RESOURCES_FIT):
            return None
        fit = cast("NodeResourcesFitArgs", profile.args(names.NODE_RESOURCES_FIT))
        checked = zip(cluster.pods[i].request, checked_resources(cluster, fit), strict=True)
        return tuple(amount if counts else 0 for amount, counts in checked)

    return cluster.memo(("wanted room", cluster.pods[i].but_claims), look)


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
