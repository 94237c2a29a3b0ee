"""What pending pods need that is not built: an instance that needs it is refused by name, never half solved.

Pods that already run with such needs are fine: what they hold is of no concern to pods without them.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..models.errors import KubestowError
from .dra.extended import mapped_resources, requested

if TYPE_CHECKING:
    from .cluster import Cluster
    from .podinfo import PodInfo


def unsupported(cluster: "Cluster", *, solving: bool = True) -> list[str]:
    """Return one line for each need, naming the object and the feature; empty where everything is built.

    Parameters
    ----------
    cluster : Cluster
    solving : bool
        Whether the optimal scheduler has to know the feature, or only the greedy one.
    """
    needs: list[str] = []
    for i in cluster.pending:
        info = cluster.pods[i]
        for need in (*_groups(cluster, info), *(_claims(cluster, info) if solving else ())):
            needs.append(f"Pod {info.key}: {need} not supported yet")
    return needs


def require_supported(cluster: "Cluster", *, solving: bool = True) -> None:
    """Refuse an instance that needs what is not built; parameters as in `unsupported`.

    Raises
    ------
    KubestowError
        Naming the first pod and feature, and how many more there are.
    """
    needs = unsupported(cluster, solving=solving)
    if needs:
        more = f" (and {len(needs) - 1} more)" if len(needs) > 1 else ""
        raise KubestowError(f"{cluster.snapshot.name}: {needs[0]}{more}")


def _groups(cluster: "Cluster", info: "PodInfo") -> Iterator[str]:
    spec = info.pod.spec
    if not cluster.gates.enabled("GenericWorkload"):
        return
    if spec.workload_ref is not None:
        yield f"spec.workloadRef (Workload {spec.workload_ref.name}, a pod group) is"
    if spec.scheduling_group is not None:
        yield f"spec.schedulingGroup (PodGroup {spec.scheduling_group.pod_group_name}) is"


def _claims(cluster: "Cluster", info: "PodInfo") -> Iterator[str]:
    if not cluster.gates.enabled("DynamicResourceAllocation"):
        return
    for claim in info.pod.spec.resource_claims:
        yield f"spec.resourceClaims[{claim.name}] (dynamic resource allocation) is"
    for name in requested(cluster, info.index):
        yield f"a request for {name} (served by DeviceClass {mapped_resources(cluster)[name]}) is"
