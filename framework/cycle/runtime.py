"""The scheduling framework of one profile: calls plugins at their extension points.

Source: kube-scheduler 1.34.1 framework/runtime/framework.go, schedule_one.go.
"""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..plugins import FACTORIES, FilterPlugin, Plugin, Scope, ScorePlugin, StaticFilter
from ..plugins.dynamic_resources import NOTHING_FREED, DynamicResources, FreedClaim
from ..plugins.lost_state import LostScore, without_pre_filter
from ..plugins.node_affinity import NodeAffinity
from ..state.state import NO_ALLOCATIONS
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.default_plugins import FILTER, PRE_FILTER, PRE_SCORE, SCORE
from ..vocabulary.profile import Profile
from ..vocabulary.status import SUCCESS, Code, Status
from .binding import Binding
from .class_view import ClassView, ClassViews
from .cycle_state import CycleState
from .filter_result import STATUS_OUTSIDE, FilterResult
from .node_filter import NodeFilter
from .nominated_pods import Mattering, NominatedPods
from .room_runs import RoomRunsByClass
from .settled import Settled
from .static_masks import StaticMasks
from .verdicts import OUTSIDE, PASSED

if TYPE_CHECKING:
    from ..dra.allocation import Allocation
    from ..index.cluster import Cluster
    from ..state.state import State


