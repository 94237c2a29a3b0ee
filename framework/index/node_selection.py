"""Node selectors over all nodes at once: each condition is judged once per value of its label.

Sources: component-helpers scheduling/corev1/nodeaffinity, kube-scheduler 1.34.1 plugins/nodeaffinity.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...models.selectors import CompiledNodeSelector, CompiledTerm, NodeSelector, Requirement
from ..vocabulary.arrays import Bools

if TYPE_CHECKING:
    from .cluster import Cluster


def requirement_mask(cluster: "Cluster", item: Requirement) -> Bools:
    """Return which nodes' labels satisfy one condition; bool[N]."""
    domains = cluster.domains(item.key)
    match item.operator:
        case "Exists":
            return domains.present
        case "DoesNotExist":
            return ~domains.present
        case "In" | "NotIn":
            found = np.zeros(domains.size, dtype=np.bool_)
            found[[domains.numbers[value] for value in item.values if value in domains.numbers]] = True
            listed = domains.to_nodes(found, missing=False)
            return listed if item.operator == "In" else ~listed
        case "Gt" | "Lt":
            judged = np.array([item.matches({item.key: value}) for value in domains.values], dtype=np.bool_)
            return domains.to_nodes(judged, missing=False)


def term_mask(cluster: "Cluster", term: CompiledTerm) -> Bools:
    """Return which nodes satisfy one term: all its conditions hold; bool[N]."""
    if term.unparsable or not (term.labels or term.fields):
        return np.zeros(cluster.n_nodes, dtype=np.bool_)
    mask = np.ones(cluster.n_nodes, dtype=np.bool_)
    for item in term.fields:
        named = np.zeros(cluster.n_nodes, dtype=np.bool_)
        named[[cluster.node_index[name] for name in item.values if name in cluster.node_index]] = True
        mask &= named if item.operator == "In" else ~named
    for item in term.labels:
        mask &= requirement_mask(cluster, item)
    return mask


def selector_mask(cluster: "Cluster", selector: CompiledNodeSelector) -> Bools:
    """Return which nodes satisfy any term of a selector; bool[N], shared between equal selectors."""

    def judge() -> Bools:
        mask = np.zeros(cluster.n_nodes, dtype=np.bool_)
        for term in selector.terms:
            mask |= term_mask(cluster, term)
        return mask

    return cluster.memo(("node selector", selector), judge)


def required_mask(cluster: "Cluster", wanted: Mapping[str, str], selector: NodeSelector | None) -> Bools:
    """Return which nodes satisfy a pod's nodeSelector and its required node affinity.

    Parameters
    ----------
    cluster : Cluster
    wanted : mapping
        The pod's `nodeSelector`: every pair must be a label of the node.
    selector : NodeSelector or None
        The required node affinity; None asks for nothing, one without terms matches no node.

    Returns
    -------
    bool[N], shared
    """
    compiled = None if selector is None else selector.compiled

    def judge() -> Bools:
        mask = np.ones(cluster.n_nodes, dtype=np.bool_)
        for key, value in wanted.items():
            domains = cluster.domains(key)
            mask &= domains.ids == domains.numbers.get(value, -2)
        if compiled is not None:
            mask &= selector_mask(cluster, compiled)
        return mask

    return cluster.memo(("required nodes", tuple(sorted(wanted.items())), compiled), judge)
