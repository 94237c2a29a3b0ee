"""The plugins of the default profile and their extension points: the one registry.

Source: kube-scheduler apis/config/v1/default_plugins.go and the plugins' own files.
"""

from __future__ import annotations

from typing import Final

from . import names
from .registry import PluginEntry, by_name, check_points

PRE_ENQUEUE: Final = "pre_enqueue"
QUEUE_SORT: Final = "queue_sort"
PRE_FILTER: Final = "pre_filter"
FILTER: Final = "filter"
POST_FILTER: Final = "post_filter"
PRE_SCORE: Final = "pre_score"
SCORE: Final = "score"
RESERVE: Final = "reserve"
PERMIT: Final = "permit"
PRE_BIND: Final = "pre_bind"
BIND: Final = "bind"
POST_BIND: Final = "post_bind"

POINTS: Final = (
    PRE_ENQUEUE,
    QUEUE_SORT,
    PRE_FILTER,
    FILTER,
    POST_FILTER,
    PRE_SCORE,
    SCORE,
    RESERVE,
    PERMIT,
    PRE_BIND,
    BIND,
    POST_BIND,
)

PLUGINS: Final[dict[str, PluginEntry]] = by_name(
    "PLUGINS",
    (
        PluginEntry(names.SCHEDULING_GATES, frozenset({PRE_ENQUEUE}), hints=True),
        PluginEntry(names.PRIORITY_SORT, frozenset({QUEUE_SORT}), hints=False),
        PluginEntry(names.NODE_UNSCHEDULABLE, frozenset({FILTER}), hints=True),
        PluginEntry(names.NODE_NAME, frozenset({FILTER}), hints=True),
        PluginEntry(names.TAINT_TOLERATION, frozenset({FILTER, PRE_SCORE, SCORE}), hints=True, weight=3),
        PluginEntry(
            names.NODE_AFFINITY,
            frozenset({PRE_FILTER, FILTER, PRE_SCORE, SCORE}),
            hints=True,
            weight=2,
            stateless=frozenset({FILTER, SCORE}),
        ),
        PluginEntry(names.NODE_PORTS, frozenset({PRE_FILTER, FILTER}), hints=True),
        PluginEntry(
            names.NODE_RESOURCES_FIT,
            frozenset({PRE_FILTER, FILTER, PRE_SCORE, SCORE}),
            hints=True,
            weight=1,
            stateless=frozenset({SCORE}),
        ),
        PluginEntry(names.VOLUME_RESTRICTIONS, frozenset({PRE_FILTER, FILTER}), hints=True),
        PluginEntry(
            names.NODE_VOLUME_LIMITS,
            frozenset({PRE_FILTER, FILTER}),
            hints=True,
            stateless=frozenset({FILTER}),
        ),
        PluginEntry(
            names.VOLUME_BINDING,
            frozenset({PRE_FILTER, FILTER, PRE_SCORE, SCORE, RESERVE, PRE_BIND}),
            hints=True,
            stateless=frozenset({SCORE}),
            idle=frozenset({PRE_SCORE, SCORE}),
        ),
        PluginEntry(
            names.VOLUME_ZONE, frozenset({PRE_FILTER, FILTER}), hints=True, stateless=frozenset({FILTER})
        ),
        PluginEntry(
            names.POD_TOPOLOGY_SPREAD, frozenset({PRE_FILTER, FILTER, PRE_SCORE, SCORE}), hints=True, weight=2
        ),
        PluginEntry(
            names.INTER_POD_AFFINITY, frozenset({PRE_FILTER, FILTER, PRE_SCORE, SCORE}), hints=True, weight=2
        ),
        PluginEntry(
            names.DYNAMIC_RESOURCES,
            frozenset({PRE_ENQUEUE, PRE_FILTER, FILTER, POST_FILTER, SCORE, RESERVE, PRE_BIND}),
            hints=True,
            weight=2,
            gate="DynamicResourceAllocation",
        ),
        PluginEntry(names.DEFAULT_PREEMPTION, frozenset({PRE_ENQUEUE, POST_FILTER}), hints=True),
        PluginEntry(
            names.BALANCED_ALLOCATION,
            frozenset({PRE_SCORE, SCORE}),
            hints=False,
            weight=1,
            stateless=frozenset({SCORE}),
        ),
        PluginEntry(names.IMAGE_LOCALITY, frozenset({SCORE}), hints=False, weight=1),
        PluginEntry(names.DEFAULT_BINDER, frozenset({BIND}), hints=False),
        PluginEntry(
            names.NODE_DECLARED_FEATURES,
            frozenset({PRE_FILTER, FILTER}),
            hints=True,
            gate="NodeDeclaredFeatures",
        ),
    ),
)
"""Every in-tree plugin in upstream's order: the one registry, with which all other tables must agree."""

check_points(PLUGINS.values(), POINTS)


def spelled(point: str) -> str:
    """Return an extension point as a configuration spells it."""
    first, *rest = point.split("_")
    return first + "".join(map(str.capitalize, rest))
