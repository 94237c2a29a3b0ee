"""Constraint families of the CP-SAT model: one file a family, listed once, in order.

An encoder states what every admissible order must satisfy in the end, a necessary condition; the replay
decides whether an order exists. Each file ends with its `Family`: what the model, the division into parts
and the search for an order ask of it.
"""

from __future__ import annotations

from ..models.memory import no_collection
from ..models.progress import Watch, unwatched
from . import (
    capacity,
    composite_pod_groups,
    desired_count,
    eviction,
    fallback,
    host_ports,
    inter_pod_affinity,
    moves,
    node_volume_limits,
    pod_groups,
    preferred_topology,
    scheduled,
    topology_spread,
    volume_binding,
    volume_restrictions,
)
from .context import Context
from .devices import dynamic_resources
from .family import Family
from .preferences import PREFERENCES
from .problem import Problem

ENCODERS: list[Family] = [
    scheduled.FAMILY,
    moves.FAMILY,
    capacity.FAMILY,
    host_ports.FAMILY,
    volume_restrictions.FAMILY,
    node_volume_limits.FAMILY,
    volume_binding.FAMILY,
    topology_spread.FAMILY,
    inter_pod_affinity.FAMILY,
    pod_groups.FAMILY,
    composite_pod_groups.FAMILY,
    eviction.FAMILY,
    fallback.FAMILY,
    dynamic_resources.FAMILY,
    desired_count.FAMILY,
    preferred_topology.FAMILY,
]
"""Every family, in the order in which they are encoded: a family may use variables of those before it."""

__all__ = ["ENCODERS", "PREFERENCES", "Context", "Family", "Problem", "encode"]


def encode(problem: Problem, prefer: str = "none", watch: Watch = unwatched) -> Context:
    """Build the model of a round with every family that it uses; `watch` hears of the families done."""
    with no_collection():
        ctx = Context(problem)
        for number, encoder in enumerate(ENCODERS):
            watch("building the model: families", number, len(ENCODERS))
            if encoder.applies(problem):
                encoder.encode(ctx)
        if prefer in PREFERENCES:
            PREFERENCES[prefer].encode(ctx)
    return ctx
