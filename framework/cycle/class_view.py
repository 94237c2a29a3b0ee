"""What one class of pods found on every node, kept from one cycle to the next.

Identical pods come one after another, and a cycle changes one node: what the filters and scorers say that
look at a node and its pods alone is kept by node and asked again only where something has changed. Filters
and scorers that look at pods anywhere are asked in every cycle; their cost is that of a few arrays.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ..plugins import LocalFilter, Plugin, Scope, ScorePlugin
from ..state.dirty_nodes import NEVER, DirtyNodes
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.status import Status
from .loads import Answers, Loads, Points

if TYPE_CHECKING:
    from ..state.state import State
    from ..vocabulary.profile import Profile
    from .cycle_state import CycleState

_MOST_BYTES: Final = 2**26
"""What all views of one framework may take together; the ones not used for longest go first."""

_BYTES_OF_A_NODE: Final = 17

_LAST: Final = np.iinfo(np.int64).min
"""Behind every node."""

_FEW: Final = 64
"""Up to so many nodes are looked up one by one; more are asked about at once."""


class ClassView:
    """One class of pods on every node.

    Attributes
    ----------
    order : int64[N]
        Grows with the sum of the weighted scores that do not depend on other nodes, and where that is equal
        towards the smallest name; the nodes that do not pass every filter that looks at nothing but the node
        and its pods are last.
    relative : list of ScorePlugin
        The scorers whose scores do, in the profile's order.
    error : Status or None
        What ends the cycle where there is a choice of nodes.
    """

    __slots__ = (
        "_base",
        "_base_at",
        "_by_load",
        "_fixed_open",
        "_fixed_open_at",
        "_local",
        "_moment",
        "_n_nodes",
        "_order_at",
        "_recast",
        "error",
        "order",
        "relative",
    )

    def __init__(
        self, scorers: list[ScorePlugin], profile: "Profile", cycle: "CycleState", by_name: Ints
    ) -> None:
        n_nodes = self._n_nodes = len(by_name)
        self._moment = self._recast = NEVER
        self._fixed_open: Bools = np.ones(n_nodes, dtype=np.bool_)
        self._base: Ints = np.zeros(n_nodes, dtype=np.int64)
        self._local: list[tuple[ScorePlugin, Any, int]] = []
        self.relative: list[ScorePlugin] = []
        self.error: Status | None = None
        everywhere = np.arange(n_nodes, dtype=np.int64)
        for scorer in scorers:
            self._sort_in(scorer, profile.weights[scorer.name], cycle.pod, everywhere)
        asked: list[tuple[Plugin, Any]] = [*_local_filters(cycle), *((s, data) for s, data, _ in self._local)]
        self._by_load = all(plugin.by_load(data) for plugin, data in asked)
        self._base = self._base * n_nodes + by_name
        self.order: Ints = self._base.copy()
        # Of few nodes, plain numbers are faster than arrays, and views of memory give and take them.
        self._fixed_open_at = self._fixed_open.data
        self._base_at = self._base.data
        self._order_at = self.order.data

    @property
    def open(self) -> Bools:
        """The nodes that pass every filter that looks at nothing but the node and its pods; bool[N]."""
        found: Bools = self.order != _LAST
        return found

    def _sort_in(self, plugin: ScorePlugin, weight: int, i: int, everywhere: Ints) -> None:
        """Find out what a scorer depends on; what never changes is added up here."""
        if plugin.scope is not Scope.NODE and plugin.is_relative:
            if plugin.may_prefer(i):
                self.relative.append(plugin)
            return
        unused = cast("State", None)  # nothing outside CLUSTER looks at it here
        data = plugin.pre_score(unused, i, everywhere)
        if isinstance(data, Status):
            self.error = self.error or data
        elif data is None:
            return
        elif plugin.scope is Scope.PODS:
            self._local.append((plugin, data, weight))
        else:
            raw = plugin.score(data, unused, i, everywhere)
            if plugin.is_relative and (raw != raw[0]).any():
                self.relative.append(plugin)
            else:  # scores that are equal everywhere are so among any nodes
                self._base = self._base + plugin.normalize(data, raw) * weight

    def _settle(self, cycle: "CycleState") -> None:
        """Ask the filters that look at nothing but the node."""
        passes = np.ones(len(self._fixed_open), dtype=np.bool_)
        if cycle.outside is not None:
            passes = ~cycle.outside
        for plugin, data in cycle.entries:
            if plugin.scope is Scope.NODE:
                passes &= data == 0
        self._fixed_open[:] = passes

    def _settle_some(self, cycle: "CycleState", nodes: Iterable[int]) -> None:
        """Ask them about a few nodes."""
        verdicts = [data for plugin, data in cycle.entries if plugin.scope is Scope.NODE]
        for n in nodes:
            outside = cycle.outside is not None and cycle.outside[n]
            self._fixed_open[n] = not outside and not any(data[n] for data in verdicts)

    def refresh(
        self, cls: int, cycle: "CycleState", state: "State", recast: DirtyNodes, loads: Loads
    ) -> None:
        """Ask again about the nodes that have changed since the last time.

        Parameters
        ----------
        cls : int
        cycle : CycleState
        state : State
            Which knows of nodes whose pods have changed.
        recast : DirtyNodes
            Nodes that have changed themselves.
        loads : Loads
            Where answers are looked up that depend on nothing but what nodes offer and what is taken.
        """
        dirty = state.dirty_nodes.since(self._moment)
        self._moment = state.dirty_nodes.moment
        changed = recast.since(self._recast)
        self._recast = recast.moment
        if changed is None:
            self._settle(cycle)
            dirty = None
        elif changed:
            self._settle_some(cycle, set(changed))
            dirty = None if dirty is None else [*dirty, *changed]
        if dirty is None or len(dirty) * 4 > self._n_nodes:
            few = None
        elif dirty:
            few = list(set(dirty))
        else:
            return
        if few is not None and len(few) <= _FEW and self._by_load:
            self._note(few, loads.answers(cls, state, few, lambda nodes: self._ask(cycle, state, nodes)))
            return
        nodes = np.arange(self._n_nodes, dtype=np.int64) if few is None else np.array(few, dtype=np.int64)
        passes, points = self._ask(cycle, state, nodes)
        order = self._base[nodes] + points * self._n_nodes
        self.order[nodes] = np.where(self._fixed_open[nodes] & passes, order, _LAST)

    def _ask(self, cycle: "CycleState", state: "State", nodes: Ints) -> Answers:
        """Ask the filters and scorers that look at nothing but the node and its pods."""
        passes = np.ones(len(nodes), dtype=np.bool_)
        for plugin, data in _local_filters(cycle):
            passes &= plugin.judge(data, state, cycle.pod, nodes) == 0
        points = np.zeros(len(nodes), dtype=np.int64)
        for scorer, data, weight in self._local:
            points += scorer.score(data, state, cycle.pod, nodes) * weight
        return passes, points

    def _note(self, nodes: Iterable[int], answers: Iterable[Points]) -> None:
        """Write down what a few nodes answered."""
        size = self._n_nodes
        may, base, order = self._fixed_open_at, self._base_at, self._order_at
        for n, points in zip(nodes, answers, strict=True):
            order[n] = base[n] + points * size if points is not None and may[n] else _LAST

    def points(self, nodes: Ints) -> Ints:
        """Return the sum of some open nodes' weighted scores that do not depend on other nodes; int64[K]."""
        found: Ints = self.order[nodes] // self._n_nodes
        return found

    def first(self) -> int | None:
        """Return the first of the open nodes in `order`, None where there is none."""
        n = int(self.order.argmax())
        return n if self._order_at[n] != _LAST else None

    def best(self, passed: Bools) -> int | None:
        """Return the first of some nodes (bool[N]) in `order`, None where there is none."""
        n = int(np.where(passed, self.order, _LAST).argmax())
        return n if passed[n] else None


