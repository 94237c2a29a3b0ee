"""What a domain has room for: the rows of `domains.master` that bound newcomers by what can be free."""

from __future__ import annotations

from operator import mul
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..linear import add_at_most
from ..terms import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ortools.sat.python import cp_model

    from ...framework.vocabulary.arrays import Bools
    from ..dra.problem import DeviceProblem
    from ..problem import PodClass, Problem
    from .tree import Claim

# Requests of one resource by which whole pods are counted in each domain, the largest first.
_MOST_SIZES: Final = 12


class Newcomers(NamedTuple):
    """How many of a class come to a domain: `unit` for each of a variable that is at most `upper`."""

    cls: PodClass
    variable: cp_model.IntVar
    upper: int
    unit: int


class Room:
    """Adds the rows of domains to a model."""

    def __init__(self, problem: Problem, model: cp_model.CpModel) -> None:
        self._problem = problem
        self._model = model

    def add(self, nodes: Bools, newcomers: Sequence[Newcomers], label: str, claims: Sequence[Claim]) -> None:
        """Bound those that come to some nodes, bool[N], together and for each claim to these nodes."""
        problem = self._problem
        free, slots = np.maximum(problem.most_free, 0)[:, nodes], np.maximum(problem.most_slots, 0)
        rows = [([int(each.cls.bounded) for each in newcomers], int(slots[nodes].sum()))]
        for r in range(len(problem.cluster.resources)):
            if any(r in each.cls.served for each in newcomers):
                continue
            asked = [int(each.cls.request[r]) for each in newcomers]
            rows.append((asked, int(free[r].sum())))
            for size in sorted({amount for amount in asked if amount}, reverse=True)[:_MOST_SIZES]:
                rows.append(([amount // size for amount in asked], int((free[r] // size).sum())))
        most = [each.upper * each.unit for each in newcomers]
        for amounts, bound in rows:
            if sum(map(mul, amounts, most)) <= bound:
                continue
            taken = Terms()
            for amount, each in zip(amounts, newcomers, strict=True):
                taken.add(each.variable, each.upper, amount * each.unit)
            self._at_most(taken, bound, label)
            for claim in claims:
                self._claimed(claim, newcomers, amounts, bound, label)
        if problem.devices is not None:
            self._devices(problem.devices, nodes, newcomers, label)

    def _claimed(
        self, claim: Claim, newcomers: Sequence[Newcomers], amounts: list[int], bound: int, label: str
    ) -> None:
        """Bound what the members of a claim take by what is there if the domain is theirs, else by 0."""
        taken = Terms()
        for amount, each in zip(amounts, newcomers, strict=True):
            if amount and each.cls.pod in claim.members:
                taken.add(each.variable, each.upper, amount * each.unit)
        if taken.high > bound:
            self._at_most(taken.add(claim.literal, 1, -bound), 0, f"claimed[{label}]")

    def _at_most(self, taken: Terms, bound: int, label: str) -> None:
        add_at_most(self._model, taken.coefficients, taken.variables, taken.uppers, bound, name=label)

    def _devices(
        self, devices: DeviceProblem, nodes: Bools, newcomers: Sequence[Newcomers], label: str
    ) -> None:
        """Count devices over the domain: for each set that a want may have, all wants within it."""
        wanted: dict[frozenset[int], Terms] = {}
        for each in newcomers:
            for ids, count in _exact_wants(devices, each.cls, nodes):
                wanted.setdefault(ids, Terms()).add(each.variable, each.upper, count * each.unit)
        for ids in wanted:
            within = Terms()
            for other, terms in wanted.items():
                if other <= ids:
                    within.extend(terms)
            self._at_most(within, len(ids), f"devices[{label}]")


def _exact_wants(devices: DeviceProblem, cls: PodClass, nodes: Bools) -> list[tuple[frozenset[int], int]]:
    """Return the devices of the domain that each exact want of a class may have, and how many it takes."""
    found: list[tuple[frozenset[int], int]] = []
    where = np.flatnonzero(nodes & cls.mask).tolist()
    for key in devices.private.get(cls.pod, ()):
        for request in devices.spec(key).requests:
            want = request.wants[0]
            if len(request.wants) > 1 or want.admin or want.all_devices:
                continue
            options = [option for node in where for option in devices.options(want, node)]
            if any(kind.shared for kind, _ in options):
                continue
            ids = frozenset(d.number for kind, there in options if devices.may_be_free(kind) for d in there)
            found.append((ids, want.count))
    return found
