"""What the Priority admission plugin of the API server does with a new pod or pod group.

Sources: kubernetes plugin/pkg/admission/priority; KEP-4664 for the guard.
"""

from collections.abc import Iterable
from typing import Any, TypeVar

from .errors import InputError
from .pod import Pod
from .scheduling import CompositePodGroup, PodGroup, PriorityClass

SYSTEM_CLASSES = (
    PriorityClass.model_validate({"metadata": {"name": "system-cluster-critical"}, "value": 2_000_000_000}),
    PriorityClass.model_validate({"metadata": {"name": "system-node-critical"}, "value": 2_000_001_000}),
)
"""The classes that every cluster has, whether a dump shows them or not."""


class PriorityClasses:
    """The priority classes of a cluster, by name, the built-in ones among them.

    Parameters
    ----------
    classes : iterable of PriorityClass
        The classes of the input. Among several global defaults the one with the lowest value holds.
    """

    def __init__(self, classes: Iterable[PriorityClass]) -> None:
        given = tuple(classes)
        self._by_name = {item.name: item for item in (*SYSTEM_CLASSES, *given)}
        self.default = min(
            (item for item in given if item.global_default), key=lambda item: item.value, default=None
        )

    def get(self, name: str) -> PriorityClass | None:
        """Return a class by name, or None."""
        return self._by_name.get(name)

    def of(self, item: Pod | PodGroup | CompositePodGroup, file: str) -> PriorityClass | None:
        """Return the class that admission takes for a pod or group, or None for priority 0.

        Raises
        ------
        InputError
            If a class is named that does not exist, and the priority is not set either.
        """
        name = item.spec.priority_class_name
        if not name:
            return self.default if item.spec.priority is None else None
        found = self.get(name)
        if found is None and item.spec.priority is None:
            raise InputError(
                file,
                f"{item.kind} {item.key}",
                "spec.priorityClassName",
                f"there is no PriorityClass {name!r} in the input",
            )
        return found


_AnyItem = TypeVar("_AnyItem", Pod, PodGroup, CompositePodGroup)


def admit(item: _AnyItem, classes: PriorityClasses, file: str = "") -> _AnyItem:
    """Return a pod or a pod group with its priority and what comes with it, where it lacks them.

    From its class, else the global default: `priority`, `preemptionPolicy` and, for a pod, KEP-4664's
    `allowDisruptionByPriorityGreaterThanOrEqual`. Without a class a pod has priority 0, and a group that
    states none stays without, to take that of its pods. What is set already stays: a class that has changed
    since does not change existing pods.

    Raises
    ------
    InputError
        If a class is named that does not exist, and the priority is not set either.
    """
    spec = item.spec
    found = classes.of(item, file)
    change: dict[str, Any] = {}
    if found is not None and spec.priority is None:
        change["priority"] = found.value
    elif spec.priority is None and isinstance(item, Pod):
        change["priority"] = 0
    if found is not None and not spec.priority_class_name:
        change["priority_class_name"] = found.name
    if spec.preemption_policy is None:
        change["preemption_policy"] = found.preemption_policy if found else "PreemptLowerPriority"
    if isinstance(item, Pod) and found is not None:
        guard = found.allow_disruption_by_priority_greater_than_or_equal
        if item.spec.allow_disruption_by_priority_greater_than_or_equal is None and guard is not None:
            change["allow_disruption_by_priority_greater_than_or_equal"] = guard
    return item.model_copy(update={"spec": spec.model_copy(update=change)}) if change else item
