"""Rules between a pod and a node's marks: taints, cordons, selectors, node affinity."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ....framework.index.missing import condition
from ....framework.index.taints import HARD_EFFECTS, tolerates
from ....framework.vocabulary import names
from ....models.node import Taint
from ....models.pod import Toleration
from ....models.selectors import requirement
from .base import Reason, filters, listed, on_specs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....framework.index.podinfo import PodInfo
    from ....models.pod import PodSpec
    from ....models.selectors import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
    from .base import Subject

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


def reasons(subject: Subject) -> Iterator[Reason]:
    """Yield the rules between the pods and nodes."""
    if any(filters(subject, info, names.TAINT_TOLERATION) for info in subject.kinds):
        yield from _taints(subject)
    if any(filters(subject, info, names.NODE_UNSCHEDULABLE) for info in subject.kinds):
        yield from _cordons(subject)
    for info in subject.kinds:
        yield from _selectors(subject, info)


# -- taints --


def _taints(subject: Subject) -> Iterator[Reason]:
    cluster = subject.cluster
    found: dict[tuple[str, str, str], tuple[Taint, list[str]]] = {}
    for node in cluster.nodes:
        for taint in node.spec.taints:
            if taint.effect in HARD_EFFECTS:
                key = taint.key, taint.value, taint.effect
                found.setdefault(key, (taint, []))[1].append(node.name)
    for taint, nodes in found.values():
        if _untolerated(subject, taint):
            written = f"{taint.key}={taint.value}:{taint.effect}" if taint.value else _plain(taint)
            toleration = Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)
            yield Reason(
                kind="taint",
                object=f"Node {listed(nodes)}",
                field="spec.taints",
                text=f"taint {written}, which it does not tolerate",
                lift=on_specs(subject.keys, partial(_tolerate, toleration)),
                facts={"key": taint.key, "value": taint.value, "effect": taint.effect, "nodes": nodes},
            )


def _untolerated(subject: Subject, taint: Taint) -> bool:
    """Whether some of the pods do not tolerate a taint."""
    gates = subject.cluster.gates
    return any(
        not any(tolerates(t, taint, gates) for t in info.pod.spec.tolerations) for info in subject.kinds
    )


def _plain(taint: Taint) -> str:
    return f"{taint.key}:{taint.effect}"


def _tolerate(toleration: Toleration, spec: PodSpec) -> dict[str, Any]:
    return {"tolerations": (*spec.tolerations, toleration)}


def _cordons(subject: Subject) -> Iterator[Reason]:
    nodes = [node.name for node in subject.cluster.nodes if node.spec.unschedulable]
    if not nodes or not _untolerated(subject, Taint(key=UNSCHEDULABLE, effect="NoSchedule")):
        return

    toleration = Toleration(key=UNSCHEDULABLE, operator="Exists", effect="NoSchedule")
    yield Reason(
        kind="unschedulable",
        object=f"Node {listed(nodes)}",
        field="spec.unschedulable",
        text="cordoned" if len(nodes) == 1 else f"{len(nodes)} nodes are cordoned",
        lift=on_specs(subject.keys, partial(_tolerate, toleration)),
        facts={"nodes": nodes},
    )


# -- selectors --


def _selectors(subject: Subject, info: PodInfo) -> Iterator[Reason]:
    if not filters(subject, info, names.NODE_AFFINITY):
        return
    spec, where = info.pod.spec, f"Pod {info.key}"
    for key, value in spec.node_selector.items():
        yield Reason(
            kind="nodeSelector",
            object=where,
            field=f"spec.nodeSelector[{key}]",
            text=f"nodeSelector {key}={value}",
            lift=on_specs(subject.like(info), partial(_without_label, key, value)),
            facts={"key": key, "value": value},
        )
    required = _required(spec)
    if required is None:
        return
    path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    if len(required.node_selector_terms) != 1 or required.node_selector_terms[0].is_empty:
        terms = " or ".join(f"({_term(term)})" for term in required.node_selector_terms)
        yield Reason(
            kind="nodeAffinity",
            object=where,
            field=path,
            text=f"required node affinity {terms if terms.strip('()') else 'that asks for nothing'}",
            lift=on_specs(subject.like(info), partial(_without_affinity, required)),
        )
        return
    [term] = required.node_selector_terms
    for place, item in (
        *(("matchExpressions", item) for item in term.match_expressions),
        *(("matchFields", item) for item in term.match_fields),
    ):
        yield Reason(
            kind="nodeAffinity",
            object=where,
            field=f"{path}.nodeSelectorTerms[0].{place}",
            text=f"required node affinity {_written(item)}",
            lift=on_specs(subject.like(info), partial(_without_requirement, item)),
            facts={
                "key": item.key,
                "operator": item.operator,
                "values": list(item.values),
                "ofFields": place == "matchFields",
            },
        )


def _required(spec: PodSpec) -> NodeSelector | None:
    affinity = spec.affinity.node_affinity if spec.affinity else None
    return affinity.required if affinity else None


def _written(item: NodeSelectorRequirement) -> str:
    return condition(requirement(item.key, item.operator, tuple(item.values)))


def _term(term: NodeSelectorTerm) -> str:
    return ", ".join(map(_written, (*term.match_expressions, *term.match_fields)))


def _without_label(key: str, value: str, spec: PodSpec) -> dict[str, Any]:
    kept = {k: v for k, v in spec.node_selector.items() if (k, v) != (key, value)}
    return {"node_selector": kept}


def _without_affinity(required: NodeSelector, spec: PodSpec) -> dict[str, Any]:
    return _with_required(spec, None) if _required(spec) == required else {}


def _without_requirement(item: NodeSelectorRequirement, spec: PodSpec) -> dict[str, Any]:
    required = _required(spec)
    if required is None or len(required.node_selector_terms) != 1:
        return {}
    [term] = required.node_selector_terms
    expressions = tuple(each for each in term.match_expressions if each != item)
    fields = tuple(each for each in term.match_fields if each != item)
    if not expressions and not fields:
        return _with_required(spec, None)  # a term that asks for nothing would match nothing
    shorter = term.model_copy(update={"match_expressions": expressions, "match_fields": fields})
    return _with_required(spec, required.model_copy(update={"node_selector_terms": (shorter,)}))


def _with_required(spec: PodSpec, required: NodeSelector | None) -> dict[str, Any]:
    assert spec.affinity is not None
    assert spec.affinity.node_affinity is not None
    changed = {"required_during_scheduling_ignored_during_execution": required}
    node_affinity = spec.affinity.node_affinity.model_copy(update=changed)
    return {"affinity": spec.affinity.model_copy(update={"node_affinity": node_affinity})}
