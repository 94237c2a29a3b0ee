"""Objects of devices as generators and traces write them: a class of a driver, slices of nodes, claims."""

from __future__ import annotations

from typing import Any

Manifest = dict[str, Any]

_VERSION = "resource.k8s.io/v1"


def device_class(name: str, driver: str) -> Manifest:
    """Return a class of all devices of a driver."""
    return {
        "apiVersion": _VERSION,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]},
    }


def resource_slice(
    name: str, node: str, driver: str, *, slices: int = 1, **content: list[Manifest]
) -> Manifest:
    """Return a slice of a node's pool, which has so many; `content` is `devices` or `sharedCounters`."""
    return {
        "apiVersion": _VERSION,
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": slices},
            **content,
        },
    }


def device_claim(name: str, request: str, exactly: Manifest) -> Manifest:
    """Return a claim in namespace `default` with one request."""
    return {
        "apiVersion": _VERSION,
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": request, "exactly": exactly}]}},
    }
