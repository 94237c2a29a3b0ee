"""Part of a solution by classes: what an order is sought for, and what a lazy cut excludes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Component:
    """Classes and victim classes, by index, whose filters look at each other.

    `choosing` says whether some filter also looks at a family's own variables: which devices were chosen.
    """

    classes: frozenset[int]
    victims: frozenset[int]
    choosing: bool = False

    def __or__(self, other: Component) -> Component:
        return Component(
            self.classes | other.classes, self.victims | other.victims, self.choosing or other.choosing
        )


EMPTY = Component(frozenset(), frozenset())
