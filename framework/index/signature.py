"""What makes two incoming pods the same to every filter and every score.

Not part of it: name, creation time, nominated node, and whatever only matters once a pod runs.
"""

from collections.abc import Collection, Hashable

from ...models.pod import Container, TopologySpreadConstraint
from .declared_features import required_features
from .podinfo import PodInfo


def _spread(constraint: TopologySpreadConstraint) -> Hashable:
    selector = constraint.label_selector
    return (
        constraint.max_skew,
        constraint.topology_key,
        constraint.when_unsatisfiable,
        None if selector is None else selector.compiled,
        constraint.min_domains,
        constraint.node_affinity_policy,
        constraint.node_taints_policy,
        constraint.match_label_keys,
        constraint.fallback_criteria,
    )


def claims_as_written(info: PodInfo, consumers: Collection[str]) -> Hashable:
    """Return a pod's claims: one made from a template is the pod's alone, others may be reserved for it.

    Parameters
    ----------
    info : PodInfo
    consumers : collection of str
        The pods for which resource claims are reserved.
    """
    entries = info.pod.spec.resource_claims
    if not entries:
        return ""
    made = any(entry.resource_claim_template_name for entry in entries)
    return entries, info.key if made or info.key in consumers else ""


def _extended(container: Container) -> tuple[Hashable, ...]:
    """Return what devices may serve of a container's requests, which are then served one by one."""
    return tuple(item for item in container.resources.requests.items() if "/" in item[0])


def signature(info: PodInfo, volumes: Hashable, claims: Hashable) -> tuple[Hashable, ...]:
    """Return a key that is equal for pods of one class, beside their count class (labels, terms, ports).

    Parameters
    ----------
    info : PodInfo
    volumes : hashable
        The key of its volumes (`framework.volumes.signature`).
    claims : hashable
        The key of its resource claims: as written for filters and scores, which name them one by one.
    """
    spec = info.pod.spec
    node_affinity = spec.affinity.node_affinity if spec.affinity else None
    required = node_affinity.required if node_affinity else None
    own = spec.topology_spread_constraints
    return (
        info.scheduler,
        info.priority,
        info.preempts,
        info.guard,
        info.request,
        info.usage,
        info.score_request,
        info.nonzero,
        spec.node_name,
        tuple(sorted(spec.node_selector.items())),
        None if required is None else required.compiled,
        tuple((p.weight, p.preference.compiled) for p in (node_affinity.preferred if node_affinity else ())),
        spec.tolerations,
        tuple(_spread(constraint) for constraint in own),
        info.held,
        None if own else info.default_selector,
        tuple((c.image, _extended(c)) for c in (*spec.init_containers, *spec.containers)),
        volumes,
        claims,
        spec.workload_ref,
        spec.scheduling_group,
        required_features(spec),
        info.terminating,
    )
