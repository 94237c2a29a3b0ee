"""Filling one node: of the pods at hand those that leave least of the resource that decides.

Sums that can be reached are the bits of one whole number: R_i = R_(i−1) | R_(i−1) << request_i, cut off at
the room. The highest bit is the best sum; walking back from it names the pods. Amounts are in units of the
block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def fill(
    room: int,
    rest: Sequence[int],
    items: Sequence[int],
    need: Sequence[int],
    other: Sequence[Sequence[int]],
    tries: int,
) -> list[int]:
    """Choose pods for a node; those that come first are preferred among equally good choices.

    Parameters
    ----------
    room : int
        Units of the resource that decides; 0 or more.
    rest : sequence of int
        Amounts of the other resources.
    items : sequence of int
        The class of each pod at hand.
    need, other : sequences
        By class, the units that a pod asks for, and its amounts of the other resources.
    tries : int
        Choices that may fail for want of another resource; then pods are taken one by one.

    Returns
    -------
    list of int
        Places in `items`.
    """
    left = list(range(len(items)))
    for _ in range(tries):
        chosen, misfit = _best(room, rest, items, left, need, other)
        if misfit is None:
            return chosen
        left.remove(misfit)
    return _one_by_one(room, rest, items, need, other)


def _best(
    room: int,
    rest: Sequence[int],
    items: Sequence[int],
    places: Sequence[int],
    need: Sequence[int],
    other: Sequence[Sequence[int]],
) -> tuple[list[int], int | None]:
    """Choose the best sum of the resource that decides; also the first pod that lacks another one."""
    mask = (1 << (room + 1)) - 1
    reach = 1
    steps = []
    for place in places:
        steps.append(reach)
        reach |= (reach << need[items[place]]) & mask
        if reach >> room:
            break
    chosen: list[int] = []
    free = list(rest)
    target = 1 << (reach.bit_length() - 1)
    for k in range(len(steps) - 1, -1, -1):
        if steps[k] & target:
            continue
        place = places[k]
        cls = items[place]
        for r, amount in enumerate(other[cls]):
            free[r] -= amount
            if free[r] < 0:
                return chosen, place
        chosen.append(place)
        target >>= need[cls]
        if target == 1:
            break
    return chosen, None


def _one_by_one(
    room: int, rest: Sequence[int], items: Sequence[int], need: Sequence[int], other: Sequence[Sequence[int]]
) -> list[int]:
    """Take pods in their order, each that fits."""
    chosen: list[int] = []
    free = list(rest)
    for place, cls in enumerate(items):
        amounts = other[cls]
        if need[cls] <= room and all(a <= b for a, b in zip(amounts, free, strict=True)):
            room -= need[cls]
            free = [b - a for a, b in zip(amounts, free, strict=True)]
            chosen.append(place)
    return chosen
