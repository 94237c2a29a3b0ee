"""What packing and sums share: types of nodes, patterns of what stands on one, prices of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

Pattern = tuple[tuple[int, int], ...]
"""Class -> how many, for those that are there, by class."""


class Prices(NamedTuple):
    """Prices of the classes, and the most that what stands on a node of each type is worth."""

    of_class: tuple[int, ...]
    most: tuple[int, ...]


@dataclass(frozen=True)
class NodeType:
    """Nodes on which the same may stand.

    Attributes
    ----------
    room : tuple of int
        For those who may move or come: each resource, then pod slots.
    limits : tuple of int
        Of each class, the most pods that fit alone.
    kept : bool
        Whether somebody keeps them, so that they are never free.
    """

    nodes: tuple[int, ...]
    room: tuple[int, ...]
    limits: tuple[int, ...]
    kept: bool
