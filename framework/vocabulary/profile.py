"""Profiles: which plugins are called at which extension point, in which order, with which weight.

Sources: kube-scheduler 1.34.1 apis/config/v1/default_plugins.go (mergePluginSet),
framework/runtime/framework.go (expandMultiPointPlugins, getScoreWeights).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...models.config import (
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginArgs,
    PluginRef,
    PluginSet,
)
from ...models.errors import KubestowError
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

_MULTI_POINT: Final = "multi_point"

_POINTS: Final = (
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
            frozenset({PRE_ENQUEUE, PRE_FILTER, FILTER, POST_FILTER, RESERVE, PRE_BIND}),
            hints=True,
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
    ),
)
"""Every in-tree plugin in upstream's order: the one registry, with which all other tables must agree."""

check_points(PLUGINS.values(), _POINTS)


@dataclass(frozen=True)
class Profile:
    """One scheduler of a configuration, with its plugins expanded.

    Attributes
    ----------
    scheduler_name : str
        The pods' `schedulerName` that it answers to.
    points : mapping
        Extension point to the names of its plugins, in the order in which they are called.
    weights : mapping
        Score plugin to its weight.
    """

    scheduler_name: str
    points: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, int]
    configured: KubeSchedulerProfile

    def filters(self, plugin: str) -> bool:
        """Say whether a plugin takes part in filtering."""
        return plugin in self.points[FILTER]

    def scores(self, plugin: str) -> bool:
        """Say whether a plugin takes part in scoring."""
        return plugin in self.points[SCORE]

    def lost(self, late: str, early: str) -> frozenset[str]:
        """Return the plugins that fail at one point because they are not called at an earlier one.

        They look for what they would have written down there, and every attempt that comes so far ends in an
        error.
        """
        return frozenset(
            name
            for name in self.points[late]
            if early in PLUGINS[name].points
            and name not in self.points[early]
            and late not in PLUGINS[name].stateless
        )

    def calls(self, plugin: str, *points: str) -> bool:
        """Say whether a plugin is called at all of these points."""
        return all(plugin in self.points[point] for point in points)

    @property
    def preempts(self) -> bool:
        """Whether PostFilter comes as far as looking for victims.

        A DynamicResources that comes before, and whose PreFilter never ran, ends it in an error.
        """
        order = self.points[POST_FILTER]
        if names.DEFAULT_PREEMPTION not in order:
            return False
        before = order[: order.index(names.DEFAULT_PREEMPTION)]
        return names.DYNAMIC_RESOURCES not in before or self.calls(names.DYNAMIC_RESOURCES, PRE_FILTER)

    @property
    def binds_volumes(self) -> bool:
        """Whether a pod that is placed takes volumes for its claims: Reserve assumes what Filter found."""
        return self.calls(names.VOLUME_BINDING, PRE_FILTER, FILTER, RESERVE)

    @property
    def looks_at_devices(self) -> bool:
        """Whether devices have a say in where a pod can go."""
        return self.calls(names.DYNAMIC_RESOURCES, PRE_FILTER, FILTER)

    @property
    def follows_claims(self) -> bool:
        """Whether a pod can only be bound where others have had its claims allocated, on whatever node."""
        devices = names.DYNAMIC_RESOURCES
        bound = self.calls(devices, RESERVE) or self.calls(devices, PRE_BIND)
        return bound and self.calls(devices, PRE_FILTER) and not self.calls(devices, FILTER)

    @property
    def reserves_claims(self) -> bool:
        """Whether a pod that is placed is written down as a consumer of its resource claims."""
        return self.calls(names.DYNAMIC_RESOURCES, PRE_FILTER, PRE_BIND)

    @property
    def frees_claims(self) -> bool:
        """Whether a claim that keeps a pod away may lose its devices: PostFilter frees what Filter blamed."""
        return self.looks_at_devices and self.calls(names.DYNAMIC_RESOURCES, POST_FILTER)

    @property
    def rejectors(self) -> tuple[str, ...]:
        """The plugins that can reject a pod, in the order in which they are called."""
        return tuple(dict.fromkeys((*self.points[FILTER], *self.points[PRE_FILTER])))

    def args(self, plugin: str) -> PluginArgs:
        """Return a plugin's arguments, upstream's defaults where none are configured."""
        return self.configured.args(plugin)


