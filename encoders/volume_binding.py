"""VolumeBinding: unbound claims take volumes, each volume once; smallest first is left to the order.

Volumes that the same nodes reach and that suit the same claims are one cell q; nodes that reach the same
cells of a kind of claim k are one region R; f[k,q,R] volumes of q serve claims of kind k there:

    Σ_q f[k,q,R] >= Σ_{n in R} Σ_c claims_k(c)·y[c,n]        where no volume can be made for k
    Σ_k Σ_R f[k,q,R] + Σ_x u[x,q] <= |q|

A claim x that several pods use goes to one cell, or has its volume made for one node:

    Σ_q u[x,q] + Σ_n s[x,n] <= 1
    lands(c, n) -> Σ_{q reached from n} u[x,q] + s[x,n] >= 1      for a class c that uses x

A matching of this kind is necessary; whether smallest-first finds one depends on the order. Volumes of bound
claims, topologies and free storage are in the static mask.

Source: kube-scheduler 1.34.1 plugins/volumebinding/binder.go.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..framework.vocabulary import names
from ..framework.volumes.claims import ANY_NODE, Unbound, claims_of
from ..framework.volumes.offers import Wish, offers_of
from ..framework.volumes.provisioning import provisioning
from ..framework.volumes.uses import uses_of
from .family import Family, Relation, Tie
from .terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ortools.sat.python import cp_model

    from .context import Context
    from .problem import PodClass, Problem

name = names.VOLUME_BINDING


def applies(problem: Problem) -> bool:
    """Whether a pending pod has a claim to bind."""
    return any(open_claims(problem, c) for c in problem.classes)


def open_claims(problem: Problem, cls: PodClass) -> list[Unbound]:
    """Return the claims of one member that take a volume or a node to have one made for."""
    return looking(problem, cls) if problem.cluster.profile(cls.pod).binds_volumes else []


def looking(problem: Problem, cls: PodClass) -> list[Unbound]:
    """Return the claims of one member for which the filter looks for a volume, taken or not."""
    claims = claims_of(problem.cluster).of(cls.pod)
    if claims is None or claims.refusal or not problem.cluster.profile(cls.pod).filters(name):
        return []
    return [claim for claim in claims.unbound if claim.selected == ANY_NODE and claim.reserved is None]


def encode(ctx: Context) -> None:
    """Add the flow of volumes to claims."""
    problem = ctx.problem
    own: dict[int, Counter[Wish]] = {}
    shared: dict[str, _Shared] = {}
    for cls in problem.classes:
        for claim in open_claims(problem, cls):
            if claim.shared:
                shared.setdefault(claim.key, _Shared(claim, [])).users.append(cls)
            else:
                own.setdefault(cls.index, Counter())[claim.wish] += 1
    wishes = [wish for counter in own.values() for wish in counter]
    cells = _Cells(ctx, dict.fromkeys([*wishes, *(item.claim.wish for item in shared.values())]))
    for wish in dict.fromkeys(wishes):
        cells.serve(
            wish, [(problem.classes[c], counter[wish]) for c, counter in own.items() if wish in counter]
        )
    for item in shared.values():
        cells.share(item)
    cells.close()


@dataclass(frozen=True)
class _Shared:
    """A claim that several pods use, with the classes that do."""

    claim: Unbound
    users: list[PodClass]


class _Cells:
    """Volumes by the nodes that reach them and the claims that they suit, and what is taken of each cell."""

    def __init__(self, ctx: Context, wishes: dict[Wish, None]) -> None:
        self._ctx = ctx
        self._offers = offers_of(ctx.problem.cluster)
        suits: dict[int, tuple[int, list[Wish]]] = {}
        for wish in wishes:
            for g, volumes in self._offers.groups(wish).items():
                for v in volumes:
                    suits.setdefault(v, (g, []))[1].append(wish)
        sizes = Counter((g, tuple(found)) for g, found in suits.values())
        self._groups = [g for g, _ in sizes]
        self._sizes = list(sizes.values())
        self._suiting: dict[Wish, list[int]] = {wish: [] for wish in wishes}
        for q, (_, found) in enumerate(sizes):
            for wish in found:
                self._suiting[wish].append(q)
        self._taken = [Terms() for _ in sizes]

    def serve(self, wish: Wish, classes: list[tuple[PodClass, int]]) -> None:
        """Require volumes for the claims of every pod where none can be provisioned."""
        ctx = self._ctx
        made = provisioning(ctx.problem.cluster, wish) == 0
        needing = [(cls, n, many) for cls, many in classes for n in np.flatnonzero(cls.mask & ~made).tolist()]
        regions: dict[tuple[int, ...], Terms] = {}
        for cls, node, many in needing:
            cells = tuple(q for q in self._suiting[wish] if self._offers.masks[self._groups[q]][node])
            regions.setdefault(cells, Terms()).extend(ctx.placed([cls], [node]), many)
        for number, (cells, demand) in enumerate(regions.items()):
            supply = Terms()
            for q in cells:
                most = min(self._sizes[q], demand.high)
                flow = ctx.model.new_int_var(0, most, f"volumes[{wish.storage_class},{q},{number}]")
                supply.add(flow, most)
                self._taken[q].add(flow, most)
            ctx.model.add(demand.expression() <= supply.expression())

    def share(self, item: _Shared) -> None:
        """Require one volume for each claim of several pods."""
        ctx, claim = self._ctx, item.claim
        made = provisioning(ctx.problem.cluster, claim.wish) == 0
        chosen: dict[int, cp_model.IntVar] = {}
        for q in self._suiting[claim.wish]:
            chosen[q] = ctx.model.new_bool_var(f"volume[{claim.key},{q}]")
            self._taken[q].add(chosen[q], 1)
        pins: dict[int, cp_model.IntVar] = {}
        for cls in {c.index: c for c in item.users}.values():
            for node in np.flatnonzero(cls.mask).tolist():
                if made[node] and node not in pins:
                    pins[node] = ctx.model.new_bool_var(f"made[{claim.key},{node}]")
                lands = ctx.lands(cls, [node])
                if lands is not None:
                    ctx.model.add_bool_or([lands.negated(), *self._within(chosen, pins, node)])
        ctx.model.add_at_most_one([*chosen.values(), *pins.values()])

    def _within(
        self, chosen: dict[int, cp_model.IntVar], pins: dict[int, cp_model.IntVar], node: int
    ) -> Iterator[cp_model.IntVar]:
        for q, literal in chosen.items():
            if self._offers.masks[self._groups[q]][node]:
                yield literal
        if node in pins:
            yield pins[node]

    def close(self) -> None:
        """Use no volume twice."""
        for q, taken in enumerate(self._taken):
            if taken.high > self._sizes[q]:
                self._ctx.model.add(taken.expression() <= self._sizes[q]).with_name(f"volumes[{q}]")


def ties(problem: Problem) -> Iterator[Tie]:
    """Tie together the users of each claim that several pods use; what may be bound is order-sensitive."""
    class_of = {p: c for c in problem.classes for p in c.pods}
    victim_of = {p: v for v in problem.victims for p in v.pods}
    for users in uses_of(problem.cluster).users.values():
        if len(users) > 1:
            coming = [class_of[p] for p in users if p in class_of]
            yield Tie(coming, [victim_of[p] for p in users if p in victim_of])


def order_sensitive(problem: Problem) -> Iterator[Relation]:
    """Relate classes that may take one volume or share an unbound claim, where their order matters.

    Which pod takes the smallest volume, and where the first of several users of a claim has it bound, depends
    on the order.
    """
    for classes in _rivals(problem):
        if not _any_order_will_do(problem, classes):
            for cls in classes:
                yield Relation(cls, classes)


def _rivals(problem: Problem) -> list[list[PodClass]]:
    """Divide the classes that may take volumes, or share unbound claims, into those that never meet."""
    offers = offers_of(problem.cluster)
    parent = list(range(len(problem.classes)))

    def root(c: int) -> int:
        while parent[c] != c:
            c = parent[c]
        return c

    first: dict[object, int] = {}
    for cls in problem.classes:
        for claim in looking(problem, cls):
            volumes = (v for members in offers.groups(claim.wish).values() for v in members)
            for item in (*volumes, *([claim.key] if claim.shared else ())):
                parent[root(cls.index)] = root(first.setdefault(item, cls.index))
    rivals: dict[int, list[PodClass]] = {}
    roots = {root(c) for c in first.values()}
    for cls in problem.classes:
        if root(cls.index) in roots:
            rivals.setdefault(root(cls.index), []).append(cls)
    return list(rivals.values())


def _any_order_will_do(problem: Problem, classes: list[PodClass]) -> bool:
    """Whether smallest-first finds volumes for all in any order, if there are volumes for all.

    That holds where every node reaches one group of volumes, claims only differ in size, and no pod that
    takes a volume could do without: then taking the smallest that is large enough never harms a larger claim.
    """
    offers = offers_of(problem.cluster)
    claims = [claim for cls in classes for claim in open_claims(problem, cls)]
    if len(claims) < sum(len(looking(problem, cls)) for cls in classes):
        return False  # a class that takes nothing comes before those that do
    if any(claim.shared or not provisioning(problem.cluster, claim.wish).all() for claim in claims):
        return False
    suiting: dict[int, list[tuple[int, ...]]] = {}
    for wish in {claim.wish for claim in claims}:
        for g, volumes in offers.groups(wish).items():
            suiting.setdefault(g, []).append(volumes)
    reached = np.zeros(problem.cluster.n_nodes, dtype=np.int64)
    for g, lists in suiting.items():
        reached += offers.masks[g]
        longest = max(lists, key=len)
        if any(volumes != longest[len(longest) - len(volumes) :] for volumes in lists):
            return False
    return bool((reached <= 1).all())


FAMILY = Family(name, applies, encode, ties=ties, order_sensitive=order_sensitive)
