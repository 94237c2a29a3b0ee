"""Device taints, and what a request tolerates (KEP-5055).

Source: k8s.io/dynamic-resource-allocation/resourceclaim (ToleratesTaint), resourceslice/tracker.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ...models import resource_api as api

if TYPE_CHECKING:
    from .devices import Device
    from .selection import Selections

_REPELLING: Final = ("NoSchedule", "NoExecute")


def repels(taint: api.DeviceTaint) -> bool:
    """Whether a taint keeps claims away (`None` only informs)."""
    return taint.effect in _REPELLING


def tolerates(toleration: api.DeviceToleration, taint: api.DeviceTaint) -> bool:
    """Whether a toleration puts up with a taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    return toleration.operator == "Exists" or toleration.value == taint.value


def tolerated(taints: Iterable[api.DeviceTaint], tolerations: tuple[api.DeviceToleration, ...]) -> bool:
    """Whether every taint is put up with."""
    return all(any(tolerates(t, taint) for t in tolerations) for taint in taints)


def put_taints(
    devices: Iterable["Device"], rules: Iterable[api.DeviceTaintRule], selections: "Selections"
) -> None:
    """Give every device its repelling taints: its own, then those of the rules that name it."""
    rules = [rule for rule in rules if repels(rule.spec.taint) and rule.spec.device_selector is not None]
    for device in devices:
        own = tuple(taint for taint in device.spec.taints if repels(taint))
        more = tuple(rule.spec.taint for rule in rules if _names(rule.spec, device, selections))
        device.taints = own + more


def _names(rule: api.DeviceTaintRuleSpec, device: "Device", selections: "Selections") -> bool:
    """Whether a rule is about a device; one whose selector fails on a device is not."""
    where = rule.device_selector
    assert where is not None
    id_ = device.id
    wanted = ((where.driver, id_.driver), (where.pool, id_.pool), (where.device, id_.device))
    if any(name is not None and name != have for name, have in wanted):
        return False
    if where.device_class_name is None and not where.selectors:
        return True
    selection = selections.of(where.device_class_name, where.selectors)
    return selection is not None and selection.answer(device) is True
