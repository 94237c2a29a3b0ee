"""Patterns of one device: sets of shares that fit on it, and to which no other share could be added.

A pattern says how many shares of each size lie on a device. Any set of shares that fits is part of one of
these, so they are all that a relaxation or a node needs:

    Σ size_s·a_ps <= units of the device,    a_ps <= shares of size s that can be asked for

Source: Gilmore and Gomory, A linear programming approach to the cutting-stock problem.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..bounds.safe_bounds import Floats
    from .round import LikeNodes, TypeRound

Pattern = tuple[tuple[int, int], ...]
"""(Size, how many shares of it), the largest first."""


class DevicePattern(NamedTuple):
    """A pattern of the devices of a node type that have so many units left."""

    units: int
    shares: Pattern


def maximal_patterns(units: int, demand: Mapping[int, int]) -> Iterator[Pattern]:
    """Yield the patterns of a device with so many units, given how many shares of each size there are.

    What cannot become one is not looked into, so the time goes by the number of patterns.
    """
    sizes = sorted((size for size, number in demand.items() if number > 0 and size <= units), reverse=True)
    # by size, what all shares of it and of those after it take together
    rest = [sum(size * demand[size] for size in sizes[k:]) for k in range(len(sizes) + 1)]

    def extended(k: int, left: int, least: int, chosen: Pattern) -> Iterator[Pattern]:
        """Yield what sizes from the k-th on add; `least` is the smallest size that was not taken in full."""
        if left - rest[k] >= least:
            return  # all that is to come leaves room for one more of a size before
        if k == len(sizes):
            yield chosen
            return
        size = sizes[k]
        most = min(left // size, demand[size])
        for number in range(most, -1, -1):
            short = min(least, size) if number < demand[size] else least
            more = ((size, number),) if number else ()
            yield from extended(k + 1, left - number * size, short, chosen + more)

    yield from extended(0, units, units + 1, ())


def patterns_of(round_: TypeRound, most: int) -> list[list[DevicePattern]] | None:
    """List the patterns of the devices of each node type; None where there are more than `most`."""
    found: list[list[DevicePattern]] = []
    total = 0
    for kind in round_.types:
        mine: list[DevicePattern] = []
        for units, _ in kind.devices:
            for pattern in maximal_patterns(units, round_.demand(kind)):
                mine.append(DevicePattern(units, pattern))
                if total + len(mine) > most:
                    return None
        total += len(mine)
        found.append(mine)
    return found


def useful(patterns: Sequence[DevicePattern], regrets: Floats, most: int, each: int) -> list[DevicePattern]:
    """Choose patterns of a node type: those of least regret, and some with shares of each size.

    Parameters
    ----------
    patterns : sequence of DevicePattern
    regrets : floats, shape (patterns,)
    most : int
        How many are chosen by regret alone.
    each : int
        How many there are at least, as far as there are any, with shares of a size on a device.
    """
    order = np.argsort(regrets, kind="stable").tolist()
    chosen: list[int] = []
    having: Counter[tuple[int, int]] = Counter()
    for place, k in enumerate(order):
        keys = [(patterns[k].units, size) for size, _ in patterns[k].shares]
        if place < most or any(having[key] < each for key in keys):
            chosen.append(k)
            having.update(keys)
    return [patterns[k] for k in sorted(chosen)]


def number_of(kind: LikeNodes, units: int) -> int:
    """Return how many devices with so many units left a node of a type has."""
    return dict(kind.devices)[units]
