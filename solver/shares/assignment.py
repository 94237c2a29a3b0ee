"""From filled nodes to pods with their devices: each device has the pattern that it was given."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ...framework.dra.allocation import Allocation, Pick, write
from ..ordering.assignment import Assignment
from .round import devices_left

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...encoders.problem import Problem
    from ...framework.dra.devices import Device
    from .dive import Filled
    from .pricing import Column
    from .round import ShareRound


def assigned(problem: Problem, round_: ShareRound, filled: Iterable[Filled]) -> Assignment:
    """Name the pods and the devices; the first pods in queue order are placed."""
    members = [iter(cls.pods) for cls in round_.classes]
    nodes = [iter(kind.nodes) for kind in round_.types]
    placed: dict[int, int] = {}
    allocations: dict[str, Allocation] = {}
    for kind, column in filled:
        node = next(nodes[kind])
        pods = [(c, next(members[c])) for c, number in enumerate(column.pods.tolist()) for _ in range(number)]
        placed.update((pod, node) for _, pod in pods)
        _hand_out(problem, round_, kind, node, column, pods, allocations)
    return Assignment(placed, frozenset(), allocations)


def _hand_out(
    problem: Problem,
    round_: ShareRound,
    kind: int,
    node: int,
    column: Column,
    pods: Iterable[tuple[int, int]],
    allocations: dict[str, Allocation],
) -> None:
    """Give the pods of a node their devices: a share of each lies where a pattern has one of its size."""
    assert problem.devices is not None
    places: dict[int, deque[Device]] = {}
    name = problem.cluster.node_names[node]
    sizes = round_.types[kind].sizes
    for c, pod in pods:
        want = round_.wants.get(c)
        if want is None:
            continue
        if not places:
            places = _places(problem, round_, node, column, c)
        picks = []
        for _ in range(want.count):
            device = places[int(sizes[c])].popleft()
            picks.append(Pick(want, device, want.taken(device)))
        [key] = problem.devices.private_keys(pod, node)
        allocations[key] = write(key, picks, name)


def _places(
    problem: Problem, round_: ShareRound, node: int, column: Column, c: int
) -> dict[int, deque[Device]]:
    """Return the places for shares by size, each a device; `c` is a class that may have all devices."""
    free: dict[int, list[Device]] = {}
    for device, left in devices_left(problem, node, round_.wants[c]):
        free.setdefault(int(left * round_.scale), []).append(device)
    places: dict[int, deque[Device]] = {}
    for units, pattern in column.devices:
        device = free[units].pop()
        for size, number in pattern:
            places.setdefault(size, deque()).extend([device] * number)
    return places
