"""Trees of groups by domains: the rows of `domain_master` that tie groups to those above them.

For each CompositePodGroup c with M (`minGroupCount`, 1 without a gang), with the literals stands[·], and
in[c,D] for each domain D of its first required key:

    Σ_D in[c,D] <= 1
    in[g,d] -> one of the in[c,D] that share nodes with d       for what is constrained next below c
    Σ stands[children of c] >= M·stands[c]
    stands[g] <= Σ_d in[g,d], or 1 where enough members of the PodGroup g run
    in[g,d] -> stands[c]                                        for every c above g

No domain takes a group of which running members that nobody may evict are elsewhere. Source: KEP-6012.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..framework.rules.composites import Composite, composites
from .pod_groups import classes_of
from .terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ortools.sat.python import cp_model

    from ..framework.rules.groups import Group
    from ..framework.vocabulary.arrays import Bools
    from .problem import Problem


class DomainLiteral(NamedTuple):
    """Whether a group is in a domain, and the domain's nodes, bool[N]."""

    literal: cp_model.IntVar
    nodes: Bools


class Claim(NamedTuple):
    """A domain that a CompositePodGroup may be in: it has its room for its pending members, or none of it."""

    literal: cp_model.IntVar
    nodes: Bools
    members: frozenset[int]


def add_trees(
    problem: Problem,
    model: cp_model.CpModel,
    inside: Mapping[int, Sequence[DomainLiteral]],
    within: Bools,
) -> list[Claim]:
    """Add the rows of all trees; return the domains in which their groups share room.

    Parameters
    ----------
    inside : mapping
        PodGroup, by number, to where it may be.
    within : bool array (N,)
        The nodes that the model is about.
    """
    found: list[Claim] = []
    for root in composites(problem.cluster):
        if root.waits is None and root.pending:
            tree = _Tree(problem, model, inside, within)
            tree.add(root)
            found += tree.claims
    return found


def may_take(problem: Problem, group: Group, nodes: Bools) -> bool:
    """Whether all running members of a group that nobody may evict are on some nodes."""
    return all(nodes[problem.state.node_of[i]] for i in group.running if i in problem.staying_pods)


class _Tree:
    def __init__(
        self,
        problem: Problem,
        model: cp_model.CpModel,
        inside: Mapping[int, Sequence[DomainLiteral]],
        within: Bools,
    ) -> None:
        self._problem = problem
        self._model = model
        self._inside = inside
        self._within = within
        self.claims: list[Claim] = []

    def add(self, item: Composite) -> Terms:
        """Add the rows of a CompositePodGroup and all below it; return its literal for standing."""
        children = Terms()
        for child in item.children:
            children.extend(self.add(child) if isinstance(child, Composite) else self._standing(child))
        stands = self._model.new_bool_var(f"stands[{item.key}]")
        self._model.add(children.expression() >= item.needed_groups * stands)
        for leaf in item.leaves():
            for each in self._inside.get(leaf.index, ()):
                self._model.add_implication(each.literal, stands)
        if item.topology_keys:
            self._around(item, item.topology_keys[0])
        return Terms().add(stands, 1)

    def _standing(self, leaf: Group) -> Terms:
        terms = Terms(constant=int(len(leaf.running) >= leaf.quorum))
        for each in self._inside.get(leaf.index, ()):
            terms.add(each.literal, 1)
        return terms

    def _around(self, item: Composite, key: str) -> None:
        """Add the domains of a CompositePodGroup, and let what is below it follow."""
        problem, model = self._problem, self._model
        ids = problem.cluster.domains(key).ids
        masks = [cls.mask for leaf in item.leaves() for cls in classes_of(problem, leaf)]
        reached = np.unique(ids[np.any(masks, axis=0) & (ids >= 0) & self._within]).tolist() if masks else []
        around = []
        for domain in reached:
            nodes = np.asarray((ids == domain) & self._within)
            if may_take(problem, item, nodes):
                literal = model.new_bool_var(f"in[{item.key},{domain}]")
                around.append(DomainLiteral(literal, nodes))
        model.add_at_most_one(each.literal for each in around)
        for below in self._below(item):
            meeting = [each.literal for each in around if (each.nodes & below.nodes).any()]
            model.add_bool_or(below.literal.negated(), *meeting)
        self._inside = {**self._inside, item.index: around}
        members = frozenset(item.pending)
        self.claims += [Claim(each.literal, each.nodes, members) for each in around]

    def _below(self, item: Composite) -> Iterator[DomainLiteral]:
        """Yield where the groups may be that are constrained next below a CompositePodGroup."""
        for child in item.children:
            if isinstance(child, Composite) and not child.topology_keys:
                yield from self._below(child)
            else:
                yield from self._inside.get(child.index, ())
