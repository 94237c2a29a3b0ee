"""The round seen from afar: which domain each pod group takes, counted by domain and not by node.

For each group g with pending members and each domain d of its first required key (in a tree of groups,
without a key of its own, of the nearest one above it; else one domain, the cluster), with members[c,d]
newcomers of class c:

    Σ_d in[g,d] <= 1
    members[c,d] <= Σ_{n in d} limit(c,n)·in[g,d]
    Σ members[c,d] + running(g) >= quorum·in[g,d]

and for each domain D, over the domains d within it:

    Σ request·members[c,d] <= Σ_{n in D} what can be free on n      for every resource, and the pod slots,
                                                                    that its members' profiles look at
    Σ k(c,a)·members[c,d] <= Σ_{n in D} how often a fits on n       for every request a, where c asks for at
                                                                    least k(c,a) times as much of everything
    Σ count·members[c,d] <= devices in D that a want, and every narrower want, may have

The rows of trees are those of `domain_tree`.  All of it follows from the node by node model (`pod_groups`,
`composite_pod_groups`, `capacity`, `dynamic_resources`), so its optimum bounds what groups can place, and it
is small: one literal for a group and a domain.  Source: docs/groups.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..framework.rules.composites import above
from ..framework.rules.groups import Group, groups
from .context import Terms
from .domain_tree import DomainLiteral, add_trees, may_take
from .linear import add_at_most
from .pod_groups import classes_of

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from ..framework.vocabulary.arrays import Bools, Ints
    from .dra.problem import DeviceProblem
    from .problem import PodClass, Problem


# Requests that whole pods are counted by, in each domain.
_MOST_KINDS: Final = 12


@dataclass(eq=False)
class DomainMaster:
    """The model from afar.

    Attributes
    ----------
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
    inside: dict[tuple[int, int], cp_model.IntVar] = field(default_factory=dict)
    nodes: dict[tuple[int, int], Bools] = field(default_factory=dict)
    grouped: dict[int, Terms] = field(default_factory=dict)
    single: dict[int, int] = field(default_factory=dict)


def domain_master(problem: Problem) -> DomainMaster | None:
    """Build the model from afar; None where no pending pod is in a group that asks for anything."""
    from ortools.sat.python import cp_model

    cluster = problem.cluster
    mine = {
        group.index: classes_of(problem, group)
        for group in groups(cluster)
        if group.waits is None and group.pending and (group.constrained or above(cluster, group))
    }
    mine = {index: classes for index, classes in mine.items() if classes}
    if not mine:
        return None
    master = DomainMaster(problem, cp_model.CpModel())
    entries: list[_Newcomers] = []
    regions: dict[bytes, Bools] = {}
    for index, classes in mine.items():
        group = groups(cluster)[index]
        for domain, found in _place(master, group, region_key(problem, group), classes).items():
            nodes = master.nodes[index, domain]
            entries += [_Newcomers(nodes, *each) for each in found]
            regions.setdefault(nodes.tobytes(), nodes)
    inside = {index: _literals(master, index) for index in mine}
    for nodes in add_trees(problem, master.model, inside):
        regions.setdefault(nodes.tobytes(), nodes)
    for number, region in enumerate(regions.values()):
        within = [(e.cls, e.variable, e.most) for e in entries if not (e.nodes & ~region).any()]
        _room(master, region, within, f"region-{number}")
    grouped = {cls.index for classes in mine.values() for cls in classes}
    for cls in problem.classes:
        if cls.index not in grouped:
            most = min(cls.size, int(cls.limit.sum()))
            master.single[cls.priority] = master.single.get(cls.priority, 0) + most
    return master


