"""Rules that several kinds share: metadata, label selectors, node selectors.

Source: apimachinery meta/v1/validation, kubernetes pkg/apis/core/validation. Spellings of names and labels
are not checked: no rule of scheduling depends on them.
"""

from ..meta import ObjectMeta
from ..selectors import LabelSelector, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from .faults import Fault, Faults, required_text


def metadata_faults(meta: ObjectMeta) -> Faults:
    """Find faults of an object's metadata."""
    yield from required_text(meta.name, "metadata.name")


def label_selector_faults(selector: LabelSelector | None, path: str) -> Faults:
    """Find faults of a label selector."""
    if selector is None:
        return
    for index, item in enumerate(selector.match_expressions):
        where = f"{path}.matchExpressions[{index}]"
        yield from required_text(item.key, f"{where}.key")
        yield from _value_faults(item.operator, item.values, where)


def _value_faults(operator: str, values: tuple[str, ...], path: str) -> Faults:
    if operator in ("In", "NotIn") and not values:
        yield Fault(f"{path}.values", f"required with operator {operator}")
    elif operator in ("Exists", "DoesNotExist") and values:
        yield Fault(f"{path}.values", f"must be empty with operator {operator}")


def _node_condition_faults(item: NodeSelectorRequirement, path: str) -> Faults:
    yield from required_text(item.key, f"{path}.key")
    yield from _value_faults(item.operator, item.values, path)
    if item.operator in ("Gt", "Lt") and len(item.values) != 1:
        yield Fault(f"{path}.values", f"must be exactly one value with operator {item.operator}")


def _node_field_faults(item: NodeSelectorRequirement, path: str) -> Faults:
    if item.key != "metadata.name":
        yield Fault(f"{path}.key", f"must be metadata.name, not {item.key!r}")
    if item.operator not in ("In", "NotIn"):
        yield Fault(f"{path}.operator", f"must be In or NotIn for a field, not {item.operator!r}")
    elif len(item.values) != 1:
        yield Fault(f"{path}.values", f"must be exactly one value with operator {item.operator} for a field")


def node_term_faults(term: NodeSelectorTerm, path: str) -> Faults:
    """Find faults of one term of a node selector; a term without conditions is legal."""
    for index, item in enumerate(term.match_expressions):
        yield from _node_condition_faults(item, f"{path}.matchExpressions[{index}]")
    for index, item in enumerate(term.match_fields):
        yield from _node_field_faults(item, f"{path}.matchFields[{index}]")


def node_selector_faults(selector: NodeSelector | None, path: str) -> Faults:
    """Find faults of a node selector."""
    if selector is None:
        return
    if not selector.node_selector_terms:
        yield Fault(f"{path}.nodeSelectorTerms", "must have at least one term")
    for index, term in enumerate(selector.node_selector_terms):
        yield from node_term_faults(term, f"{path}.nodeSelectorTerms[{index}]")
