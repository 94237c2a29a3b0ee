"""Constraint families of the CP-SAT model: one file a family, listed once, in order.

An encoder states what every admissible order must satisfy in the end, a necessary condition; the replay
decides whether an order exists.  It has a `name` (kube-scheduler's plugin), `applies(problem)` and
`encode(ctx)`.
"""

from __future__ import annotations

from typing import Protocol

from ..models.memory import no_collection
from . import (
    capacity,
    desired_count,
    eviction,
    fallback,
    host_ports,
    inter_pod_affinity,
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
from .preferences import PREFERENCES
from .problem import Problem


class Encoder(Protocol):
    """One constraint family."""

    name: str

    def applies(self, problem: Problem) -> bool:
        """Whether the round uses this family at all."""

    def encode(self, ctx: Context) -> None:
        """Add its variables, constraints and tiers."""


ENCODERS: tuple[Encoder, ...] = (
    scheduled,
    capacity,
    host_ports,
    volume_restrictions,
    node_volume_limits,
    volume_binding,
    topology_spread,
    inter_pod_affinity,
    pod_groups,
    eviction,
    fallback,
    dynamic_resources,
    desired_count,
    preferred_topology,
)

__all__ = ["ENCODERS", "PREFERENCES", "Context", "Encoder", "Problem", "encode"]


def encode(problem: Problem, prefer: str = "none") -> Context:
    """Build the model of a round with every family that it uses."""
    with no_collection():
        ctx = Context(problem)
        for encoder in ENCODERS:
            if encoder.applies(problem):
                encoder.encode(ctx)
        if prefer in PREFERENCES:
            PREFERENCES[prefer](ctx)
    return ctx