class _Newcomers(NamedTuple):
    """How many of a class come to a domain: its nodes, the variable and its span."""

    nodes: Bools
    cls: PodClass
    variable: cp_model.IntVar
    most: int


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
) -> dict[int, list[tuple[PodClass, cp_model.IntVar, int]]]:
    """Add a group's literals and counts; return its newcomers by domain."""
    problem, model = master.problem, master.model
    ids = problem.cluster.domains(key).ids if key else np.zeros(problem.cluster.n_nodes, dtype=np.int32)
    limits = np.array([cls.limit for cls in classes])
    found: dict[int, list[tuple[PodClass, cp_model.IntVar, int]]] = {}
    every = Terms()
    for domain in np.unique(ids[(limits > 0).any(axis=0) & (ids >= 0)]).tolist():
        nodes = np.asarray(ids == domain)
        if not may_take(problem, group, nodes):
            continue
        literal = model.new_bool_var(f"in[{group.key},{domain}]")
        master.inside[group.index, domain] = literal
        master.nodes[group.index, domain] = nodes
        present = Terms(constant=len(group.running))
        for cls in classes:
            most = min(cls.size, int(cls.limit[nodes].sum()))
            variable = model.new_int_var(0, most, f"members[{problem.cluster.pods[cls.pod].key},{domain}]")
            model.add(variable <= most * literal)
            master.grouped.setdefault(cls.priority, Terms()).add(variable, most)
            present.add(variable, most)
            found.setdefault(domain, []).append((cls, variable, most))
        model.add(present.expression() >= group.quorum).only_enforce_if(literal)
        every.add(literal, 1)
    model.add(every.expression() <= 1)
    for cls in classes:
        placed = Terms()
        for newcomers in found.values():
            for other, variable, most in newcomers:
                if other is cls:
                    placed.add(variable, most)
        model.add(placed.expression() <= cls.size)
    return found


def _room(
    master: DomainMaster,
    nodes: Bools,
    newcomers: list[tuple[PodClass, cp_model.IntVar, int]],
    label: str,
) -> None:
    problem = master.problem
    free, slots = np.maximum(problem.most_free, 0), np.maximum(problem.most_slots, 0)
    asked: list[tuple[Ints, int]] = [
        (np.array([int(cls.request[r]) for cls, _, _ in newcomers], dtype=object), int(free[r, nodes].sum()))
        for r in range(len(problem.cluster.resources))
        if not any(r in cls.served for cls, _, _ in newcomers)
    ]
    taking = np.array([int(cls.bounded) for cls, _, _ in newcomers], dtype=object)
    asked.append((taking, int(slots[nodes].sum())))
    variables = [variable for _, variable, _ in newcomers]
    spans = [most for _, _, most in newcomers]
    for amounts, bound in asked:
        add_at_most(master.model, amounts.tolist(), variables, spans, bound, name=label)
    _fits(master, nodes, newcomers, label)
    if problem.devices is not None:
        _devices(master, problem.devices, nodes, newcomers, label)


def _fits(
    master: DomainMaster,
    nodes: Bools,
    newcomers: list[tuple[PodClass, cp_model.IntVar, int]],
    label: str,
) -> None:
    """Count whole pods: one that asks for k times as much of everything takes k places of a smaller one."""
    problem = master.problem
    usable = [(c, v, most) for c, v, most in newcomers if c.bounded and not c.served and c.request.any()]
    kinds = {tuple(cls.request.tolist()): cls.request for cls, _, _ in usable}
    free = np.maximum(problem.most_free, 0)[:, nodes]
    for request in list(kinds.values())[:_MOST_KINDS]:
        asked = [r for r in range(len(request)) if request[r] > 0]
        places = int(np.min([free[r] // request[r] for r in asked], axis=0).sum())
        times = [min(int(cls.request[r] // request[r]) for r in asked) for cls, _, _ in usable]
        variables = [variable for _, variable, _ in usable]
        spans = [most for _, _, most in usable]
        add_at_most(master.model, times, variables, spans, places, name=f"fits[{label}]")


def _devices(
    master: DomainMaster,
    devices: DeviceProblem,
    nodes: Bools,
    newcomers: list[tuple[PodClass, cp_model.IntVar, int]],
    label: str,
) -> None:
    """Count devices over the domain: for each set of devices that a want may have, all wants within it."""
    wanted: dict[frozenset[int], Terms] = {}
    for cls, variable, most in newcomers:
        for ids, count in _exact_wants(devices, cls, nodes):
            wanted.setdefault(ids, Terms()).add(variable, most, count)
    for ids in wanted:
        within = Terms()
        for other, terms in wanted.items():
            if other <= ids:
                within.extend(terms)
        add_at_most(
            master.model,
            within.coefficients,
            within.variables,
            within.spans,
            len(ids),
            name=f"devices[{label}]",
        )


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
