"""Trees of groups by domains: the rows of `domains.master` that tie groups to those above them.

For each CompositePodGroup c with M (`minGroupCount`, 1 without a gang), with the literal stands[c], and
in[c,D] for each domain D of its first required key that it may be in, where there is more than one:

    Σ_D in[c,D] <= 1
    count[t,d] <= most·Σ in[c,D] over the D that share nodes with d    c the nearest such one above t
    in[b,d] -> one of the in[c,D] that share nodes with d              c the nearest such one above b
    Σ stands[inner children of c] + Σ stand[t,c] >= M·stands[c]
    stand[t,b] <= size·stands[c]                                       for b = c and every b below it

where stand[t,c] counts the groups of type t that stand as children of c; one with enough running members
stands in any case. No domain takes a group of which running members that nobody may evict are elsewhere.
Source: KEP-6012.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...framework.rules.composites import Composite, composites
from ..pod_groups import classes_of
from ..terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ortools.sat.python import cp_model

    from ...framework.rules.groups import Group
    from ...framework.vocabulary.arrays import Bools
    from ..problem import Problem


class Count(NamedTuple):
    """How many groups, at most `upper`, of a type or of one CompositePodGroup, are in a domain (bool[N])."""

    variable: cp_model.IntVar
    upper: int
    nodes: Bools


class Standing(NamedTuple):
    """How many groups of a type, at most `upper`, stand as children of a CompositePodGroup.

    `staying`: they are among those that stand without newcomers.
    """

    variable: cp_model.IntVar
    upper: int
    staying: bool


class Claim(NamedTuple):
    """A domain that a CompositePodGroup may be in: it has its room for its pending members, or none of it."""

    literal: cp_model.IntVar
    nodes: Bools
    members: frozenset[int]


def roots_of(problem: Problem) -> list[Composite]:
    """Return the roots of the trees that may gain members."""
    return [root for root in composites(problem.cluster) if root.waits is None and root.pending]


def domains_to_choose(problem: Problem, within: Bools) -> dict[int, list[Bools]]:
    """Return where each CompositePodGroup may be, by number, if that is not one domain for all below it.

    Parameters
    ----------
    within : bool array (N,)
        The nodes that the model is about.
    """
    found = {}
    for root in roots_of(problem):
        for item in root.inner():
            reach = _reach(problem, item) & within
            domains = list(_domains(problem, item, reach)) if item.topology_keys else []
            if item.topology_keys and not (len(domains) == 1 and not (reach & ~domains[0]).any()):
                found[item.index] = [nodes & within for nodes in domains]
    return found


def may_take(problem: Problem, group: Group, nodes: Bools) -> bool:
    """Whether all running members of a group that nobody may evict are on some nodes."""
    return all(nodes[problem.state.node_of[i]] for i in group.running if i in problem.staying_pods)


def _reach(problem: Problem, item: Composite) -> Bools:
    """Return the nodes where a pending member below a CompositePodGroup may stand."""
    masks = [cls.mask for leaf in item.leaves() for cls in classes_of(problem, leaf)]
    return np.any(masks, axis=0) if masks else np.zeros(problem.cluster.n_nodes, dtype=np.bool_)


def _domains(problem: Problem, item: Composite, reach: Bools) -> Iterator[Bools]:
    ids = problem.cluster.domains(item.topology_keys[0]).ids
    for domain in np.unique(ids[reach & (ids >= 0)]).tolist():
        nodes = np.asarray(ids == domain)
        if may_take(problem, item, nodes):
            yield nodes


class TreeRows:
    """Adds the rows of all trees, the groups below them being there already.

    Attributes
    ----------
    claims : list of Claim
        The domains in which the groups of a tree share room.
    """

    def __init__(self, model: cp_model.CpModel, domains: Mapping[int, Sequence[Bools]]) -> None:
        self._model = model
        self._domains = domains
        self.claims: list[Claim] = []

    def add(
        self,
        root: Composite,
        counts: Mapping[int, Sequence[Count]],
        standing: Mapping[int, Sequence[Standing]],
    ) -> None:
        """Add the rows of a tree.

        Parameters
        ----------
        counts : mapping
            CompositePodGroup, by number, to the groups below that have it for the nearest one with a domain
            to choose.
        standing : mapping
            CompositePodGroup, by number, to the types among its children.
        """
        self._stands(root, standing)
        self._choose(root, counts)

    def _stands(self, item: Composite, standing: Mapping[int, Sequence[Standing]]) -> Terms:
        """Add the rows of a CompositePodGroup and all below it; return its literal for standing."""
        children = Terms()
        for child in item.children:
            if isinstance(child, Composite):
                children.extend(self._stands(child, standing))
            else:
                children.constant += len(child.running) >= child.quorum
        for each in standing.get(item.index, ()):
            if not each.staying:
                children.add(each.variable, each.upper)
        stands = self._model.new_bool_var(f"stands[{item.key}]")
        self._model.add(children.expression() >= item.needed_groups * stands)
        for below in item.inner():
            for each in standing.get(below.index, ()):
                self._model.add(each.variable <= each.upper * stands)
        return Terms().add(stands, 1)

    def _choose(self, item: Composite, counts: Mapping[int, Sequence[Count]]) -> list[Count]:
        """Add the domains of a CompositePodGroup and all below; return what follows those above."""
        below = [
            each
            for child in item.children
            if isinstance(child, Composite)
            for each in self._choose(child, counts)
        ]
        domains = self._domains.get(item.index)
        if domains is None:
            return below
        mine = [
            Count(self._model.new_bool_var(f"in[{item.key},{k}]"), 1, nodes)
            for k, nodes in enumerate(domains)
        ]
        self._model.add_at_most_one(each.variable for each in mine)
        for each in (*below, *counts.get(item.index, ())):
            around = Terms()
            for other in mine:
                if (other.nodes & each.nodes).any():
                    around.add(other.variable, 1, each.upper)
            self._model.add(each.variable <= around.expression())
        members = frozenset(item.pending)
        self.claims += [Claim(each.variable, each.nodes, members) for each in mine]
        return mine
