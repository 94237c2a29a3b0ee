"""Relaxation of the round to domains: which domain each pod group takes, counted by domain and not by node.

For each type t of groups with pending members (`domains.group_types`) and each domain d of its first
required key (in a tree of groups, without a key of its own, of the nearest one above it; else one domain, the
cluster), with count[t,d] groups of the type in the domain, stand[t,c] of them among the children of c (of
none, outside trees), and members[k,d] newcomers of the type's k-th class:

    Σ_d count[t,d] = Σ_c stand[t,c],      stand[t,c] <= groups of the type below c
    members[k,d] <= min(size(k), Σ_{n in d} limit(k,n))·count[t,d]
    Σ_k members[k,d] + running(t) >= quorum(t)·count[t,d]

and for each domain D, over the domains d within it:

    Σ request·members[k,d] <= Σ_{n in D} what can be free on n      for every resource, and the pod slots,
                                                                    that its members' profiles look at
    Σ floor(request/a)·members[k,d] <= Σ_{n in D} floor(free/a)     for every amount a that one of them asks
                                                                    for: only whole pods fit a node
    Σ count·members[k,d] <= devices in D that a want, and every narrower want, may have

The rows of trees are those of `domains.tree`. All of it follows from the node by node model (`pod_groups`,
`composite_pod_groups`, `capacity`, `dynamic_resources`), so its optimum bounds what groups can place, and it
is small: one variable for a type and a domain. Nothing is lost by counting: the members of a type that are
in a domain can be divided among its groups there, each with its quorum and no more than it has. Source:
docs/groups.md.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ...framework.rules.composites import above
from ...framework.rules.groups import groups
from ...framework.vocabulary.resources import CPU
from ..terms import Terms
from .group_types import asking, group_types
from .room import Newcomers, Room
from .tree import Claim, Count, Standing, TreeRows, domains_to_choose, may_take, roots_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ortools.sat.python import cp_model

    from ...framework.vocabulary.arrays import Bools
    from ..problem import Problem
    from .group_types import GroupType


@dataclass(eq=False)
class DomainMaster:
    """The model by domains.

    Attributes
    ----------
    within : bool array (N,)
        The nodes that it is about.
    types : list of GroupType
    counts : dict
        (type, domain) -> how many of the type are in the domain.
    standing : dict
        (type, CompositePodGroup above or None) -> how many of the type among its children stand.
    grouped : dict
        Priority -> newcomers of groups.
    single : dict
        Priority -> most pods outside groups that can be placed at all.
    """

    problem: Problem
    model: cp_model.CpModel
    within: Bools
    types: list[GroupType]
    counts: dict[tuple[int, int], Count] = field(default_factory=dict)
    standing: dict[tuple[int, int | None], Standing] = field(default_factory=dict)
    grouped: dict[int, Terms] = field(default_factory=dict)
    single: dict[int, int] = field(default_factory=dict)
    _type_of: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self._type_of = {group.index: t for t, kind in enumerate(self.types) for group in kind.groups}

    def nodes(self, group: int, domain: int) -> Bools:
        """Return the nodes of a domain that a group may take, bool[N]."""
        return self.counts[self._type_of[group], domain].nodes

    def chosen(self, solver: cp_model.CpSolver) -> list[tuple[int, int]]:
        """Return the (group, domain) pairs of a solution, the first of a type in the first of its domains."""
        found: list[tuple[int, int]] = []
        for t, kind in enumerate(self.types):
            domains = [
                domain
                for (other, domain), count in self.counts.items()
                if other == t
                for _ in range(solver.value(count.variable))
            ]
            groups = [
                index
                for parent, those in _by_parent(self.problem, kind).items()
                for index in islice(those, solver.value(self.standing[t, parent].variable))
            ]
            found += zip(groups, domains, strict=True)
        return found

    def exclude(self, model: cp_model.CpModel, together: Sequence[tuple[int, int]]) -> None:
        """Forbid, in a copy of the model, that groups like these are in these domains at the same time."""
        literals = []
        for (t, domain), least in Counter((self._type_of[g], domain) for g, domain in together).items():
            count = self.counts[t, domain]
            literal = model.new_bool_var(f"fewer[{t},{domain}]")
            model.add(count.variable <= least - 1).only_enforce_if(literal)
            literals.append(literal)
        model.add_bool_or(literals)


def domain_masters(problem: Problem) -> list[Callable[[], DomainMaster]]:
    """Return what builds the model by domains, several where one of them holds.

    None where no group asks for anything.

    Where all groups are below one that has to be in one domain, each of its domains is a model of its own:
    together these are quicker to search than one. Each is built when it is called for, those with most free
    cpu first: there a plan is found sooner.
    """
    if not asking(problem):
        return []
    free = np.maximum(problem.free_now, 0)[CPU]
    found = sorted(_alternatives(problem), key=lambda nodes: -int(free[nodes].sum()))
    return [partial(domain_master, problem, nodes) for nodes in found]


def _alternatives(problem: Problem) -> list[Bools]:
    """Return the domains of which all groups are in one, if a group above them asks for it; else the cluster.

    Of several that are above all groups the topmost with a key decides.
    """
    cluster, mine = problem.cluster, asking(problem)
    chains = [above(cluster, groups(cluster)[index]) for index in mine]
    common = set.intersection(*({item.index for item in chain} for chain in chains))
    keys = [item.topology_keys[0] for item in chains[0] if item.index in common and item.topology_keys]
    everywhere = np.ones(cluster.n_nodes, dtype=np.bool_)
    if not keys:
        return [everywhere]
    ids = cluster.domains(keys[-1]).ids
    reach = np.any([cls.mask for classes in mine.values() for cls in classes], axis=0)
    return [np.asarray(ids == domain) for domain in np.unique(ids[reach & (ids >= 0)])] or [everywhere]


def domain_master(problem: Problem, within: Bools) -> DomainMaster:
    """Build the model by domains on some nodes, bool[N]."""
    from ortools.sat.python import cp_model

    choices = domains_to_choose(problem, within)
    master = DomainMaster(problem, cp_model.CpModel(), within, group_types(problem, choices.keys(), within))
    arrivals: dict[bytes, list[Newcomers]] = {}
    regions: dict[bytes, Bools] = {}
    for t in range(len(master.types)):
        for nodes, found in _place(master, t):
            arrivals.setdefault(nodes.tobytes(), []).extend(found)
            regions.setdefault(nodes.tobytes(), nodes)
    claims: dict[bytes, list[Claim]] = {}
    for claim in _trees(master, choices):
        regions.setdefault(claim.nodes.tobytes(), claim.nodes)
        claims.setdefault(claim.nodes.tobytes(), []).append(claim)
    room = Room(problem, master.model)
    for number, (name, region) in enumerate(regions.items()):
        parts = (found for key, found in arrivals.items() if not (regions[key] & ~region).any())
        newcomers = [each for found in parts for each in found]
        room.add(region, newcomers, f"region-{number}", claims.get(name, ()))
    grouped = {cls.index for classes in asking(problem).values() for cls in classes}
    for cls in problem.classes:
        if cls.index not in grouped:
            most = min(cls.size, int(cls.limit.sum()))
            master.single[cls.priority] = master.single.get(cls.priority, 0) + most
    return master


def _by_parent(problem: Problem, kind: GroupType) -> dict[int | None, list[int]]:
    """Return the groups of a type by the CompositePodGroup that they are children of, None for none."""
    found: dict[int | None, list[int]] = {}
    for group in kind.groups:
        parents = above(problem.cluster, group)
        found.setdefault(parents[0].index if parents else None, []).append(group.index)
    return found


def _place(master: DomainMaster, t: int) -> Iterator[tuple[Bools, list[Newcomers]]]:
    """Add the variables of a type and what ties them to each other; yield its newcomers by domain.

    Groups that come as a whole or not at all need no counts of members.
    """
    problem, model, kind = master.problem, master.model, master.types[t]
    key = kind.first.key
    standing, counts = Terms(), Terms()
    for parent, those in _by_parent(problem, kind).items():
        variable = model.new_int_var(0, len(those), f"stand[{key},{parent}]")
        staying = len(kind.first.running) >= kind.first.quorum
        master.standing[t, parent] = Standing(variable, len(those), staying)
        standing.add(variable, len(those))
    placed = [Terms() for _ in kind.classes]
    for domain, nodes in _domains(problem, kind, master.within):
        most = [min(cls.size, int(cls.limit[nodes].sum())) for cls in kind.classes]
        if sum(most) < kind.missing or not may_take(problem, kind.first, nodes):
            continue
        count = Count(model.new_int_var(0, kind.size, f"count[{key},{domain}]"), kind.size, nodes)
        master.counts[t, domain] = count
        counts.add(count.variable, kind.size)
        if kind.whole:
            found = [Newcomers(kind.classes[0], count.variable, kind.size, kind.missing)]
        else:
            found = list(_members(master, kind, count, most, f"{key},{domain}"))
        for terms, each in zip(placed, found, strict=True):
            terms.add(each.variable, each.upper, each.unit)
        yield nodes, found
    model.add(counts.expression() == standing.expression())
    for terms, cls in zip(placed, kind.classes, strict=True):
        # CP-SAT bounds the sum of all by this, which it does not see in the rows of single domains
        model.add(terms.expression() <= cls.size * kind.size)
        master.grouped.setdefault(cls.priority, Terms()).extend(terms)


def _members(
    master: DomainMaster, kind: GroupType, count: Count, most: Sequence[int], label: str
) -> Iterator[Newcomers]:
    """Count the members that come to a domain; `most` is how many of each class one group can have there."""
    model = master.model
    present = Terms(constant=0)
    for k, (cls, upper) in enumerate(zip(kind.classes, most, strict=True)):
        variable = model.new_int_var(0, upper * kind.size, f"members[{label},{k}]")
        model.add(variable <= upper * count.variable)
        present.add(variable, upper * kind.size)
        yield Newcomers(cls, variable, upper * kind.size, 1)
    model.add(present.expression() >= kind.missing * count.variable)


def _domains(problem: Problem, kind: GroupType, within: Bools) -> Iterator[tuple[int, Bools]]:
    """Yield the domains that newcomers of a type can reach, with their nodes."""
    cluster = problem.cluster
    ids = cluster.domains(kind.key).ids if kind.key else np.zeros(cluster.n_nodes, dtype=np.int32)
    reach = np.any([cls.limit > 0 for cls in kind.classes], axis=0)
    for domain in np.unique(ids[reach & (ids >= 0) & within]).tolist():
        yield domain, np.asarray((ids == domain) & within)


def _trees(master: DomainMaster, choices: dict[int, list[Bools]]) -> list[Claim]:
    """Add the rows of all trees."""
    counts: dict[int, list[Count]] = {}
    standing: dict[int, list[Standing]] = {}
    for (t, _), count in master.counts.items():
        chooser = master.types[t].chooser
        if chooser is not None:
            counts.setdefault(chooser.index, []).append(count)
    for (_, parent), each in master.standing.items():
        if parent is not None:
            standing.setdefault(parent, []).append(each)
    rows = TreeRows(master.model, choices)
    for root in roots_of(master.problem):
        rows.add(root, counts, standing)
    return rows.claims
