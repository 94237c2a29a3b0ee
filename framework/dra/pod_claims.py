"""Which claims a pod has, and why it may have to wait for them: what PreEnqueue and PreFilter look at first.

Source: k8s.io/dynamic-resource-allocation/resourceclaim/claim.go; plugins/dynamicresources
(foreachPodResourceClaim); KEP-5729 for the claims of a pod group.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ...models.annotations import EXTENDED_RESOURCE_CLAIM
from ...models.pod import Pod, PodResourceClaim
from ...models.resource_api import ResourceClaim
from ...models.scheduling import PodGroup


class PodClaim(NamedTuple):
    """A claim of a pod by its key; `group` is the pod group that it belongs to, empty for none."""

    key: str
    group: str = ""


class ClaimProblem(Exception):
    """Why a pod has to wait for its claims, in upstream's words."""


class PodClaims:
    """Finds the claims of pods.

    Parameters
    ----------
    claims : mapping
        Claims by key.
    groups : mapping
        Pod groups by key; empty where their claims do not count (gate DRAWorkloadResourceClaims).
    """

    def __init__(self, claims: Mapping[str, ResourceClaim], groups: Mapping[str, PodGroup]) -> None:
        self._claims = claims
        self._groups = groups

    def of(self, pod: Pod) -> tuple[PodClaim, ...]:
        """Return a pod's claims in its order, each once.

        Raises
        ------
        ClaimProblem
            Where one is missing, is being deleted, or is another pod's.
        """
        found: list[PodClaim] = []
        for entry in pod.spec.resource_claims:
            group = self._group_of(pod, entry)
            name, generated = self._name(pod, entry, group)
            if name is None:
                continue
            key = f"{pod.namespace}/{name}"
            claim = self._claims.get(key)
            if claim is None:
                raise ClaimProblem(f'could not find ResourceClaim "{key}"')
            if claim.metadata.deletion_timestamp is not None:
                raise ClaimProblem(f'resourceclaim "{name}" is being deleted')
            if generated and group is None and not owns(pod, claim):
                raise ClaimProblem(
                    f"ResourceClaim {key} was not created for pod {pod.key} (pod is not owner)"
                )
            found.append(PodClaim(key, "" if group is None else group.key))
        return tuple(dict.fromkeys(found))

    def _group_of(self, pod: Pod, entry: PodResourceClaim) -> PodGroup | None:
        """Return the pod's group where the entry is one of the group's: same name, same source."""
        reference = pod.spec.scheduling_group
        if reference is None or not self._groups:
            return None
        group = self._groups.get(f"{pod.namespace}/{reference.pod_group_name}")
        return group if group is not None and entry in group.spec.resource_claims else None

    def _name(self, pod: Pod, entry: PodResourceClaim, group: PodGroup | None) -> tuple[str | None, bool]:
        """Return an entry's claim, None where it needs none, and whether it was made from a template."""
        if entry.resource_claim_name is not None:
            return entry.resource_claim_name, False
        if entry.resource_claim_template_name is None:
            raise ClaimProblem(
                f"pod {pod.key}, spec.resourceClaim {entry.name}: none of the supported fields are set"
            )
        statuses = (
            pod.status.resource_claim_statuses if group is None else group.status.resource_claim_statuses
        )
        for status in statuses:
            if status.name == entry.name:
                return status.resource_claim_name, True
        raise ClaimProblem(f'pod "{pod.key}": ResourceClaim not created yet')


def owns(pod: Pod, claim: ResourceClaim) -> bool:
    """Whether a claim was made for a pod; where a manifest has no uids, the name must do."""
    owner = claim.metadata.controller
    if owner is None or claim.namespace != pod.namespace:
        return False
    if owner.uid and pod.metadata.uid:
        return owner.uid == pod.metadata.uid
    return owner.kind == "Pod" and owner.name == pod.name


def is_extended(claim: ResourceClaim) -> bool:
    """Whether a claim was made by the scheduler for a pod's extended resources."""
    return claim.metadata.annotations.get(EXTENDED_RESOURCE_CLAIM) == "true"


def extended_claim(pod: Pod, claims: Mapping[str, ResourceClaim]) -> ResourceClaim | None:
    """Return the claim that an earlier attempt made for a pod's extended resources, or None."""
    return next((claim for claim in claims.values() if is_extended(claim) and owns(pod, claim)), None)
