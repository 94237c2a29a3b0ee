"""Which nodes of a cluster are of a group that has a price: those that can be returned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ...models.node import ZONE
from ...models.purchases import Catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...models.node import Node
    from ...models.purchases import Offer
    from ...models.snapshot import Snapshot

INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
_CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
_HOST: Final = "kubernetes.io/hostname"
_COMMON: Final = frozenset(
    {ZONE, _HOST, "topology.kubernetes.io/region", "kubernetes.io/os", "kubernetes.io/arch"}
)
"""Labels that nodes of many groups share: they identify none."""


def owned_nodes(snapshot: Snapshot, catalogue: Catalogue, group_label: str = "") -> dict[str, int]:
    """Return the nodes that are of an offer: name -> place of the offer.

    A node is of an offer whose zone it is in, and

    - with `group_label`, whose group's name is the value of that label;
    - else, where the template has an instance type, whose instance type, and capacity type if the node has
      one, are the node's;
    - else, all whose template's labels the node has, if one of them tells more than place and platform.

    Of several offers it is the one with the most labels, then the first.
    """
    found: dict[str, int] = {}
    offers = sorted(enumerate(catalogue.offers), key=lambda item: (-len(_labels(item[1])), item[0]))
    for node in snapshot.nodes:
        for k, offer in offers:
            if _is_of(node, offer, group_label):
                found[node.name] = k
                break
    return found


def _labels(offer: Offer) -> dict[str, str]:
    labels: dict[str, str] = offer.objects[0].get("metadata", {}).get("labels") or {}
    return labels


def _is_of(node: Node, offer: Offer, group_label: str) -> bool:
    has, wanted = node.metadata.labels, _labels(offer)
    if offer.zone and has.get(ZONE) != offer.zone:
        return False
    if group_label:
        return has.get(group_label) == offer.group
    if INSTANCE_TYPE in wanted:
        capacity = {_CAPACITY_TYPE} & has.keys() & wanted.keys()
        return all(has.get(key) == wanted[key] for key in (INSTANCE_TYPE, *capacity))
    keys = wanted.keys() - {_HOST}
    return bool(keys - _COMMON) and all(has.get(key) == wanted[key] for key in keys)


def what_is_left(catalogue: Catalogue, owned: Mapping[str, int]) -> Catalogue:
    """Return the offers with the limits that the nodes that stand leave for those to be bought."""
    here = {limits.name: 0 for limits in catalogue.limits}
    for k in owned.values():
        here[catalogue.offers[k].group] += 1
    limits = tuple(
        replace(
            each,
            least=max(each.least - here[each.name], 0),
            most=None if each.most is None else max(each.most - here[each.name], 0),
        )
        for each in catalogue.limits
    )
    return Catalogue(catalogue.offers, limits)


def returnable(catalogue: Catalogue, owned: Mapping[str, int]) -> frozenset[str]:
    """Return the nodes of groups that may become smaller: those without a least number."""
    held = {limits.name for limits in catalogue.limits if limits.least}
    return frozenset(name for name, k in owned.items() if catalogue.offers[k].group not in held)
