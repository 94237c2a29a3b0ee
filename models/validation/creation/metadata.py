"""Metadata, label selectors and node selectors of new objects.

Sources: apimachinery pkg/api/validation (objectmeta.go), meta/v1/validation; kubernetes
pkg/apis/core/validation.
"""

from collections.abc import Sequence

from ...meta import ObjectMeta, OwnerReference
from ...selectors import LabelSelector, NodeSelector, NodeSelectorTerm
from ..faults import Fault, Faults
from .names import (
    Rule,
    all_spelled,
    annotation_key,
    driver_name,
    label_faults,
    label_value,
    object_name,
    qualified_name,
    short_name,
    spelled,
)

_MOST_ANNOTATIONS = 256 * 1024

_NAMES: dict[str, Rule] = {
    "Namespace": short_name,
    "Service": short_name,
    "StatefulSet": short_name,
    "CSIDriver": driver_name,
}


def new_metadata_faults(meta: ObjectMeta, kind: str) -> Faults:
    """Find faults of a new object's metadata."""
    yield from spelled(meta.name, _NAMES.get(kind, object_name), "metadata.name")
    yield from spelled(meta.namespace, short_name, "metadata.namespace")
    yield from map_faults(meta, "metadata")
    yield from _owner_faults(meta.owner_references, "metadata.ownerReferences")


def map_faults(meta: ObjectMeta, path: str) -> Faults:
    """Find faults of labels and annotations, of an object or of a template of one."""
    yield from label_faults(meta.labels, f"{path}.labels")
    for key in meta.annotations:
        if wrong := annotation_key(key):
            yield Fault(f"{path}.annotations", wrong)
    if sum(len(key) + len(value) for key, value in meta.annotations.items()) > _MOST_ANNOTATIONS:
        yield Fault(f"{path}.annotations", "must have at most 256 KiB")


def _owner_faults(owners: Sequence[OwnerReference], path: str) -> Faults:
    for index, owner in enumerate(owners):
        for name, value in (("kind", owner.kind), ("name", owner.name)):
            if not value:
                yield Fault(f"{path}[{index}].{name}", "required")
    controllers = [index for index, owner in enumerate(owners) if owner.controller]
    if len(controllers) > 1:
        yield Fault(f"{path}[{controllers[1]}].controller", "must be true for one owner only")


def new_selector_faults(selector: LabelSelector | None, path: str) -> Faults:
    """Find labels in a selector that no object can have."""
    if selector is None:
        return
    yield from label_faults(selector.match_labels, f"{path}.matchLabels")
    for index, item in enumerate(selector.match_expressions):
        where = f"{path}.matchExpressions[{index}]"
        yield from spelled(item.key, qualified_name, f"{where}.key")
        yield from all_spelled(item.values, label_value, f"{where}.values")


def new_node_term_faults(term: NodeSelectorTerm, path: str, *, values: bool) -> Faults:
    """Find labels and names in a term that no node can have; `values`: whether labels' values count."""
    for index, item in enumerate(term.match_expressions):
        where = f"{path}.matchExpressions[{index}]"
        yield from spelled(item.key, qualified_name, f"{where}.key")
        if values:
            yield from all_spelled(item.values, label_value, f"{where}.values")
    for index, item in enumerate(term.match_fields):
        yield from all_spelled(item.values, object_name, f"{path}.matchFields[{index}].values")


def new_node_selector_faults(selector: NodeSelector | None, path: str) -> Faults:
    """Find labels and names in a node selector that no node can have."""
    if selector is None:
        return
    for index, term in enumerate(selector.node_selector_terms):
        yield from new_node_term_faults(term, f"{path}.nodeSelectorTerms[{index}]", values=True)
