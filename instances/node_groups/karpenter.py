"""The catalogue of instance types that Karpenter's provider for kwok reads.

A list of types; each has resources and offerings, an offering is a price in one zone for one capacity type.
A type with one capacity type is a group, its zones are the group's. Offerings that are not available are left
out.

Source: kubernetes-sigs/karpenter kwok/cloudprovider (instance_types.json), designs/kwok-provider.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ...models.node import ZONE
from ...models.purchases import Catalogue, GroupLimits, Offer, in_millionths
from ..scenario_reader import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"


def offers_of(file: str, raw: Sequence[Any]) -> Catalogue:
    """Read a catalogue.

    Raises
    ------
    InputError
        For what is none.
    """
    found = [offer for index, item in enumerate(raw) for offer in _type(Section(file, f"[{index}]", item))]
    groups = dict.fromkeys(offer.group for offer in found)
    return Catalogue(tuple(found), tuple(GroupLimits(name=name) for name in groups))


def _type(section: Section) -> Iterator[Offer]:
    name, architecture = section.text("name"), section.text("architecture", "")
    systems, resources = section.texts("operatingSystems"), section.mapping("resources")
    offerings = section.sections("offerings")
    section.close()
    if not resources:
        raise section.fault("resources", "required")
    labels = {
        "node.kubernetes.io/instance-type": name,
        **({"kubernetes.io/arch": architecture} if architecture else {}),
        **({"kubernetes.io/os": systems[0]} if systems else {}),
    }
    for offering in offerings:
        price = offering.given("Price", in_millionths, in_millionths(0))
        given = offering.flag("Available")
        where = {}
        for requirement in offering.sections("Requirements"):
            key, values = requirement.text("key"), requirement.texts("values")
            if requirement.text("operator", "In") != "In" or len(values) != 1:
                raise requirement.fault("values", "must be one value that the offering is in (operator In)")
            where[key] = values[0]
            requirement.close()
        offering.close()
        if given:
            group = "-".join((name, *((where[CAPACITY_TYPE],) if CAPACITY_TYPE in where else ())))
            zone = where.get(ZONE, "")
            full = f"{group}-{zone}" if zone else group
            node = {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": full, "labels": {**labels, **where}},
                "status": {"allocatable": dict(resources)},
            }
            yield Offer(name=full, group=group, zone=zone, objects=(node,), price=price)
