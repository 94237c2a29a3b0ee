"""What differs between the releases of kube-scheduler that are rebuilt, one object for each.

A rule that changed is a field here, and the plugin that follows it reads the field; no plugin compares
versions.

Sources: kube-scheduler 1.34.1, 1.36.2 and 1.37 (apis/config/v1/default_plugins.go, kube_features.go and the
plugins' own files).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

from ...models.kube_version import KubeVersion
from . import names
from .default_plugins import PLUGINS, SCORE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .registry import PluginEntry


class BalancedAllocation(Enum):
    """What NodeResourcesBalancedAllocation scores."""

    SHARES = "how even the node's shares are with the pod there"
    CHANGE = "how much evener the pod makes them, 50 to 100"


@dataclass(frozen=True, kw_only=True)
class Release:
    """A release of kube-scheduler.

    Attributes
    ----------
    version : KubeVersion
    untolerated_taint : str
        TaintToleration's reason; `{key}` and `{value}` stand for the taint.
    balanced_allocation : BalancedAllocation
    incomplete_pools : bool
        Whether devices are allocated from a pool of which slices are missing.
    composite_pod_groups : bool
        Whether trees of pod groups are served; where not, PodGroups are scheduled without their parents.
    absent : frozenset of str
        Plugins that came later.
    absent_points : mapping
        Plugin to the extension points that it got later.
    """

    version: KubeVersion
    untolerated_taint: str
    balanced_allocation: BalancedAllocation
    incomplete_pools: bool
    composite_pod_groups: bool = False
    absent: frozenset[str] = frozenset()
    absent_points: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def plugins(self) -> dict[str, PluginEntry]:
        """The default profile's plugins in upstream's order."""
        found: dict[str, PluginEntry] = {}
        for name, entry in PLUGINS.items():
            if name in self.absent:
                continue
            points = entry.points - self.absent_points.get(name, frozenset())
            found[name] = entry._replace(points=points, weight=entry.weight if SCORE in points else 0)
        return found


_V1_36 = Release(
    version=KubeVersion.V1_36,
    untolerated_taint="node(s) had untolerated taint(s)",
    balanced_allocation=BalancedAllocation.CHANGE,
    incomplete_pools=False,
)

RELEASES: Final[Mapping[KubeVersion, Release]] = {
    KubeVersion.V1_34: Release(
        version=KubeVersion.V1_34,
        untolerated_taint="node(s) had untolerated taint {{{key}: {value}}}",
        balanced_allocation=BalancedAllocation.SHARES,
        incomplete_pools=True,
        absent_points={names.DYNAMIC_RESOURCES: frozenset({SCORE})},
    ),
    KubeVersion.V1_36: _V1_36,
    KubeVersion.V1_37: replace(_V1_36, version=KubeVersion.V1_37, composite_pod_groups=True),
}
"""Every release that is known, oldest first."""
