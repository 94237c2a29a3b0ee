"""A counting proof beside the objects that it is about, as the recount reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...models.affinity import PodAffinityTerm
    from ...models.node import Taint
    from ...models.pod import Pod, Toleration
    from ...models.snapshot import Snapshot


class Proved:
    """A counting proof beside the objects.

    Attributes
    ----------
    pod : Pod
        The pod that is kept from every node.
    nodes : dict
        The nodes by name.
    kinds : set of str
        The kinds of the core's reasons.
    gates : FeatureGates
        Those of the release.
    staying, unknown
        The pods that are said to stay, and the names among them that the input does not have.
    """

    def __init__(
        self, snapshot: Snapshot, key: str, core: Sequence[Mapping[str, Any]], proof: Mapping[str, Any]
    ) -> None:
        self.snapshot = snapshot
        self.core = core
        self.kinds = {row["kind"] for row in core}
        self.pod = next(pod for pod in snapshot.pods if pod.key == key)
        self.nodes = {node.name: node for node in snapshot.nodes}
        self.gates = snapshot.feature_gates.known_to(snapshot.kube_version)
        named = frozenset(proof["staying"])
        self.staying = [pod for pod in snapshot.pods if pod.key in named]
        self.unknown = named - {pod.key for pod in self.staying}

    @property
    def reach(self) -> int | None:
        """The highest priority of a waiting pod that may evict others; None without any."""
        able = [
            pod.priority
            for pod in (*self.others_waiting(), self.pod)
            if pod.spec.preemption_policy != "Never"
            or (pod.key == self.pod.key and "preemptionPolicy" not in self.kinds)
            if not pod.spec.scheduling_gates or pod.key == self.pod.key
        ]
        return max(able, default=None)

    def others_waiting(self) -> Iterator[Pod]:
        """Yield the other pods without a node that are not done and not being deleted."""
        for pod in self.snapshot.pods:
            if pod.key != self.pod.key and not (pod.spec.node_name or pod.is_terminal or pod.is_terminating):
                yield pod

    def running(self) -> Iterator[Pod]:
        """Yield the pods that are on nodes of the input."""
        return (p for p in self.snapshot.pods if p.spec.node_name in self.nodes and not p.is_terminal)

    def label(self, pod: Pod, key: str) -> str | None:
        """Return the value of a label of a running pod's node."""
        home = self.nodes.get(pod.spec.node_name or "")
        return None if home is None else home.metadata.labels.get(key)

    def term_accepts(self, owner: Pod, term: PodAffinityTerm, other: Pod) -> bool:
        """Whether a term of a running pod, `owner`, selects a pod that comes."""
        spaces = {item.name: item.metadata.labels for item in self.snapshot.namespaces}
        itself = {"kubernetes.io/metadata.name": other.namespace}
        return _selects(owner, term, other, {**itself, **spaces.get(other.namespace, {})}, empty=False)

    def term_matches(self, term: PodAffinityTerm, other: Pod) -> bool:
        """Whether a term of the pod itself selects another; upstream asks it about no labels first."""
        spaces = {item.name: item.metadata.labels for item in self.snapshot.namespaces}
        return _selects(self.pod, term, other, spaces.get(other.namespace), empty=True)


def _selects(
    owner: Pod, term: PodAffinityTerm, other: Pod, labels: Mapping[str, str] | None, *, empty: bool
) -> bool:
    selects = term.namespace_selector
    listed = term.namespaces or (() if selects is not None else (owner.namespace,))
    inside = other.namespace in listed or (
        selects is not None
        and ((empty and selects.matches({})) or (labels is not None and selects.matches(labels)))
    )
    return inside and term.label_selector is not None and term.label_selector.matches(other.metadata.labels)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration is for a taint."""
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    return toleration.operator == "Exists" or toleration.value == taint.value
