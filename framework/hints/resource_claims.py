"""Which resource claims the pods of a cluster use, as the cluster is now."""

from ...models.features import FeatureGates
from ...models.resource_api import ResourceClaim
from ...models.scheduling import PodGroup
from ..dra.pod_claims import PodClaims
from ..events.objects import ObjectStore


def pod_claims(objects: ObjectStore, gates: FeatureGates) -> PodClaims:
    """Return what finds the claims of pods; it follows the store."""
    groups = objects.by_key(PodGroup) if gates.enabled("DRAWorkloadResourceClaims") else {}
    return PodClaims(objects.by_key(ResourceClaim), groups)
