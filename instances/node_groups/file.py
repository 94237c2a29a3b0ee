"""Node groups from a file: our own format, the autoscaler's groups of a scenario, or Karpenter's catalogue.

Which of them it is, the document itself says: a list is a catalogue, a map with `autoscaler` a scenario.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ...models.errors import InputError
from ...models.node import ZONE
from ...models.purchases import Catalogue, GroupLimits, Offer, in_millionths
from ..documents import the_document
from ..files import read_file
from ..manifests import snapshot_of
from ..raw_objects import plain
from ..scenario_reader import Section
from .bundled import locate
from .karpenter import offers_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

KIND: Final = "NodeGroups"
_OF_A_NODE: Final = ("ResourceSlice", "CSINode")


def load_catalogue(paths: Sequence[str | Path]) -> Catalogue:
    """Read files of node groups, or bundled ones by name.

    Raises
    ------
    InputError
        For what is none, with the file, the group and the field.
    """
    offers: list[Offer] = []
    limits: list[GroupLimits] = []
    for path in paths:
        file, content = read_file(locate(str(path)), "node groups")
        found = read_catalogue(file, the_document(file, content, "node groups"))
        for kind, new, known in (
            ("node groups", {item.name for item in found.limits}, {item.name for item in limits}),
            ("nodes", {item.name for item in found.offers}, {item.name for item in offers}),
        ):
            for name in sorted(new & known):
                raise InputError(file, "", "nodeGroups", f"two {kind} are called {name!r}")
        offers += found.offers
        limits += found.limits
    return Catalogue(tuple(offers), tuple(limits))


def read_catalogue(file: str, document: Any) -> Catalogue:
    """Read a document of node groups."""
    raw = plain(document)
    if isinstance(raw, list):
        return offers_of(file, raw)
    top = Section(file, "", raw)
    if top.has("autoscaler"):
        groups = top.section("autoscaler").sections("groups")
    else:
        kind = top.text("kind", KIND)
        if kind != KIND:
            raise top.fault("kind", f"must be {KIND}, not {kind!r}")
        top.text("apiVersion", "")
        groups = top.sections("nodeGroups")
        top.close()
    if not groups:
        raise top.fault("nodeGroups", "required: node groups, or `autoscaler.groups` of a scenario")
    read = [_Group(section) for section in groups]
    names = [group.limits.name for group in read]
    offers = tuple(offer for group in read for offer in group.offers)
    nodes = [offer.name for offer in offers]
    for what, found in (("node groups", names), ("nodes", nodes)):
        for name in found:
            if found.count(name) > 1:
                raise top.fault("nodeGroups", f"two {what} are called {name!r}")
    snapshot_of([item for offer in offers for item in offer.objects], name=file)
    return Catalogue(offers, tuple(group.limits for group in read))


class _Group:
    """One group of a file."""

    def __init__(self, section: Section) -> None:
        self._section = section
        name = section.text("name")
        template = section.section("template", required=True)
        zone, labels = template.text("zone", ""), template.strings("labels")
        self._allocatable, self._taints = template.mapping("allocatable"), template.list_of("taints")
        template.close()
        if not self._allocatable:
            raise template.fault("allocatable", "required")
        self._price = section.given("price", in_millionths, in_millionths(1))
        self._labels, self._name = {**({ZONE: zone} if zone else {}), **labels}, name
        least, most = section.whole("min", 0), section.given("max", _whole, None)
        if most is not None and least > most:
            raise section.fault("min", f"must be between 0 and max, not {least}")
        self.limits = GroupLimits(name=name, least=least, most=most)
        self._devices = section.list_of("devices")
        zones = section.texts("zones")
        if zones and zone:
            raise section.fault("zones", "goes with a template without a zone")
        if len({*zones}) < len(zones):
            raise section.fault("zones", "names a zone twice")
        stock = self._stock(zones)
        self.offers = tuple(self._offer(zone, stock.get(zone)) for zone in zones or ("",))
        for field in ("provisioning", "refusal"):  # of a scenario
            section.given(field, lambda value: value, None)
        section.close()

    def _stock(self, zones: Sequence[str]) -> dict[str, int]:
        """Return how many there are by zone; one number is for each zone."""
        section, places = self._section, zones or ("",)
        if section.flag("soldOut"):
            return dict.fromkeys(places, 0)

        def parse(value: Any) -> dict[str, int]:
            if not isinstance(value, dict):
                return dict.fromkeys(places, _whole(value))
            for zone in value:
                if zone not in zones:
                    raise ValueError(f"{zone!r} is none of its zones")
            return {zone: _whole(number) for zone, number in value.items()}

        usual: dict[str, int] = {}
        found: dict[str, int] = section.given("stock", parse, usual)
        return found

    def _offer(self, zone: str, stock: int | None) -> Offer:
        name = f"{self._name}-{zone}" if zone else self._name
        labels = {**self._labels, **({ZONE: zone} if zone else {})}
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": list(self._taints)},
            "status": {"allocatable": {"pods": "110", **self._allocatable}},
        }
        more = tuple(self._of_node(raw, index, name) for index, raw in enumerate(self._devices))
        return Offer(
            name=name,
            group=self.limits.name,
            zone=labels.get(ZONE, ""),
            objects=(node, *more),
            price=self._price,
            stock=stock,
        )

    def _of_node(self, raw: Any, index: int, node: str) -> dict[str, Any]:
        """Return an object of the template's node as one of the offer's node."""
        item = Section("", "", raw) if isinstance(raw, dict) else None
        if item is None or raw.get("kind") not in _OF_A_NODE:
            kinds = " or ".join(_OF_A_NODE)
            raise self._section.fault(f"devices[{index}]", f"must be a {kinds}")
        if raw["kind"] == "CSINode":
            return {**raw, "metadata": {**(raw.get("metadata") or {}), "name": node}}
        meta, spec = raw.get("metadata") or {}, raw.get("spec") or {}
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1, **(spec.get("pool") or {})}
        return {
            **raw,
            "metadata": {**meta, "name": f"{meta.get('name', 'devices')}-{node}"},
            "spec": {**spec, "nodeName": node, "pool": {**pool, "name": f"{pool['name']}-{node}"}},
        }


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError(f"must be a whole number from 0 on, not {value!r}")
    return value
