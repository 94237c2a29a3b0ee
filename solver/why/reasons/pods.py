"""Rules between pods: topology spread, affinity and anti-affinity, what running pods keep away."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ....framework.index.affinity import parse_term
from ....framework.index.missing import selected
from ....framework.rules.spread import constraints_of, hard_constraints
from ....framework.vocabulary import names
from ....models.pod import TopologySpreadConstraint
from .base import Reason, filters, listed, on_pods, on_specs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....framework.index.podinfo import PodInfo
    from ....framework.rules.spread import SpreadConstraint
    from ....models.affinity import PodAffinityTerm
    from ....models.pod import Pod, PodSpec
    from .base import Subject

_SOFT = TopologySpreadConstraint(
    max_skew=1, topology_key="kubernetes.io/hostname", when_unsatisfiable="ScheduleAnyway"
)


def reasons(subject: Subject) -> Iterator[Reason]:
    """Yield the rules between the pods and others."""
    for info in subject.kinds:
        if filters(subject, info, names.POD_TOPOLOGY_SPREAD):
            yield from _spread(subject, info)
        if filters(subject, info, names.INTER_POD_AFFINITY):
            yield from _own_terms(subject, info)
    if any(filters(subject, info, names.INTER_POD_AFFINITY) for info in subject.kinds):
        yield from _terms_of_others(subject)


# -- topology spread --


def _spread(subject: Subject, info: PodInfo) -> Iterator[Reason]:
    own = info.pod.spec.topology_spread_constraints
    if info.scheduler in subject.cluster.profiles:
        parsed = hard_constraints(subject.cluster, info.index)
    else:
        parsed = tuple(c for c in constraints_of(subject.cluster, info.index) if c.is_hard)
    if not own:
        if parsed:
            yield Reason(
                kind="topologySpread",
                object="KubeSchedulerConfiguration",
                field="PodTopologySpreadArgs.defaultConstraints",
                text="default constraints " + ", ".join(map(_written, parsed)),
                lift=on_specs(subject.like(info), lambda spec: {"topology_spread_constraints": (_SOFT,)}),
            )
        return
    for constraint in parsed:
        yield Reason(
            kind="topologySpread",
            object=f"Pod {info.key}",
            field=f"spec.topologySpreadConstraints[{constraint.index}]",
            text=f"topologySpreadConstraint {_written(constraint)}",
            lift=on_specs(subject.like(info), partial(_softened, own[constraint.index])),
            facts={"constraint": constraint.index},
        )


def _written(constraint: SpreadConstraint) -> str:
    least = f", minDomains {constraint.min_domains}" if constraint.min_domains > 1 else ""
    pods = selected(constraint.selector)
    return f"maxSkew {constraint.max_skew} over {constraint.topology_key}{least}, pods {pods}"


def _softened(constraint: TopologySpreadConstraint, spec: PodSpec) -> dict[str, Any]:
    """Return the constraints with one of them as a wish: without any the defaults would come into force."""
    soft = constraint.model_copy(
        update={"when_unsatisfiable": "ScheduleAnyway", "min_domains": None, "fallback_criteria": ()}
    )
    kept = spec.topology_spread_constraints
    return {"topology_spread_constraints": tuple(soft if item == constraint else item for item in kept)}


# -- inter-pod affinity --


def _own_terms(subject: Subject, info: PodInfo) -> Iterator[Reason]:
    affinity = info.pod.spec.affinity
    if affinity is None:
        return
    for attribute, word in (("pod_affinity", "podAffinity"), ("pod_anti_affinity", "podAntiAffinity")):
        rules = getattr(affinity, attribute)
        for number, term in enumerate(() if rules is None else rules.required):
            field = f"spec.affinity.{word}.requiredDuringSchedulingIgnoredDuringExecution[{number}]"
            yield Reason(
                kind=word,
                object=f"Pod {info.key}",
                field=field,
                text=f"required {word} {_term(subject, info.pod, term)}",
                lift=on_specs(subject.like(info), partial(_without_term, attribute, term)),
                facts={"term": number},
            )


def _term(subject: Subject, pod: Pod, term: PodAffinityTerm) -> str:
    parsed = parse_term(term, pod.namespace, subject.cluster.namespaces)
    where = (
        ""
        if parsed.namespaces == frozenset({pod.namespace})
        else " in " + ("all namespaces" if parsed.namespaces is None else listed(sorted(parsed.namespaces)))
    )
    return f"over {term.topology_key}, pods {selected(parsed.selector)}{where}"


def _without_term(attribute: str, term: PodAffinityTerm, spec: PodSpec) -> dict[str, Any]:
    rules = getattr(spec.affinity, attribute) if spec.affinity else None
    if spec.affinity is None or rules is None:
        return {}
    kept = tuple(item for item in rules.required if item != term)
    changed = rules.model_copy(update={"required_during_scheduling_ignored_during_execution": kept})
    return {"affinity": spec.affinity.model_copy(update={attribute: changed})}


def _terms_of_others(subject: Subject) -> Iterator[Reason]:
    """Yield the anti-affinity terms of running pods that keep the pods away, those alike as one."""
    cluster = subject.cluster
    found: dict[tuple[str, str], tuple[PodAffinityTerm, list[Pod]]] = {}
    for v in cluster.bound:
        info = cluster.pods[v]
        rules = info.pod.spec.affinity.pod_anti_affinity if info.pod.spec.affinity else None
        if rules is None:
            continue
        for term, parsed in zip(rules.required, info.terms.required_anti_affinity, strict=True):
            if any(
                parsed.accepts(other.namespace, other.labels, cluster.namespaces) for other in subject.infos
            ):
                text = f"required podAntiAffinity {_term(subject, info.pod, term)}"
                found.setdefault((info.namespace, text), (term, []))[1].append(info.pod)
    for (_, text), (term, pods) in found.items():
        keys = [pod.key for pod in pods]
        yield Reason(
            kind="runningAntiAffinity",
            object=f"Pod {listed(keys)}",
            field="spec.affinity.podAntiAffinity",
            text=f"{text} of {'a running pod' if len(keys) == 1 else f'{len(keys)} running pods'}",
            lift=on_pods(frozenset(keys), partial(_keeping_no_distance, term)),
            facts={"pods": keys, "topologyKey": term.topology_key},
        )


def _keeping_no_distance(term: PodAffinityTerm, pod: Pod) -> Pod:
    changed = _without_term("pod_anti_affinity", term, pod.spec)
    return pod.model_copy(update={"spec": pod.spec.model_copy(update=changed)})
