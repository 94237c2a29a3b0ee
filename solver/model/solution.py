"""A solution of the model of a round, in the words of the domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .device_solution import DeviceSolution


@dataclass(frozen=True)
class Solution:
    """Values of one solution: newcomers by (class, node), leavers by victim class, goals by name, devices."""

    counts: Mapping[tuple[int, int], int]
    leaving: Mapping[int, int]
    goals: Mapping[str, int]
    devices: DeviceSolution | None = None
