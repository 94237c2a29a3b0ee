"""The selector that default spreading constraints get: from a pod's services and its controller.

Source: kube-scheduler 1.34.1 plugins/helper/spread.go.
"""

from collections.abc import Mapping
from typing import Any, Final

from ...models.meta import OwnerReference
from ...models.selectors import CompiledSelector, compile_requirements, requirement
from ...models.snapshot import Snapshot

_CONTROLLERS: Final = {
    ("v1", "ReplicationController"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
}


class DefaultSelectors:
    """Looks up which services and which controller stand behind a pod.

    The selectors of all services that select the pod, and the one of its controlling ReplicationController,
    ReplicaSet or StatefulSet, together. Pods of a Job and bare pods without a service get an empty selector,
    and with that no default constraint.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._services: dict[str, list[dict[str, str]]] = {}
        for service in snapshot.services:
            if service.spec.selector:
                self._services.setdefault(service.namespace, []).append(service.spec.selector)
        self._owners: dict[tuple[str, str, str, str], Any] = {
            (owner.api_version, owner.kind, owner.namespace, owner.name): owner.spec.selector
            for owners in (snapshot.replica_sets, snapshot.stateful_sets, snapshot.replication_controllers)
            for owner in owners
        }

    def select_alike(self, other: "DefaultSelectors") -> bool:
        """Whether both give every pod the same selector."""
        return vars(self) == vars(other)

    def select(
        self, namespace: str, labels: Mapping[str, str], controller: OwnerReference | None
    ) -> CompiledSelector:
        """Return the merged selector of a pod with these labels and this controller; empty for none."""
        pairs: dict[str, str] = {}
        for selector in self._services.get(namespace, ()):
            if all(labels.get(key) == value for key, value in selector.items()):
                pairs.update(selector)
        extra: CompiledSelector | None = None
        if controller is not None and (controller.api_version, controller.kind) in _CONTROLLERS:
            found = self._owners.get((controller.api_version, controller.kind, namespace, controller.name))
            if isinstance(found, dict):
                pairs.update(found)
            elif found is not None:
                extra = found.compiled
        own = tuple(requirement(key, "In", (value,)) for key, value in pairs.items())
        return compile_requirements((*own, *(extra.requirements if extra else ())))
