"""Nodes.

Source: kubernetes pkg/apis/core/validation (ValidateNode, validateNodeTaints).
"""

from ..node import Node
from .faults import Fault, Faults, required_text
from .resources import amount_faults


def node_faults(node: Node) -> Faults:
    """Find faults of a node."""
    pairs: set[tuple[str, str]] = set()
    for index, taint in enumerate(node.spec.taints):
        where = f"spec.taints[{index}]"
        yield from required_text(taint.key, f"{where}.key")
        if (taint.key, taint.effect) in pairs:
            yield Fault(where, f"duplicate taint {taint.key}:{taint.effect}")
        pairs.add((taint.key, taint.effect))
    yield from amount_faults(node.status.allocatable, "status.allocatable")
    yield from amount_faults(node.status.capacity, "status.capacity")
