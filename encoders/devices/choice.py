"""Which devices serve a claim: variables and rows of one claim of some pods on one node.

With `active` pods that have the claim there, for each value v of the attribute that all devices share (one
part where there is none), each request r, each alternative a of it and each kind of devices κ:

    Σ_v active[v] = active
    Σ_a taken[v,r,a] = active[v]
    Σ_κ devices[v,r,a,κ] = count(a)·taken[v,r,a]

A kind that lacks the attribute, or has another value of it, gives nothing.  Where a release gives a request
no two shares of one device,

    devices[v,r,a,κ] <= taken[v,r,a]                             κ shared

which leaves each pod different ones: the shares of each device go round among the pods.

A claim of one pod alone (active <= 1) may also want all devices, devices of pairwise different values, and
several attributes in common:

    Σ_{κ with value w} devices <= active                         distinctAttribute
    devices[r,a,κ] <= count·Σ_{w of κ} has[j,w],  Σ_w has[j,w] <= 1      matchAttribute, constraint j

A kind may have several values (KEP-5491); it gives to each part whose value is among them.

A want for all devices takes every device of its own that matches, and each shared one unless that is full
(`Spared`; `dynamic_resources` says what full is).

Source: KEP-4381, KEP-4816, KEP-5075; k8s.io/dynamic-resource-allocation/structured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...framework.dra.claims import MOST_RESULTS
from ...framework.dra.devices import elements
from ..dra.problem import may_merge
from ..terms import Terms

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from ...framework.dra.claims import ClaimSpec, Constraint, Request, Want
    from ...framework.dra.devices import Attribute
    from ..context import Context
    from ..dra.problem import DeviceKind, DeviceProblem


@dataclass(frozen=True, eq=False)
class Taken:
    """How many devices of a kind serve an alternative of a request, for one value of the common attribute."""

    value: Attribute | None
    request: int
    want: Want
    rank: int
    kind: DeviceKind
    count: Terms


@dataclass(frozen=True, eq=False)
class Spared:
    """A shared device that a want for all devices can do without, while it is full.

    `pods` is 1 where the want is served, `count` 1 where it has the device.
    """

    want: Want
    kind: DeviceKind
    pods: Terms
    count: Terms


@dataclass(frozen=True, eq=False)
class Choice:
    """One claim of the pods of a class on a node, or of a common claim for a node.

    Attributes
    ----------
    alternatives : dict
        (value, request, rank of the alternative) -> how many pods take it.
    taken : list of Taken
    spared : list of Spared
    """

    spec: ClaimSpec
    node: int
    alternatives: dict[tuple[Attribute | None, int, int], Terms]
    taken: list[Taken]
    spared: list[Spared]

    def variables(self) -> list[cp_model.IntVar]:
        """Return the variables of alternatives and devices, some of them more than once."""
        terms = (*self.alternatives.values(), *(taken.count for taken in self.taken))
        return [variable for item in terms for variable in item.variables]

    def ranks(self) -> Terms:
        """Sum of the ranks of the alternatives taken (tier `firstAvailable`)."""
        total = Terms()
        for (_, _, rank), pods in self.alternatives.items():
            total.extend(pods, rank)
        return total


def choose(
    ctx: Context, devices: DeviceProblem, spec: ClaimSpec, node: int, active: Terms, label: str
) -> Choice:
    """Add the variables and rows of a claim on a node."""
    return _Builder(ctx, devices, spec, node, active, label).build()


class _Builder:
    def __init__(
        self, ctx: Context, devices: DeviceProblem, spec: ClaimSpec, node: int, active: Terms, label: str
    ) -> None:
        self._ctx = ctx
        self._devices = devices
        self._spec = spec
        self._node = node
        self._active = active
        self._upper = active.high
        self._label = label
        self._repeats = devices.cluster.release.repeated_shares
        self._common = next(iter(spec.constraints), None) if may_merge(spec) else None
        self._choice = Choice(spec, node, {}, [], [])

    def build(self) -> Choice:
        values = self._values(self._common) if self._common is not None else [None]
        parts = [(value, self._part(value, alone=len(values) == 1)) for value in values]
        if len(values) != 1:
            total = Terms()
            for _, part in parts:
                total.extend(part, -1)
            self._ctx.model.add(total.extend(self._active).expression() == 0)
        for value, part in parts:
            for r, request in enumerate(self._spec.requests):
                self._request(value, r, request, part)
        if not may_merge(self._spec):
            self._constraints()
            self._limit()
        return self._choice

    def _part(self, value: Attribute | None, *, alone: bool) -> Terms:
        """Return the pods whose devices share a value."""
        if alone:
            return self._active
        variable = self._ctx.model.new_int_var(0, self._upper, f"sharing[{self._label},{value}]")
        return Terms().add(variable, self._upper)

    def _request(self, value: Attribute | None, r: int, request: Request, part: Terms) -> None:
        alternatives: list[Terms] = []
        for rank, want in enumerate(request.wants):
            if len(request.wants) == 1:
                pods = part
            else:
                name = f"alternative[{self._label},{r},{rank},{value}]"
                pods = Terms().add(self._ctx.model.new_int_var(0, self._upper, name), self._upper)
            alternatives.append(pods)
            self._choice.alternatives[value, r, rank] = pods
            self._want(value, r, rank, want, pods)
        if len(alternatives) > 1:
            total = Terms().extend(part, -1)
            for pods in alternatives:
                total.extend(pods)
            self._ctx.model.add(total.expression() == 0)

    def _want(self, value: Attribute | None, r: int, rank: int, want: Want, pods: Terms) -> None:
        options = [
            (kind, found)
            for kind, found in self._devices.options(want, self._node)
            if self._common is None or not self._common.covers(want) or value in _values(kind, self._common)
        ]
        if want.all_devices:
            self._all(value, r, rank, want, pods)
            return
        if len(options) == 1 and not options[0][0].shared:
            [(kind, _)] = options
            count = Terms().extend(pods, want.count)
            self._choice.taken.append(Taken(value, r, want, rank, kind, count))
            return
        total = Terms().extend(pods, -want.count)
        for kind, found in options:
            once = kind.shared and not self._repeats
            each = 1 if once else want.count if kind.shared else min(want.count, len(found))
            most = self._upper * each
            variable = self._ctx.model.new_int_var(0, most, f"devices[{self._label},{r},{rank},{kind.index}]")
            count = Terms().add(variable, most)
            if once:
                self._ctx.model.add(variable <= pods.expression())
            total.extend(count)
            self._choice.taken.append(Taken(value, r, want, rank, kind, count))
        self._ctx.model.add(total.expression() == 0)

    def _all(self, value: Attribute | None, r: int, rank: int, want: Want, pods: Terms) -> None:
        """Take every device that matches, at least one, all usable; shared ones unless they are full."""
        own, shared = self._devices.every(want, self._node)
        usable = all(self._devices.usable(want, device) for device in own)
        if not (own or shared) or not usable:
            self._ctx.model.add(pods.expression() == 0)
            return
        numbers: dict[int, tuple[DeviceKind, int]] = {}
        for device in own:
            kind = self._devices.kind(device)
            numbers[kind.index] = (kind, numbers.get(kind.index, (kind, 0))[1] + 1)
        for kind, number in numbers.values():
            self._choice.taken.append(Taken(value, r, want, rank, kind, Terms().extend(pods, number)))
        some = Terms()
        for device in shared:
            kind = self._devices.kind(device)
            count = Terms()
            if self._devices.usable(want, device):
                variable = self._ctx.model.new_bool_var(f"has[{self._label},{r},{rank},{device.id}]")
                count.add(variable, 1)
                self._ctx.model.add(variable <= pods.expression())
                self._choice.taken.append(Taken(value, r, want, rank, kind, count))
                some.extend(count)
            self._choice.spared.append(Spared(want, kind, pods, count))
        if not own:
            self._ctx.model.add(some.expression() >= pods.expression())

    def _constraints(self) -> None:
        """Add the constraints of a claim that only one pod has, over device kinds by value."""
        for j, constraint in enumerate(self._spec.constraints):
            covered = [taken for taken in self._choice.taken if constraint.covers(taken.want)]
            if constraint.distinct:
                self._differ(constraint, covered)
            else:
                self._in_common(j, constraint, covered)

    def _limit(self) -> None:
        """Bound the claim by the most devices that a claim can hold."""
        every = _sum(self._choice.taken)
        if every.high > MOST_RESULTS:
            self._ctx.model.add(every.expression() <= MOST_RESULTS)

    def _differ(self, constraint: Constraint, covered: list[Taken]) -> None:
        by_value: dict[Attribute, list[Taken]] = {}
        for taken in covered:
            values = _values(taken.kind, constraint)
            if not values:
                self._ctx.model.add(taken.count.expression() == 0)
            for value in values:
                by_value.setdefault(value, []).append(taken)
        for takers in by_value.values():
            self._ctx.model.add(_sum(takers).expression() <= 1)

    def _in_common(self, j: int, constraint: Constraint, covered: list[Taken]) -> None:
        literals: dict[Attribute, cp_model.IntVar] = {}
        for taken in covered:
            for value in _values(taken.kind, constraint):
                if value not in literals:
                    literals[value] = self._ctx.model.new_bool_var(f"has[{self._label},{j},{value}]")
            shared = sum(literals[value] for value in _values(taken.kind, constraint))
            self._ctx.model.add(taken.count.expression() <= taken.count.high * shared)
        self._ctx.model.add_at_most_one(literals.values())

    def _values(self, constraint: Constraint) -> list[Attribute | None]:
        """Return the values of an attribute among the devices that any covered want may have."""
        found: dict[Attribute | None, None] = {}
        for request in self._spec.requests:
            for want in request.wants:
                if constraint.covers(want):
                    for kind, _ in self._devices.options(want, self._node):
                        found.update(dict.fromkeys(_values(kind, constraint)))
        # without any value the claim cannot be served here; one empty combination says so
        return list(found) or [("", None)]


def keep_apart(ctx: Context, choices: list[Choice]) -> None:
    """Exclude that one pod gets a device for `adminAccess` twice; its claims are allocated in their order.

    `adminAccess` ignores the allocations of other claims, but not its own, and a device allocated for it is
    not free for the claims that follow.
    """
    for k, choice in enumerate(choices):
        by_kind: dict[int, list[Taken]] = {}
        for taken in choice.taken:
            by_kind.setdefault(taken.kind.index, []).append(taken)
        for index, takers in by_kind.items():
            kind = takers[0].kind
            if kind.shared or not any(t.want.admin for t in takers):
                continue
            apart = _sum(takers)
            for later in choices[k + 1 :]:
                apart.extend(_sum([t for t in later.taken if t.kind.index == index and not t.want.admin]))
            if apart.high > len(kind.devices):
                ctx.model.add(apart.expression() <= len(kind.devices))


def _values(kind: DeviceKind, constraint: Constraint) -> list[Attribute]:
    """Return the values of a kind's attribute, in order."""
    return sorted(elements(kind.device.attributes.get(constraint.attribute)), key=repr)


def _sum(taken: list[Taken]) -> Terms:
    total = Terms()
    for item in taken:
        total.extend(item.count)
    return total
