"""The families of one constraint, and of all of them together: a bare round, and constraints on its apps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .bare_round import BareRound, Manifest
from .budgets import protect
from .constraints import HostPorts, Placement, PodAffinity, Spread
from .devices import Devices
from .storage import Volumes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Constraint = Callable[[list[Manifest]], None]


def placement(seed: int, *, tainted: float, density: float, **sizes: Any) -> list[Manifest]:
    """Taints, tolerations, node selectors and node affinity."""
    made = _bare("placement", seed, (tainted, density), sizes)
    return _constrained(made, density, [Placement(made, tainted)])


def host_ports(seed: int, *, ports: int, density: float, **sizes: Any) -> list[Manifest]:
    """Ports of the host that few apps share."""
    made = _bare("host-ports", seed, (ports, density), sizes)
    return _constrained(made, density, [HostPorts(made, ports)])


def spread(seed: int, *, max_skew: int, min_domains: float, density: float, **sizes: Any) -> list[Manifest]:
    """Topology spread."""
    made = _bare("spread", seed, (max_skew, min_domains, density), sizes)
    return _constrained(made, density, [Spread(made, max_skew, min_domains)])


def pod_affinity(seed: int, *, anti: float, density: float, **sizes: Any) -> list[Manifest]:
    """Inter-pod affinity and anti-affinity."""
    made = _bare("pod-affinity", seed, (anti, density), sizes)
    return _constrained(made, density, [PodAffinity(made, anti)])


def volumes(
    seed: int, *, bound: float, volumes_per_node: int, density: float, **sizes: Any
) -> list[Manifest]:
    """Zonal volumes and limits."""
    made = _bare("volumes", seed, (bound, volumes_per_node, density), sizes)
    return _constrained(made, density, [Volumes(made, bound, volumes_per_node)])


def devices(seed: int, *, devices: int, sharing: str, density: float, **sizes: Any) -> list[Manifest]:
    """Cards that are whole, shared or partitioned."""
    made = _bare("devices", seed, (devices, sharing, density), sizes)
    return _constrained(made, density, [Devices(made, devices, sharing)])


def budgets(seed: int, *, budgeted: float, allowed: float, guarded: float, **sizes: Any) -> list[Manifest]:
    """Budgets and guards of what runs in a full cluster."""
    made = _bare("budgets", seed, (budgeted, allowed, guarded), sizes)
    protect(made, budgeted, allowed, guarded)
    return made.objects()


def mixed(seed: int, *, density: float, **sizes: Any) -> list[Manifest]:
    """Every constraint on each app with the same probability, and budgets on half of what runs."""
    made = _bare("mixed", seed, (density,), sizes)
    rules: list[Constraint] = [
        Placement(made, 0.3),
        HostPorts(made, 3),
        Spread(made, 2, 0.3),
        PodAffinity(made, 0.5),
        Volumes(made, 0.5, 4),
        Devices(made, 2, "shared"),
    ]
    protect(made, 0.5, 0.3, 0.0)
    return _constrained(made, density, rules)


def _bare(family: str, seed: int, own: tuple[object, ...], sizes: dict[str, Any]) -> BareRound:
    return BareRound("/".join(map(str, (family, seed, *own, *sorted(sizes.items())))), **sizes)


def _constrained(made: BareRound, density: float, rules: Sequence[Constraint]) -> list[Manifest]:
    for pods in made.apps.values():
        for constrain in rules:
            if made.rng.random() < density:
                constrain(pods)
    return made.objects()
