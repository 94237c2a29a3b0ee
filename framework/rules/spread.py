"""Topology spread constraints, parsed once and shared by the plugin and by everything else that reads them.

Sources: kube-scheduler 1.34.1 plugins/podtopologyspread (common.go, filtering.go), KEP-895, KEP-3022,
KEP-3094, KEP-3243, KEP-3990.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from ...models.config import PodTopologySpreadArgs
from ...models.features import FeatureGates
from ...models.pod import TopologySpreadConstraint
from ...models.selectors import CompiledSelector, requirement
from ..index.fallback import falls_back
from ..index.matchers import Matcher
from ..index.node_selection import required_mask
from ..index.podinfo import PodInfo
from ..vocabulary import names
from ..vocabulary.arrays import Bools
from .tolerations import tolerated_mask

if TYPE_CHECKING:
    from ..index.cluster import Cluster

HARD: Final = "DoNotSchedule"
SOFT: Final = "ScheduleAnyway"

_SYSTEM_DEFAULTS: Final = (
    TopologySpreadConstraint(max_skew=3, topology_key="kubernetes.io/hostname", when_unsatisfiable=SOFT),
    TopologySpreadConstraint(max_skew=5, topology_key="topology.kubernetes.io/zone", when_unsatisfiable=SOFT),
)


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """One constraint of one pod, as the scheduler understands it.

    Attributes
    ----------
    topology_key : str
    max_skew : int
    min_domains : int
        1 where it is unset, or the gate is off.
    selector : CompiledSelector or None
        With `matchLabelKeys` merged in; None matches nothing.
    when : str
        `DoNotSchedule` or `ScheduleAnyway`, as written.
    affinity_policy, taints_policy : str
        `Honor` or `Ignore`: nodes that a pod may not use take part in the count or not.
    criteria : tuple of str
        KEP-3990, empty where the gate is off.
    fallen_back : bool
        Whether all criteria hold for the pod in the input: then it is soft in this round.
    self_match : bool
        Whether the pod's own labels match the selector.
    index : int
        Its place in the pod's list (in the profile's, for a default constraint).
    namespace : str
        The pod's: only pods there count.
    """

    topology_key: str
    max_skew: int
    min_domains: int
    selector: CompiledSelector | None
    when: str
    affinity_policy: str
    taints_policy: str
    criteria: tuple[str, ...]
    fallen_back: bool
    self_match: bool
    index: int
    namespace: str

    @property
    def is_hard(self) -> bool:
        """Whether it keeps the pod from nodes in this round."""
        return self.when == HARD and not self.fallen_back


def _parse(
    constraint: TopologySpreadConstraint,
    index: int,
    info: PodInfo,
    gates: FeatureGates,
    selector: CompiledSelector | None = None,
) -> SpreadConstraint:
    """Parse a constraint; `selector` overrides the one that it has (default constraints)."""
    if selector is None and constraint.label_selector is not None:
        selector = constraint.label_selector.compiled
        if constraint.match_label_keys and gates.enabled("MatchLabelKeysInPodTopologySpread"):
            selector = selector.and_also(
                *(requirement(key, "In", (value,)) for key, value in _present(constraint, info.labels))
            )
    policies = gates.enabled("NodeInclusionPolicyInPodTopologySpread")
    fallback = gates.enabled("PodTopologySpreadFallbackMode") and constraint.is_hard
    criteria = constraint.fallback_criteria if fallback else ()
    hard_minimum = gates.enabled("MinDomainsInPodTopologySpread") and constraint.min_domains is not None
    return SpreadConstraint(
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        min_domains=(constraint.min_domains or 1) if hard_minimum else 1,
        selector=selector,
        when=constraint.when_unsatisfiable,
        affinity_policy=constraint.node_affinity_policy if policies else "Honor",
        taints_policy=constraint.node_taints_policy if policies else "Ignore",
        criteria=criteria,
        fallen_back=falls_back(criteria, info.held),
        self_match=selector is not None and selector.matches(info.labels),
        index=index,
        namespace=info.namespace,
    )


def _present(constraint: TopologySpreadConstraint, labels: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(key, labels[key]) for key in constraint.match_label_keys if key in labels]


def _args(cluster: "Cluster", info: PodInfo) -> PodTopologySpreadArgs | None:
    """Return the arguments of PodTopologySpread in the pod's profile; None where it is not used there."""
    profile = cluster.profiles.get(info.scheduler)
    if profile is None or not (
        profile.filters(names.POD_TOPOLOGY_SPREAD) or profile.scores(names.POD_TOPOLOGY_SPREAD)
    ):
        return None
    return cast("PodTopologySpreadArgs", profile.args(names.POD_TOPOLOGY_SPREAD))


def constraints_of(cluster: "Cluster", i: int) -> tuple[SpreadConstraint, ...]:
    """Return all constraints of pod i in the order written: its own, or its profile's defaults.

    One own constraint of either kind switches the defaults off. Default constraints select what the pod's
    services and its controller select together; where that is nothing there are none.
    """
    info = cluster.pods[i]

    def parse() -> tuple[SpreadConstraint, ...]:
        args = _args(cluster, info)
        if args is None:
            return ()
        own = info.pod.spec.topology_spread_constraints
        if own:
            return tuple(_parse(c, index, info, cluster.gates) for index, c in enumerate(own))
        if info.default_selector.is_empty:
            return ()
        defaults = _SYSTEM_DEFAULTS if args.defaulting_type == "System" else args.default_constraints
        return tuple(
            _parse(c, index, info, cluster.gates, info.default_selector) for index, c in enumerate(defaults)
        )

    return cluster.memo(("spread", info.but_claims), parse)


