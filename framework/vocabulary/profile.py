"""Profiles: which plugins are called at which extension point, in which order, with which weight.

Sources: kube-scheduler 1.34.1 apis/config/v1/default_plugins.go (mergePluginSet),
framework/runtime/framework.go (expandMultiPointPlugins, getScoreWeights).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from ...models.config import (
    GangSchedulingArgs,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginArgs,
    PluginRef,
    PluginSet,
)
from ...models.errors import KubestowError
from ...models.features import FeatureGates
from . import names
from .default_plugins import (
    BIND,
    FILTER,
    POINTS,
    POST_FILTER,
    PRE_BIND,
    PRE_FILTER,
    QUEUE_SORT,
    RESERVE,
    SCORE,
    spelled,
)
from .registry import PluginEntry
from .releases import Release
from .workload_cycles import PROPOSAL, WorkloadCycle

_MULTI_POINT: Final = "multi_point"


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
    plugins : mapping
        The release's plugins by name, those among them that the profile does not call.
    workload_cycle : WorkloadCycle
        How the groups of its pods are scheduled.
    """

    scheduler_name: str
    points: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, int]
    plugins: Mapping[str, PluginEntry]
    workload_cycle: WorkloadCycle
    configured: KubeSchedulerProfile

    def filters(self, plugin: str) -> bool:
        """Whether a plugin takes part in filtering."""
        return plugin in self.points[FILTER]

    def scores(self, plugin: str) -> bool:
        """Whether a plugin takes part in scoring."""
        return plugin in self.points[SCORE]

    def lost(self, late: str, early: str) -> frozenset[str]:
        """Return the plugins that fail at one point because they are not called at an earlier one.

        They look for what they would have written down there, and every attempt that comes so far ends in an
        error.
        """
        return frozenset(
            name
            for name in self.points[late]
            if early in self.plugins[name].points
            and name not in self.points[early]
            and late not in self.plugins[name].stateless
        )

    def calls(self, plugin: str, *points: str) -> bool:
        """Whether a plugin is called at all of these points."""
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


def _expand(
    point: str, specific: PluginSet, multi: Sequence[PluginRef], plugins: Mapping[str, PluginEntry]
) -> tuple[str, ...]:
    """List the plugins of one extension point: overrides first, then multiPoint's, then the rest."""
    enabled = list(dict.fromkeys(ref.name for ref in specific.enabled))
    disabled = {ref.name for ref in specific.disabled}
    if "*" in disabled:
        return tuple(enabled)
    from_multi = [r.name for r in multi if point in plugins[r.name].points and r.name not in disabled]
    overrides = [name for name in enabled if name in from_multi]
    plain = [name for name in from_multi if name not in overrides]
    return (*overrides, *plain, *(name for name in enabled if name not in overrides))


def _check(
    profile: KubeSchedulerProfile, refs: Iterable[tuple[str, PluginRef]], known: Mapping[str, PluginEntry]
) -> None:
    seen: set[tuple[str, str]] = set()
    for point, ref in refs:
        where = f"KubeSchedulerConfiguration: profile {profile.scheduler_name}: plugins.{spelled(point)}"
        if ref.name not in known:
            listed = ", ".join(known)
            raise KubestowError(f"{where}: plugin {ref.name!r} is not known; known are {listed}")
        if point != _MULTI_POINT and point not in known[ref.name].points:
            points = ", ".join(spelled(own) for own in POINTS if own in known[ref.name].points)
            raise KubestowError(
                f"{where}: plugin {ref.name} has no extension point {spelled(point)!r}; it has {points}"
            )
        if (point, ref.name) in seen:
            raise KubestowError(f"{where}.enabled: plugin {ref.name} is there twice; once is enough")
        seen.add((point, ref.name))


def expand(profile: KubeSchedulerProfile, release: Release, gates: FeatureGates) -> Profile:
    """Expand a configured profile.

    Parameters
    ----------
    profile : KubeSchedulerProfile
    release : Release
        Whose plugins there are.
    gates : FeatureGates
        Which of them are on by default.

    Raises
    ------
    KubestowError
        For a plugin that is not known or has no such extension point, and where nothing sorts or binds:
        kube-scheduler does not start with such a profile.
    """
    plugins = profile.plugins
    known = release.plugins
    sets: dict[str, PluginSet] = {point: getattr(plugins, point) for point in POINTS}
    sets[_MULTI_POINT] = plugins.multi_point
    _check(profile, ((point, ref) for point, chosen in sets.items() for ref in chosen.enabled), known)
    defaults = [
        PluginRef(name=entry.name, weight=entry.weight)
        for entry in known.values()
        if entry.gate is None or gates.enabled(entry.gate)
    ]
    multi = _merge(defaults, plugins.multi_point)
    points = {point: _expand(point, sets[point], multi, known) for point in POINTS}
    where = f"KubeSchedulerConfiguration: profile {profile.scheduler_name}"
    if points[QUEUE_SORT] != (names.PRIORITY_SORT,):
        raise KubestowError(f"{where}: plugins.queueSort: exactly {names.PRIORITY_SORT} must be enabled")
    if not points[BIND]:
        raise KubestowError(f"{where}: plugins.bind: {names.DEFAULT_BINDER} must be enabled")
    weights: dict[str, int] = {}
    for ref in (*plugins.score.enabled, *multi):
        if SCORE in known[ref.name].points:
            weights.setdefault(ref.name, ref.weight or 1)
    return Profile(
        scheduler_name=profile.scheduler_name,
        points=points,
        weights={name: weights.get(name, 1) for name in points[SCORE]},
        plugins=known,
        workload_cycle=_workload_cycle(profile, release),
        configured=profile,
    )


def _workload_cycle(profile: KubeSchedulerProfile, release: Release) -> WorkloadCycle:
    """Return the text of the workload cycle that a profile chooses."""
    args = cast("GangSchedulingArgs", profile.args(names.GANG_SCHEDULING))
    if args.workload_cycle == "Proposal":
        return PROPOSAL
    return release.current_cycle if args.workload_cycle == "Current" else release.workload_cycle


def profiles_of(
    configuration: KubeSchedulerConfiguration | None, release: Release, gates: FeatureGates, *, file: str = ""
) -> dict[str, Profile]:
    """Return all profiles of a configuration by schedulerName; one default profile where there is none.

    `file` is where the configuration was read, for what is wrong with it.
    """
    configured = (configuration or KubeSchedulerConfiguration()).profiles
    try:
        return {profile.scheduler_name: expand(profile, release, gates) for profile in configured}
    except KubestowError as fault:
        raise KubestowError(f"{file}: {fault}" if file else str(fault)) from None