def _local_filters(cycle: "CycleState") -> list[tuple[LocalFilter, Any]]:
    return [(plugin, data) for plugin, data in cycle.entries if isinstance(plugin, LocalFilter)]


class ClassViews:
    """The views of one framework, by class."""

    __slots__ = ("_by_name", "_loads", "_most", "_profile", "_recast", "_scorers", "_views")

    def __init__(
        self, scorers: list[ScorePlugin], profile: "Profile", name_ranks: Ints, most_bytes: int = _MOST_BYTES
    ) -> None:
        self._scorers = scorers
        self._profile = profile
        self._by_name: Ints = len(name_ranks) - 1 - name_ranks  # grows towards the smallest name
        self._views: dict[int, ClassView] = {}
        self._recast = DirtyNodes()
        self._loads = Loads()
        self._most = max(8, most_bytes // (_BYTES_OF_A_NODE * max(len(name_ranks), 1)))

    def __len__(self) -> int:
        return len(self._views)

    def recast(self, nodes: Ints) -> None:
        """Take note of nodes that have changed themselves, not only what is on them."""
        for n in nodes.tolist():
            self._recast.note(n)

    def of(self, cls: int, cycle: "CycleState", state: "State") -> ClassView | None:
        """Return the view of a class, up to date; None where its filters have to be asked in turn."""
        if cycle.rejected is not None or cycle.in_turn:
            return None
        view = self._views.pop(cls, None)
        if view is None:
            view = ClassView(self._scorers, self._profile, cycle, self._by_name)
            if len(self._views) >= self._most:
                del self._views[next(iter(self._views))]
        self._views[cls] = view
        view.refresh(cls, cycle, state, self._recast, self._loads)
        return view
