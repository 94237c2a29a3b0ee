"""Spread matching pods over topology domains: hard constraints.

    running_left(d) + stricter(d) − lowest <= maxSkew              for every domain d where a carrier lands
    lowest <= running(d') + new_matching(d')                       for every domain d'
    lowest  = 0                                                    with fewer domains than minDomains

One group K of carriers has equal namespace, key, effective selector, maxSkew, minDomains and eligible nodes;
counts are pods on eligible nodes, not terminating. `stricter(d)` are the newcomers in d that match the
selector and carry the constraint with K's maxSkew or a smaller one, all else being equal (and a minimum that
is 0 where K's is). Other newcomers do not count on the left, nor do victims that leave; in `lowest` victims
still count and every matching newcomer does: a matching pod without the constraint may come later, and a
victim may leave later. This holds for every admissible order: the last one of `stricter(d)` that is bound
saw at least the left side and at most this minimum, and its own maxSkew is no larger.

Each row of the left side holds only where a carrier lands in d (a literal); where what runs in d is within
maxSkew by itself it holds without one as well, and needs none.

A carrier on a node that takes no part in the count (inclusion policies) is judged by its domain's count
alone.

A domain whose nodes are all still to be bought is one only where one of them is: else it is no part of the
minimum, and does not count towards minDomains.

Source: KEP-895, KEP-3022, KEP-3094; kube-scheduler 1.34.1 podtopologyspread/filtering.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from ..framework.rules.spread import (
    SpreadConstraint,
    eligible_nodes,
    group_key,
    hard_constraints,
    spread_matches,
)
from ..framework.vocabulary import names
from .family import Family, Relation, Tie
from .terms import Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from ..framework.index.cluster import Cluster
    from ..framework.vocabulary.arrays import Bools
    from .context import Context
    from .problem import Matching, PodClass, Problem, VictimClass

name = names.POD_TOPOLOGY_SPREAD


@dataclass(frozen=True, eq=False)
class SpreadGroup:
    """Carriers K of one constraint, with its domains and the pods that count for it.

    The first `certain` domains are there whatever is bought.
    """

    constraint: SpreadConstraint
    carriers: tuple[PodClass, ...]
    counting: frozenset[int]
    domain_of: npt.NDArray[np.int32]
    eligible: Bools
    domains: tuple[int, ...]
    certain: int
    matching: Matching

    @property
    def counts_from_zero(self) -> bool:
        """Whether there are always fewer domains than minDomains (KEP-3022), so that the minimum is 0."""
        return len(self.domains) < self.constraint.min_domains

    @property
    def may_count_from_zero(self) -> bool:
        """Whether there are fewer domains than minDomains where none is bought."""
        return self.certain < self.constraint.min_domains

    def covers(self, other: SpreadGroup) -> bool:
        """Whether carriers of the other constraint are held to this one's limit as well."""
        ours, theirs = self.constraint, other.constraint
        return (
            (theirs.namespace, theirs.topology_key, theirs.selector)
            == (ours.namespace, ours.topology_key, ours.selector)
            and theirs.max_skew <= ours.max_skew
            and (
                other.counts_from_zero
                or not self.may_count_from_zero
                or theirs.min_domains >= ours.min_domains
            )
            and np.array_equal(other.eligible, self.eligible)
        )

    def members(self, domain: int) -> Sequence[int]:
        """Nodes of a domain that take part in the count."""
        return self._members.get(domain, ())

    def bystanders(self, domain: int) -> Sequence[int]:
        """Nodes of a domain that take no part in the count."""
        return self._bystanders.get(domain, ())

    def carriers_in(self, ctx: Context, domain: int, others: Sequence[SpreadGroup] = ()) -> Terms:
        """New carriers that count for the selector, on the counting nodes of a domain; others' as well."""
        counted = {c.index: c for group in (self, *others) for c in group.counted_carriers}
        return ctx.placed(counted.values(), self.members(domain))

    def matches_in(self, ctx: Context, domain: int) -> Terms:
        """All new matching pods on the counting nodes of a domain."""
        return ctx.placed(self.matching.classes, self.members(domain))

    def running_in(self, ctx: Context, domain: int, *, left: bool) -> Terms:
        """Running matching pods of a domain, without those that leave if `left`."""
        victims = self._victims.get(domain, ())
        terms = Terms(constant=self._fixed.get(domain, 0) + sum(v.size for v in victims))
        return terms.extend(ctx.evicted(victims), -1) if left else terms

    def highest_minimum(self, totals: Sequence[Terms], fewest: int | None = None) -> int:
        """Bound the minimum over domains: by the least that one can reach, and by the pods there are for all.

        Parameters
        ----------
        totals : sequence of Terms
            What counts in each domain: a constant and newcomers, whose number is limited. The first are those
            of domains that are there in any case.
        fewest : int, optional
            How many these are; all by default.
        """
        fewest = len(totals) if fewest is None else fewest
        shared = sum(t.constant for t in totals) + sum(c.size for c in self.matching.classes)
        return max(0, min((shared // max(1, fewest), *(t.high for t in totals[:fewest]))))

    @cached_property
    def counted_carriers(self) -> list[PodClass]:
        """Carriers that match the selector."""
        return [c for c in self.carriers if c.index in self.counting]

    @cached_property
    def _members(self) -> dict[int, list[int]]:
        return _by_domain(self.domain_of, self.eligible)

    @cached_property
    def _bystanders(self) -> dict[int, list[int]]:
        return _by_domain(self.domain_of, ~self.eligible)

    @cached_property
    def _victims(self) -> dict[int, list[VictimClass]]:
        found: dict[int, list[VictimClass]] = {}
        for v in self.matching.victims:
            if self.eligible[v.node]:
                found.setdefault(int(self.domain_of[v.node]), []).append(v)
        return found

    @cached_property
    def _fixed(self) -> dict[int, int]:
        fixed = self.matching.fixed
        where = np.flatnonzero(self.eligible & (fixed > 0) & (self.domain_of >= 0))
        return dict(enumerate(np.bincount(self.domain_of[where], fixed[where]).astype(int).tolist()))


def _by_domain(domain_of: npt.NDArray[np.int32], nodes: Bools) -> dict[int, list[int]]:
    """Divide nodes by domain; those without one are left out."""
    found: dict[int, list[int]] = {}
    chosen = np.flatnonzero(nodes & (domain_of >= 0))
    for node, domain in zip(chosen.tolist(), domain_of[chosen].tolist(), strict=True):
        found.setdefault(domain, []).append(node)
    return found


def spread_groups(
    problem: Problem, constraints_of: Callable[[Cluster, int], Sequence[SpreadConstraint]]
) -> tuple[SpreadGroup, ...]:
    """Classes gathered by the constraint that they carry; found once for each problem."""
    return problem.memo(("spread groups", constraints_of), lambda: _gather(problem, constraints_of))


def _gather(
    problem: Problem, constraints_of: Callable[[Cluster, int], Sequence[SpreadConstraint]]
) -> tuple[SpreadGroup, ...]:
    cluster = problem.cluster
    found: dict[tuple[object, ...], tuple[SpreadConstraint, Bools, list[PodClass], set[int]]] = {}
    for cls in problem.classes:
        for constraint in constraints_of(cluster, cls.pod):
            eligible = eligible_nodes(cluster, cls.pod, constraint)
            key = group_key(cluster, cls.pod, constraint)
            _, _, carriers, counting = found.setdefault(key, (constraint, eligible, [], set()))
            if cls not in carriers:
                carriers.append(cls)
            # an empty selector matches the pod at its own step and is never counted afterwards
            if spread_matches(cluster, constraint, cls.pod, cls.pod):
                counting.add(cls.index)
    groups = []
    certain = np.ones(cluster.n_nodes, dtype=np.bool_)
    certain[list(problem.optional)] = False
    for constraint, eligible, carriers, counting in found.values():
        domain_of = cluster.domains(constraint.topology_key).ids
        there = np.unique(domain_of[eligible & (domain_of >= 0) & certain])
        others = np.setdiff1d(domain_of[eligible & (domain_of >= 0)], there)
        ask = problem.by_labels(partial(spread_matches, cluster, constraint, carriers[0].pod))
        groups.append(
            SpreadGroup(
                constraint=constraint,
                carriers=tuple(carriers),
                counting=frozenset(counting),
                domain_of=domain_of,
                eligible=eligible,
                domains=(*there.tolist(), *others.tolist()),
                certain=len(there),
                matching=problem.select(ask, terminating=False),
            )
        )
    return tuple(groups)


def applies(problem: Problem) -> bool:
    """Whether a pending pod carries a hard constraint."""
    return any(hard_constraints(problem.cluster, c.pod) for c in problem.classes)


def encode(ctx: Context) -> None:
    """Add the skew rows of every hard constraint."""
    add_skews(ctx, hard_constraints)


def add_skews(ctx: Context, constraints_of: Callable[[Cluster, int], Sequence[SpreadConstraint]]) -> None:
    """Add the skew rows of some constraints of each pod, by the groups that carry them."""
    problem = ctx.problem
    groups = spread_groups(problem, constraints_of)
    for number, group in enumerate(groups):
        stricter = [other for other in groups if other is not group and group.covers(other)]
        label = f"{problem.cluster.pods[group.carriers[0].pod].key}/{group.constraint.topology_key}/{number}"
        lost = np.flatnonzero(group.domain_of < 0).tolist()
        for variable in ctx.placed(group.carriers, lost).variables:
            ctx.model.add(variable == 0)
        lowest = Terms() if group.counts_from_zero else _lowest(ctx, group, label)
        reached = {int(d) for c in group.carriers for d in np.unique(group.domain_of[c.mask]) if d >= 0}
        for domain in sorted(reached):
            counted = group.carriers_in(ctx, domain, stricter)
            _skew_rows(ctx, group, domain, counted, lowest, f"skew[{label}/{domain}]")


def _lowest(ctx: Context, group: SpreadGroup, label: str) -> Terms:
    """Add the minimum over the domains that are there."""
    totals = [group.running_in(ctx, d, left=False).extend(group.matches_in(ctx, d)) for d in group.domains]
    upper = group.highest_minimum(totals, group.certain)
    lowest = Terms()
    if not upper:
        return lowest
    lowest.add(ctx.model.new_int_var(0, upper, f"lowest[{label}]"), upper)
    there = [ctx.any_bought(group.members(d)) for d in group.domains[group.certain :]]
    for total, bought in zip(totals, (*(None,) * group.certain, *there), strict=True):
        if total.low < upper:
            ctx.at_most(Terms().extend(lowest).extend(total, -1), 0, when=bought)
    if group.may_count_from_zero:
        enough = ctx.model.new_bool_var(f"enough[{label}]")
        ctx.at_most(Terms().extend(lowest).add(enough, 1, -upper), 0)
        missing = Terms(constant=group.constraint.min_domains - group.certain)
        for bought in there:
            assert bought is not None
            missing.add(bought, 1, -1)
        ctx.at_most(missing, 0, when=enough)
    return lowest


def _skew_rows(
    ctx: Context, group: SpreadGroup, domain: int, carriers: Terms, lowest: Terms, label: str
) -> None:
    limit = group.constraint.max_skew
    running = group.running_in(ctx, domain, left=True)
    skew = Terms().extend(running).extend(lowest, -1)
    counted = Terms().extend(skew).extend(carriers)
    inside = group.members(domain)
    outside = group.bystanders(domain)
    # Where what runs is within the limit, the row holds by itself as long as no carrier lands.
    always = running.high <= limit
    if always:
        ctx.at_most(counted, limit, name=label)
    for cls in group.carriers:
        if not always and counted.high > limit:
            lands = ctx.lands(cls, inside)
            if lands is not None:
                ctx.at_most(counted, limit, when=lands, name=label)
        own = int(cls.index in group.counting)
        if outside and skew.high + own > limit:
            lands = ctx.lands(cls, outside)
            if lands is not None:
                ctx.at_most(skew, limit - own, when=lands)


def ties_of(
    problem: Problem, constraints_of: Callable[[Cluster, int], Sequence[SpreadConstraint]]
) -> Iterator[Tie]:
    """Tie the carriers of each constraint to the classes and victims that it counts."""
    for group in spread_groups(problem, constraints_of):
        yield Tie([*group.carriers, *group.matching.classes], group.matching.victims)


def ties(problem: Problem) -> Iterator[Tie]:
    """Tie the classes and victims of hard constraints."""
    return ties_of(problem, hard_constraints)


def order_sensitive(problem: Problem) -> Iterator[Relation]:
    """Relate each carrier of a hard constraint to what it counts."""
    for cls in problem.classes:
        for constraint in hard_constraints(problem.cluster, cls.pod):
            counted = problem.select(partial(spread_matches, problem.cluster, constraint, cls.pod))
            yield Relation(cls, counted.classes, counted.victims)


FAMILY = Family(name, applies, encode, ties=ties, order_sensitive=order_sensitive)
