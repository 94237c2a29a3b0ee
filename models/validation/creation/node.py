"""New nodes.

Source: kubernetes pkg/apis/core/validation (ValidateNode, validateNodeTaints, nodeDeclaredFeatureRegexp).
"""

import re

from ...node import Node
from ..faults import Fault, Faults
from .names import label_value, qualified_name, spelled

_FEATURE = re.compile(r"[A-Z][A-Za-z0-9]*(?:/[A-Za-z][A-Za-z0-9]*)*")
_MOST_FEATURE = 253


def new_node_faults(node: Node) -> Faults:
    """Find faults of a new node."""
    for index, taint in enumerate(node.spec.taints):
        yield from spelled(taint.key, qualified_name, f"spec.taints[{index}].key")
        yield from spelled(taint.value, label_value, f"spec.taints[{index}].value")
    features = node.status.declared_features
    for index, name in enumerate(features):
        where = f"status.declaredFeatures[{index}]"
        if len(name) > _MOST_FEATURE or not _FEATURE.fullmatch(name):
            yield Fault(where, f"must be a feature's name, as FeatureName or FeatureName/Part, not {name!r}")
        elif name in features[:index]:
            yield Fault(where, f"duplicate {name!r}")
        elif index and name < features[index - 1]:
            yield Fault(where, "must come in alphabetical order")
