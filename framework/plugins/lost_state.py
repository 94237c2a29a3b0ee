"""Plugins that are switched off at one extension point and called at a later one.

Most look there for what they would have written down before, find nothing, and fail: the attempt ends in an
error on the first node, or with the first score, that comes so far.  Those that work it out again speak of
nodes where their PreFilter would have refused the pod.

Source: kube-scheduler 1.34.1 plugins/*, and framework/runtime/framework.go for the texts around the errors.
"""

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from ...models.config import PluginArgs
from ..index.missing import Missing
from ..vocabulary import names
from ..vocabulary.arrays import Ints
from ..vocabulary.default_plugins import PRE_FILTER
from ..vocabulary.status import Code, Status
from .base import Plugin, Scope, ScorePlugin, StaticFilter, Verdicts
from .node_affinity import NodeAffinity

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


_PLAIN: Final = frozenset({names.VOLUME_BINDING, names.DYNAMIC_RESOURCES})
"""They add nothing to what the cycle state says."""

_VERBS: Final = {names.TAINT_TOLERATION: "failed to read", names.INTER_POD_AFFINITY: "failed to read"}
"""How a scorer's text begins where it is not `error reading`."""

NOT_FOUND: Final = "not found"


class LostFilter(StaticFilter):
    """A filter without its PreFilter: every node that comes so far ends the attempt in an error."""

    codes: ClassVar[tuple[Code, ...]] = (Code.SUCCESS, Code.ERROR)

    def __init__(self, cluster: "Cluster", name: str) -> None:
        super().__init__(cluster, PluginArgs())
        self.name = name  # type: ignore[misc]  # it stands for a plugin
        self._everywhere: Verdicts = np.ones(cluster.n_nodes, dtype=np.uint8)

    def verdicts(self, i: int) -> Verdicts:
        """Fail on every node."""
        return self._everywhere

    def explain(self, i: int, n: int, verdict: int) -> tuple[str, ...]:
        """Say what is missing."""
        if self.name in _PLAIN:
            return (NOT_FOUND,)
        return (f'error reading "PreFilter{self.name}" from cycleState: {NOT_FOUND}',)


class NodeByNode(StaticFilter):
    """A filter without its PreFilter that looks again: instead of the pod every node is rejected."""

    def __init__(self, plugin: StaticFilter) -> None:
        super().__init__(plugin.cluster, PluginArgs())
        self.name, self.codes = plugin.name, plugin.codes  # type: ignore[misc]  # it stands for the plugin
        self._plugin = plugin

    def verdicts(self, i: int) -> Verdicts | None:
        """Judge every node, all alike where PreFilter would refuse the pod."""
        found = self._plugin.verdicts(i)
        return np.ones(self.cluster.n_nodes, dtype=np.uint8) if isinstance(found, Status) else found

    def explain(self, i: int, n: int, verdict: int) -> tuple[str, ...]:
        """Say what the plugin says of the node, or of the pod."""
        found = self._plugin.verdicts(i)
        if isinstance(found, Status) and not isinstance(self._plugin, NodeAffinity):
            return found.reasons
        return self._plugin.explain(i, n, verdict)

    def lacking(self, i: int, n: int, verdict: int) -> tuple[Missing, ...]:
        """Say what the plugin says of the node."""
        found = self._plugin.verdicts(i)
        return () if isinstance(found, Status) else self._plugin.lacking(i, n, verdict)


class LostScore(ScorePlugin):
    """A scorer without its PreScore: where there is a choice of nodes the attempt ends in an error."""

    scope: ClassVar[Scope] = Scope.NODE

    def __init__(self, cluster: "Cluster", name: str) -> None:
        super().__init__(cluster, PluginArgs())
        self.name = name  # type: ignore[misc]  # it stands for a plugin

    def pre_score(self, state: "State", i: int, nodes: Ints) -> Any:
        """Fail."""
        verb = _VERBS.get(self.name, "error reading")
        text = f'{verb} "PreScore{self.name}" from cycleState: {NOT_FOUND}'
        text = f'running Score plugins: plugin "{self.name}" failed with: {text}'
        return Status(Code.ERROR, self.name, (text,))


def without_pre_filter(cluster: "Cluster", plugin: Plugin, *, lost: bool) -> Plugin:
    """Return what stands for a filter whose PreFilter is not called; `lost` says whether it fails then."""
    if lost:
        return LostFilter(cluster, plugin.name)
    has_one = PRE_FILTER in cluster.release.plugins[plugin.name].points
    return NodeByNode(plugin) if has_one and isinstance(plugin, StaticFilter) else plugin
