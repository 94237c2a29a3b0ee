"""Which nodes a search near a plan frees together, chosen by what has paid so far.

    random     any nodes
    short      nodes with most room of what a class lacks that has unplaced pods
    sitting    nodes where pods of such a class stand, and nodes with room for it
    leaving    nodes that pods leave, and others
    domain     nodes of one domain of a topology key that a constraint or a group names
    group      one or two whole domains, for a pod group

Each is drawn about as often as it has improved the plan for its time, and frees as many nodes as can be
searched through in a moment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...framework.rules.groups import groups
from ...framework.rules.spread import hard_constraints

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..model.sparse_rows import Ints
    from ..model.variable_index import Places

# Nodes that are free at first, and at most.
FIRST = 4
MOST = 400

# Seconds in which a neighbourhood should be searched through: at first, and when nothing is found for long.
MOMENT = 0.02
LONGEST = 0.5

# How fast old experience fades, and time that each way is taken to have spent for one improvement at first.
FADE = 0.98
PRIOR = 2.0


@dataclass
class Way:
    """One way to draw nodes, with its experience.

    Attributes
    ----------
    size : float
        Nodes that it frees.
    gains, seconds : float
        Improvements and what they took, the old ones faded.
    """

    name: str
    draw: Callable[[int], Ints]
    size: float = FIRST
    gains: float = 1.0
    seconds: float = PRIOR

    def learn(self, gain: bool, seconds: float, moment: float, *, proven: bool) -> None:
        """Take note of a search, and free more nodes where it was soon through, fewer where it was not."""
        self.gains = FADE * self.gains + gain
        self.seconds = FADE * self.seconds + seconds
        if proven and seconds < moment:
            self.size = min(self.size * 1.02, MOST)
        elif not proven or seconds > 3 * moment:
            self.size = max(self.size * 0.9, 2)


@dataclass
class Neighbourhoods:
    """Draws nodes; knows which pods are not placed and what room nodes have at the point of the search."""

    places: Places
    seed: int
    moment: float = MOMENT
    ways: list[Way] = field(init=False)

    def __post_init__(self) -> None:
        problem = self.places.problem
        self._random = np.random.default_rng(self.seed)
        self._request = np.array([c.request for c in problem.classes]).reshape(len(problem.classes), -1)
        self._sizes = np.array([c.size for c in problem.classes], dtype=np.int64)
        usage = [-v.usage for v in problem.victims]
        self._taken = np.array([*self._request, *usage], dtype=np.int64)
        self._idle = 0
        self._domains = self._domain_keys()
        self._groups = self._group_domains()
        draws: list[Callable[[int], Ints]] = [self._any, self._short, self._sitting]
        draws += [self._leaving] if len(self.places.victim) else []
        draws += [self._domain] if self._domains else []
        draws += [self._group] if self._groups else []
        self.ways = [Way(draw.__name__.strip("_"), draw) for draw in draws]

    def start(self, x: Ints) -> None:
        """Begin at a point, which may be changed in place as long as `follow` is told."""
        self._x = x
        self._unplaced = self._sizes.copy()
        self._room = self.places.problem.free_now.astype(np.int64).copy()
        decisive = self.places.decisive
        here = decisive[x[decisive] != 0]
        self.follow(here, x[here])

    def follow(self, variables: Ints, change: Ints) -> None:
        """Take note of counts and evictions that changed by so much."""
        places = self.places
        row = places.row_of(variables)
        node, coming = places.node_of(variables), row < len(self._sizes)
        np.subtract.at(self._unplaced, row[coming], change[coming])
        for r, request in enumerate(self._taken.T):
            np.subtract.at(self._room[r], node, request[row] * change)

    def draw(self) -> tuple[Way, Ints]:
        """Choose a way and let it choose nodes."""
        rates = np.array([way.gains / way.seconds for way in self.ways])
        chances = 0.8 * rates / rates.sum() + 0.2 / len(rates)
        way = self.ways[int(self._random.choice(len(self.ways), p=chances))]
        return way, way.draw(min(int(way.size), len(self.places.nodes)))

    @property
    def enough(self) -> int:
        """Searches without gain in a row after which larger neighbourhoods are searched."""
        return 10 * len(self.places.nodes) // FIRST + 50

    @property
    def patience(self) -> float:
        """Seconds after which a search is given up: few take long, and those seldom find anything."""
        return 4 * self.moment

    def learn(self, way: Way, seconds: float, *, gain: bool, proven: bool) -> None:
        """Take note of a search; after many without gain, larger neighbourhoods are searched."""
        way.learn(gain, seconds, self.moment, proven=proven)
        self._idle = 0 if gain else self._idle + 1
        if gain:
            self.moment = max(self.moment / 1.5, MOMENT)
        elif self._idle % self.enough == 0:
            self.moment = min(2 * self.moment, LONGEST)

    # -- ways --

    def _any(self, size: int) -> Ints:
        return self._some(self.places.nodes, size)

    def _short(self, size: int) -> Ints:
        cls = self._lacking()
        return self._any(size) if cls is None else self._roomy(cls, size)

    def _sitting(self, size: int) -> Ints:
        cls = self._lacking()
        if cls is None:
            return self._any(size)
        picked = self._some(self.places.standing(cls, self._x), size // 2)
        return self._with(picked, self._roomy(cls, size), size)

    def _leaving(self, size: int) -> Ints:
        left = np.unique(self.places.victim_node[self._x[self.places.evictions] > 0])
        picked = self._some(left, size // 2)
        cls = self._lacking()
        return self._with(picked, self._any(size) if cls is None else self._roomy(cls, size), size)

    def _domain(self, size: int) -> Ints:
        ids = self._domains[int(self._random.integers(len(self._domains)))]
        here = ids[self.places.nodes]
        domain = self._random.choice(np.unique(here[here >= 0]))
        return self._some(self.places.nodes[here == domain], size)

    def _group(self, size: int) -> Ints:
        """One or two whole domains that a group may choose; one with unplaced members rather than another."""
        lacking = [k for k, (classes, _) in enumerate(self._groups) if self._unplaced[classes].any()]
        every = list(range(len(self._groups)))
        pool = lacking if lacking and self._random.random() < 0.8 else every
        _, ids = self._groups[pool[int(self._random.integers(len(pool)))]]
        here = ids[self.places.nodes]
        domains = np.unique(here[here >= 0])
        chosen = self._some(domains, 1 + int(self._random.integers(2)))
        return self.places.nodes[np.isin(here, chosen)][:MOST]

    def _lacking(self) -> int | None:
        """Give a class with unplaced pods, about as likely as it has many of them."""
        total = self._unplaced.sum()
        if total <= 0:
            return None
        return int(self._random.choice(len(self._unplaced), p=self._unplaced / total))

    def _roomy(self, cls: int, size: int) -> Ints:
        """Nodes that nearly have the room for a pod of a class, with some chance for others."""
        request = self._request[cls]
        asked = np.flatnonzero(request > 0)
        nodes = np.flatnonzero(self.places.problem.classes[cls].mask)
        share = np.ones(len(nodes))
        if len(asked):
            share = np.minimum(self._room[np.ix_(asked, nodes)] / request[asked, None], 1.0).min(axis=0)
        share += self._random.gumbel(size=len(nodes)) * self._random.choice([0.1, 0.3])
        return nodes[np.argsort(-share, kind="stable")[:size]]

    def _with(self, picked: Ints, others: Ints, size: int) -> Ints:
        return np.concatenate((picked, others[~np.isin(others, picked)]))[:size]

    def _some(self, nodes: Ints, size: int) -> Ints:
        return self._random.choice(nodes, size=min(size, len(nodes)), replace=False)

    def _domain_keys(self) -> list[Ints]:
        """Domains by node, of each topology key whose domains have more than a node or two."""
        problem = self.places.problem
        cluster = problem.cluster
        keys = {c.topology_key for cls in problem.classes for c in hard_constraints(cluster, cls.pod)}
        keys |= {key for group in groups(cluster) for key in group.topology_keys}
        found = [np.asarray(cluster.domains(key).ids, dtype=np.int64) for key in sorted(keys)]
        return [ids for ids in found if 1 < len(np.unique(ids[ids >= 0])) < len(self.places.nodes) / 2]

    def _group_domains(self) -> list[tuple[Ints, Ints]]:
        """Classes of each group that has pending pods and a topology key, and the domains by node."""
        problem = self.places.problem
        class_of = {i: c.index for c in problem.classes for i in c.pods}
        found = []
        for group in groups(problem.cluster):
            classes = sorted({class_of[i] for i in group.pending if i in class_of})
            for key in group.topology_keys if classes else ():
                ids = np.asarray(problem.cluster.domains(key).ids, dtype=np.int64)
                found.append((np.array(classes, dtype=np.int64), ids))
        return found
