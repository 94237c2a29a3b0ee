"""The scheduling framework of one profile: calls plugins at their extension points.

Source: kube-scheduler 1.34.1 framework/runtime/framework.go, schedule_one.go.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .domains import Bools, Ints
from .filter_result import OUTSIDE, PASSED, STATUS_OUTSIDE, CycleState, FilterResult
from .node_filter import NodeFilter
from .plugins import DEFAULT_PLUGINS, FilterPlugin, Plugin, ScorePlugin, StaticFilter
from .plugins.dynamic_resources import NOTHING_FREED, DynamicResources, FreedClaim
from .plugins.node_affinity import NodeAffinity
from .profile import FILTER, PRE_FILTER, SCORE, Profile
from .state import NO_ALLOCATIONS
from .status import SUCCESS, Code, Status

if TYPE_CHECKING:
    from .cluster import Cluster
    from .dra.allocation import Allocation
    from .state import State


class Framework:
    """The plugins of one profile on one cluster.

    Attributes
    ----------
    cluster : Cluster
    profile : Profile
    """

    def __init__(self, cluster: "Cluster", profile: Profile) -> None:
        self.cluster = cluster
        self.profile = profile
        made: dict[str, Plugin] = {
            entry.name: entry.factory(cluster, profile.args(entry.name))
            for entry in DEFAULT_PLUGINS
            if entry.factory is not None
            and any(entry.name in profile.points[p] for p in (PRE_FILTER, FILTER, SCORE))
        }

        def at(point: str) -> list[Plugin]:
            return [made[name] for name in profile.points[point] if name in made]

        self._pre_filters = [p for p in at(PRE_FILTER) if isinstance(p, FilterPlugin)]
        self._filters = [p for p in at(FILTER) if isinstance(p, FilterPlugin)]
        self._scores = [p for p in at(SCORE) if isinstance(p, ScorePlugin)]
        # A plugin without PreFilter (NodeName, ...) still prepares its verdicts, after all that have one.
        self._order = [*self._pre_filters, *(p for p in self._filters if p not in self._pre_filters)]
        self._static_masks: dict[int, Bools] = {}
        self._last: tuple[int, int, CycleState] | None = None

    def pre_filter(self, state: "State", i: int) -> CycleState:
        """Run PreFilter for pod i.

        UnschedulableAndUnresolvable and errors end it at once; Unschedulable is kept while the other plugins
        go on. Pods of one class in one state share the result.
        """
        cls = self.cluster.pods[i].cls
        last = self._last
        if last is not None and last[0] == state.version and last[1] == cls:
            return last[2]
        cycle = CycleState(i)
        learnt: dict[str, Any] = {}
        for plugin in self._order:
            data = plugin.pre_filter(state, i)
            if isinstance(data, Status):
                cycle.rejected = data
                if data.code in (Code.UNRESOLVABLE, Code.ERROR):
                    break
            elif data is not None:
                learnt[plugin.name] = data
                if isinstance(plugin, NodeAffinity) and plugin in self._pre_filters:
                    named = plugin.nodes(i)
                    cycle.outside = None if named is None else ~named
        cycle.entries = [(plugin, learnt[plugin.name]) for plugin in self._filters if plugin.name in learnt]
        self._last = (state.version, cls, cycle)
        return cycle

    def filter_all(self, state: "State", i: int, *, nominated: bool = False) -> FilterResult:
        """Filter every node for pod i.

        Parameters
        ----------
        state : State
        i : int
        nominated : bool
            Whether nodes to which pods of no lower priority are nominated must take the pod with and without
            them.
        """
        cycle = self.pre_filter(state, i)
        n_nodes = self.cluster.n_nodes
        by = np.full(n_nodes, PASSED, dtype=np.int8)
        verdicts = np.zeros(n_nodes, dtype=np.uint8)
        if cycle.rejected is None:
            if cycle.outside is not None:
                by[cycle.outside] = OUTSIDE
            for k, (plugin, data) in enumerate(cycle.entries):
                passed = by == PASSED
                found = plugin.filter_passed(data, state, i, passed)
                new = (found != 0) & passed
                if new.any():
                    by[new] = k
                    verdicts[new] = found[new]
        result = FilterResult(cycle, state, by, verdicts)
        if nominated and state.nominated and cycle.rejected is None:
            self._with_nominated(state, i, result)
        return result

    def filter_node(self, state: "State", i: int, n: int) -> Status:
        """Filter one node for pod i, without nominations."""
        cycle = self.pre_filter(state, i)
        if cycle.rejected is not None:
            return cycle.rejected
        if cycle.outside is not None and cycle.outside[n]:
            return STATUS_OUTSIDE
        for plugin, data in cycle.entries:
            if isinstance(plugin, StaticFilter) and not data[n]:
                continue
            fork = plugin.fork(data, state, i, n)
            verdict = plugin.check(fork)
            if verdict:
                return plugin.status(fork, verdict)
        return SUCCESS

    def filter_nominated(self, state: "State", i: int, n: int) -> Status:
        """Filter one node for pod i with the pods nominated to it, and without them."""
        cycle = self.pre_filter(state, i)
        if cycle.rejected is not None:
            return cycle.rejected
        return NodeFilter(self.cluster, state, cycle, n).run(self.nominated_to(state, i, n))

    def reserve(self, state: "State", i: int, n: int) -> Mapping[str, "Allocation"]:
        """Run Reserve: return what pod i brings along when it is placed on node n (`State.place`)."""
        for plugin, data in self.pre_filter(state, i).entries:
            if isinstance(plugin, DynamicResources):
                return plugin.reserve(data, state, i, n)
        return NO_ALLOCATIONS

    def free_claim(self, state: "State", i: int, result: FilterResult) -> FreedClaim:
        """Run DynamicResources' PostFilter: say which of pod i's claims, if any, is to be allocated anew."""
        for plugin, data in result.cycle.entries:
            if isinstance(plugin, DynamicResources):
                return plugin.post_filter(data, state, i, result.rejected_by(plugin.name))
        return NOTHING_FREED

    def nominated_to(self, state: "State", i: int, n: int) -> list[int]:
        """Return the pods nominated to node n that pod i must leave room for: others of no lower priority."""
        pods = self.cluster.pods
        least = pods[i].priority
        return [
            j for j, node in state.nominated.items() if node == n and j != i and pods[j].priority >= least
        ]

    def _with_nominated(self, state: "State", i: int, result: FilterResult) -> None:
        for n in sorted(set(state.nominated.values())):
            others = self.nominated_to(state, i, n)
            outside = result.cycle.outside
            if others and (outside is None or not outside[n]):
                status = NodeFilter(self.cluster, state, result.cycle, n).run(others)
                if not status.ok:
                    result.override(n, status)

    def static_mask(self, i: int) -> Bools:
        """Say which nodes pass every filter that does not depend on where pods are; bool[N], shared."""
        cls = self.cluster.pods[i].cls
        mask = self._static_masks.get(cls)
        if mask is None:
            mask = np.ones(self.cluster.n_nodes, dtype=np.bool_)
            for plugin in self._order:
                if not isinstance(plugin, StaticFilter):
                    possible = plugin.possible(i)
                    if possible is not None:
                        mask &= possible
                    continue
                data = plugin.pre_filter(cast("State", None), i)
                if isinstance(data, Status):
                    mask[:] = False
                elif data is not None and plugin in self._filters:
                    mask &= data == 0
                if isinstance(plugin, NodeAffinity) and plugin in self._pre_filters:
                    named = plugin.nodes(i)
                    if named is not None:
                        mask &= named
            self._static_masks[cls] = mask
        return mask

    def score(self, state: "State", i: int, nodes: Ints) -> dict[str, Ints] | Status:
        """Score feasible nodes for pod i.

        Returns
        -------
        dict of plugin to int64[len(nodes)]
            Normalised and weighted, in the order of the profile; a plugin that skipped has no entry.  A
            `Status` where a plugin ended the cycle with an error.
        """
        scores: dict[str, Ints] = {}
        ready: list[tuple[ScorePlugin, Any]] = []
        for plugin in self._scores:
            data = plugin.pre_score(state, i, nodes)
            if isinstance(data, Status):
                return data
            if data is not None:
                ready.append((plugin, data))
        for plugin, data in ready:
            raw = plugin.score(data, state, i, nodes)
            scores[plugin.name] = plugin.normalize(data, raw) * self.profile.weights[plugin.name]
        return scores

    def raw_score(self, name: str, i: int, nodes: Ints) -> Ints:
        """Score nodes by one plugin that looks at nothing but the pod and the nodes, before normalisation.

        Returns
        -------
        int64[len(nodes)]
            Zeros where the profile does not score with the plugin, or where it skips.
        """
        for plugin in self._scores:
            if plugin.name == name:
                data = plugin.pre_score(cast("State", None), i, nodes)
                if data is not None and not isinstance(data, Status):
                    return plugin.score(data, cast("State", None), i, nodes)
        return np.zeros(len(nodes), dtype=np.int64)


def framework_for(cluster: "Cluster", i: int) -> Framework:
    """Return the framework of pod i's profile; `KeyError` where its schedulerName has none."""
    profile = cluster.profile(i)
    return cluster.memo(("framework", profile.scheduler_name), partial(Framework, cluster, profile))
