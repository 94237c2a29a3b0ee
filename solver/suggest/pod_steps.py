"""Steps that change which rules the pods bring: spread, terms, tolerations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ...framework.rules.spread import hard_constraints
from ...models import step_costs
from ..why.reasons import reasons_of
from ..why.reasons.base import on_specs
from .step import Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ...framework.index.podinfo import PodInfo
    from ...framework.rules.spread import SpreadConstraint
    from ...models.pod import PodSpec, TopologySpreadConstraint
    from ..why.reasons import Reason
    from .step import Asked

_KINDS: Final = {
    "taint": step_costs.TOLERATION,
    "nodeSelector": step_costs.NODE_SELECTOR,
    "nodeAffinity": step_costs.NODE_AFFINITY,
    "podAffinity": step_costs.POD_AFFINITY,
    "podAntiAffinity": step_costs.POD_ANTI_AFFINITY,
    "topologySpread": step_costs.SCHEDULE_ANYWAY,
}
"""Kinds of reasons of which each is lifted by one step, and the step's kind."""


def pod_steps(asked: Asked) -> Iterator[Step]:
    """Yield the steps, those that are alike for pods of several classes as one each."""
    subject = asked.subject
    for info in subject.kinds:
        yield from _skews(asked, info)
    for reason in reasons_of(subject):
        yield from _lifting(asked, reason)


def counted(asked: Asked, pods: Iterable[int], honours: Callable[[SpreadConstraint], bool]) -> bool:
    """Whether some pod has a spread constraint that counts other nodes once a step is taken."""
    cluster = asked.subject.cluster
    return any(honours(constraint) for i in pods for constraint in hard_constraints(cluster, i))


def honours_taints(constraint: SpreadConstraint) -> bool:
    """Whether a constraint leaves out nodes whose taints a pod does not tolerate."""
    return constraint.taints_policy == "Honor"


def _honours_affinity(constraint: SpreadConstraint) -> bool:
    return constraint.affinity_policy == "Honor"


# -- rules that are lifted --


def _lifting(asked: Asked, reason: Reason) -> Iterator[Step]:
    kind = _KINDS.get(reason.kind)
    cost = None if kind is None else asked.costs.of(kind)
    if kind is None or cost is None:
        return
    where = asked.where if reason.kind == "taint" else reason.object
    text = reason.text
    if kind == step_costs.TOLERATION:
        facts = reason.facts
        value = f"={facts['value']}" if facts["value"] else ""
        text = f"tolerate {facts['key']}{value}:{facts['effect']}"
    elif kind == step_costs.SCHEDULE_ANYWAY:
        if "constraint" not in reason.facts:
            return  # the scheduler's default, not the pod's
        if not all(_may_be_soft(info, reason.facts["constraint"]) for info in asked.subject.kinds):
            return
        text = f"whenUnsatisfiable ScheduleAnyway for {text}"
    else:
        text = f"without {text}"
    honours = _WIDENING.get(reason.kind)
    counts = honours is not None and counted(asked, placeable_pods(asked), honours)
    yield Step(
        kind=kind,
        object=where,
        text=text,
        cost=cost,
        series=f"{kind} {reason.object} {reason.field} {reason.text}",
        own=True,
        lift=reason.lift,
        counts=counts,
        counts_for_it=counts,
    )


def _may_be_soft(info: PodInfo, index: int) -> bool:
    """Whether no other constraint is a wish over the same key: the API server refuses a second one."""
    constraints = info.pod.spec.topology_spread_constraints
    key = constraints[index].topology_key if index < len(constraints) else ""
    return not any(item.topology_key == key and not item.is_hard for item in constraints)


def placeable_pods(asked: Asked) -> list[int]:
    """Return the pods in question that have a profile: of the others no rule is known."""
    profiles = asked.subject.cluster.profiles
    return [info.index for info in asked.subject.infos if info.scheduler in profiles]


_WIDENING: Final = {
    "taint": honours_taints,
    "nodeSelector": _honours_affinity,
    "nodeAffinity": _honours_affinity,
}
"""Kinds of reasons of which each keeps nodes out, and which spread constraints count without these."""


# -- topology spread --


def _skews(asked: Asked, info: PodInfo) -> Iterator[Step]:
    cost = asked.costs.of(step_costs.MAX_SKEW)
    written = info.pod.spec.topology_spread_constraints
    if cost is None or info.scheduler not in asked.subject.cluster.profiles:
        return
    for parsed in hard_constraints(asked.subject.cluster, info.index) if written else ():
        own = written[parsed.index]
        keys = asked.subject.like(info)
        template = Step(
            kind=step_costs.MAX_SKEW,
            object=asked.like(info),
            text="",
            cost=cost,
            series=f"{step_costs.MAX_SKEW} {info.key} {parsed.index}",
            own=True,
        )
        texts = [
            (
                f"maxSkew {own.max_skew + more} instead of {own.max_skew} over {own.topology_key}",
                on_specs(keys, partial(_skewed, parsed.index, own.max_skew + more)),
            )
            for more in range(1, asked.costs.max_skew + 1)
        ]
        yield from asked.levels(template, cost, texts)


def _skewed(index: int, skew: int, spec: PodSpec) -> dict[str, Any]:
    def changed(place: int, item: TopologySpreadConstraint) -> TopologySpreadConstraint:
        return item.model_copy(update={"max_skew": skew}) if place == index else item

    constraints = tuple(changed(*each) for each in enumerate(spec.topology_spread_constraints))
    return {"topology_spread_constraints": constraints}
