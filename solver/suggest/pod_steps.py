"""Steps that change what the pods ask for: spread, terms, tolerations, requests, priority."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ...framework.index.missing import readable
from ...framework.rules.spread import hard_constraints
from ...models import step_costs
from ..why.reasons import reasons_of
from ..why.reasons.base import on_specs
from .step import Request, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ...framework.index.podinfo import PodInfo
    from ...framework.rules.spread import SpreadConstraint
    from ...models.pod import Container, PodSpec, ResourceRequirements, TopologySpreadConstraint
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

_UNITS: Final = {
    "cpu": (1000, Fraction(1, 1000)),
    "memory": (1, Fraction(2**20)),
    "ephemeral-storage": (1, Fraction(2**20)),
}
"""Resources of which less may be asked for: index units in the manifest's unit, and the grid of amounts."""


def pod_steps(asked: Asked) -> Iterator[Step]:
    """Yield the steps, those that are alike for pods of several classes as one each."""
    subject = asked.subject
    for info in subject.kinds:
        yield from _skews(asked, info)
    for reason in reasons_of(subject):
        yield from _lifting(asked, reason)
    for info in subject.kinds:
        yield from _requests(asked, info)


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
    yield Step(
        kind=kind,
        object=where,
        text=text,
        cost=cost,
        series=f"{kind} {reason.object} {reason.field} {reason.text}",
        own=True,
        lift=reason.lift,
        counts=honours is not None and counted(asked, _placeable(asked), honours),
    )


def _may_be_soft(info: PodInfo, index: int) -> bool:
    """Whether no other constraint is a wish over the same key: the API server refuses a second one."""
    constraints = info.pod.spec.topology_spread_constraints
    key = constraints[index].topology_key if index < len(constraints) else ""
    return not any(item.topology_key == key and not item.is_hard for item in constraints)


def _placeable(asked: Asked) -> list[int]:
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


# -- requests --


def _requests(asked: Asked, info: PodInfo) -> Iterator[Step]:
    cost = asked.costs.of(step_costs.REQUEST)
    if cost is None:
        return
    for resource, (_, unit) in _UNITS.items():
        wanted, overhead = _amounts(asked, info, resource)
        floor = overhead + (wanted - overhead) * asked.costs.request
        least, most = math.ceil(floor / unit), math.ceil(wanted / unit) - 1
        found = Request(pod=info.index, resource=resource, unit=unit, least=least, most=most)
        if found.least <= found.most:
            template = Step(
                kind=step_costs.REQUEST,
                object=asked.like(info),
                text="",
                cost=cost,
                series=f"{step_costs.REQUEST} {info.key} {resource}",
                own=True,
                request=found,
            )
            yield with_amount(asked, template, found.least)


def _amounts(asked: Asked, info: PodInfo, resource: str) -> tuple[Fraction, Fraction]:
    """Return what a pod asks for of a resource, and how much of that is its overhead."""
    row = asked.subject.cluster.resources.index(resource)
    wanted = Fraction(int(info.request[row]), _UNITS[resource][0])
    return wanted, info.pod.spec.overhead.get(resource, Fraction(0))


def with_amount(asked: Asked, step: Step, amount: int) -> Step:
    """Return a step that lowers a request to an amount, in the units of its grid."""
    assert step.request is not None
    resource = step.request.resource
    info = asked.subject.cluster.pods[step.request.pod]
    wanted, overhead = _amounts(asked, info, resource)
    left = amount * step.request.unit
    share = (left - overhead) / (wanted - overhead)
    lift = on_specs(asked.subject.like(info), partial(_lowered, resource, share))
    return replace(step, text=_said(resource, wanted, left), lift=lift)


def _said(resource: str, before: Fraction, after: Fraction) -> str:
    scale = _UNITS[resource][0]
    old, new = (readable(resource, int(value * scale)) for value in (before, after))
    return f"request {new} {resource} instead of {old}"


def _lowered(resource: str, share: Fraction, spec: PodSpec) -> dict[str, Any]:
    """Lower the request of each container to the same share of it, in whole units."""
    finest = Fraction(1, 1000) if resource == "cpu" else Fraction(1)

    def less(amounts: Mapping[str, Fraction]) -> dict[str, Fraction]:
        return {
            name: Fraction(value * share // finest * finest) if name == resource else value
            for name, value in amounts.items()
        }

    def lowered(amounts: ResourceRequirements) -> ResourceRequirements:
        return amounts.model_copy(update={"requests": less(amounts.requests)})

    def cheaper(container: Container) -> Container:
        return container.model_copy(update={"resources": lowered(container.resources)})

    return {
        "containers": tuple(map(cheaper, spec.containers)),
        "init_containers": tuple(map(cheaper, spec.init_containers)),
        "resources": None if spec.resources is None else lowered(spec.resources),
    }
