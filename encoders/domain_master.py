"""Relaxation of the round to domains: which domain each pod group takes, counted by domain and not by node.

For each group g with pending members and each domain d of its first required key (in a tree of groups,
without a key of its own, of the nearest one above it; else one domain, the cluster), with members[c,d]
newcomers of class c:

    Σ_d in[g,d] <= 1
    members[c,d] <= Σ_{n in d} limit(c,n)·in[g,d]
    Σ members[c,d] + running(g) >= quorum·in[g,d]

and for each domain D, over the domains d within it:

    Σ request·members[c,d] <= Σ_{n in D} what can be free on n      for every resource, and the pod slots,
                                                                    that its members' profiles look at
    Σ floor(request/a)·members[c,d] <= Σ_{n in D} floor(free/a)     for every amount a that one of them asks
                                                                    for: only whole pods fit a node
    Σ count·members[c,d] <= devices in D that a want, and every narrower want, may have

The rows of trees are those of `domain_tree`. All of it follows from the node by node model (`pod_groups`,
`composite_pod_groups`, `capacity`, `dynamic_resources`), so its optimum bounds what groups can place, and it
is small: one literal for a group and a domain. Source: docs/groups.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from operator import mul
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..framework.rules.composites import above, composites
from ..framework.rules.groups import Group, groups
from ..framework.vocabulary.resources import CPU
from .domain_tree import Claim, DomainLiteral, add_trees, may_take
from .linear import add_at_most
from .pod_groups import classes_of
from .terms import Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ortools.sat.python import cp_model

    from ..framework.vocabulary.arrays import Bools
    from .dra.problem import DeviceProblem
    from .problem import PodClass, Problem


# Requests of one resource by which whole pods are counted in each domain, the largest first.
_MOST_SIZES: Final = 12


@dataclass(eq=False)
class DomainMaster:
    """The model by domains.

    Attributes
    ----------
    within : bool array (N,)
        The nodes that it is about.
    inside : dict
        (group, domain) -> literal.
    nodes : dict
        (group, domain) -> the domain's nodes, bool[N].
    grouped : dict
        Priority -> newcomers of groups.
    single : dict
        Priority -> most pods outside groups that can be placed at all.
    """

    problem: Problem
    model: cp_model.CpModel
    within: Bools
    inside: dict[tuple[int, int], cp_model.IntVar] = field(default_factory=dict)
    nodes: dict[tuple[int, int], Bools] = field(default_factory=dict)
    grouped: dict[int, Terms] = field(default_factory=dict)
    single: dict[int, int] = field(default_factory=dict)


def domain_masters(problem: Problem) -> list[Callable[[], DomainMaster]]:
    """Return what builds the model by domains, several where one of them holds.

    None where no group asks for anything.

    Where all groups are below one that has to be in one domain, each of its domains is a model of its own:
    together they are quicker to search than one. Each is built when it is called for, those with most free
    cpu first: there a plan is found sooner.
    """
    mine = asking(problem)
    everywhere = np.ones(problem.cluster.n_nodes, dtype=np.bool_)
    if not mine:
        return []
    free = np.maximum(problem.free_now, 0)[CPU]
    found = sorted(_alternatives(problem, mine, everywhere), key=lambda nodes: -int(free[nodes].sum()))
    return [partial(domain_master, problem, mine, nodes) for nodes in found]


def asking(problem: Problem) -> dict[int, list[PodClass]]:
    """Return the classes of the groups with pending members that ask for anything."""
    found = {
        group.index: classes_of(problem, group)
        for group in groups(problem.cluster)
        if group.waits is None and group.pending and (group.constrained or above(problem.cluster, group))
    }
    return {index: classes for index, classes in found.items() if classes}


def _alternatives(problem: Problem, mine: Mapping[int, list[PodClass]], everywhere: Bools) -> list[Bools]:
    """Return the domains of which all groups are in one, if a root asks for that; else the whole cluster."""
    roots = {root.index: root for root in composites(problem.cluster) if root.pending}
    of_group = {leaf.index: root.index for root in roots.values() for leaf in root.leaves()}
    common = {of_group.get(index) for index in mine}
    root = roots.get(next(iter(common)) or -1) if len(common) == 1 else None
    if root is None or not root.topology_keys:
        return [everywhere]
    ids = problem.cluster.domains(root.topology_keys[0]).ids
    reach = np.any([cls.mask for classes in mine.values() for cls in classes], axis=0)
    return [np.asarray(ids == domain) for domain in np.unique(ids[reach & (ids >= 0)])] or [everywhere]


def domain_master(problem: Problem, mine: Mapping[int, list[PodClass]], within: Bools) -> DomainMaster:
    """Build the model by domains of some groups, by number, on some nodes."""
    from ortools.sat.python import cp_model

    cluster = problem.cluster
    master = DomainMaster(problem, cp_model.CpModel(), within)
    arrivals: dict[bytes, list[_Newcomers]] = {}
    regions: dict[bytes, Bools] = {}
    for index, classes in mine.items():
        group = groups(cluster)[index]
        for domain, found in _place(master, group, region_key(problem, group), classes).items():
            nodes = master.nodes[index, domain]
            arrivals.setdefault(nodes.tobytes(), []).extend(found)
            regions.setdefault(nodes.tobytes(), nodes)
    inside = {index: _literals(master, index) for index in mine}
    claims: dict[bytes, list[Claim]] = {}
    for claim in add_trees(problem, master.model, inside, within):
        regions.setdefault(claim.nodes.tobytes(), claim.nodes)
        claims.setdefault(claim.nodes.tobytes(), []).append(claim)
    for number, (name, region) in enumerate(regions.items()):
        parts = (found for key, found in arrivals.items() if not (regions[key] & ~region).any())
        newcomers = [each for found in parts for each in found]
        _room(master, region, newcomers, f"region-{number}", claims.get(name, ()))
    grouped = {cls.index for classes in mine.values() for cls in classes}
    for cls in problem.classes:
        if cls.index not in grouped:
            most = min(cls.size, int(cls.limit.sum()))
            master.single[cls.priority] = master.single.get(cls.priority, 0) + most
    return master


class _Newcomers(NamedTuple):
    """How many of a class come to a domain: `unit` for each of a variable that is at most `upper`."""

    cls: PodClass
    variable: cp_model.IntVar
    upper: int
    unit: int


def region_key(problem: Problem, group: Group) -> str:
    """Return the key whose domains a group is counted by, empty for the cluster as one domain."""
    for each in (group, *above(problem.cluster, group)):
        if each.topology_keys:
            return each.topology_keys[0]
    return ""


def _literals(master: DomainMaster, index: int) -> list[DomainLiteral]:
    return [
        DomainLiteral(literal, master.nodes[pair])
        for pair, literal in master.inside.items()
        if pair[0] == index
    ]


def _place(
    master: DomainMaster, group: Group, key: str, classes: list[PodClass]
) -> dict[int, list[_Newcomers]]:
    """Add a group's literals and counts; return its newcomers by domain.

    A group that comes as a whole or not at all needs no counts.
    """
    problem, model = master.problem, master.model
    ids = problem.cluster.domains(key).ids if key else np.zeros(problem.cluster.n_nodes, dtype=np.int32)
    limits = np.array([cls.limit for cls in classes])
    missing = group.quorum - len(group.running)
    whole = len(classes) == 1 and classes[0].size == missing
    found: dict[int, list[_Newcomers]] = {}
    for domain in np.unique(ids[(limits > 0).any(axis=0) & (ids >= 0) & master.within]).tolist():
        nodes = np.asarray((ids == domain) & master.within)
        most = [min(cls.size, int(cls.limit[nodes].sum())) for cls in classes]
        if sum(most) < missing or not may_take(problem, group, nodes):
            continue
        literal = model.new_bool_var(f"in[{group.key},{domain}]")
        master.inside[group.index, domain] = literal
        master.nodes[group.index, domain] = nodes
        if whole:
            found[domain] = [_Newcomers(classes[0], literal, 1, missing)]
            continue
        present = Terms(constant=len(group.running))
        for cls, upper in zip(classes, most, strict=True):
            variable = model.new_int_var(0, upper, f"members[{problem.cluster.pods[cls.pod].key},{domain}]")
            model.add(variable <= upper * literal)
            present.add(variable, upper)
            found.setdefault(domain, []).append(_Newcomers(cls, variable, upper, 1))
        model.add(present.expression() >= group.quorum).only_enforce_if(literal)
    model.add_at_most_one(master.inside[group.index, domain] for domain in found)
    for newcomers in found.values():
        for each in newcomers:
            total = master.grouped.setdefault(each.cls.priority, Terms())
            total.add(each.variable, each.upper, each.unit)
    for cls in classes if not whole else ():
        placed = Terms()
        for newcomers in found.values():
            for each in newcomers:
                if each.cls is cls:
                    placed.add(each.variable, each.upper)
        model.add(placed.expression() <= cls.size)
    return found


def _room(
    master: DomainMaster, nodes: Bools, newcomers: list[_Newcomers], label: str, claims: Sequence[Claim]
) -> None:
    problem = master.problem
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
        _at_most(master, taken, bound, label)
        for claim in claims:
            _claimed(master, claim, newcomers, amounts, bound, label)
    if problem.devices is not None:
        _devices(master, problem.devices, nodes, newcomers, label)


def _claimed(
    master: DomainMaster,
    claim: Claim,
    newcomers: list[_Newcomers],
    amounts: list[int],
    bound: int,
    label: str,
) -> None:
    """Bound what the members of a tree's node take by what is there if the domain is theirs, else nothing."""
    taken = Terms()
    for amount, each in zip(amounts, newcomers, strict=True):
        if amount and each.cls.pod in claim.members:
            taken.add(each.variable, each.upper, amount * each.unit)
    if taken.high > bound:
        _at_most(master, taken.add(claim.literal, 1, -bound), 0, f"claimed[{label}]")


def _at_most(master: DomainMaster, taken: Terms, bound: int, label: str) -> None:
    add_at_most(master.model, taken.coefficients, taken.variables, taken.uppers, bound, name=label)


def _devices(
    master: DomainMaster,
    devices: DeviceProblem,
    nodes: Bools,
    newcomers: list[_Newcomers],
    label: str,
) -> None:
    """Count devices over the domain: for each set of devices that a want may have, all wants within it."""
    wanted: dict[frozenset[int], Terms] = {}
    for each in newcomers:
        for ids, count in _exact_wants(devices, each.cls, nodes):
            wanted.setdefault(ids, Terms()).add(each.variable, each.upper, count * each.unit)
    for ids in wanted:
        within = Terms()
        for other, terms in wanted.items():
            if other <= ids:
                within.extend(terms)
        _at_most(master, within, len(ids), f"devices[{label}]")


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