def hard_constraints(cluster: "Cluster", i: int) -> tuple[SpreadConstraint, ...]:
    """Return the constraints that keep pod i from nodes: DoNotSchedule and not fallen back.

    Empty where the pod's profile does not filter with PodTopologySpread.
    """
    profile = cluster.profiles.get(cluster.pods[i].scheduler)
    if profile is None or not profile.filters(names.POD_TOPOLOGY_SPREAD):
        return ()
    return tuple(c for c in constraints_of(cluster, i) if c.is_hard)


def soft_constraints(cluster: "Cluster", i: int) -> tuple[SpreadConstraint, ...]:
    """Return the constraints of pod i that only score: ScheduleAnyway, and those that fell back."""
    return tuple(c for c in constraints_of(cluster, i) if not c.is_hard)


def fallen_back_constraints(cluster: "Cluster", i: int) -> tuple[SpreadConstraint, ...]:
    """Return the DoNotSchedule constraints of pod i whose fallback criteria all hold (KEP-3990).

    Empty where the pod's profile does not filter with PodTopologySpread: there they never rejected a pod.
    """
    profile = cluster.profiles.get(cluster.pods[i].scheduler)
    if profile is None or not profile.filters(names.POD_TOPOLOGY_SPREAD):
        return ()
    return tuple(c for c in constraints_of(cluster, i) if c.fallen_back)


def requires_all_keys(cluster: "Cluster", i: int) -> bool:
    """Whether nodes that lack a soft constraint's key are left out of pod i's score.

    They are, unless the constraints are the system's defaults.
    """
    args = _args(cluster, cluster.pods[i])
    own = cluster.pods[i].pod.spec.topology_spread_constraints
    return bool(own) or args is None or args.defaulting_type != "System"


def nodes_with_keys(cluster: "Cluster", constraints: tuple[SpreadConstraint, ...]) -> Bools:
    """Return which nodes have the labels of all these constraints; bool[N], shared."""
    keys = tuple(dict.fromkeys(c.topology_key for c in constraints))

    def judge() -> Bools:
        mask = np.ones(cluster.n_nodes, dtype=np.bool_)
        for key in keys:
            mask &= cluster.domains(key).present
        return mask

    return cluster.memo(("nodes with keys", keys), judge)


def policy_mask(cluster: "Cluster", i: int, constraint: SpreadConstraint) -> Bools:
    """Return which nodes the constraint's inclusion policies let take part in the count; bool[N], shared."""
    spec = cluster.pods[i].pod.spec
    node_affinity = spec.affinity.node_affinity if spec.affinity else None
    selector = node_affinity.required if node_affinity else None
    mask = np.ones(cluster.n_nodes, dtype=np.bool_)
    if constraint.affinity_policy == "Honor":
        mask = required_mask(cluster, spec.node_selector, selector)
    if constraint.taints_policy == "Honor":
        mask = mask & tolerated_mask(cluster, spec.tolerations)
    return mask


def eligible_nodes(cluster: "Cluster", i: int, constraint: SpreadConstraint) -> Bools:
    """Return which nodes take part in the count of one of pod i's DoNotSchedule constraints.

    They have every key of all the pod's hard constraints and pass the constraint's inclusion policies. For a
    constraint that fell back the keys are those of all its DoNotSchedule constraints as written.

    Returns
    -------
    bool[N], shared
    """
    if constraint.fallen_back:
        keyed = tuple(c for c in constraints_of(cluster, i) if c.when == HARD)
    else:
        keyed = hard_constraints(cluster, i)
    return cluster.memo(
        ("eligible", cluster.pods[i].but_claims, constraint.index),
        lambda: nodes_with_keys(cluster, keyed) & policy_mask(cluster, i, constraint),
    )


def group_key(cluster: "Cluster", i: int, constraint: SpreadConstraint) -> tuple[Hashable, ...]:
    """Return a key that is equal for constraints of pods that count the same pods by the same rule.

    That is: equal namespace, topology key, effective selector, maxSkew, minDomains and eligible nodes.
    """
    return (
        constraint.namespace,
        constraint.topology_key,
        constraint.selector,
        constraint.max_skew,
        constraint.min_domains,
        eligible_nodes(cluster, i, constraint).tobytes(),
    )


def count_matcher(cluster: "Cluster", constraint: SpreadConstraint) -> Matcher | None:
    """Return the matcher of the pods that a constraint counts; None where it counts none.

    Counting ignores a selector that asks for nothing, although such a selector matches the pod itself.
    """
    if constraint.selector is None or constraint.selector.is_empty:
        return None
    return cluster.units.pods(frozenset((constraint.namespace,)), constraint.selector)


def spread_matches(cluster: "Cluster", constraint: SpreadConstraint, i: int, j: int) -> bool:
    """Whether pod j counts for a constraint of pod i; the caller checks whether j terminates."""
    selector = constraint.selector
    other = cluster.pods[j]
    return (
        selector is not None
        and not selector.is_empty
        and other.namespace == cluster.pods[i].namespace
        and selector.matches(other.labels)
    )