class Framework:
    """The plugins of one profile on one cluster.

    Attributes
    ----------
    cluster : Cluster
    profile : Profile
    room_runs : RoomRunsByClass
    """

    def __init__(self, cluster: "Cluster", profile: Profile) -> None:
        self.cluster = cluster
        self.profile = profile
        made: dict[str, Plugin] = {
            name: factory(cluster, profile.args(name))
            for name, factory in FACTORIES.items()
            if any(name in profile.points[point] for point in (PRE_FILTER, FILTER, SCORE))
        }

        def at(point: str) -> list[Plugin]:
            return [made[name] for name in profile.points[point]]

        self._pre_filters = [p for p in at(PRE_FILTER) if isinstance(p, FilterPlugin)]
        lost, unscored = profile.lost(FILTER, PRE_FILTER), profile.lost(SCORE, PRE_SCORE)
        filters = (
            p if p in self._pre_filters else without_pre_filter(cluster, p, lost=p.name in lost)
            for p in at(FILTER)
        )
        scorers = (LostScore(cluster, p.name) if p.name in unscored else p for p in at(SCORE))
        self._filters = [p for p in filters if isinstance(p, FilterPlugin)]
        self._scores = [p for p in scorers if isinstance(p, ScorePlugin)]
        self._binding = Binding(cluster, profile)
        # A plugin without PreFilter (NodeName, ...) still prepares its verdicts, after all that have one.
        self._order = [*self._pre_filters, *(p for p in self._filters if p not in self._pre_filters)]
        self._of_taints = [p for p in self._order if type(p).follow_taints is not Plugin.follow_taints]
        self._static_masks = StaticMasks(
            cluster, self._binding, self._order, self._filters, self._pre_filters
        )
        self._settled: dict[int, Settled | None] = {}
        self._last: tuple[int, int, CycleState] | None = None
        self._matters: tuple[Hashable, Mattering | None] | None = None
        self._views = ClassViews(self._scores, profile, cluster.name_ranks)
        self.room_runs = RoomRunsByClass()

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
        alike = self.cluster.pods[i].but_claims
        settled = self._settled[alike] if alike in self._settled else self._settle(state, i)
        order = self._order
        if settled is not None:
            cycle.outside, order = settled.outside, settled.moving
        learnt: dict[str, Any] = {}
        for plugin in order:
            data = plugin.pre_filter(state, i)
            if isinstance(data, Status):
                cycle.rejected = data
                if data.code in (Code.UNRESOLVABLE, Code.ERROR):
                    break
            elif data is not None:
                learnt[plugin.name] = data
        if settled is not None:
            cycle.entries, cycle.in_turn = settled.with_data(learnt)
        else:
            cycle.entries = [
                (plugin, learnt[plugin.name]) for plugin in self._filters if plugin.name in learnt
            ]
            cycle.in_turn = any(plugin.in_turn for plugin, _ in cycle.entries)
        self._last = (state.version, cls, cycle)
        return cycle

    def _settle(self, state: "State", i: int) -> Settled | None:
        """Run the PreFilter that never changes, once for pods alike; None where it refuses the pod.

        A refusal is reported in its turn: another plugin's may come first. Claims are never settled.
        """
        cls = self.cluster.pods[i].but_claims
        settled = [plugin for plugin in self._order if plugin.is_settled(i)]
        found = {plugin.name: plugin.pre_filter(state, i) for plugin in settled}
        if any(isinstance(data, Status) for data in found.values()):
            self._settled[cls] = None
        else:
            affinity = [p for p in self._pre_filters if isinstance(p, NodeAffinity)]
            named = affinity[0].nodes(i) if affinity and found[affinity[0].name] is not None else None
            learnt = {name: data for name, data in found.items() if data is not None}
            moving = [plugin for plugin in self._order if plugin not in settled]
            outside = None if named is None else ~named
            self._settled[cls] = Settled(self._filters, outside, learnt, moving)
        return self._settled[cls]

    def filter_all(
        self, state: "State", i: int, *, nominated: bool = False, within: Bools | None = None
    ) -> FilterResult:
        """Filter every node for pod i.

        Parameters
        ----------
        state : State
        i : int
        nominated : bool
            Whether nodes to which pods of no lower priority are nominated must take the pod with and without
            them.
        within : bool[N], optional
            The nodes whose verdicts matter: filters that ask node by node leave the others out.
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
                found = plugin.filter_passed(data, state, i, passed if within is None else passed & within)
                new = (found != 0) & passed
                if new.any():
                    by[new] = k
                    verdicts[new] = found[new]
        if not (nominated and state.nominated and cycle.rejected is None):
            return FilterResult(cycle, state, by, verdicts)
        nominated_pods = NominatedPods(state, i, cycle, self.matters(cycle))
        left = nominated_pods.reject(state, by, verdicts)
        result = FilterResult(cycle, state, by, verdicts, nominated_pods)
        for n in left.tolist():
            status = NodeFilter(self.cluster, state, cycle, n).run(state.nominations.beside(i, n))
            if not status.ok:
                result.override(n, status)
        return result

    def filter_node(self, state: "State", i: int, n: int) -> Status:
        """Whether pod i may be bound to one node now: Filter without nominations, Reserve, PreBind.

        The filters' rules count, not what a search of upstream's fails to find (`FilterPlugin.permits`).
        """
        cycle = self.pre_filter(state, i)
        if cycle.rejected is not None:
            return cycle.rejected
        if cycle.outside is not None and cycle.outside[n]:
            return STATUS_OUTSIDE
        for plugin, data in cycle.entries:
            if isinstance(plugin, StaticFilter) and not data[n]:
                continue
            fork = plugin.fork(data, state, i, n)
            verdict = plugin.permits(fork)
            if verdict:
                return plugin.status(fork, verdict)
        return self._binding.refusal(state, i) or SUCCESS

    def bindable(self, state: "State", i: int, *, nominated: bool = False) -> Ints:
        """Return the nodes to which pod i may be bound now; `nominated` as in `filter_all`."""
        if self._binding.refusal(state, i) is not None:
            return np.zeros(0, dtype=np.int64)
        return self.filter_all(state, i, nominated=nominated).feasible

    def binding_error(self, state: "State", i: int) -> Status | None:
        """Return the error of Reserve or PreBind for pod i, whatever node it was to go to; None for none."""
        return self._binding.refusal(state, i)

    def filter_nominated(self, state: "State", i: int, n: int) -> Status:
        """Filter one node for pod i with the pods nominated to it, and without them."""
        cycle = self.pre_filter(state, i)
        if cycle.rejected is not None:
            return cycle.rejected
        return NodeFilter(self.cluster, state, cycle, n).run(state.nominations.beside(i, n))

    def reserve(self, state: "State", i: int, n: int) -> Mapping[str, "Allocation"]:
        """Run Reserve: return what pod i brings along when it is placed on node n (`State.place`)."""
        if state.claims is None:
            return NO_ALLOCATIONS
        for plugin, data in self.pre_filter(state, i).entries:
            if isinstance(plugin, DynamicResources):
                return plugin.reserve(data, state, i, n)
        return NO_ALLOCATIONS

    def free_claim(self, state: "State", i: int, result: FilterResult) -> FreedClaim:
        """Run DynamicResources' PostFilter: return the claim of pod i to be allocated anew, if any."""
        for plugin, data in result.cycle.entries:
            if isinstance(plugin, DynamicResources):
                return plugin.post_filter(data, state, i, result.rejected_by(plugin.name))
        return NOTHING_FREED

    def matters(self, cycle: CycleState) -> Mattering | None:
        """Return which pods matter to a filter other than NodeResourcesFit; shared, None for none.

        It is the same for every pod of a class wherever pods are, as long as the same filters are asked.
        """
        key = (self.cluster.pods[cycle.pod].cls, *(plugin.name for plugin, _ in cycle.entries))
        if self._matters is None or self._matters[0] != key:
            self._matters = (key, Mattering.of(cycle))
        return self._matters[1]

    def view(self, state: "State", i: int) -> ClassView | None:
        """Return what pod i's class knows of every node; None where its filters are asked in turn."""
        return self._views.of(self.cluster.pods[i].cls, self.pre_filter(state, i), state)

    def passing(self, view: ClassView, state: "State", i: int, within: Bools | None) -> Ints:
        """Return the nodes that pass all filters, in input order; `passed` as numbers."""
        return np.flatnonzero(self.passed(view, state, i, within))

    def passed(self, view: ClassView, state: "State", i: int, within: Bools | None) -> Bools:
        """Return which nodes pass all filters, as `filter_all` with nominations has them; bool[N].

        Parameters
        ----------
        view : ClassView
            Of pod i's class in this state.
        state : State
        i : int
        within : bool[N] or None
            The nodes to look at; None for all.
        """
        cycle = self.pre_filter(state, i)
        passed = view.open if within is None else view.open & within
        for plugin, data in cycle.entries:
            if plugin.scope is Scope.CLUSTER:
                passed = passed & plugin.passing(data, state, i)
        if state.nominated and passed.any():
            nominated_pods = NominatedPods(state, i, cycle, self.matters(cycle))
            passed = passed.copy()
            passed[nominated_pods.full(state, passed)] = False
            judged = nominated_pods.judge_mixed(state)
            if judged is not None:
                passed[nominated_pods.mixed[judged.by != PASSED]] = False
                return passed
            for n in nominated_pods.mixed[passed[nominated_pods.mixed]].tolist():
                beside = state.nominations.beside(i, n)
                passed[n] = NodeFilter(self.cluster, state, cycle, n).passes(beside)
        return passed

    def first(self, view: ClassView, state: "State", i: int) -> int | None:
        """Return the node that comes first in a view's order if pod i passes there; None for not known.

        Of the filters that look at pods anywhere no more is asked than about this node.
        """
        if state.nominated:
            return None
        n = view.first()
        if n is None:
            return None
        for plugin, data in self.pre_filter(state, i).entries:
            if plugin.scope is Scope.CLUSTER and plugin.check(plugin.fork(data, state, i, n)):
                return None
        return n

    def totals(self, view: ClassView, state: "State", i: int, nodes: Ints) -> Ints | Status:
        """Add up the scores of feasible nodes; int64[len(nodes)], as those of `score`.

        Parameters
        ----------
        view : ClassView
            Of pod i's class in this state.
        state : State
        i : int
        nodes : int64[K]
        """
        if view.error is not None:
            return view.error
        total: Ints = view.points(nodes)
        for plugin in view.relative:
            data = plugin.pre_score(state, i, nodes)
            if isinstance(data, Status):
                return data
            if data is not None:
                raw = plugin.score(data, state, i, nodes)
                total += plugin.normalize(data, raw) * self.profile.weights[plugin.name]
        return total

    def follow_taints(self, nodes: Ints) -> None:
        """Judge anew what hard taints and cordons decide on; they have changed on some nodes.

        Soft taints are the same as before, and no spread constraint counts nodes by their taints.
        """
        for plugin in self._of_taints:
            plugin.follow_taints(nodes)
        self._static_masks.forget()
        self._last = None
        self._views.recast(nodes)

    def forget_pods(self) -> None:
        """Forget what was kept by pod: there are more of them, of the same classes."""
        self._last = self._matters = None

    def static_mask(self, i: int) -> Bools:
        """Return where pod i passes the filters that do not depend on other pods; bool[N], shared."""
        return self._static_masks.of(i)

    def score(self, state: "State", i: int, nodes: Ints) -> dict[str, Ints] | Status:
        """Score feasible nodes for pod i.

        Returns
        -------
        dict of plugin to int64[len(nodes)]
            Normalised and weighted, in the order of the profile; a plugin that skipped has no entry. A
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
