"""Part of a solution by classes: what an order is sought for, and what a lazy cut excludes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Component:
    """Classes and victim classes (by index) that look at each other; at each other's devices, too, or not."""

    classes: frozenset[int]
    victims: frozenset[int]
    devices: bool = False

    def __or__(self, other: Component) -> Component:
        return Component(
            self.classes | other.classes, self.victims | other.victims, self.devices or other.devices
        )


EMPTY = Component(frozenset(), frozenset())
