"""The part of a counting proof that is about other pods, counted once more from the objects of the input."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ...models.selectors import requirement
from .proved import tolerates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...models.affinity import PodAffinityTerm
    from ...models.node import Node
    from ...models.pod import Pod, TopologySpreadConstraint
    from .proved import Proved


def _term(proved: Proved, kind: str, reason: Mapping[str, Any]) -> PodAffinityTerm:
    rules: Any = getattr(proved.pod.spec.affinity, kind)
    found: PodAffinityTerm = rules.required[reason["facts"]["term"]]
    return found


def of_company(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Look for a pod that a term of the affinity wants: one in the node's domain, or one that may come."""
    term = _term(proved, "pod_affinity", reason)
    domain = node.metadata.labels.get(term.topology_key)
    if domain is None:
        return ""
    for pod in (proved.pod, *proved.others_waiting()):
        if proved.term_matches(term, pod):
            return f"{pod.key} may come, and the term looks for it"
    for pod in proved.running():
        if proved.label(pod, term.topology_key) == domain and proved.term_matches(term, pod):
            return f"{pod.key} is in its domain, and the term looks for it"
    return ""


def of_distance(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Look for a pod that stays in the node's domain and that a term of the anti-affinity avoids."""
    term = _term(proved, "pod_anti_affinity", reason)
    domain = node.metadata.labels.get(term.topology_key)
    for pod in proved.staying if domain is not None else ():
        if proved.label(pod, term.topology_key) == domain and proved.term_matches(term, pod):
            return ""
    return "no pod that stays in its domain is one that the term avoids"


def of_spread(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Count the pods of a domain that stay, and the most that the minimum can be."""
    constraint = proved.pod.spec.topology_spread_constraints[reason["facts"]["constraint"]]
    key = constraint.topology_key
    domain = node.metadata.labels.get(key)
    if domain != row.get("domain"):
        return f"its domain is {domain}"
    if domain is None:
        return ""
    part = {
        item.name: item.metadata.labels[key]
        for item in proved.snapshot.nodes
        if _takes_part(proved, constraint, item)
    }
    low = sum(
        _counts(proved, constraint, pod) and part.get(pod.spec.node_name or "") == domain
        for pod in proved.staying
    )
    minimum = _minimum(proved, constraint, frozenset(part.values()))
    if minimum is None:
        return "no node takes part in the count"
    if (row.get("counted"), row.get("minimum")) != (low, minimum):
        return f"{low} pods stay in its domain, and the minimum is at most {minimum}"
    itself = _selects(proved, constraint, proved.pod, empty=True)
    return "" if low + itself - minimum > constraint.max_skew else "the skew would not be too large"


def _minimum(proved: Proved, constraint: TopologySpreadConstraint, taking_part: frozenset[str]) -> int | None:
    key, gates = constraint.topology_key, proved.gates
    domains = {item.metadata.labels[key] for item in proved.snapshot.nodes if key in item.metadata.labels}
    least = constraint.min_domains if gates.enabled("MinDomainsInPodTopologySpread") else None
    if len(domains) < (least or 1):
        return 0
    if not taking_part:
        return None
    high = Counter(proved.label(pod, key) for pod in proved.running() if _counts(proved, constraint, pod))
    waiting = sum(_counts(proved, constraint, pod) for pod in proved.others_waiting())
    return min(high[domain] for domain in taking_part) + waiting


def _counts(proved: Proved, constraint: TopologySpreadConstraint, pod: Pod) -> bool:
    same = pod.namespace == proved.pod.namespace
    return same and not pod.is_terminating and _selects(proved, constraint, pod, empty=False)


def _selects(proved: Proved, constraint: TopologySpreadConstraint, pod: Pod, *, empty: bool) -> bool:
    """Whether a constraint selects a pod; a selector that asks for nothing selects only the pod itself."""
    selector, own = constraint.label_selector, proved.pod.metadata.labels
    if selector is None:
        return False
    keys = constraint.match_label_keys if proved.gates.enabled("MatchLabelKeysInPodTopologySpread") else ()
    more = [requirement(key, "In", (own[key],)) for key in keys if key in own]
    if selector.compiled.is_empty and not more:
        return empty
    labels = pod.metadata.labels
    return selector.matches(labels) and all(item.matches(labels) for item in more)


def _takes_part(proved: Proved, constraint: TopologySpreadConstraint, node: Node) -> bool:
    """Whether a node takes part in the count, as the pod is written."""
    spec, labels = proved.pod.spec, node.metadata.labels
    hard = [item for item in spec.topology_spread_constraints if item.is_hard]
    if any(item.topology_key not in labels for item in hard):
        return False
    chosen = proved.gates.enabled("NodeInclusionPolicyInPodTopologySpread")
    if not chosen or constraint.node_affinity_policy == "Honor":
        required = (
            spec.affinity.node_affinity.required if spec.affinity and spec.affinity.node_affinity else None
        )
        if any(labels.get(key) != value for key, value in spec.node_selector.items()):
            return False
        if required is not None and not required.matches(labels, node.name):
            return False
    if chosen and constraint.node_taints_policy == "Honor":
        return all(
            taint.effect == "PreferNoSchedule" or any(tolerates(item, taint) for item in spec.tolerations)
            for taint in node.spec.taints
        )
    return True
