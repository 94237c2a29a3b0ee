"""Where a new pod may go: tolerations, spreading, affinities.

Source: kubernetes pkg/apis/core/validation.
"""

from collections.abc import Mapping, Sequence

from ...affinity import Affinity, NodeAffinity, PodAffinity, PodAffinityTerm
from ...pod import PodSpec, Toleration, TopologySpreadConstraint
from ...selectors import LabelSelector
from ..faults import Fault, Faults
from .metadata import new_node_selector_faults, new_node_term_faults, new_selector_faults
from .names import (
    all_spelled,
    decimal_integer,
    label_faults,
    label_value,
    qualified_name,
    short_name,
    spelled,
)

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def new_placement_faults(spec: PodSpec, labels: Mapping[str, str] | None, path: str) -> Faults:
    """Find faults of where a pod may go.

    Parameters
    ----------
    spec : PodSpec
    labels : mapping, optional
        The labels of a pod whose `matchLabelKeys` are still to be merged into its selectors; None for a
        template, and for a pod in which they are merged already.
    path : str
    """
    if spec.node_selector:
        yield from label_faults(spec.node_selector, f"{path}.nodeSelector")
    if spec.tolerations:
        yield from _toleration_faults(spec.tolerations, f"{path}.tolerations")
    for index, item in enumerate(spec.topology_spread_constraints):
        yield from _spread_faults(item, labels, f"{path}.topologySpreadConstraints[{index}]")
    if spec.affinity is not None:
        yield from _affinity_faults(spec.affinity, labels, f"{path}.affinity")


def _toleration_faults(tolerations: Sequence[Toleration], path: str) -> Faults:
    for index, item in enumerate(tolerations):
        where = f"{path}[{index}]"
        yield from spelled(item.key, qualified_name, f"{where}.key")
        if item.operator == "Equal":
            yield from spelled(item.value, label_value, f"{where}.value")
        elif item.operator in ("Lt", "Gt") and (wrong := decimal_integer(item.value)):
            yield Fault(f"{where}.value", wrong)


def _merged_key_faults(
    selector: LabelSelector | None, keys: Sequence[str], labels: Mapping[str, str] | None, path: str
) -> Faults:
    """Find keys that a selector has beside the condition made of `matchLabelKeys` (KEP-3243, KEP-3633)."""
    yield from all_spelled(keys, qualified_name, path)
    if selector is None or not keys:
        return
    there = [*selector.match_labels, *(item.key for item in selector.match_expressions)]
    for index, key in enumerate(keys):
        made = labels is not None and key in labels
        if there.count(key) + made > 1:
            yield Fault(f"{path}[{index}]", f"{key!r} is in the labelSelector too")
        if made:
            there.append(key)


def _spread_faults(item: TopologySpreadConstraint, labels: Mapping[str, str] | None, path: str) -> Faults:
    yield from new_selector_faults(item.label_selector, f"{path}.labelSelector")
    yield from _merged_key_faults(
        item.label_selector, item.match_label_keys, labels, f"{path}.matchLabelKeys"
    )


def _affinity_faults(affinity: Affinity, labels: Mapping[str, str] | None, path: str) -> Faults:
    yield from new_node_affinity_faults(affinity.node_affinity, f"{path}.nodeAffinity")
    yield from _pod_affinity_faults(affinity.pod_affinity, labels, f"{path}.podAffinity")
    yield from _pod_affinity_faults(affinity.pod_anti_affinity, labels, f"{path}.podAntiAffinity")


def new_node_affinity_faults(affinity: NodeAffinity | None, path: str) -> Faults:
    """Find faults of a node affinity; values of a wish are not looked at."""
    if affinity is None:
        return
    yield from new_node_selector_faults(affinity.required, f"{path}.{_REQUIRED}")
    for index, item in enumerate(affinity.preferred):
        where = f"{path}.{_PREFERRED}[{index}].preference"
        yield from new_node_term_faults(item.preference, where, values=False)


def _pod_affinity_faults(affinity: PodAffinity | None, labels: Mapping[str, str] | None, path: str) -> Faults:
    if affinity is None:
        return
    for index, term in enumerate(affinity.required):
        yield from _pod_term_faults(term, labels, f"{path}.{_REQUIRED}[{index}]")
    for index, item in enumerate(affinity.preferred):
        where = f"{path}.{_PREFERRED}[{index}].podAffinityTerm"
        yield from _pod_term_faults(item.pod_affinity_term, labels, where)


def _pod_term_faults(term: PodAffinityTerm, labels: Mapping[str, str] | None, path: str) -> Faults:
    yield from spelled(term.topology_key, qualified_name, f"{path}.topologyKey")
    yield from all_spelled(term.namespaces, short_name, f"{path}.namespaces")
    yield from new_selector_faults(term.label_selector, f"{path}.labelSelector")
    yield from new_selector_faults(term.namespace_selector, f"{path}.namespaceSelector")
    yield from _merged_key_faults(
        term.label_selector, term.match_label_keys, labels, f"{path}.matchLabelKeys"
    )
    yield from all_spelled(term.mismatch_label_keys, qualified_name, f"{path}.mismatchLabelKeys")
