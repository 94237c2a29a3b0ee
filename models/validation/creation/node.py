"""New nodes.

Source: kubernetes pkg/apis/core/validation (ValidateNode, validateNodeTaints).
"""

from ...node import Node
from ..faults import Faults
from .names import label_value, qualified_name, spelled


def new_node_faults(node: Node) -> Faults:
    """Find faults of a new node."""
    for index, taint in enumerate(node.spec.taints):
        yield from spelled(taint.key, qualified_name, f"spec.taints[{index}].key")
        yield from spelled(taint.value, label_value, f"spec.taints[{index}].value")
