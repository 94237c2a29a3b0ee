"""Devices of the generated rounds: cards that are whole, shared, or cut into partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..device_objects import device_claim, device_class, resource_slice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .bare_round import BareRound, Manifest

_DRIVER = "cards.example.com"
_MILLI = "1000"
SHARING = ("whole", "shared", "partitioned")


class Devices:
    """A claim of its own for every pod of an app; each node has `devices` cards.

    With `sharing` whole, a pod of an app claims 1 or 2 cards; shared, a quarter, half or all of one card
    (`allowMultipleAllocations`, KEP-5075); partitioned, a card or one of its halves, which use up counters of
    the card (KEP-4815). Each is as likely.
    """

    def __init__(self, made: BareRound, devices: int, sharing: str) -> None:
        self._made, self._sharing = made, sharing
        self._most = devices
        made.others.append(device_class("card", _DRIVER))
        for node in made.nodes:
            made.others += self._slices(node["metadata"]["name"], devices)

    def __call__(self, pods: Iterable[Manifest]) -> None:
        """Give the pods of an app their claims."""
        rng = self._made.rng
        request: Manifest = {"deviceClassName": "card", "count": 1}
        if self._sharing == "whole":
            request["count"] = min(self._most, rng.randint(1, 2))
        elif self._sharing == "shared":
            request["capacity"] = {"requests": {"milli": rng.choice(["250", "500", _MILLI])}}
        else:
            cut = rng.choice(["whole", "half"])
            expression = f'device.attributes["{_DRIVER}"].cut == "{cut}"'
            request["selectors"] = [{"cel": {"expression": expression}}]
        for pod in pods:
            name = f"{pod['metadata']['name']}-card"
            pod["spec"]["resourceClaims"] = [{"name": "card", "resourceClaimName": name}]
            pod["spec"]["containers"][0]["resources"]["claims"] = [{"name": "card"}]
            self._made.others.append(device_claim(name, "card", request))

    def _slices(self, node: str, devices: int) -> list[Manifest]:
        cards = [f"card-{k}" for k in range(devices)]
        if self._sharing == "whole":
            return [_slice(node, "cards", 1, devices=[{"name": card} for card in cards])]
        if self._sharing == "shared":
            capacity = {"milli": {"value": _MILLI}}
            shared = [
                {"name": card, "capacity": capacity, "allowMultipleAllocations": True} for card in cards
            ]
            return [_slice(node, "cards", 1, devices=shared)]
        counters = [{"name": card, "counters": {"milli": {"value": _MILLI}}} for card in cards]
        partitions = [
            _partition(card, name, cut, amount)
            for card in cards
            for name, cut, amount in (
                (card, "whole", _MILLI),
                (f"{card}-half-0", "half", "500"),
                (f"{card}-half-1", "half", "500"),
            )
        ]
        # a slice has counters or devices, not both
        return [
            _slice(node, "counters", 2, sharedCounters=counters),
            _slice(node, "cards", 2, devices=partitions),
        ]


def _partition(card: str, name: str, cut: str, amount: str) -> Manifest:
    return {
        "name": name,
        "attributes": {"cut": {"string": cut}},
        "consumesCounters": [{"counterSet": card, "counters": {"milli": {"value": amount}}}],
    }


def _slice(node: str, name: str, slices: int, **content: list[Manifest]) -> Manifest:
    return resource_slice(f"{node}-{name}", node, _DRIVER, slices=slices, **content)
