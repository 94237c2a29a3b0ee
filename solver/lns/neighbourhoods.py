"""Operators that choose which nodes a step of large-neighbourhood search frees, weighted by past success.

    any        nodes drawn uniformly
    scarce     nodes with most room of what a class with unplaced pods lacks
    occupied   nodes where pods of such a class are placed, and nodes with room for it
    evicting   nodes with evictions, and others
    domain     nodes of one domain of a topology key that a constraint or a group names
    group      one or two whole domains, for a pod group

Operators are drawn in proportion to their improvements per second. Each adapts the number of nodes it frees
to what can be searched through within `sub_limit`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...framework.rules.groups import groups
from ...framework.rules.spread import hard_constraints
from .params import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..model.sparse_rows import Ints
    from ..model.variable_index import VariableIndex
    from .params import LnsParams


@dataclass
class NeighbourhoodOperator:
    """One way to draw nodes, with its experience.

    Attributes
    ----------
    size : float
        Nodes that it frees.
    gains, seconds : float
        Improvements and the time spent on them, with exponential decay.
    """

    name: str
    draw: Callable[[int], Ints]
    params: LnsParams

    def __post_init__(self) -> None:
        self.size: float = self.params.first_size
        self.gains, self.seconds = self.params.prior_gains, self.params.prior_seconds

    def learn(self, gain: bool, seconds: float, sub_limit: float, *, proven: bool) -> None:
        """Record a step; grow the size after a quick proof, shrink it after a slow or unfinished search."""
        params = self.params
        self.gains = params.decay * self.gains + gain
        self.seconds = params.decay * self.seconds + seconds
        if proven and seconds < sub_limit:
            self.size = min(self.size * params.growth, params.max_size)
        elif not proven or seconds > params.slow_factor * sub_limit:
            self.size = max(self.size * params.shrinkage, params.min_size)


@dataclass
class Neighbourhoods:
    """Draws nodes, given the unplaced pods and the room of nodes at the current point.

    Attributes
    ----------
    sub_limit : float
        Seconds in which a neighbourhood should be searched through now.
    """

    variable_index: VariableIndex
    seed: int
    params: LnsParams = DEFAULT
    sub_limit: float = field(init=False)
    operators: list[NeighbourhoodOperator] = field(init=False)

    def __post_init__(self) -> None:
        self.sub_limit = self.params.sub_limit
        problem = self.variable_index.problem
        self._random = np.random.default_rng(self.seed)
        # amounts may be beyond 64 bits, and only ratios of them matter here
        self._request = np.array([c.request for c in problem.classes], dtype=float)
        self._request = self._request.reshape(len(problem.classes), -1)
        self._sizes = np.array([c.size for c in problem.classes], dtype=np.int64)
        usage = [-v.usage for v in problem.victims]
        self._taken = np.array([*self._request, *usage], dtype=float)
        self._idle = 0
        self._domains = self._domain_keys()
        self._groups = self._group_domains()
        draws: list[Callable[[int], Ints]] = [self._any, self._scarce, self._occupied]
        draws += [self._evicting] if len(self.variable_index.victim) else []
        draws += [self._domain] if self._domains else []
        draws += [self._group] if self._groups else []
        self.operators = [
            NeighbourhoodOperator(draw.__name__.strip("_"), draw, self.params) for draw in draws
        ]

    def start(self, x: Ints) -> None:
        """Begin at a point; every later change to it in place is passed to `follow`."""
        self._x = x
        self._unplaced = self._sizes.copy()
        self._room = self.variable_index.problem.free_now.astype(float)
        decisive = self.variable_index.decisive
        here = decisive[x[decisive] != 0]
        self.follow(here, x[here])

    def follow(self, variables: Ints, change: Ints) -> None:
        """Record the change of some counts and evictions."""
        index = self.variable_index
        row = index.row_of(variables)
        node, coming = index.node_of(variables), row < len(self._sizes)
        np.subtract.at(self._unplaced, row[coming], change[coming])
        for r, request in enumerate(self._taken.T):
            np.subtract.at(self._room[r], node, request[row] * change)

    def draw(self) -> tuple[NeighbourhoodOperator, Ints]:
        """Choose an operator and let it choose nodes."""
        rates = np.array([operator.gains / operator.seconds for operator in self.operators])
        uniform = self.params.exploration
        chances = (1 - uniform) * rates / rates.sum() + uniform / len(rates)
        operator = self.operators[int(self._random.choice(len(self.operators), p=chances))]
        return operator, operator.draw(min(int(operator.size), len(self.variable_index.nodes)))

    @property
    def stall_limit(self) -> int:
        """Steps without an improvement in a row after which larger neighbourhoods are searched."""
        params = self.params
        return params.stall_sweeps * len(self.variable_index.nodes) // params.first_size + params.stall_steps

    @property
    def step_time_limit(self) -> float:
        """Seconds after which a step is given up."""
        return self.params.step_time_factor * self.sub_limit

    def learn(self, operator: NeighbourhoodOperator, seconds: float, *, gain: bool, proven: bool) -> None:
        """Record a step; after a stall, allow larger neighbourhoods."""
        params = self.params
        operator.learn(gain, seconds, self.sub_limit, proven=proven)
        self._idle = 0 if gain else self._idle + 1
        if gain:
            self.sub_limit = max(self.sub_limit / params.sub_limit_shrinkage, params.sub_limit)
        elif self._idle % self.stall_limit == 0:
            self.sub_limit = min(params.sub_limit_growth * self.sub_limit, params.max_sub_limit)

    # -- operators --

    def _any(self, size: int) -> Ints:
        return self._some(self.variable_index.nodes, size)

    def _scarce(self, size: int) -> Ints:
        cls = self._lacking()
        return self._any(size) if cls is None else self._roomy(cls, size)

    def _occupied(self, size: int) -> Ints:
        cls = self._lacking()
        if cls is None:
            return self._any(size)
        picked = self._some(self.variable_index.standing(cls, self._x), size // 2)
        return self._with(picked, self._roomy(cls, size), size)

    def _evicting(self, size: int) -> Ints:
        left = np.unique(self.variable_index.victim_node[self._x[self.variable_index.evictions] > 0])
        picked = self._some(left, size // 2)
        cls = self._lacking()
        return self._with(picked, self._any(size) if cls is None else self._roomy(cls, size), size)

    def _domain(self, size: int) -> Ints:
        ids = self._domains[int(self._random.integers(len(self._domains)))]
        here = ids[self.variable_index.nodes]
        domain = self._random.choice(np.unique(here[here >= 0]))
        return self._some(self.variable_index.nodes[here == domain], size)

    def _group(self, size: int) -> Ints:
        """One or two whole domains that a group may choose; groups with unplaced members are preferred."""
        lacking = [k for k, (classes, _) in enumerate(self._groups) if self._unplaced[classes].any()]
        every = list(range(len(self._groups)))
        pool = lacking if lacking and self._random.random() < self.params.group_preference else every
        _, ids = self._groups[pool[int(self._random.integers(len(pool)))]]
        here = ids[self.variable_index.nodes]
        domains = np.unique(here[here >= 0])
        chosen = self._some(domains, 1 + int(self._random.integers(2)))
        return self.variable_index.nodes[np.isin(here, chosen)][: self.params.max_size]

    def _lacking(self) -> int | None:
        """Draw a class in proportion to its unplaced pods; None where all pods are placed."""
        total = self._unplaced.sum()
        if total <= 0:
            return None
        return int(self._random.choice(len(self._unplaced), p=self._unplaced / total))

    def _roomy(self, cls: int, size: int) -> Ints:
        """Nodes with most of the room that a pod of a class needs, with noise."""
        request = self._request[cls]
        asked = np.flatnonzero(request > 0)
        nodes = np.flatnonzero(self.variable_index.problem.classes[cls].mask)
        share = np.ones(len(nodes))
        if len(asked):
            share = np.minimum(self._room[np.ix_(asked, nodes)] / request[asked, None], 1.0).min(axis=0)
        share += self._random.gumbel(size=len(nodes)) * self._random.choice(self.params.noises)
        return nodes[np.argsort(-share, kind="stable")[:size]]

    def _with(self, picked: Ints, others: Ints, size: int) -> Ints:
        return np.concatenate((picked, others[~np.isin(others, picked)]))[:size]

    def _some(self, nodes: Ints, size: int) -> Ints:
        return self._random.choice(nodes, size=min(size, len(nodes)), replace=False)

    def _domain_keys(self) -> list[Ints]:
        """Domains by node, of each topology key whose domains have more than a node or two."""
        problem = self.variable_index.problem
        cluster = problem.cluster
        keys = {c.topology_key for cls in problem.classes for c in hard_constraints(cluster, cls.pod)}
        keys |= {key for group in groups(cluster) for key in group.topology_keys}
        found = [np.asarray(cluster.domains(key).ids, dtype=np.int64) for key in sorted(keys)]
        return [
            ids for ids in found if 1 < len(np.unique(ids[ids >= 0])) < len(self.variable_index.nodes) / 2
        ]

    def _group_domains(self) -> list[tuple[Ints, Ints]]:
        """Classes of each group that has pending pods and a topology key, and the domains by node."""
        problem = self.variable_index.problem
        class_of = {i: c.index for c in problem.classes for i in c.pods}
        found = []
        for group in groups(problem.cluster):
            classes = sorted({class_of[i] for i in group.pending if i in class_of})
            for key in group.topology_keys if classes else ():
                ids = np.asarray(problem.cluster.domains(key).ids, dtype=np.int64)
                found.append((np.array(classes, dtype=np.int64), ids))
        return found
