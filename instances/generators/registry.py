"""All families, and the one function that makes a round of one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ...models.errors import KubestowError
from ...models.generator import Family, Knob, Value
from .. import generated
from ..racks import racks
from ..trees import tree
from . import constrained
from .devices import SHARING
from .plain import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

_MANY: Final = 100_000

_NODES: Final = Knob(name="nodes", default=6, unit="nodes", least=1, most=_MANY, about="How many nodes.")
_PODS: Final = Knob(
    name="pods_per_node", default=3, unit="pods", least=1, most=1000, about="Waiting pods for each node."
)
_APPS: Final = Knob(
    name="apps",
    default=6,
    unit="apps",
    least=1,
    most=_MANY,
    about="Deployments that the waiting pods belong to, of sizes by weights uniform from 0.5 to 2.",
)
_ZONES: Final = Knob(
    name="zones", default=3, unit="zones", least=1, most=1000, about="Zones, which the nodes take turns in."
)
_UTILISATION: Final = Knob(
    name="utilisation",
    default=0.9,
    unit="share",
    least=0.01,
    most=10,
    about="Cpu that all waiting pods ask for, over what is free.",
)
_HETEROGENEITY: Final = Knob(
    name="heterogeneity",
    default=0.5,
    unit="share",
    about="Probability that a node is half or twice as large as others, either as likely.",
)
_PRIORITIES: Final = Knob(
    name="priorities",
    default=2,
    unit="levels",
    least=1,
    most=100,
    about="Priorities of waiting pods, uniform over 100, 200, ...; running pods have 0.",
)
_IN_USE: Final = Knob(
    name="in_use", default=0.3, unit="share", about="Share of each node's cpu that running pods fill up to."
)
_DENSITY: Final = Knob(
    name="density", default=0.7, unit="share", about="Probability that an app has the constraint."
)
_SIZES: Final = (_NODES, _ZONES, _PODS, _APPS, _UTILISATION, _HETEROGENEITY, _PRIORITIES, _IN_USE)


def _share(name: str, default: float, about: str) -> Knob:
    return Knob(name=name, default=default, unit="share", about=about)


def _packing(
    seed: int, *, nodes: int, pods_per_node: int, priorities: int, utilisation: float
) -> list[dict[str, Any]]:
    return generated.packing(nodes, pods_per_node, priorities, utilisation, seed)


def _deployments(seed: int, *, nodes: int, utilisation: float, **knobs: Any) -> list[dict[str, Any]]:
    return generated.deployments(nodes, seed, demand=utilisation, **knobs)


def _rollout(seed: int, *, nodes: int, **knobs: Any) -> list[dict[str, Any]]:
    return generated.rollout(nodes, seed, **knobs)


def _contested(seed: int, *, nodes: int, **knobs: Any) -> list[dict[str, Any]]:
    return generated.contested(nodes, seed, **knobs)


def _one_app(seed: int, *, nodes: int, pods: int) -> list[dict[str, Any]]:
    del seed  # nothing is drawn
    return generated.one_app(nodes, pods)


FAMILIES: Final[Mapping[str, Family]] = {
    family.name: family
    for family in (
        Family(
            name="packing",
            title="Pods that just fill identical nodes, or just do not; the published packing family",
            make=_packing,
            knobs=(
                _NODES,
                replace(_PODS, about="Pods for each node, in ReplicaSets of 1 to 4, uniform; 100m to 1 cpu."),
                replace(_PRIORITIES, about="Priority levels 0, 1, ..., uniform over the ReplicaSets."),
                replace(_UTILISATION, about="Sum of all requests over what all nodes have, cpu and memory."),
            ),
        ),
        Family(
            name="deployments",
            title="Deployments that wait in a cluster that is partly in use, spread over zones or hosts",
            make=_deployments,
            knobs=(_NODES, _ZONES, _PODS, _APPS, _UTILISATION, replace(_IN_USE, default=0.5, most=0.95)),
        ),
        Family(
            name="rollout",
            title="Deployments that roll out together into an empty cluster, each spread over three zones",
            make=_rollout,
            knobs=(
                _NODES,
                replace(_PODS, about="Waiting pods for each node, the same number of each app."),
                replace(_APPS, about="Deployments; cpu uniform from 100m to 2, memory 256 MiB to 4 GiB."),
            ),
        ),
        Family(
            name="contested",
            title="A full cluster under budgets, and pods of a higher priority that need its room",
            make=_contested,
            knobs=(
                _NODES,
                replace(
                    _PODS, most=110, about="Running pods of each node, of 40 apps with 5 low priorities."
                ),
                Knob(
                    name="preemptors",
                    default=10,
                    unit="pods",
                    least=10,
                    most=_MANY,
                    about="Waiting pods of ten Deployments, half of these spread over three zones.",
                ),
            ),
        ),
        Family(
            name="one-app",
            title="One app spread over three zones of an empty cluster; nothing is drawn, whatever the seed",
            make=_one_app,
            knobs=(
                _NODES,
                Knob(name="pods", default=18, unit="pods", least=1, most=_MANY, about="How many wait."),
            ),
        ),
        Family(
            name="racks",
            title="Racks with devices and gangs that want them, each gang whole and in one rack",
            make=racks,
            knobs=(
                Knob(name="racks", default=3, unit="racks", least=1, most=1000, about="How many racks."),
                replace(_NODES, default=2, most=1000, about="Nodes of a rack."),
                Knob(
                    name="devices", default=2, unit="devices", least=1, most=128, about="Devices of a node."
                ),
                Knob(
                    name="gangs",
                    default=3,
                    unit="gangs",
                    least=0,
                    most=10_000,
                    about="Gangs that wait, from a sixteenth of a rack's devices to all of them.",
                ),
                _share(
                    "in_use", 0.5, "Nodes on which running pods hold devices; normal by rack, deviation 0.3."
                ),
            ),
        ),
        Family(
            name="tree",
            title="One tree of groups, two to four levels, in a cluster of blocks and racks",
            make=tree,
            knobs=(
                replace(
                    _NODES, default=12, least=8, about="Most nodes; how many there are is uniform from 8."
                ),
            ),
        ),
        Family(
            name="placement",
            title="Taints and tolerations, node selectors and node affinity",
            make=constrained.placement,
            knobs=(*_SIZES, _DENSITY, _share("tainted", 0.3, "Probability that a node is tainted.")),
        ),
        Family(
            name="host-ports",
            title="Pods that want ports of the host",
            make=constrained.host_ports,
            knobs=(
                *_SIZES,
                _DENSITY,
                Knob(
                    name="ports",
                    default=2,
                    unit="ports",
                    least=1,
                    most=1000,
                    about="Ports that the apps share, uniform.",
                ),
            ),
        ),
        Family(
            name="spread",
            title="Topology spread over zones and hosts, with minDomains",
            make=constrained.spread,
            knobs=(
                *_SIZES,
                _DENSITY,
                Knob(
                    name="max_skew",
                    default=2,
                    unit="pods",
                    least=1,
                    most=1000,
                    about="Largest maxSkew; uniform from 1.",
                ),
                _share("min_domains", 0.3, "Probability of minDomains for an app spread over zones."),
            ),
        ),
        Family(
            name="pod-affinity",
            title="Inter-pod affinity by zone and anti-affinity by host",
            make=constrained.pod_affinity,
            knobs=(
                *_SIZES,
                _DENSITY,
                _share("anti", 0.5, "Probability that an app with the constraint keeps away from itself."),
            ),
        ),
        Family(
            name="volumes",
            title="Zonal volumes, bound or made on demand, and limits of nodes",
            make=constrained.volumes,
            knobs=(
                *_SIZES,
                _DENSITY,
                _share("bound", 0.5, "Probability that a claim is bound already, to a zone, uniform."),
                Knob(
                    name="volumes_per_node",
                    default=3,
                    unit="volumes",
                    least=1,
                    most=1000,
                    about="What a node attaches at most.",
                ),
            ),
        ),
        Family(
            name="devices",
            title="Devices: whole cards, shares of cards, or partitions that use up counters",
            make=constrained.devices,
            knobs=(
                *_SIZES,
                _DENSITY,
                Knob(name="devices", default=2, unit="cards", least=1, most=8, about="Cards of a node."),
                Knob(
                    name="sharing",
                    default="shared",
                    choices=SHARING,
                    about="Whether pods get whole cards, shares or partitions; sizes are uniform.",
                ),
            ),
        ),
        Family(
            name="budgets",
            title="Budgets, and guards if asked for, on what runs in a full cluster",
            make=constrained.budgets,
            knobs=(
                *_SIZES[:4],
                replace(_UTILISATION, default=4.0),
                _HETEROGENEITY,
                replace(_PRIORITIES, default=3),
                replace(_IN_USE, default=0.9),
                _share("budgeted", 0.7, "Probability that an app that runs has a budget."),
                _share("allowed", 0.3, "Share of its pods that a budget allows to be disrupted."),
                _share("guarded", 0.0, "Probability that an app that runs has a guard, a proposed field."),
            ),
        ),
        Family(
            name="mixed",
            title="All constraints together, each on an app with the same probability, and budgets",
            make=constrained.mixed,
            knobs=(*_SIZES, replace(_DENSITY, default=0.3, about="Probability of each constraint, by app.")),
        ),
    )
}
"""Name to family, in the order in which they are listed."""


def family_of(name: str) -> Family:
    """Return the family of a name.

    Raises
    ------
    KubestowError
        Where there is none.
    """
    if name not in FAMILIES:
        raise KubestowError(f"there is no family '{name[:40]}'; there are {', '.join(FAMILIES)}")
    return FAMILIES[name]


def generate(name: str, seed: int = 0, **knobs: Value) -> list[dict[str, Any]]:
    """Make a round of a family: manifests as JSON values.

    Parameters
    ----------
    knobs
        Other values than the family's defaults.

    Raises
    ------
    KubestowError
        Where there is no such family or knob, or a value is out of range.
    """
    family = family_of(name)
    chosen = {knob.name: knob.default for knob in family.knobs}
    chosen |= {name: family.knob(name).check(value) for name, value in knobs.items()}
    return plain(family.make(seed, **chosen))
