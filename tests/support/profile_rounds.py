"""Random configurations on top of any round: profiles with plugins and points switched off, gates off.

In the mix by construction: one to three profiles, with the pods of a class split over them; whole plugins
off, single points of a plugin off, `*` at a point or at multiPoint, an order of filters of its own; arguments
of NodeResourcesFit, NodeAffinity, InterPodAffinity and PodTopologySpread. What kube-scheduler does not start
with is left out: something sorts and binds.
"""

from dataclasses import replace
from random import Random

from kubestow.framework.vocabulary.default_plugins import PLUGINS as ENTRIES
from kubestow.models.config import KubeSchedulerConfiguration
from kubestow.models.features import KNOWN_GATES, FeatureGates
from support.device_rounds import tiny_devices, tiny_mixed
from support.group_rounds import tiny_groups
from support.strategies import GPU, tiny
from support.volume_rounds import tiny_volumes

PLUGINS = [name for name in ENTRIES if name not in ("PrioritySort", "DefaultBinder")]
FILTERS = [name for name in PLUGINS if "filter" in ENTRIES[name].points]
SPELLED = {
    "pre_enqueue": "preEnqueue",
    "pre_filter": "preFilter",
    "filter": "filter",
    "post_filter": "postFilter",
    "pre_score": "preScore",
    "score": "score",
    "reserve": "reserve",
    "pre_bind": "preBind",
}
BOUND = {"DynamicResources": ("reserve", "preBind")}

MAKERS = (tiny, tiny_groups, tiny_devices, tiny_mixed, tiny_volumes)


def tiny_profiled(seed):
    """Return the tiny round of a seed, of any family, with random profiles."""
    rng = Random(f"profiles {seed}")
    return profiled(rng, rng.choice(MAKERS)(seed))


def tiny_gated(seed):
    """Return the tiny round of a seed, of any family, with random gates off; now and then with profiles."""
    rng = Random(f"gates {seed}")
    snapshot = rng.choice(MAKERS)(seed)
    if rng.random() < 0.3:
        snapshot = profiled(rng, snapshot)
    off = rng.sample(sorted(KNOWN_GATES), rng.choice((1, 1, 2, 3, 6, 12)))
    return replace(snapshot, feature_gates=FeatureGates(frozenset(off)))


def profiled(rng, snapshot):
    """Give a round a configuration, and its pods schedulers."""
    names = ["default-scheduler", "second", "third"][: rng.choice((1, 2, 2, 2, 3))]
    profiles = [_profile(rng, name) for name in names]
    if len(names) > 1 and rng.random() < 0.4:
        profiles[0] = {"schedulerName": names[0]}
    configuration = KubeSchedulerConfiguration.model_validate({"profiles": profiles})
    chosen = {}

    def scheduled(item):
        """Choose a pod's scheduler: mostly one for a whole group, whose cycle fails otherwise."""
        if item.spec.scheduler_name != "default-scheduler":
            return item
        name = rng.choice(names)
        group = item.spec.scheduling_group
        if group is not None and rng.random() < 0.95:
            name = chosen.setdefault((item.namespace, group.pod_group_name), name)
        spec = item.spec.model_copy(update={"scheduler_name": name})
        return item.model_copy(update={"spec": spec})

    pods = tuple(map(scheduled, snapshot.pods))
    return replace(snapshot, pods=pods, configuration=configuration, name=f"{snapshot.name}-profiled")


def _profile(rng, name):
    plugins = {}
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        _switch(rng, plugins)
    profile = {"schedulerName": name, "plugins": plugins}
    if rng.random() < 0.4:
        profile["pluginConfig"] = _arguments(rng)
    return profile


def _switch(rng, plugins):
    def off(point, plugin):
        plugins.setdefault(point, {}).setdefault("disabled", []).append({"name": plugin})

    def on(point, plugin):
        enabled = plugins.setdefault(point, {}).setdefault("enabled", [])
        if {"name": plugin} not in enabled:
            enabled.append({"name": plugin})

    kind = rng.randrange(10)
    plugin = rng.choice(FILTERS if rng.random() < 0.8 else PLUGINS)
    if kind < 4:
        off("multiPoint", plugin)
    elif kind < 7:
        points = [point for point in ENTRIES[plugin].points if point in SPELLED]
        weight = [5 if point == "filter" else 1 for point in sorted(points)]
        [point] = rng.choices(sorted(points), weight)
        for spelled in {SPELLED[point], *BOUND.get(plugin, ())} if point == "filter" else {SPELLED[point]}:
            off(spelled, plugin)
    elif kind == 7:
        point = rng.choice(("filter", "postFilter", "score", "preBind", "reserve"))
        off(point, "*")
        if point == "score":
            off("preScore", "*")
        if point == "filter":
            for kept in rng.sample(FILTERS, rng.randint(0, 6)):
                on("filter", kept)
    elif kind == 8:
        off("multiPoint", "*")
        for kept in ("PrioritySort", "DefaultBinder", *rng.sample(PLUGINS, rng.randint(4, len(PLUGINS)))):
            on("multiPoint", kept)
    else:
        on("filter", plugin if plugin in FILTERS else "NodeName")


def _arguments(rng):
    spread = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": rng.choice(("DoNotSchedule", "ScheduleAnyway")),
    }
    disk = {"key": "disk", "operator": rng.choice(("In", "NotIn")), "values": ["ssd"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [disk]}]}
    added = {"requiredDuringSchedulingIgnoredDuringExecution": required}
    arguments = {
        "NodeResourcesFit": rng.choice(
            (
                {"ignoredResources": [GPU]},
                {"ignoredResourceGroups": [GPU.split("/")[0]]},
                {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 3}]}},
            )
        ),
        "NodeAffinity": {"addedAffinity": added},
        "InterPodAffinity": {"hardPodAffinityWeight": 0, "ignorePreferredTermsOfExistingPods": True},
        "PodTopologySpread": {"defaultingType": "List", "defaultConstraints": [spread]},
    }
    return [
        {"name": name, "args": arguments[name]} for name in rng.sample(sorted(arguments), rng.randint(1, 2))
    ]
