"""The rows of one claim: which devices may serve which of its requests, and its constraints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ....framework.dra.capacity import taken
from ....framework.dra.checker_sums import can_give
from .model import MOST_CHOICES, TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ortools.sat.python import cp_model

    from ....framework.dra.capacity import Amounts
    from ....framework.dra.checker_view import Id, Served, ServedDevices, Want
    from ....models import resource_api as api
    from .model import Booleans, Linear

_MOST_RESULTS = 32


@dataclass(eq=False)
class Choice:
    """What may serve a request: the request itself, or one of its alternatives.

    Attributes
    ----------
    parent : str
        The name of the request.
    want : ExactDeviceRequest or DeviceSubRequest
    amounts : dict
        For each device that may be shared, what is taken of its capacities.
    most : int
        How many times one device may serve it.
    """

    parent: str
    want: Want
    most: int
    amounts: dict[Id, Amounts] = field(default_factory=dict)

    @property
    def admin(self) -> bool:
        """Whether it looks past the claims of others."""
        return bool(getattr(self.want, "admin_access", False))

    @property
    def all_devices(self) -> bool:
        """Whether it wants every device that matches."""
        return self.want.allocation_mode == "All"


class Claim:
    """The Booleans of a claim.

    Attributes
    ----------
    key : str
    asked : DeviceClaim
    home : dict
        Node -> whether the claim gets devices for a pod there.
    choices : dict
        What may serve its requests, by the name that an allocation gives it.
    has : dict
        (name of a choice, device) -> how many times the device serves it.
    """

    def __init__(
        self,
        made: Booleans,
        devices: ServedDevices,
        key: str,
        asked: api.DeviceClaim,
        pods: Sequence[int],
        nodes: Sequence[int] | None = None,
    ) -> None:
        self.key, self.asked = key, asked
        self._made, self._devices = made, devices
        where = sorted({n for i in pods for n in made.nodes_of(i)}) if nodes is None else nodes
        self.home = {n: made.model.new_bool_var(f"{key} for {n}") for n in where}
        for n, home in self.home.items():
            made.model.add(home <= made.placed(pods, [n]))
        made.model.add_at_most_one(self.home.values())
        self._reached = {n: devices.reached(made.cluster.nodes[n]) for n in where}
        self._served = {id_: served for there in self._reached.values() for id_, served in there.items()}
        self.choices = dict(self._choices())
        self.has: dict[tuple[str, Id], cp_model.IntVar] = {}
        self._takers: dict[Id, list[str]] = {}
        for name, choice in self.choices.items():
            self._serve(name, choice)
        self._requests()
        made.model.add(sum(self.has.values()) <= _MOST_RESULTS)
        for constraint in asked.constraints:
            self._constrain(constraint)

    def takers(self, id_: Id) -> Sequence[str]:
        """Return the choices that a device may serve."""
        return self._takers.get(id_, ())

    def _choices(self) -> Iterator[tuple[str, Choice]]:
        repeated = self._devices.release.repeated_shares
        for request in self.asked.requests:
            if request.exactly is not None:
                want = request.exactly
                yield request.name, Choice(request.name, want, want.count if repeated else 1)
            for other in request.first_available:
                most = other.count if repeated else 1
                yield f"{request.name}/{other.name}", Choice(request.name, other, most)

    def _serve(self, name: str, choice: Choice) -> None:
        """Let the devices serve a choice that it may have, for a pod on a node that reaches them."""
        made = self._made
        for id_, served in self._served.items():
            if not self._may_serve(choice, served):
                continue
            if len(self.has) >= MOST_CHOICES:
                raise TooLarge
            shared = self._devices.shared(served.device)
            most = choice.most if shared else 1
            times = made.model.new_int_var(0, most, f"{'/'.join(id_)} for {self.key} {name}")
            self.has[name, id_] = times
            self._takers.setdefault(id_, []).append(name)
            reaching = [home for n, home in self.home.items() if id_ in self._reached[n]]
            made.model.add(times <= most * sum(reaching))

    def _may_serve(self, choice: Choice, served: Served) -> bool:
        devices, want = self._devices, choice.want
        if not (devices.matches(want, served) and devices.tolerated(want, served) and can_give(want, served)):
            return False
        if served.device.consumes_counters and not devices.partitions:
            return False
        if devices.shared(served.device):
            asked = want.capacity.requests if want.capacity is not None else {}
            amounts = taken(served.device, served.driver, asked)
            if amounts is None:
                return False
            choice.amounts[served.id] = amounts
        return True

    def _requests(self) -> None:
        """Serve each request once: by itself or by one alternative, with as many devices as it wants."""
        model = self._made.model
        allocated = sum(self.home.values())
        chosen = {name: model.new_bool_var(f"{self.key} {name}") for name in self.choices}
        for request in self.asked.requests:
            mine = [chosen[name] for name, choice in self.choices.items() if choice.parent == request.name]
            model.add(sum(mine) == allocated)
        for name, choice in self.choices.items():
            devices = [times for (taker, _), times in self.has.items() if taker == name]
            if choice.all_devices:
                model.add(sum(devices) >= chosen[name])
                model.add(sum(devices) <= _MOST_RESULTS * chosen[name])
                self._all(name, choice, chosen[name])
            else:
                model.add(sum(devices) == choice.want.count * chosen[name])

    def _all(self, name: str, choice: Choice, chosen: cp_model.IntVar) -> None:
        """Take every device of the node that matches, where its pools are complete."""
        made, devices = self._made, self._devices
        for n, home in self.home.items():
            lacking: list[Linear] = []
            if not all(pool.complete for pool in devices.pools(made.cluster.nodes[n])):
                lacking.append(0)
            for id_, served in self._reached[n].items():
                wanted = devices.matches(choice.want, served) and can_give(choice.want, served)
                if wanted and not devices.shared(served.device):
                    lacking.append(self.has.get((name, id_), 0))
            for taken_ in lacking:
                made.model.add(chosen + home <= 1 + taken_)

    def _constrain(self, constraint: api.DeviceConstraint) -> None:
        """Let devices agree in an attribute, or differ in it."""
        model = self._made.model
        having: dict[Any, list[cp_model.IntVar]] = {}
        shown: list[tuple[cp_model.IntVar, set[Any], int]] = []
        for (name, id_), times in self.has.items():
            choice = self.choices[name]
            if constraint.requests and not {name, choice.parent} & {*constraint.requests}:
                continue
            values = self._values(constraint, self._served[id_])
            shown.append((times, values, choice.most))
            for value in values:
                having.setdefault(value, []).append(times)
        if constraint.match_attribute is not None:
            agreed = {value: model.new_bool_var(f"{self.key} agrees in {value}") for value in having}
            model.add_at_most_one(agreed.values())
            for times, values, most in shown:
                model.add(times <= most * sum(agreed[value] for value in values))
            return
        for times, values, _ in shown:
            if not values:
                model.add(times == 0)
        for alike in having.values():
            model.add(sum(alike) <= 1)

    def _values(self, constraint: api.DeviceConstraint, served: Served) -> set[Any]:
        """Return what a constraint compares of a device; nothing where it lacks the attribute."""
        name = constraint.match_attribute or constraint.distinct_attribute or ""
        domain, _, short = name.partition("/")
        value = served.device.attributes.get(name)
        if value is None and served.driver == domain:
            value = served.device.attributes.get(short)
        return set() if value is None else self._devices.compared(value)
