"""What all claims of a round take together: devices, capacities of shared devices, counters of partitions.

    Σ devices of a kind taken <= devices that are free + devices of holders that are released
    Σ capacity of a shared device taken <= what others leave of it
    Σ counters taken by devices that any claim has <= value

with what `adminAccess` gets left out: it takes nothing from other claims. But a device is only allocated, for
`adminAccess` too, if enough is left of its counters and capacities at that step:

    the pod's own devices + what is held from before and stays held <= value

A request for all devices does without a shared one only while that is full; in the end it then is as well:

    spared  ->  Σ capacity taken + what was held before > capacity − what the request asks for

Amounts are fractions; a row is multiplied by their common denominator, so it stays exact. What was
over-committed before only rejects claims that ask for it.

Source: KEP-4815, KEP-5075; k8s.io/dynamic-resource-allocation/structured.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from ...framework.dra.capacity import capacities
from ..linear import add_at_most
from ..terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ortools.sat.python import cp_model

    from ...framework.dra.claims import Want
    from ..context import Context
    from ..dra.problem import DeviceKind, DeviceProblem
    from .choice import Choice, Spared, Taken
    from .variables import DeviceVariables

ScaledTerms = tuple[Terms, Fraction]
"""A number of times an amount."""


def add_sums(ctx: Context, devices: DeviceProblem, variables: DeviceVariables) -> None:
    """Add the rows."""
    sums = _Sums(ctx, devices, variables)
    sums.kinds()
    sums.capacities()
    sums.counters()


class _Sums:
    def __init__(self, ctx: Context, devices: DeviceProblem, variables: DeviceVariables) -> None:
        self._ctx = ctx
        self._devices = devices
        self._released = variables.released
        self._claims = devices.claims.allocations
        # the claims that one pod brings are looked at together
        self._brought = [*variables.private.values(), *([choice] for choice, _ in variables.common.values())]
        every = [taken for brought in self._brought for choice in brought for taken in choice.taken]
        self._taken = [taken for taken in every if not taken.want.admin]

    def kinds(self) -> None:
        """Take each device of its own at most once, and shares of one only while no claim has it whole.

        A claim may have a shared device whole from the time before it was shared.
        """
        used: dict[int, Terms] = {}
        for taken in self._taken:
            if not taken.kind.shared or taken.kind.holder is not None:
                used.setdefault(taken.kind.index, Terms()).extend(taken.count)
        for index, terms in used.items():
            kind = self._devices.kinds[index]
            free = max(terms.high, 1) if kind.shared else len(kind.devices)
            if kind.holder is None:
                if terms.high > free:
                    self._ctx.model.add(terms.expression() <= free)
            elif kind.holder in self._released:
                self._ctx.model.add(terms.expression() <= free * self._released[kind.holder])
            else:
                self._ctx.model.add(terms.expression() <= 0)

    # -- capacities --

    def capacities(self) -> None:
        """Keep what is taken of a shared device within each of its capacities."""
        takers: dict[int, list[Taken]] = {}
        for taken in self._taken:
            if taken.kind.shared:
                takers.setdefault(taken.kind.index, []).append(taken)
        for index, found in takers.items():
            for name, value in self._capacities(index).items():
                label = f"capacity[{index},{name}]"
                self._within(_amounts(found, name), self._given(index, name), value, label)
        for brought in self._brought:
            own = {id(taken) for choice in brought for taken in choice.taken}
            for spared in (spared for choice in brought for spared in choice.spared):
                others = [t for t in takers.get(spared.kind.index, ()) if id(t) not in own]
                self._is_full(spared, others)
            self._room_for_admin(brought)

    def _capacities(self, index: int) -> dict[str, Fraction]:
        device = self._devices.kinds[index].device
        return {name: item.value for name, item in capacities(device.spec, device.id.driver).items()}

    def _given(self, index: int, name: str) -> list[ScaledTerms]:
        """Return what claims allocated before take of a capacity, as far as they keep it."""
        device = self._devices.kinds[index].device
        return [
            (self._kept(key), dict(result.taken).get(name, Fraction(0)))
            for key, allocation in self._claims.items()
            for result in allocation.results
            if result.id == device.id and result.share and not result.admin
        ]

    def _is_full(self, spared: Spared, others: Sequence[Taken]) -> None:
        """Allow that a device is spared only where other claims leave too little of some capacity of it."""
        reasons = Terms().extend(spared.count)
        for name, value in self._capacities(spared.kind.index).items():
            before = sum((amount for _, amount in self._given(spared.kind.index, name)), Fraction(0))
            new = _amounts(others, name)
            most = value - _amount(spared.want, spared.kind, name) - before
            full = self._ctx.model.new_bool_var(f"full[{spared.kind.device.id},{name}]")
            scale = lcm(most.denominator, *(amount.denominator for _, amount in new))
            terms = Terms()
            for count, amount in new:
                terms.extend(count, -int(amount * scale))
            # at least one unit more than what would leave enough
            bound = -(int(most * scale) + 1) - terms.constant
            add_at_most(self._ctx.model, terms.coefficients, terms.variables, terms.uppers, bound, when=full)
            reasons.add(full, 1)
        self._ctx.model.add(reasons.expression() >= spared.pods.expression())

    def _room_for_admin(self, brought: Sequence[Choice]) -> None:
        """Allow `adminAccess` a share only of a device with as much left beside what stays held."""
        every = [taken for choice in brought for taken in choice.taken if taken.kind.shared]
        for kind in {t.kind.index: t.kind for t in every if t.want.admin}.values():
            own = [taken for taken in every if taken.kind is kind]
            for name, value in self._capacities(kind.index).items():
                label = f"admin[{kind.index},{name}]"
                self._within(_amounts(own, name), self._given(kind.index, name), value, label)

    # -- counters --

    def counters(self) -> None:
        """Keep what partitions take within the counters that they share."""
        rows: dict[int, list[ScaledTerms]] = {}
        used: dict[int, list[Terms]] = {}
        for taken in self._taken:
            if taken.kind.shared:
                if taken.kind.device.counters:
                    used.setdefault(taken.kind.index, []).append(taken.count)
            else:
                for number, amount in taken.kind.device.counters:
                    rows.setdefault(number, []).append((taken.count, amount))
        shared: set[int] = set()
        for index, counts in used.items():
            device = self._devices.kinds[index].device
            shared.add(device.identity)
            literal = self._used(index, counts)
            for number, amount in device.counters:
                rows.setdefault(number, []).append((literal, amount))
        values = self._devices.index.inventory.counters.values
        for number, new in rows.items():
            self._within(new, self._taken_before(number, shared), values[number], f"counter[{number}]")
        for brought in self._brought:
            self._counters_for_admin(brought)

    def _used(self, index: int, counts: Iterable[Terms]) -> Terms:
        """Return a literal that is true whenever some claim has a shared device in the end."""
        device = self._devices.kinds[index].device
        literal = self._ctx.model.new_bool_var(f"used[{device.id}]")
        for count in counts:
            self._ctx.model.add(count.expression() <= count.high * literal)
        for key, allocation in self._claims.items():
            if any(result.id == device.id and not result.admin for result in allocation.results):
                self._ctx.model.add(literal >= self._kept(key).expression())
        return Terms().add(literal, 1)

    def _taken_before(self, number: int, without: Iterable[int] = ()) -> list[ScaledTerms]:
        """Return what claims allocated before take of a counter, as far as they keep it."""
        inventory = self._devices.index.inventory
        takers = inventory.counters.takers[number]
        holders: dict[int, list[str]] = {}
        for key, allocation in self._claims.items():
            for identity in {inventory.identify(r.id) for r in allocation.results if not r.admin}:
                if identity in takers and identity not in without:
                    holders.setdefault(identity, []).append(key)
        return [(self._held(identity, keys), takers[identity]) for identity, keys in holders.items()]

    def _held(self, identity: int, keys: Sequence[str]) -> Terms:
        """Return a literal that is true whenever one of some claims keeps a device."""
        if len(keys) == 1:
            return self._kept(keys[0])
        if any(key not in self._released for key in keys):
            return Terms(constant=1)
        return self._ctx.memo(("held", identity), lambda: self._any_kept(identity, keys))

    def _any_kept(self, identity: int, keys: Sequence[str]) -> Terms:
        literal = self._ctx.model.new_bool_var(f"held[{identity}]")
        for key in keys:
            self._ctx.model.add(literal >= self._kept(key).expression())
        return Terms().add(literal, 1)

    def _counters_for_admin(self, brought: Sequence[Choice]) -> None:
        """Allow `adminAccess` partitions only where as much is left beside what stays held."""
        every = [t for choice in brought for t in choice.taken if not t.kind.shared]
        asked = {n for t in every if t.want.admin for n, _ in t.kind.device.counters}
        for number in sorted(asked):
            new = [(t.count, dict(t.kind.device.counters).get(number, Fraction(0))) for t in every]
            value = self._devices.index.inventory.counters.values[number]
            self._within(new, self._taken_before(number), value, f"admin[{number}]")

    # -- rows --

    def _kept(self, key: str) -> Terms:
        """Expression that is 1 where a claim keeps its earlier devices."""
        literal = self._released.get(key)
        return Terms(constant=1) if literal is None else Terms(constant=1).add(literal, 1, -1)

    def _within(
        self, new: Sequence[ScaledTerms], old: Sequence[ScaledTerms], value: Fraction, label: str
    ) -> None:
        """Keep a sum within a value; where the old alone exceeds it, as soon as anything new is taken."""
        new = [(count, amount) for count, amount in new if amount]
        if not new:
            return
        parts = [*new, *((kept, amount) for kept, amount in old if amount)]
        scale = lcm(value.denominator, *(amount.denominator for _, amount in parts))
        terms = Terms()
        for count, amount in parts:
            terms.extend(count, int(amount * scale))
        when: cp_model.IntVar | None = None
        if sum((amount for _, amount in old), Fraction(0)) > value:
            when = self._ctx.model.new_bool_var(f"{label}.asked")
            for count, _ in new:
                self._ctx.model.add(count.expression() <= count.high * when)
        bound = int(value * scale) - terms.constant
        add_at_most(
            self._ctx.model, terms.coefficients, terms.variables, terms.uppers, bound, when=when, name=label
        )


def _amounts(takers: Iterable[Taken], name: str) -> list[ScaledTerms]:
    """Return what takers take of a capacity."""
    found = ((taken.count, _amount(taken.want, taken.kind, name)) for taken in takers)
    return [(count, amount) for count, amount in found if amount]


def _amount(want: Want, kind: DeviceKind, name: str) -> Fraction:
    return (want.taken(kind.device) or {}).get(name, Fraction(0))
