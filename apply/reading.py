"""Read the plan that is to be carried out, and refuse one that cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..instances.documents import the_document
from ..instances.files import read_file
from ..models.errors import InputError
from ..models.plan import Plan
from ..models.validation.creation.names import label_name, subdomain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..models.plan_objects import PlanObjects

_WANTED = "a plan, as `kubestow solve -o json` prints it"
_OF_THE_CLUSTER = ("Node", "PersistentVolume")
_DUMP = "only the input of a plan that `kubectl get -o json` or the like wrote has what is needed"


def read_plan(path: str, scheduler: str | None = None) -> tuple[str, Plan]:
    """Return the file's name and the plan that it holds.

    Parameters
    ----------
    path : str
        A file of JSON or YAML, gzip or not, `-` for standard input: a plan, or a comparison.
    scheduler : str, optional
        `optimal` or `greedy`: which plan of a comparison; a plan by itself must be this scheduler's.

    Raises
    ------
    InputError
        For what is no plan, or one that may not or cannot be carried out.
    """
    file, content = read_file(path, _WANTED)
    document = the_document(file, content, _WANTED)
    if not isinstance(document, dict):
        raise InputError(file, "", "", f"is not {_WANTED}")
    if "before" in document and "after" in document:
        raise InputError(
            file, "", "", "is a comparison of two releases, and none of its plans is to be carried out"
        )
    field = ""
    if "optimal" in document and "greedy" in document:
        if scheduler is None:
            choice = "--scheduler optimal or --scheduler greedy chooses one"
            raise InputError(file, "", "", f"is a comparison, which holds two plans: {choice}")
        document, field = document[scheduler], scheduler
    try:
        plan = Plan.model_validate(document)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, (*filter(None, [field]), *fault["loc"])))
        raise InputError(file, "", where, f"is not {_WANTED}: {fault['msg']}") from None
    if scheduler not in (None, plan.scheduler):
        raise InputError(file, "", "scheduler", f"is {plan.scheduler}, not {scheduler}")
    refuse(file, plan)
    return file, plan


def refuse(file: str, plan: Plan) -> None:
    """Refuse a plan that may not or cannot be carried out.

    Raises
    ------
    InputError
        Naming the plan as `file`, and what is wrong with it.
    """
    if not plan.stats.verified:
        raise InputError(
            file, "", "stats.verified", "is false: only a plan that was replayed may be carried out"
        )
    if not plan.stats.admissible:
        wrong = "the plan wastes an eviction, evicts what it binds, or evicts a part of a group"
        raise InputError(file, "", "stats.admissible", f"is false: {wrong}")
    if plan.objects is None:
        old = "is missing: an earlier release wrote the plan, without uids; solve the round again"
        raise InputError(file, "", "objects", old)
    for field, kind, key in _unknown(plan, plan.objects):
        raise InputError(file, f"{kind} {key}", field, "is not among the objects of the plan")
    for claim in plan.objects.claims:
        results = (claim.allocation or {}).get("devices", {}).get("results", ())
        if any(result.get("bindingConditions") for result in results):
            why = "its devices have binding conditions (KEP-5007), which only a scheduler waits for"
            raise InputError(file, f"ResourceClaim {claim.claim}", "objects", why)
        group, _, version = claim.api_version.partition("/")
        if wrong := subdomain(group) or label_name(version):
            raise InputError(file, f"ResourceClaim {claim.claim}", "apiVersion", wrong)
    for volume in plan.objects.volume_claims:
        if (volume.volume is None) == (volume.node is None):
            either = "must have either a volume or the node for which one is made"
            raise InputError(file, f"PersistentVolumeClaim {volume.claim}", "objects", either)
    for kind, key, uid in _named(plan, plan.objects):
        namespace, _, name = ("", "", key) if kind in _OF_THE_CLUSTER else key.partition("/")
        if wrong := ("" if kind in _OF_THE_CLUSTER else label_name(namespace)) or subdomain(name):
            raise InputError(file, kind, "metadata.name", f"{key!r}: a name {wrong}")
        if uid == "":
            raise InputError(file, f"{kind} {key}", "metadata.uid", f"is missing: {_DUMP}")


def _unknown(plan: Plan, objects: PlanObjects) -> Iterator[tuple[str, str, str]]:
    """Yield field, kind and key of what is spoken of and not described."""
    pods = {pod.pod for pod in objects.pods}
    claims = {claim.claim for claim in objects.claims}
    volume_claims = {claim.claim for claim in objects.volume_claims}
    for number, step in enumerate(plan.steps):
        name = step.bind or step.mark or step.leave
        if name is not None and name not in pods:
            yield f"steps[{number}]", "Pod", name
        if step.deallocate is not None and step.deallocate not in claims:
            yield f"steps[{number}]", "ResourceClaim", step.deallocate
    for nomination in plan.nominations:
        if nomination.pod not in pods:
            yield "nominations", "Pod", nomination.pod
    for pod in objects.pods:
        for reservation in pod.reservations:
            if reservation.claim not in claims:
                yield "objects.pods", "ResourceClaim", reservation.claim
        for key in pod.volume_claims:
            if key not in volume_claims:
                yield "objects.pods", "PersistentVolumeClaim", key


def _named(plan: Plan, objects: PlanObjects) -> Iterator[tuple[str, str, Any]]:
    """Yield kind, key and uid of all that is named; the uid is None where none is needed."""
    for pod in objects.pods:
        yield "Pod", pod.pod, pod.uid
        for reservation in pod.reservations:
            yield "ResourceClaim", reservation.claim, None
            group = reservation.consumer.get("resource") == "podgroups"
            consumer = f"{reservation.claim.partition('/')[0]}/{reservation.consumer.get('name')}"
            yield "PodGroup" if group else "Pod", consumer, reservation.consumer.get("uid", "")
    for claim in objects.claims:
        yield "ResourceClaim", claim.claim, claim.uid if claim.spec is None else None
    for volume in objects.volume_claims:
        yield "PersistentVolumeClaim", volume.claim, volume.uid
        if volume.volume is not None:
            yield "PersistentVolume", volume.volume, volume.volume_uid
        if volume.node is not None:
            yield "Node", volume.node, None
    for step in plan.steps:
        if step.node is not None:
            yield "Node", step.node, None
    for nomination in plan.nominations:
        yield "Node", nomination.node, None
