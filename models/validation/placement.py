"""Where a pod may go: tolerations, spreading, affinities.

Source: kubernetes pkg/apis/core/validation (ValidateTolerations, validateTopologySpreadConstraints,
validateAffinity); KEP-3022 for minDomains, KEP-3990 for fallbackCriteria.
"""

from collections.abc import Sequence

from ..affinity import Affinity, NodeAffinity, PodAffinity, PodAffinityTerm
from ..pod import Toleration, TopologySpreadConstraint
from .common import label_selector_faults, node_selector_faults, node_term_faults
from .faults import Fault, Faults, required_text, unique, within


def toleration_faults(tolerations: Sequence[Toleration], path: str) -> Faults:
    """Find faults of a pod's tolerations."""
    for index, item in enumerate(tolerations):
        where = f"{path}[{index}]"
        if not item.key and item.operator != "Exists":
            yield Fault(f"{where}.operator", "must be Exists when the key is empty (which means all taints)")
        if item.operator == "Exists" and item.value:
            yield Fault(f"{where}.value", "must be empty with operator Exists")
        if item.toleration_seconds is not None and item.effect != "NoExecute":
            yield Fault(f"{where}.effect", "must be NoExecute where tolerationSeconds is set")


def spread_faults(constraints: Sequence[TopologySpreadConstraint], path: str) -> Faults:
    """Find faults of topology spread constraints."""
    for index, item in enumerate(constraints):
        yield from _one_spread_faults(item, f"{path}[{index}]")
    pairs: set[tuple[str, str]] = set()
    for index, item in enumerate(constraints):
        pair = (item.topology_key, item.when_unsatisfiable)
        if pair in pairs:
            yield Fault(
                f"{path}[{index}].topologyKey",
                f"duplicate {item.topology_key!r}: there is already a {item.when_unsatisfiable} constraint "
                "for this key",
            )
        pairs.add(pair)


def _one_spread_faults(item: TopologySpreadConstraint, path: str) -> Faults:
    if item.max_skew <= 0:
        yield Fault(f"{path}.maxSkew", f"must be greater than 0, not {item.max_skew}")
    yield from required_text(item.topology_key, f"{path}.topologyKey")
    if item.min_domains is not None:
        if item.min_domains <= 0:
            yield Fault(f"{path}.minDomains", f"must be greater than 0, not {item.min_domains}")
        if not item.is_hard:
            yield Fault(
                f"{path}.minDomains",
                f"can only be used if whenUnsatisfiable is DoNotSchedule, not {item.when_unsatisfiable}",
            )
    if item.fallback_criteria and not item.is_hard:
        yield Fault(
            f"{path}.fallbackCriteria",
            f"can only be used if whenUnsatisfiable is DoNotSchedule, not {item.when_unsatisfiable}",
        )
    yield from unique(item.fallback_criteria, f"{path}.fallbackCriteria", "")
    yield from label_selector_faults(item.label_selector, f"{path}.labelSelector")
    if item.match_label_keys and item.label_selector is None:
        yield Fault(f"{path}.matchLabelKeys", "can only be used with a labelSelector")


def affinity_faults(affinity: Affinity | None, path: str) -> Faults:
    """Find faults of a pod's affinities."""
    if affinity is None:
        return
    yield from node_affinity_faults(affinity.node_affinity, f"{path}.nodeAffinity")
    yield from _pod_affinity_faults(affinity.pod_affinity, f"{path}.podAffinity")
    yield from _pod_affinity_faults(affinity.pod_anti_affinity, f"{path}.podAntiAffinity")


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def node_affinity_faults(affinity: NodeAffinity | None, path: str) -> Faults:
    """Find faults of a node affinity."""
    if affinity is None:
        return
    yield from node_selector_faults(affinity.required, f"{path}.{_REQUIRED}")
    for index, item in enumerate(affinity.preferred):
        where = f"{path}.{_PREFERRED}[{index}]"
        yield from within(item.weight, 1, 100, f"{where}.weight")
        yield from node_term_faults(item.preference, f"{where}.preference")


def _pod_affinity_faults(affinity: PodAffinity | None, path: str) -> Faults:
    if affinity is None:
        return
    for index, term in enumerate(affinity.required):
        yield from _pod_term_faults(term, f"{path}.{_REQUIRED}[{index}]")
    for index, item in enumerate(affinity.preferred):
        where = f"{path}.{_PREFERRED}[{index}]"
        yield from within(item.weight, 1, 100, f"{where}.weight")
        yield from _pod_term_faults(item.pod_affinity_term, f"{where}.podAffinityTerm")


def _pod_term_faults(term: PodAffinityTerm, path: str) -> Faults:
    yield from required_text(term.topology_key, f"{path}.topologyKey")
    yield from label_selector_faults(term.label_selector, f"{path}.labelSelector")
    yield from label_selector_faults(term.namespace_selector, f"{path}.namespaceSelector")
    for name, keys in (
        ("matchLabelKeys", term.match_label_keys),
        ("mismatchLabelKeys", term.mismatch_label_keys),
    ):
        if keys and term.label_selector is None:
            yield Fault(f"{path}.{name}", "can only be used with a labelSelector")
    for index, key in enumerate(term.match_label_keys):
        if key in term.mismatch_label_keys:
            yield Fault(f"{path}.matchLabelKeys[{index}]", f"{key!r} is in mismatchLabelKeys too")
