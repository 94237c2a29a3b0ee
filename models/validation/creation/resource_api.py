"""New claims to devices and classes of devices.

Source: kubernetes pkg/apis/resource/validation.
"""

from collections.abc import Sequence

from ...requests import extended_resource
from ...resource_api import (
    DeviceClaim,
    DeviceClass,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimTemplate,
)
from ..faults import Fault, Faults
from .metadata import map_faults
from .names import full_attribute_name, label_name, label_value, object_name, qualified_name, spelled
from .resources import resource_name


def _toleration_faults(tolerations: Sequence[DeviceToleration], path: str) -> Faults:
    for index, item in enumerate(tolerations):
        yield from spelled(item.key, qualified_name, f"{path}[{index}].key")
        yield from spelled(item.value, label_value, f"{path}[{index}].value")


def _request_faults(request: ExactDeviceRequest | DeviceSubRequest, path: str) -> Faults:
    yield from spelled(request.device_class_name, object_name, f"{path}.deviceClassName")
    yield from _toleration_faults(request.tolerations, f"{path}.tolerations")


def _claim_faults(claim: DeviceClaim, path: str) -> Faults:
    for index, request in enumerate(claim.requests):
        where = f"{path}.requests[{index}]"
        yield from spelled(request.name, label_name, f"{where}.name")
        if request.exactly is not None:
            yield from _request_faults(request.exactly, f"{where}.exactly")
        for number, alternative in enumerate(request.first_available):
            yield from spelled(alternative.name, label_name, f"{where}.firstAvailable[{number}].name")
            yield from _request_faults(alternative, f"{where}.firstAvailable[{number}]")
    for index, constraint in enumerate(claim.constraints):
        for name, value in (
            ("matchAttribute", constraint.match_attribute),
            ("distinctAttribute", constraint.distinct_attribute),
        ):
            # Of both, the API server looks at the first one only.
            if value is not None:
                if wrong := full_attribute_name(value):
                    yield Fault(f"{path}.constraints[{index}].{name}", wrong)
                break


def new_claim_faults(claim: ResourceClaim) -> Faults:
    """Find faults of a new claim."""
    yield from _claim_faults(claim.spec.devices, "spec.devices")


def new_claim_template_faults(template: ResourceClaimTemplate) -> Faults:
    """Find faults of a new template of claims."""
    yield from map_faults(template.spec.metadata, "spec.metadata")
    yield from _claim_faults(template.spec.spec.devices, "spec.spec.devices")


def new_device_class_faults(item: DeviceClass) -> Faults:
    """Find faults of a new device class."""
    name = item.spec.extended_resource_name
    if name is not None and (not extended_resource(name) or resource_name(name)):
        yield Fault(
            "spec.extendedResourceName",
            f"must be <domain>/<name> outside kubernetes.io, as nvidia.com/gpu, not {name!r}",
        )
