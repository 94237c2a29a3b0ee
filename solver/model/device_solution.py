"""Hand out devices: from the counts of a solution to the devices of each claim.

Devices of a kind are interchangeable, and pods of a class with equal private claims too, so any way to hand
the counted devices out gives each pod what it asked for (`encoders.dra.problem.may_merge`).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...encoders.terms import Terms
from ...framework.dra.allocation import Allocation, Pick, write
from ...framework.dra.index import claim_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ortools.sat.python import cp_model

    from ...encoders.devices.choice import Choice, Taken
    from ...encoders.devices.variables import DeviceVariables
    from ...encoders.dra.problem import DeviceProblem
    from ...encoders.problem import Problem
    from ...framework.dra.devices import Device


@dataclass(frozen=True)
class ChoiceSolution:
    """The counts of one choice: pods by (value, request, rank), devices in the order of `Choice.taken`."""

    choice: Choice
    pods: Mapping[tuple[Any, int, int], int]
    taken: tuple[tuple[Taken, int], ...]


@dataclass(frozen=True)
class DeviceSolution:
    """All choices of a solution that serve some pod, and the claims that are deallocated.

    `values` are those of the deciding variables.
    """

    private: Mapping[tuple[int, int], list[ChoiceSolution]]
    common: Mapping[str, ChoiceSolution]
    released: frozenset[str]
    values: tuple[int, ...] = ()


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
        values=tuple(value(Terms().add(variable, 1)) for variable in variables.deciding()),
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
        Places in `claim_keys` of released claims that leaving pods do not give back by themselves.
    """
    names = problem.cluster.node_names
    class_of = {i: c.index for c in problem.classes for i in c.pods}
    on: dict[tuple[int, int], list[int]] = {}
    for pod, node in placed.items():
        on.setdefault((class_of[pod], node), []).append(pod)
    hands = _Hands(devices)
    private = {key: hands.take(choices) for key, choices in solution.private.items() if key in on}
    common = {key: hands.take([choice]) for key, choice in solution.common.items()}
    # devices for `adminAccess` are taken from no other claim, and are chosen last
    for stocks in (*private.values(), *common.values()):
        hands.take_for_admin(stocks)
    allocations: dict[str, Allocation] = {}
    for (cls, node), stocks in private.items():
        served = [stock.serve() for stock in stocks]
        for pod in on[cls, node]:
            for key, picks in zip(devices.private_keys(pod, node), served, strict=True):
                allocations[key] = write(key, next(picks), names[node])
    for key, [stock] in common.items():
        allocations[key] = write(key, next(stock.serve()), names[stock.node])
    return allocations, _deallocated(problem, devices, solution, victims)


def _deallocated(
    problem: Problem, devices: DeviceProblem, solution: DeviceSolution, victims: frozenset[int]
) -> tuple[int, ...]:
    """Leave out claims whose devices no pod needs, and those that leaving pods deallocate."""
    wanted = {t.kind.holder for found in solution.private.values() for one in found for t, _ in one.taken}
    wanted |= {t.kind.holder for one in solution.common.values() for t, _ in one.taken}
    wanted |= set(solution.common)
    shared_now = any(kind.shared for kind in devices.kinds) or any(k.device.counters for k in devices.kinds)
    keys = claim_keys(problem.cluster)
    chosen = []
    for key in sorted(solution.released):
        consumers = devices.claims.reserved.get(key, frozenset())
        by_itself = bool(consumers) and consumers <= victims
        if (key in wanted or shared_now) and not by_itself:
            chosen.append(keys.index(key))
    return tuple(chosen)


_Key = tuple[Any, int, int]
"""Value of the common attribute, place of the request, rank of the alternative."""


class _Stock:
    """The devices for one claim of some pods, and how many pods take which alternative."""

    def __init__(self, solution: ChoiceSolution) -> None:
        self.solution = solution
        self.node = solution.choice.node
        self.devices: dict[_Key, deque[Pick]] = {}

    def add(self, taken: Taken, device: Device) -> None:
        """Add a device."""
        pick = Pick(taken.want, device, taken.want.taken(device) if device.shared else None)
        self.devices.setdefault((taken.value, taken.request, taken.rank), deque()).append(pick)

    def has(self, device: Device) -> bool:
        """Whether the device is for this claim."""
        return any(pick.device is device for picks in self.devices.values() for pick in picks)

    def gives(self, device: Device) -> bool:
        """Whether the claim takes the device from others."""
        return any(
            pick.device is device and not pick.want.admin for picks in self.devices.values() for pick in picks
        )

    def serve(self) -> Iterator[list[Pick]]:
        """Yield the devices of one pod after the other."""
        requests = range(len(self.solution.choice.spec.requests))
        left = dict(self.solution.pods)
        for value in list(dict.fromkeys(value for value, _, _ in left)):
            first = next(r for v, r, _ in left if v == value)
            pods = sum(n for (v, r, _), n in left.items() if v == value and r == first)
            for _ in range(pods):
                yield [pick for r in requests for pick in self._request(left, value, r)]

    def _request(self, left: dict[_Key, int], value: Any, r: int) -> list[Pick]:
        """Give one pod the devices of a request, from the first alternative that still has pods to serve.

        Shares of a device lie in one row, one for a pod at most where a request may not have two: every
        k-th, with k pods left, are different ones.
        """
        key = next(k for k, n in left.items() if k[0] == value and k[1] == r and n > 0)
        left[key] -= 1
        picks = self.devices[key]
        want = picks[0].want
        number = len(picks) // (left[key] + 1) if want.all_devices else want.count
        apart = left[key] + 1 if any(pick.device.shared for pick in picks) else 1
        found = [picks[k * apart] for k in range(number)]
        for k in reversed(range(number)):
            del picks[k * apart]
        return found


class _Hands:
    """Free devices of each kind, taken one by one."""

    def __init__(self, devices: DeviceProblem) -> None:
        self._devices = devices
        self._given: set[int] = set()

    def take(self, solutions: Sequence[ChoiceSolution]) -> list[_Stock]:
        """Take the devices for all claims that a pod brings, without those for `adminAccess`."""
        stocks = [_Stock(solution) for solution in solutions]
        for stock in stocks:
            for taken, number in stock.solution.taken:
                if not taken.want.admin:
                    self._take(stock, taken, number)
        return stocks

    def _take(self, stock: _Stock, taken: Taken, number: int) -> None:
        free = [d for d in self._of(taken, stock.node) if taken.kind.shared or d.number not in self._given]
        for k in range(number):
            device = free[0] if taken.kind.shared else free[k]
            self._given.add(device.number)
            stock.add(taken, device)

    def take_for_admin(self, stocks: Sequence[_Stock]) -> None:
        """Choose devices for `adminAccess`: none twice, none of later claims, unallocated ones first."""
        for k, stock in enumerate(stocks):
            for taken, number in stock.solution.taken:
                if not taken.want.admin:
                    continue
                for _ in range(number):
                    apart = [
                        d
                        for d in self._of(taken, stock.node)
                        if taken.kind.shared
                        or not (stock.has(d) or any(later.gives(d) for later in stocks[k + 1 :]))
                    ]
                    stock.add(taken, min(apart, key=lambda d: (d.number in self._given, d.number)))

    def _of(self, taken: Taken, node: int) -> list[Device]:
        """Return a kind's devices that the want may have on the node."""
        return [d for d in self._devices.matching(taken.want, node) if self._devices.kind(d) is taken.kind]
