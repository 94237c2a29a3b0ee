"""The objects of the API that a plan touches, as the round saw them: what carrying it out takes.

A plan names pods, nodes and claims; an API server also wants to know which pod of that name is meant (its
uid), what a claim's status is to say, and which volume a claim takes. All of that is in one place, beside the
lists that say what the plan decides (docs/apply.md). A uid is empty where the input has none.
"""

from __future__ import annotations

from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from .plan_model import PlanModel


class _Touched(PlanModel):
    """Something that a plan touches; what it has nothing of is left out of the document."""

    @model_serializer(mode="wrap")
    def _without_nothing(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if value}


class Reservation(PlanModel):
    """A resource claim that is reserved with a pod's binding.

    `consumer` is the reference that `status.reservedFor` gets: the pod's, or that of its pod group.
    """

    claim: str
    consumer: dict[str, Any]


class TouchedPod(_Touched):
    """A pod that a step binds or evicts.

    Attributes
    ----------
    pod, uid : str
    budgets : tuple of str
        The budgets that cover a pod that is evicted, as the eviction API sees them.
    refused : bool
        Whether the eviction API, asked in the order of the plan (`Plan.asked`), refuses its eviction.
    reservations : tuple of Reservation
        What its binding reserves.
    volume_claims : tuple of str
        The claims to volumes that are bound with it.
    """

    pod: str
    uid: str = ""
    budgets: tuple[str, ...] = ()
    refused: bool = False
    reservations: tuple[Reservation, ...] = ()
    volume_claims: tuple[str, ...] = ()


class TouchedClaim(_Touched):
    """A resource claim of which the plan changes the status, or whose holder it evicts.

    Attributes
    ----------
    claim, api_version, uid : str
        `uid` is empty for a claim that is made for extended resources (`spec`), too.
    consumers : tuple of dict
        `status.reservedFor` in the input.
    allocated : bool
        Whether the claim has devices in the input.
    allocation : dict or None
        The new `status.allocation`; None where the plan allocates nothing.
    spec : dict or None
        The spec of a claim that does not exist yet.
    request_mappings : tuple of dict
        Which container's resource each request of such a claim serves.
    """

    claim: str
    api_version: str
    uid: str = ""
    consumers: tuple[dict[str, Any], ...] = ()
    allocated: bool = False
    allocation: dict[str, Any] | None = None
    spec: dict[str, Any] | None = None
    request_mappings: tuple[dict[str, Any], ...] = ()


class TouchedVolumeClaim(_Touched):
    """A PersistentVolumeClaim that is bound with a pod: to a volume, or to one that is made for a node.

    `reserved` tells that the volume names the claim already; exactly one of `volume` and `node` is set.
    """

    claim: str
    uid: str = ""
    volume: str | None = None
    volume_uid: str = ""
    reserved: bool = False
    node: str | None = None


class PlanObjects(_Touched):
    """Everything that the steps of a plan touch, each once, in the order of the steps."""

    pods: tuple[TouchedPod, ...] = ()
    claims: tuple[TouchedClaim, ...] = ()
    volume_claims: tuple[TouchedVolumeClaim, ...] = ()
