"""What happens in a scenario, by hand: one entry of its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..models.kinds import KINDS
from ..models.meta import KubeObject
from ..models.node import ZONE
from ..models.pod import Pod
from ..models.scenario import (
    SECOND,
    Action,
    Arrivals,
    Cordon,
    Delete,
    Drain,
    Kind,
    Put,
    Scale,
    Stock,
    TimedEvent,
    Zone,
)
from .crowds import MOST_PODS, pods_of
from .one_object import object_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .scenario_reader import Section

_SCALABLE: Final = ("Deployment", "ReplicaSet", "StatefulSet", "Job")


def read_event(section: Section, groups: set[str]) -> TimedEvent:
    """Read an event; `groups` are the names of the autoscaler's groups."""
    at = section.time("at")
    found = [name for name in _ACTIONS if section.has(name)]
    if len(found) != 1:
        known = ", ".join(_ACTIONS)
        raise section.fault("", f"must say one thing that happens, of {known}; it says {len(found)}")
    action = _ACTIONS[found[0]](section, groups)
    section.close()
    return TimedEvent(at, action)


def _put(section: Section, groups: set[str]) -> Action:
    found: list[KubeObject] = []
    for index, raw in enumerate(section.list_of("add")):
        item = object_in(section, raw, f"add[{index}]")
        if not isinstance(item, KubeObject):
            raise section.fault(f"add[{index}]", "a scheduler's configuration cannot change on the way")
        if pods_of(item) > MOST_PODS:
            raise section.fault(f"add[{index}]", f"would have {pods_of(item)} pods; {MOST_PODS} is the most")
        found.append(item)
    return Put(tuple(found))


def _delete(section: Section, groups: set[str]) -> Action:
    kind, key = _reference(section, "delete", tuple(KINDS))
    return Delete(kind, key)


def _scale(section: Section, groups: set[str]) -> Action:
    kind, key = _reference(section, "scale", _SCALABLE)
    replicas = section.whole("replicas")
    if replicas > MOST_PODS:
        raise section.fault("replicas", f"must be at most {MOST_PODS}, not {replicas}")
    return Scale(kind, key, replicas)


def _cordon(section: Section, groups: set[str]) -> Action:
    return Cordon(section.text("cordon"))


def _uncordon(section: Section, groups: set[str]) -> Action:
    return Cordon(section.text("uncordon"), on=False)


def _drain(section: Section, groups: set[str]) -> Action:
    return Drain(section.text("drain"))


def _zone_down(section: Section, groups: set[str]) -> Action:
    return Zone(section.text("key", ZONE), section.text("zoneDown"))


def _zone_up(section: Section, groups: set[str]) -> Action:
    return Zone(section.text("key", ZONE), section.text("zoneUp"), dark=False)


def _sold_out(section: Section, groups: set[str]) -> Action:
    return _stock(section, "soldOut", groups, out=True)


def _in_stock(section: Section, groups: set[str]) -> Action:
    return _stock(section, "inStock", groups, out=False)


def _stock(section: Section, field: str, groups: set[str], *, out: bool) -> Action:
    name = section.text(field)
    if name not in groups:
        known = ", ".join(sorted(groups)) or "none"
        raise section.fault(field, f"there is no node group {name!r}; there are: {known}")
    return Stock(name, out=out)


def _arrivals(section: Section, groups: set[str]) -> Action:
    inner = section.section("arrivals", required=True)
    kinds = []
    for each in inner.sections("pods"):
        raw = dict(each.mapping("pod"))
        raw = {"apiVersion": "v1", "kind": "Pod", **raw}
        item = object_in(each, raw, "pod")
        if not isinstance(item, Pod):
            raise each.fault("pod", "must be a Pod")
        kinds.append(Kind(item, each.number("weight", 1.0), each.time("runsFor", 0)))
        if kinds[-1].weight <= 0:
            raise each.fault("weight", "must be more than 0")
        each.close()
    found = Arrivals(
        rate=inner.number("rate"),
        lasts=inner.time("for"),
        kinds=tuple(kinds),
        seed=inner.whole("seed", 0),
    )
    inner.close()
    if not found.rate > 0:
        raise inner.fault("rate", "must be more than 0 (pods a second)")
    expected = found.rate * (found.lasts / SECOND)
    if not expected <= MOST_PODS:
        raise inner.fault("rate", f"would bring {expected:.4g} pods; {MOST_PODS} is the most")
    if not kinds:
        raise inner.fault("pods", "required")
    return found


def _reference(section: Section, field: str, kinds: Sequence[str]) -> tuple[str, str]:
    text = section.text(field)
    kind, _, key = text.partition(" ")
    key = key.strip()
    if kind in KINDS and kind not in kinds:
        raise section.fault(field, f"is for {', '.join(kinds)}, not for a {kind}")
    model = KINDS.get(kind)
    if model is None or not issubclass(model, KubeObject) or not key:
        raise section.fault(field, f"must name an object (such as {kinds[0]} default/web), not {text!r}")
    if model.namespaced and "/" not in key:
        key = f"default/{key}"
    return kind, key


_ACTIONS: Final[dict[str, Callable[[Section, set[str]], Action]]] = {
    "add": _put,
    "delete": _delete,
    "scale": _scale,
    "cordon": _cordon,
    "uncordon": _uncordon,
    "drain": _drain,
    "zoneDown": _zone_down,
    "zoneUp": _zone_up,
    "soldOut": _sold_out,
    "inStock": _in_stock,
    "arrivals": _arrivals,
}
