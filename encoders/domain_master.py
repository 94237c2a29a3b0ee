"""Relaxation of the round to domains: which domain each pod group takes, counted by domain and not by node.

For each group g with pending members and each domain d of its first required key (one domain, the cluster,
without a key), with members[c,d] newcomers of class c:

    Σ_d in[g,d] <= 1
    members[c,d] <= Σ_{n in d} limit(c,n)·in[g,d]
    Σ members[c,d] + running(g) >= quorum·in[g,d]
    Σ request·members[c,d] <= Σ_{n in d} what can be free on n      for every resource, and the pod slots,
                                                                    that its members' profiles look at
    Σ count·members[c,d] <= devices in d that a want, and every narrower want, may have

All of it follows from the node by node model (`pod_groups`, `capacity`, `dynamic_resources`), so its optimum
bounds what groups can place, and it is small: one literal for a group and a domain. Source:
docs/groups.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..framework.rules.groups import Group, groups
from .linear import add_at_most
from .pod_groups import classes_of
from .terms import Terms

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from ..framework.vocabulary.arrays import Bools, Ints
    from .dra.problem import DeviceProblem
    from .problem import PodClass, Problem


@dataclass(eq=False)
class DomainMaster:
    """The model by domains.

    Attributes
    ----------
    inside : dict
        (group, domain) -> literal.
    members : dict
        (class, domain) -> how many newcomers.
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
    members: dict[tuple[int, int], cp_model.IntVar] = field(default_factory=dict)
    nodes: dict[tuple[int, int], Bools] = field(default_factory=dict)
    grouped: dict[int, Terms] = field(default_factory=dict)
    single: dict[int, int] = field(default_factory=dict)


def domain_master(problem: Problem) -> DomainMaster | None:
    """Build the model by domains; None where no pending pod is in a group that asks for anything."""
    from ortools.sat.python import cp_model

    mine = {
        group.index: classes_of(problem, group)
        for group in groups(problem.cluster)
        if group.waits is None and group.constrained and group.pending
    }
    mine = {index: classes for index, classes in mine.items() if classes}
    if not mine:
        return None
    master = DomainMaster(problem, cp_model.CpModel())
    every = groups(problem.cluster)
    regions: dict[str, dict[int, list[tuple[PodClass, cp_model.IntVar, int]]]] = {}
    for index, classes in mine.items():
        key = every[index].topology_keys[0] if every[index].topology_keys else ""
        for domain, found in _place(master, every[index], key, classes).items():
            regions.setdefault(key, {}).setdefault(domain, []).extend(found)
    for key, domains in regions.items():
        for domain, newcomers in domains.items():
            _room(master, _domain_nodes(problem, key, domain), newcomers, f"{key}={domain}")
    grouped = {cls.index for classes in mine.values() for cls in classes}
    for cls in problem.classes:
        if cls.index not in grouped:
            most = min(cls.size, int(cls.limit.sum()))
            master.single[cls.priority] = master.single.get(cls.priority, 0) + most
    return master


def _domain_nodes(problem: Problem, key: str, domain: int) -> Bools:
    if not key:
        return np.ones(problem.cluster.n_nodes, dtype=np.bool_)
    return np.asarray(problem.cluster.domains(key).ids == domain)


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
        literal = model.new_bool_var(f"in[{group.key},{domain}]")
        master.inside[group.index, domain] = literal
        master.nodes[group.index, domain] = nodes
        present = Terms(constant=len(group.running))
        for cls in classes:
            most = min(cls.size, int(cls.limit[nodes].sum()))
            variable = model.new_int_var(0, most, f"members[{problem.cluster.pods[cls.pod].key},{domain}]")
            model.add(variable <= most * literal)
            master.members[cls.index, domain] = variable
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
    uppers = [most for _, _, most in newcomers]
    for amounts, bound in asked:
        add_at_most(master.model, amounts.tolist(), variables, uppers, bound, name=label)
    if problem.devices is not None:
        _devices(master, problem.devices, nodes, newcomers, label)


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
            within.uppers,
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