def _merge(defaults: Sequence[PluginRef], custom: PluginSet) -> list[PluginRef]:
    """Apply a profile's set to the defaults: a plugin named again keeps its place, a new one comes last."""
    disabled = {ref.name for ref in custom.disabled}
    again = {ref.name: ref for ref in custom.enabled}
    kept = [] if "*" in disabled else [ref for ref in defaults if ref.name not in disabled]
    merged = [again.get(ref.name, ref) for ref in kept]
    replaced = {ref.name for ref in merged}
    return merged + [ref for ref in custom.enabled if ref.name not in replaced]


def _expand(point: str, specific: PluginSet, multi: Sequence[PluginRef]) -> tuple[str, ...]:
    """List the plugins of one extension point: overrides first, then multiPoint's, then the rest."""
    enabled = list(dict.fromkeys(ref.name for ref in specific.enabled))
    disabled = {ref.name for ref in specific.disabled}
    if "*" in disabled:
        return tuple(enabled)
    from_multi = [r.name for r in multi if point in PLUGINS[r.name].points and r.name not in disabled]
    overrides = [name for name in enabled if name in from_multi]
    plain = [name for name in from_multi if name not in overrides]
    return (*overrides, *plain, *(name for name in enabled if name not in overrides))


def spelled(point: str) -> str:
    """Return an extension point as a configuration spells it."""
    first, *rest = point.split("_")
    return first + "".join(map(str.capitalize, rest))


def _check(profile: KubeSchedulerProfile, refs: Iterable[tuple[str, PluginRef]]) -> None:
    seen: set[tuple[str, str]] = set()
    for point, ref in refs:
        where = f"KubeSchedulerConfiguration: profile {profile.scheduler_name}: plugins.{spelled(point)}"
        if ref.name not in PLUGINS:
            known = ", ".join(PLUGINS)
            raise KubestowError(f"{where}: plugin {ref.name!r} is not known; known are {known}")
        if point != _MULTI_POINT and point not in PLUGINS[ref.name].points:
            points = ", ".join(spelled(own) for own in _POINTS if own in PLUGINS[ref.name].points)
            raise KubestowError(
                f"{where}: plugin {ref.name} has no extension point {spelled(point)!r}; it has {points}"
            )
        if (point, ref.name) in seen:
            raise KubestowError(f"{where}.enabled: plugin {ref.name} is there twice; once is enough")
        seen.add((point, ref.name))


def expand(profile: KubeSchedulerProfile, *, devices: bool = True) -> Profile:
    """Expand a configured profile.

    Parameters
    ----------
    profile : KubeSchedulerProfile
    devices : bool
        Whether DynamicResources is among the defaults (gate DynamicResourceAllocation).

    Raises
    ------
    KubestowError
        For a plugin that is not known or has no such extension point, and where nothing sorts or binds:
        kube-scheduler does not start with such a profile.
    """
    plugins = profile.plugins
    sets: dict[str, PluginSet] = {point: getattr(plugins, point) for point in _POINTS}
    sets[_MULTI_POINT] = plugins.multi_point
    _check(profile, ((point, ref) for point, chosen in sets.items() for ref in chosen.enabled))
    defaults = [
        PluginRef(name=entry.name, weight=entry.weight)
        for entry in PLUGINS.values()
        if devices or entry.name != names.DYNAMIC_RESOURCES
    ]
    multi = _merge(defaults, plugins.multi_point)
    points = {point: _expand(point, sets[point], multi) for point in _POINTS}
    where = f"KubeSchedulerConfiguration: profile {profile.scheduler_name}"
    if points[QUEUE_SORT] != (names.PRIORITY_SORT,):
        raise KubestowError(f"{where}: plugins.queueSort: exactly {names.PRIORITY_SORT} must be enabled")
    if not points[BIND]:
        raise KubestowError(f"{where}: plugins.bind: {names.DEFAULT_BINDER} must be enabled")
    weights: dict[str, int] = {}
    for ref in (*plugins.score.enabled, *multi):
        if SCORE in PLUGINS[ref.name].points:
            weights.setdefault(ref.name, ref.weight or 1)
    return Profile(
        scheduler_name=profile.scheduler_name,
        points=points,
        weights={name: weights.get(name, 1) for name in points[SCORE]},
        configured=profile,
    )


def profiles_of(
    configuration: KubeSchedulerConfiguration | None, *, devices: bool, file: str = ""
) -> dict[str, Profile]:
    """Return all profiles of a configuration by schedulerName; one default profile where there is none.

    `file` is where the configuration was read, for what is wrong with it.
    """
    configured = (configuration or KubeSchedulerConfiguration()).profiles
    try:
        return {profile.scheduler_name: expand(profile, devices=devices) for profile in configured}
    except KubestowError as fault:
        raise KubestowError(f"{file}: {fault}" if file else str(fault)) from None
