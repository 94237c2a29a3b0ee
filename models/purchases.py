"""Nodes that can be bought, and what is bought of them (docs/provision.md).

A node group in one zone is an offer: copies of one node at one price. Limits of a group hold over its zones.
Prices are whole millionths, so that sums of them are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cached_property
from typing import Any, Final

from .changes import AddNodes, ChangeSet

MILLION: Final = 1_000_000
"""What one unit of money has of the units in which prices are added."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Offer:
    """Nodes of one group in one zone.

    Attributes
    ----------
    name : str
        Of the template's Node, and the beginning of the names of new nodes.
    group, zone : str
        `zone` is empty where the template has none.
    objects : tuple of mapping
        Kubernetes objects: a Node of that name, with its ResourceSlices and CSINode.
    price : int
        Of one node, in millionths.
    stock : int or None
        How many can be had; None where that is not known.
    """

    name: str
    group: str
    zone: str
    objects: tuple[Mapping[str, Any], ...]
    price: int
    stock: int | None = None


@dataclass(frozen=True, kw_only=True)
class GroupLimits:
    """How many nodes of a group are bought at least and at most, over all zones; None is no limit."""

    name: str
    least: int = 0
    most: int | None = None


@dataclass(frozen=True)
class Catalogue:
    """All that can be bought: offers, and the limits of their groups."""

    offers: tuple[Offer, ...]
    limits: tuple[GroupLimits, ...]

    @cached_property
    def _by_group(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for k, offer in enumerate(self.offers):
            found[offer.group] = (*found.get(offer.group, ()), k)
        return found

    def of_group(self, name: str) -> tuple[int, ...]:
        """Return which offers are of a group."""
        return self._by_group.get(name, ())

    def price(self, counts: tuple[int, ...]) -> int:
        """Return what a purchase costs, in millionths; `counts` has a number for each offer."""
        return sum(n * offer.price for n, offer in zip(counts, self.offers, strict=True))

    def allows(self, counts: tuple[int, ...]) -> bool:
        """Whether a purchase keeps to stock and limits."""
        if any(
            offer.stock is not None and n > offer.stock for n, offer in zip(counts, self.offers, strict=True)
        ):
            return False
        for limits in self.limits:
            bought = sum(counts[k] for k in self.of_group(limits.name))
            if bought < limits.least or (limits.most is not None and bought > limits.most):
                return False
        return True

    def change_set(self, counts: tuple[int, ...]) -> ChangeSet:
        """Return a purchase as changes of a cluster, for `kubestow what-if`."""
        bought = [(offer, n) for offer, n in zip(self.offers, counts, strict=True) if n]
        return ChangeSet(
            name="purchase",
            title="The nodes are bought",
            node_groups=tuple(item for offer, _ in bought for item in offer.objects),
            changes=tuple(AddNodes(offer.name, n) for offer, n in bought),
        )


#: The highest price of a node, and of a purchase, with which sums stay exact whole numbers.
MOST_OF_A_NODE: Final = 10**6
MOST_OF_ALL: Final = 10**11


def in_millionths(price: float | str, most: int = MOST_OF_A_NODE) -> int:
    """Read a price; it counts to the sixth decimal.

    Raises
    ------
    ValueError
        For what is no number, negative, or more than `most`.
    """
    try:
        found = Decimal(str(price))
    except ArithmeticError:
        raise ValueError(f"must be a number, not {price!r}") from None
    if not found.is_finite() or found < 0:
        raise ValueError(f"must be a number from 0 up, not {price!r}")
    if found > most:
        raise ValueError(f"must be at most {most:,}, not {price!r}")
    return int((found * MILLION).to_integral_value(rounding=ROUND_HALF_EVEN))


def money(millionths: int) -> str:
    """Return a price for people, without zeros at its end."""
    whole, part = divmod(millionths, MILLION)
    return f"{whole}.{part:06}".rstrip("0").rstrip(".")
