"""From a plan to what an API server is asked, in the order of the plan's steps (docs/apply.md).

Every request names the object by its uid, so that nothing happens to another one of the same name.

Sources: policy/v1 Eviction (registry/core/pod/storage/eviction.go); kube-scheduler framework/preemption
(prepareCandidate) for deletions and nominations; plugins/defaultbinder for the binding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .claims import Claims
from .forms import awaited, status_patched
from .places import Place
from .request import Request
from .volumes import volumes_bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..models.plan import Plan, Step
    from ..models.plan_objects import TouchedPod

_JSON = "application/json"
_PODS = "pods"


def requests_of(plan: Plan) -> list[Request]:
    """Return what carries a plan out: checks first, then its steps.

    Parameters
    ----------
    plan : Plan
        One that `read_plan` lets through.
    """
    return list(_Applied(plan).requests())


class _Applied:
    def __init__(self, plan: Plan) -> None:
        assert plan.objects is not None
        self._plan = plan
        self._pods = {pod.pod: pod for pod in plan.objects.pods}
        self._volumes = {claim.claim: claim for claim in plan.objects.volume_claims}
        self._claims = Claims(plan.objects)
        self._node_of = {nomination.pod: nomination.node for nomination in plan.nominations}
        self._nominated_by = {
            victim: nomination.pod for nomination in plan.nominations for victim in nomination.victims
        }
        self._preemptors = {eviction.pod: eviction.preemptor for eviction in plan.evictions}
        self._numbers = {id(step): number for number, step in enumerate(plan.steps)}

    def requests(self) -> Iterator[Request]:
        placed = self._plan.placed()
        for pod in self._pods.values():
            yield self._checked(pod, waits=pod.pod in placed)
        for step in self._plan.asked():
            yield from self._step(self._numbers[id(step)], step)

    def _step(self, number: int, step: Step) -> Iterator[Request]:
        if step.mark is not None:
            yield from self._nominated(number, self._nominated_by.get(step.mark))
            yield from self._evicted(number, self._pods[step.mark])
        elif step.leave is not None:
            yield from self._nominated(number, self._nominated_by.get(step.leave))
            yield from self._left(number, self._pods[step.leave])
        elif step.deallocate is not None:
            yield from self._claims.deallocated(number, step.deallocate)
        elif step.bind is not None and step.node is not None:
            pod = self._pods[step.bind]
            yield from self._nominated(number, pod.pod)
            yield from self._claims.bound(number, pod)
            yield from volumes_bound(number, tuple(self._volumes[key] for key in pod.volume_claims))
            yield self._bound(number, pod, step.node)

    def _checked(self, pod: TouchedPod, *, waits: bool) -> Request:
        place = Place.of(_PODS, pod.pod)
        expect: dict[str, Any] = {"metadata": {"uid": pod.uid}}
        if waits:
            expect["spec"] = {"nodeName": None}
        return Request(
            step=None,
            action="check",
            about=f"check that pod {pod.pod} is the one of the plan" + (" and waits" if waits else ""),
            verb="get",
            path=place.path,
            expect=expect,
            place=place,
        )

    def _nominated(self, number: int, key: str | None) -> Iterator[Request]:
        """Nominate a pod before the first of its victims is evicted, or before it is bound; once."""
        node = self._node_of.pop(key, None) if key is not None else None
        if key is None or node is None:
            return
        place, uid, words = Place.of(_PODS, key), self._pods[key].uid, f"nominate pod {key} to node {node}"
        yield status_patched(number, "nominate", words, place, uid, {"nominatedNodeName": node})

    def _evicted(self, number: int, pod: TouchedPod) -> Iterator[Request]:
        """Ask the eviction API; where it refuses as the plan says, delete the pod as preemption does.

        The eviction API answers 500 for a pod of several budgets, so it is not asked for those.
        """
        place = Place.of(_PODS, pod.pod)
        options = {"preconditions": {"uid": pod.uid}}
        asks = len(pod.budgets) <= 1
        if asks:
            yield Request(
                step=number,
                action="evict",
                about=f"evict pod {pod.pod}" + (f", which {pod.budgets[0]} refuses" if pod.refused else ""),
                verb="create",
                path=f"{place.path}/eviction",
                content_type=_JSON,
                body={
                    "apiVersion": "policy/v1",
                    "kind": "Eviction",
                    "metadata": {"name": place.name, "namespace": place.namespace},
                    "deleteOptions": options,
                },
                may_refuse=pod.refused,
                place=place,
                subresource="eviction",
            )
        if asks and not pod.refused:
            return
        preemptor = self._preemptors.get(pod.pod)
        words = f"preempting to accommodate pod {preemptor}" if preemptor else "preempting"
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": f"kubestow: {words}",
        }
        about = f"say in the status of pod {pod.pod} that it is preempted"
        status = {"conditions": [condition]}
        yield status_patched(number, "mark", about, place, pod.uid, status, if_refused=asks)
        yield Request(
            step=number,
            action="delete",
            about=f"delete pod {pod.pod}" + ("" if asks else f" of {len(pod.budgets)} budgets"),
            verb="delete",
            path=place.path,
            content_type=_JSON,
            body={"apiVersion": "v1", "kind": "DeleteOptions", **options},
            if_refused=asks,
            place=place,
        )

    def _left(self, number: int, pod: TouchedPod) -> Iterator[Request]:
        yield awaited(number, f"wait until pod {pod.pod} is gone", Place.of(_PODS, pod.pod), "gone", pod.uid)
        yield from self._claims.left(number, pod)

    def _bound(self, number: int, pod: TouchedPod, node: str) -> Request:
        place = Place.of(_PODS, pod.pod)
        return Request(
            step=number,
            action="bind",
            about=f"bind pod {pod.pod} to node {node}",
            verb="create",
            path=f"{place.path}/binding",
            content_type=_JSON,
            body={
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": place.name, "namespace": place.namespace, "uid": pod.uid},
                "target": {"apiVersion": "v1", "kind": "Node", "name": node},
            },
            place=place,
            subresource="binding",
        )
