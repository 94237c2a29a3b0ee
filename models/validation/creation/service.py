"""New services.

Not demanded, though the API server does: ports.

Source: kubernetes pkg/apis/core/validation (ValidateService).
"""

from ...controllers import Service
from ..faults import Faults, known
from .names import address, label_faults, spelled


def new_service_faults(service: Service) -> Faults:
    """Find faults of a new service."""
    spec = service.spec
    yield from label_faults(spec.selector, "spec.selector")
    yield from known(
        spec.type or None, ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"), "spec.type"
    )
    if spec.cluster_ip != "None":
        yield from spelled(spec.cluster_ip, address, "spec.clusterIP")
