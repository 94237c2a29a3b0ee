"""What one class of pods found on every node, kept from one cycle to the next.

Identical pods come one after another, and a cycle changes one node: what the filters and scorers say that
look at a node and its pods alone is kept by node and asked again only where something has changed. Filters
and scorers that look at pods anywhere are asked in every cycle; their cost is that of a few arrays.
"""

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ..plugins import LocalFilter, Plugin, Scope, ScorePlugin
from ..plugins.base import Nodes
from ..state.dirty_nodes import NEVER, DirtyNodes
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.status import Status
from .loads import Answers, Loads

if TYPE_CHECKING:
    from ..state.state import State
    from ..vocabulary.profile import Profile
    from .cycle_state import CycleState

_MOST_BYTES: Final = 2**26
"""What all views of one framework may take together; the ones not used for longest go first."""

_BYTES_OF_A_NODE: Final = 18

_FEW: Final = 64
"""Up to so many nodes are looked up one by one; more are asked about at once."""


class ClassView:
    """One class of pods on every node.

    Attributes
    ----------
    open : bool[N]
        The nodes that pass every filter that looks at nothing but the node and its pods.
    points : int64[N]
        The sum of the weighted scores that do not depend on other nodes.
    relative : list of ScorePlugin
        The scorers whose scores do, in the profile's order.
    error : Status or None
        What ends the cycle where there is a choice of nodes.
    """

    __slots__ = (
        "_fixed",
        "_fixed_open",
        "_local",
        "_moment",
        "_recast",
        "error",
        "open",
        "points",
        "relative",
    )

    def __init__(
        self, scorers: list[ScorePlugin], profile: "Profile", cycle: "CycleState", n_nodes: int
    ) -> None:
        self._moment = self._recast = NEVER
        self._fixed_open: Bools = np.ones(n_nodes, dtype=np.bool_)
        self._fixed: Ints = np.zeros(n_nodes, dtype=np.int64)
        self._local: list[tuple[ScorePlugin, Any, int]] = []
        self.relative: list[ScorePlugin] = []
        self.error: Status | None = None
        everywhere = np.arange(n_nodes, dtype=np.int64)
        for scorer in scorers:
            self._sort_in(scorer, profile.weights[scorer.name], cycle.pod, everywhere)
        self.open: Bools = self._fixed_open
        self.points: Ints = self._fixed

    def _sort_in(self, plugin: ScorePlugin, weight: int, i: int, everywhere: Ints) -> None:
        """Find out what a scorer depends on; what never changes is added up here."""
        if plugin.scope is not Scope.NODE and plugin.is_relative:
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
                self._fixed = self._fixed + plugin.normalize(data, raw) * weight

    def _settle(self, cycle: "CycleState", nodes: Nodes) -> None:
        """Ask the filters that look at nothing but the node."""
        passes = np.ones(len(self._fixed_open[nodes]), dtype=np.bool_)
        if cycle.outside is not None:
            passes = ~cycle.outside[nodes]
        for plugin, data in cycle.entries:
            if plugin.scope is Scope.NODE:
                passes &= data[nodes] == 0
        self._fixed_open[nodes] = passes

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
            self._settle(cycle, slice(None))
            dirty = None
        elif changed:
            self._settle(cycle, np.array(sorted(set(changed)), dtype=np.int64))
            dirty = None if dirty is None else [*dirty, *changed]
        if dirty is None or len(dirty) * 4 > len(self._fixed):
            self.open, self.points = self._fixed_open.copy(), self._fixed.copy()
            nodes = np.arange(len(self._fixed), dtype=np.int64)
        elif dirty:
            nodes = np.array(sorted(set(dirty)), dtype=np.int64)
        else:
            return
        filters = [(plugin, data) for plugin, data in cycle.entries if isinstance(plugin, LocalFilter)]

        def ask(these: Ints) -> Answers:
            passes = np.ones(len(these), dtype=np.bool_)
            for plugin, data in filters:
                passes &= plugin.judge(data, state, cycle.pod, these) == 0
            points = np.zeros(len(these), dtype=np.int64)
            for scorer, data, weight in self._local:
                points += scorer.score(data, state, cycle.pod, these) * weight
            return passes, points

        asked: list[tuple[Plugin, Any]] = [*filters, *((scorer, data) for scorer, data, _ in self._local)]
        by_load = len(nodes) <= _FEW and all(plugin.by_load(data) for plugin, data in asked)
        passes, points = loads.answers(cls, state, nodes, ask) if by_load else ask(nodes)
        self.open[nodes] = self._fixed_open[nodes] & passes
        self.points[nodes] = self._fixed[nodes] + points


class ClassViews:
    """The views of one framework, by class."""

    __slots__ = ("_loads", "_most", "_n_nodes", "_profile", "_recast", "_scorers", "_views")

    def __init__(
        self, scorers: list[ScorePlugin], profile: "Profile", n_nodes: int, most_bytes: int = _MOST_BYTES
    ) -> None:
        self._scorers = scorers
        self._profile = profile
        self._n_nodes = n_nodes
        self._views: dict[int, ClassView] = {}
        self._recast = DirtyNodes()
        self._loads = Loads()
        self._most = max(8, most_bytes // (_BYTES_OF_A_NODE * max(n_nodes, 1)))

    def __len__(self) -> int:
        return len(self._views)

    def recast(self, nodes: Ints) -> None:
        """Take note of nodes that have changed themselves, not only what is on them."""
        for n in nodes.tolist():
            self._recast.note(n)

    def of(self, cls: int, cycle: "CycleState", state: "State") -> ClassView | None:
        """Return the view of a class, up to date; None where its filters have to be asked in turn."""
        if cycle.rejected is not None or any(plugin.in_turn for plugin, _ in cycle.entries):
            return None
        view = self._views.pop(cls, None)
        if view is None:
            view = ClassView(self._scorers, self._profile, cycle, self._n_nodes)
            if len(self._views) >= self._most:
                del self._views[next(iter(self._views))]
        self._views[cls] = view
        view.refresh(cls, cycle, state, self._recast, self._loads)
        return view
