"""VolumeRestrictions: a disk has one pod of a node, a ReadWriteOncePod claim has one pod of the cluster.

    lands(c, n) + lands(d, n) <= 1                  for classes c, d whose disks conflict
    y[c,n] <= 1                                     for a class whose members' disks conflict
    lands(c, n) -> every running pod of n with a conflicting disk leaves
    Σ_c Σ_n y[c,n] <= 1                             over the classes that use a ReadWriteOncePod claim
    lands(c, anywhere) -> every running pod that uses the claim leaves

Final counts suffice: conflicts are symmetric, and a victim may leave before any pod comes.

Source: kube-scheduler 1.34.1 plugins/volumerestrictions.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..framework.vocabulary import names
from ..framework.volumes.disks import conflict
from ..framework.volumes.storage import storage_of
from ..framework.volumes.uses import Uses, uses_of
from .family import Family, unfiltered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .context import Context
    from .problem import PodClass, Problem, VictimClass

name = names.VOLUME_RESTRICTIONS


def applies(problem: Problem) -> bool:
    """Whether a pending pod has a disk or a claim that only one pod can have."""
    uses = uses_of(problem.cluster)
    return any(uses.of(c.pod).disks for c in problem.classes) or bool(_exclusive(problem, problem.classes))


def encode(ctx: Context) -> None:
    """Exclude conflicting disks on each node, and second users of exclusive claims."""
    problem = ctx.problem
    asking = problem.asking(name, problem.classes)
    uses = uses_of(problem.cluster)
    _encode_disks(ctx, [c for c in asking if uses.of(c.pod).disks], uses)
    for key, users in _exclusive(problem, asking).items():
        _encode_claim(ctx, key, users, uses)


def _exclusive(problem: Problem, classes: list[PodClass] | tuple[PodClass, ...]) -> dict[str, list[PodClass]]:
    """Claims that only one pod can use, with the classes that use each."""
    claims = storage_of(problem.cluster).claims
    found: dict[str, list[PodClass]] = {}
    for cls in classes:
        for key in dict.fromkeys(use.key for use in uses_of(problem.cluster).of(cls.pod).named_claims):
            if key in claims and "ReadWriteOncePod" in claims[key].spec.access_modes:
                found.setdefault(key, []).append(cls)
    return found


def _encode_disks(ctx: Context, wanting: list[PodClass], uses: Uses) -> None:
    problem = ctx.problem
    disks = {c.index: uses.of(c.pod).disks for c in wanting}
    fixed: dict[int, list[int]] = {}
    for p in problem.fixed_pods:
        if uses.of(p).disks:
            fixed.setdefault(int(problem.state.node_of[p]), []).append(p)
    pairs = [(a, b) for a, b in combinations(wanting, 2) if conflict(disks[a.index], disks[b.index])]
    for node in range(problem.cluster.n_nodes):
        for c in wanting:
            count, lands = ctx.count(c, node), ctx.lands(c, [node])
            if count is None or lands is None:
                continue
            ours = disks[c.index]
            if conflict(ours, ours):
                ctx.model.add(count <= 1)
            if any(conflict(ours, uses.of(p).disks) for p in fixed.get(node, ())):
                ctx.model.add(lands == 0)
            for v in problem.victims_on.get(node, ()):
                if conflict(ours, uses.of(v.pod).disks):
                    _leaves(ctx, lands_of=c, node=node, victim=v)
        for a, b in pairs:
            lands_a, lands_b = ctx.lands(a, [node]), ctx.lands(b, [node])
            if lands_a is not None and lands_b is not None:
                ctx.model.add_at_most_one(lands_a, lands_b)


def _leaves(ctx: Context, *, lands_of: PodClass, node: int, victim: VictimClass) -> None:
    lands = ctx.lands(lands_of, [node])
    if lands is not None:
        ctx.model.add_implication(lands, ctx.all_gone(victim))


def _encode_claim(ctx: Context, key: str, users: list[PodClass], uses: Uses) -> None:
    problem = ctx.problem
    placed = ctx.placed(users)
    holders = {p for p in uses.users.get(key, ()) if any(u.key == key for u in uses.of(p).named_claims)}
    if holders & set(problem.fixed_pods):
        ctx.model.add(placed.expression() == 0).with_name(f"claim[{key}]")
        return
    if placed.high > 1:
        ctx.model.add(placed.expression() <= 1).with_name(f"claim[{key}]")
    everywhere = np.ones(problem.cluster.n_nodes, dtype=np.bool_)
    for victim in problem.victims:
        if not holders.isdisjoint(victim.pods):
            for cls in users:
                lands = ctx.lands(cls, everywhere)
                if lands is not None:
                    ctx.model.add_implication(lands, ctx.all_gone(victim))


def heedless(problem: Problem, cls: PodClass, others: Sequence[PodClass]) -> bool:
    """Whether a class takes disks or claims that only other profiles check."""
    uses = uses_of(problem.cluster).of(cls.pod)
    return bool(uses.disks or uses.claims) and unfiltered(problem, name, cls, others)


FAMILY = Family(name, applies, encode, heedless=heedless)
