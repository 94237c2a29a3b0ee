"""Host ports: what a pod claims of its node's addresses.

Source: kube-scheduler 1.34.1 framework/types.go (HostPortInfo), plugins/nodeports.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ...models.pod import Pod

ANY_ADDRESS: Final = "0.0.0.0"


class HostPort(NamedTuple):
    """A port of one address of the node, or of all of them (`0.0.0.0`)."""

    ip: str
    protocol: str
    port: int


def host_ports(pod: Pod, *, sidecars: bool = True) -> frozenset[HostPort]:
    """Return the host ports of a pod's containers and restartable init containers.

    Parameters
    ----------
    pod : Pod
        The pod; plain init containers are ignored, they never run beside anything.
    sidecars : bool
        Whether restartable init containers exist (gate SidecarContainers).
    """
    containers = pod.spec.containers
    if sidecars and pod.spec.init_containers:
        containers = (*containers, *(c for c in pod.spec.init_containers if c.is_sidecar))
    return frozenset(
        HostPort(port.host_ip or ANY_ADDRESS, port.protocol, port.host_port)
        for container in containers
        for port in container.ports
        if port.host_port > 0
    )


def conflict(wanted: Iterable[HostPort], used: Iterable[HostPort]) -> bool:
    """Whether a wanted port is taken: same protocol and port, same address or one of them is all."""
    taken = list(used)
    return any(
        a.port == b.port and a.protocol == b.protocol and (a.ip == b.ip or ANY_ADDRESS in (a.ip, b.ip))
        for a in wanted
        for b in taken
    )
