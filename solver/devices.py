"""Hand out devices: from the counts of a solution to the devices of each claim.

Devices of a kind are interchangeable, and pods of a class with equal private claims too, so any way to hand
the counted devices out gives each pod what it asked for (`encoders.device_problem.may_merge`).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..encoders.context import Terms
from ..framework.dra.allocation import Allocation, Pick, write
from ..framework.dra.index import claim_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ortools.sat.python import cp_model

    from ..encoders.device_choice import Choice, Taken
    from ..encoders.device_problem import DeviceProblem, Kind
    from ..encoders.dynamic_resources import DeviceVariables
    from ..encoders.problem import Problem
    from ..framework.dra.devices import Device


@dataclass(frozen=True)
class ChoiceSolution:
    """The counts of one choice: pods by (value, request, rank), devices in the order of `Choice.taken`."""

    choice: Choice
    pods: Mapping[tuple[Any, int, int], int]
    taken: tuple[tuple[Taken, int], ...]


@dataclass(frozen=True)
class DeviceSolution:
    """All choices of a solution that serve anybody, and the claims that give their devices back."""

    private: Mapping[tuple[int, int], list[ChoiceSolution]]
    common: Mapping[str, ChoiceSolution]
    released: frozenset[str]


def read_devices(
    variables: DeviceVariables, value: Callable[[Terms], int], counts: Mapping[tuple[int, int], int]
) -> DeviceSolution:
    """Read the values of a solution.

    Parameters
    ----------
    value : callable
        Gives the value of an expression.
    counts : mapping
        The solution's newcomers by (class, node): where there are none, no device is taken.
    """

    def read(choice: Choice) -> ChoiceSolution:
        pods = {key: value(terms) for key, terms in choice.alternatives.items()}
        taken = tuple((t, n) for t in choice.taken if (n := value(t.count)))
        return ChoiceSolution(choice, {key: n for key, n in pods.items() if n}, taken)

    def holds(literal: cp_model.IntVar) -> bool:
        return value(Terms().add(literal, 1)) == 1

    private = {
        key: [read(choice) for choice in choices]
        for key, choices in variables.private.items()
        if counts.get(key)
    }
    return DeviceSolution(
        private={key: found for key, found in private.items() if any(one.pods for one in found)},
        common={
            key: read(choice) for (key, _), (choice, literal) in variables.common.items() if holds(literal)
        },
        released=frozenset(key for key, literal in variables.released.items() if holds(literal)),
    )


def hand_out(
    problem: Problem,
    devices: DeviceProblem,
    solution: DeviceSolution,
    placed: Mapping[int, int],
    victims: frozenset[int],
) -> tuple[dict[str, Allocation], tuple[int, ...]]:
    """Name the devices of every claim that a solution allocates, and the claims to deallocate first.

    Returns
    -------
    allocations : dict
        Claim -> its devices.
    deallocated : tuple of int
        Places in `claim_keys` of released claims that no leaving pod gives back by itself.
    """
    hands = _Hands(problem, devices)
    names = problem.cluster.node_names
    allocations: dict[str, Allocation] = {}
    class_of = {i: c.index for c in problem.classes for i in c.pods}
    on: dict[tuple[int, int], list[int]] = {}
    for pod, node in placed.items():
        on.setdefault((class_of[pod], node), []).append(pod)
    for (cls, node), choices in solution.private.items():
        for k, choice in enumerate(choices):
            served = hands.serve(choice)
            for pod in on.get((cls, node), ()):
                key = devices.private_keys(pod, node)[k]
                allocations[key] = write(key, next(served), names[node])
    for key, choice in solution.common.items():
        allocations[key] = write(key, next(hands.serve(choice)), names[choice.choice.node])
    return allocations, _deallocated(problem, devices, solution, victims)


def _deallocated(
    problem: Problem, devices: DeviceProblem, solution: DeviceSolution, victims: frozenset[int]
) -> tuple[int, ...]:
    """Leave out what nobody needs to be freed, and what leaving pods give back."""
    wanted = {t.kind.holder for found in solution.private.values() for one in found for t, _ in one.taken}
    wanted |= {t.kind.holder for one in solution.common.values() for t, _ in one.taken}
    wanted |= set(solution.common)
    shared_now = any(kind.shared for kind in devices.kinds) or any(k.device.counters for k in devices.kinds)
    keys = claim_keys(problem.cluster)
    chosen = []
    for key in sorted(solution.released):
        consumers = devices.claims.reserved.get(key, frozenset())
        if (key in wanted or shared_now) and not consumers & victims:
            chosen.append(keys.index(key))
    return tuple(chosen)


class _Hands:
    """Free devices of each kind, taken one by one."""

    def __init__(self, problem: Problem, devices: DeviceProblem) -> None:
        self._devices = devices
        self._given: set[int] = set()

    def serve(self, solution: ChoiceSolution) -> Iterator[list[Pick]]:
        """Yield the devices of one pod after the other."""
        choice = solution.choice
        stocks: dict[tuple[Any, int, int], deque[Pick]] = {}
        own: set[int] = set()
        # devices that nobody else may have first: what `adminAccess` gets only has to differ from them
        for taken, number in sorted(solution.taken, key=lambda item: item[0].want.admin):
            stock = stocks.setdefault((taken.value, taken.request, taken.rank), deque())
            stock.extend(self._take(taken, choice.node, number, own))
        left = dict(solution.pods)
        values = list(dict.fromkeys(value for value, _, _ in left))
        for value in values:
            first = next(r for v, r, _ in left if v == value)
            pods = sum(n for (v, r, _), n in left.items() if v == value and r == first)
            for _ in range(pods):
                yield [
                    pick for r in range(len(choice.spec.requests)) for pick in _serve(stocks, left, value, r)
                ]

    def _take(self, taken: Taken, node: int, number: int, own: set[int]) -> Iterator[Pick]:
        devices = self._on(taken.kind, taken, node)
        for k in range(number):
            if taken.kind.shared:
                device = devices[k % len(devices)]
            elif taken.want.admin:
                device = next(d for d in devices if d.number not in own)
            else:
                device = next(d for d in devices if d.number not in self._given)
                self._given.add(device.number)
            own.add(device.number)
            yield Pick(taken.want, device, taken.want.taken(device) if device.shared else None)

    def _on(self, kind: Kind, taken: Taken, node: int) -> list[Device]:
        """Return a kind's devices that the want may have on the node."""
        return [d for d in self._devices.matching(taken.want, node) if self._devices.kind(d) is kind]


def _serve(
    stocks: dict[tuple[Any, int, int], deque[Pick]], left: dict[tuple[Any, int, int], int], value: Any, r: int
) -> list[Pick]:
    """Give one pod the devices of one request, from the first alternative that still has pods to serve."""
    key = next(k for k, n in left.items() if k[0] == value and k[1] == r and n > 0)
    left[key] -= 1
    stock = stocks[key]
    want = stock[0].want
    number = len(stock) // (left[key] + 1) if want.all_devices else want.count
    return [stock.popleft() for _ in range(number)]
