"""Affinities: which nodes a pod wants, and beside which pods."""

from .base import Int32, KubeModel, Texts, shared
from .selectors import LabelSelector, NodeSelector, NodeSelectorTerm


class PreferredSchedulingTerm(KubeModel):
    """A wish for nodes, with a weight of 1 to 100."""

    weight: Int32
    preference: NodeSelectorTerm = shared(NodeSelectorTerm())


class NodeAffinity(KubeModel):
    """Which nodes a pod must or would like to run on."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()

    @property
    def required(self) -> NodeSelector | None:
        """The hard selector, or None."""
        return self.required_during_scheduling_ignored_during_execution

    @property
    def preferred(self) -> tuple[PreferredSchedulingTerm, ...]:
        """The wishes."""
        return self.preferred_during_scheduling_ignored_during_execution


class PodAffinityTerm(KubeModel):
    """A set of pods and the kind of domain in which to meet or avoid them.

    Namespaces: the listed ones and those that `namespace_selector` selects; the pod's own where neither is
    given.
    """

    label_selector: LabelSelector | None = None
    namespaces: Texts = ()
    namespace_selector: LabelSelector | None = None
    topology_key: str
    match_label_keys: Texts = ()
    mismatch_label_keys: Texts = ()


class WeightedPodAffinityTerm(KubeModel):
    """A wish about other pods, with a weight of 1 to 100."""

    weight: Int32
    pod_affinity_term: PodAffinityTerm


class PodAffinity(KubeModel):
    """Pods to be beside; as `podAntiAffinity`, pods to be apart from."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()

    @property
    def required(self) -> tuple[PodAffinityTerm, ...]:
        """The hard terms."""
        return self.required_during_scheduling_ignored_during_execution

    @property
    def preferred(self) -> tuple[WeightedPodAffinityTerm, ...]:
        """The wishes."""
        return self.preferred_during_scheduling_ignored_during_execution


class Affinity(KubeModel):
    """All affinities of a pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None
