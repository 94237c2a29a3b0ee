"""Features that nodes declare, and those that a pod needs of its node (KEP-5328).

Of the features that upstream's library knows at 1.36 two are needed for scheduling: rules that restart all
containers of the pod (KEP-5532), and user namespaces in the host's network (KEP-5607).  The others decide
about updates of running pods.

Source: k8s.io/component-helpers/nodedeclaredfeatures (features/registry.go and what it lists).
"""

from typing import Final

from ...models.pod import PodSpec

RESTART_ALL: Final = "RestartAllContainersOnContainerExits"
HOST_NETWORK_USERS: Final = "UserNamespacesHostNetworkSupport"


def required_features(spec: PodSpec) -> frozenset[str]:
    """Return the features that a pod needs of its node."""
    found: set[str] = set()
    containers = (*spec.containers, *spec.init_containers)
    if any(rule.action == "RestartAllContainers" for c in containers for rule in c.restart_policy_rules):
        found.add(RESTART_ALL)
    if spec.host_network and spec.host_users is False:
        found.add(HOST_NETWORK_USERS)
    return frozenset(found)
