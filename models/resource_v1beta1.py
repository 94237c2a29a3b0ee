"""Claims of v1beta1 and v1alpha3, whose requests had the fields of `exactly` directly, in the shape of v1.

Source: kubernetes pkg/apis/resource/v1beta1/conversion.go.
"""

from typing import Any

_FLAT = ("resource.k8s.io/v1beta1", "resource.k8s.io/v1alpha3")
_COMMON = ("name", "firstAvailable")
_ZERO: tuple[Any, ...] = (None, "", 0, False, [], {})


def is_v1beta1(claim: Any) -> bool:
    """Whether a raw claim, or a raw template of claims, is of a version with flat requests."""
    return isinstance(claim, dict) and claim.get("apiVersion") in _FLAT


def lower_flat_requests(spec: Any) -> Any:
    """Return a claim's raw spec with the flat fields of its requests below `exactly`.

    `exactly` is unknown to v1beta1, and the flat fields are to all later versions; the API server drops what
    a version does not know. Flat fields that are all zero, as it writes them beside alternatives, are none.
    """
    devices = spec.get("devices") if isinstance(spec, dict) else None
    if not isinstance(devices, dict) or not isinstance(devices.get("requests"), list):
        return spec
    return {**spec, "devices": {**devices, "requests": [_lowered(item) for item in devices["requests"]]}}


def _lowered(request: Any) -> Any:
    if not isinstance(request, dict):
        return request
    kept = {name: value for name, value in request.items() if name in _COMMON}
    flat = {name: value for name, value in request.items() if name not in (*_COMMON, "exactly")}
    return {**kept, "exactly": flat} if any(value not in _ZERO for value in flat.values()) else kept
