"""Dynamic resource allocation: which device serves which request, each device once unless it may be shared.

    private claims of a class on a node        `encoders.devices.choice` with y[c,n] pods
    common claims                              allocated for at most one node n: allocated[C,n]
        a user lands on m  ->  C is allocated and its devices are reached from m, or it keeps its old devices
    released[C]  ->  every running pod that has C leaves, and of waiting ones it is one at most (then it may
                     be deallocated, a free step)
    what all claims together take of devices, capacities and counters: `encoders.devices.sums`

Source: docs/dra.md; KEP-4381, KEP-4815, KEP-5075, KEP-5729.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...framework.vocabulary import names
from ...models import tiers
from ..family import Family
from ..terms import Terms
from .choice import choose, keep_apart
from .order import order_sensitive, own_moves, ties
from .sums import add_sums
from .variables import DeviceVariables

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from ...framework.vocabulary.arrays import Ints
    from ..context import Context
    from ..dra.problem import DeviceProblem
    from ..problem import PodClass, Problem

name = names.DYNAMIC_RESOURCES

MOST_CONSUMERS = 256


def applies(problem: Problem) -> bool:
    """Whether the family applies: always; without claims the tier `firstAvailable` is the constant 0."""
    return bool(problem.classes)


def encode(ctx: Context) -> None:
    """Add the choices, the rows of what devices can give, and the tier `firstAvailable`."""
    ranks = Terms()
    devices = ctx.problem.devices
    if devices is not None:
        variables = ctx.extras[name] = DeviceVariables()
        encoder = _Encoder(ctx, devices, variables)
        encoder.release()
        encoder.private()
        encoder.common()
        add_sums(ctx, devices, variables)
        for choice in variables.choices():
            ranks.extend(choice.ranks())
    ctx.goal(tiers.FIRST_AVAILABLE, "min", ranks)


class _Encoder:
    def __init__(self, ctx: Context, devices: DeviceProblem, variables: DeviceVariables) -> None:
        self._ctx = ctx
        self._devices = devices
        self._variables = variables
        self._class_of = {i: c for c in ctx.problem.classes for i in c.pods}

    # -- claims --

    def release(self) -> None:
        """Add a literal for each allocated claim that may be deallocated."""
        ctx, claims = self._ctx, self._devices.claims
        victims = {p: v for v in ctx.problem.victims for p in v.pods}
        queued = self._devices.index.queued
        for key in claims.allocations:
            consumers = claims.reserved.get(key, frozenset())
            others = [i for i in consumers if i not in queued]
            if len(consumers) - len(others) > 1 or any(i not in victims for i in others):
                continue
            if key in self._devices.index.held_fast and not self._devices.leaves_alone(consumers):
                continue
            literal = ctx.model.new_bool_var(f"released[{key}]")
            for i in others:
                assert isinstance(i, int)
                ctx.model.add_implication(literal, ctx.all_gone(victims[i]))
            self._variables.released[key] = literal

    def private(self) -> None:
        """Choose devices for the private claims of each class on each node."""
        ctx, devices = self._ctx, self._devices
        for cls in ctx.problem.classes:
            if cls.pod in devices.blocked:
                _keep_out(ctx, cls)
                continue
            if not devices.index.needs_devices(cls.pod):
                continue
            for node in np.flatnonzero(cls.mask).tolist():
                active = ctx.placed([cls], [node])
                label = f"{ctx.problem.cluster.pods[cls.pod].key},{ctx.problem.cluster.node_names[node]}"
                choices = [
                    choose(ctx, devices, spec, node, active, f"{label},{k}")
                    for k, spec in enumerate(devices.private_specs(cls.pod, node))
                ]
                keep_apart(ctx, choices)
                self._variables.private[cls.index, node] = choices

    def common(self) -> None:
        """Allocate common claims anew, or keep their devices, and place their users accordingly."""
        for key, users in self._devices.common.items():
            users = [i for i in users if i in self._class_of]
            if not users:
                continue
            classes = list({self._class_of[i].index: self._class_of[i] for i in users}.values())
            released = self._variables.released.get(key)
            allocated = key in self._devices.claims.allocations
            chosen: dict[int, cp_model.IntVar] = {}
            if not allocated or released is not None:
                chosen = self._allocate(key, classes)
                every = Terms()
                for literal in chosen.values():
                    every.add(literal, 1)
                self._ctx.model.add(every.expression() <= (1 if released is None else released))
            self._send(key, classes, chosen)
            self._limit_consumers(key, classes)

    def _allocate(self, key: str, classes: list[PodClass]) -> dict[int, cp_model.IntVar]:
        """Return a literal for each node that the claim may be allocated for: where its first user lands."""
        ctx = self._ctx
        chosen: dict[int, cp_model.IntVar] = {}
        spec = self._devices.spec(key)
        for node in np.flatnonzero(np.logical_or.reduce([c.mask for c in classes])).tolist():
            if self._devices.refused(spec, node):
                continue
            node_name = ctx.problem.cluster.node_names[node]
            literal = ctx.model.new_bool_var(f"allocated[{key},{node_name}]")
            ctx.model.add(literal <= ctx.placed(classes, [node]).expression())
            active = Terms().add(literal, 1)
            choice = choose(ctx, self._devices, spec, node, active, f"{key},{node_name}")
            keep_apart(ctx, [choice])
            self._variables.common[key, node] = (choice, literal)
            chosen[node] = literal
        return chosen

    def _send(self, key: str, classes: list[PodClass], chosen: dict[int, cp_model.IntVar]) -> None:
        """Restrict users to nodes from which the claim's devices are reached."""
        ctx, devices = self._ctx, self._devices
        old = devices.claims.allocations.get(key)
        kept = None if old is None else devices.index.reach(old)
        released = self._variables.released.get(key)
        wide = {
            home for home in chosen if any(t.kind.wide for t in self._variables.common[key, home][0].taken)
        }
        for cls in classes:
            for node in np.flatnonzero(cls.mask).tolist():
                lands = ctx.lands(cls, [node])
                if lands is None:
                    continue
                reasons = Terms()
                for home in {node, *wide} & chosen.keys():
                    if home == node or self._may_reach(key, home, node):
                        reasons.add(chosen[home], 1)
                if old is not None and (kept is None or kept[node]):
                    if released is None:
                        continue
                    reasons.add(released, 1, -1)
                    reasons.constant += 1
                ctx.model.add(lands <= reasons.expression())
                for home in wide:
                    if home != node:
                        self._reach(key, home, node, lands)

    def _may_reach(self, key: str, home: int, node: int) -> bool:
        """Whether an allocation for one node can consist of devices that another node reaches."""
        choice, _ = self._variables.common[key, home]
        needed = {(t.request, t.rank) for t in choice.taken if t.kind.reaches(node)}
        return all(
            any((r, rank) in needed for rank in range(len(request.wants)))
            for r, request in enumerate(choice.spec.requests)
        )

    def _reach(self, key: str, home: int, node: int, lands: cp_model.IntVar) -> None:
        """Exclude devices that a node does not reach while a user lands there."""
        choice, _ = self._variables.common[key, home]
        if not self._may_reach(key, home, node):
            return
        for taken in choice.taken:
            if not taken.kind.reaches(node) and taken.count.high:
                self._ctx.model.add(taken.count.expression() <= taken.count.high - taken.count.high * lands)

    def _limit_consumers(self, key: str, classes: list[PodClass]) -> None:
        reserved = self._devices.claims.reserved.get(key, frozenset())
        newcomers = self._ctx.placed(classes)
        if len(reserved) + sum(c.size for c in classes) > MOST_CONSUMERS:
            running = [i for i in reserved if isinstance(i, int) and i not in self._class_of]
            victims = [v for v in self._ctx.problem.victims if set(v.pods) & set(running)]
            staying = Terms(constant=len(running)).extend(self._ctx.evicted(victims), -1)
            self._ctx.model.add(newcomers.extend(staying).expression() <= MOST_CONSUMERS)


def _keep_out(ctx: Context, cls: PodClass) -> None:
    for variable in ctx.placed([cls]).variables:
        ctx.model.add(variable == 0)


def limit(problem: Problem, cls: PodClass) -> Ints | None:
    """Bound the members on each node by the devices that their private claims may have."""
    devices = problem.devices
    if devices is None or not devices.index.needs_devices(cls.pod):
        return None
    return devices.most(cls.pod, cls.limit)


FAMILY = Family(
    name, applies, encode, limit=limit, ties=ties, order_sensitive=order_sensitive, own_moves=own_moves
)
