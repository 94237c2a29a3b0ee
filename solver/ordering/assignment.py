"""A solution in pods: what is to be put in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...framework.dra.allocation import Allocation


@dataclass(frozen=True)
class Assignment:
    """A solution: pods on nodes, the running pods that leave, and what becomes of claims.

    `deallocated` are places in `claim_keys`: claims that give their devices of the input back, free of cost.
    """

    placed: Mapping[int, int]
    victims: frozenset[int]
    allocations: Mapping[str, Allocation] = field(default_factory=dict)
    deallocated: tuple[int, ...] = ()
