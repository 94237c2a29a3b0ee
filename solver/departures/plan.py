"""From a column for each node to pods by class and node, and to victims.

The pods of a row of the demand are of several classes, which differ in resources that are not scarce and in
spread constraints: a flow says who goes where, within what each node takes of a class and each side is to
have of those that a constraint counts.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from ortools.graph.python import max_flow  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...encoders.problem import Problem
    from ..refill.blueprint import Sides
    from .columns import Column, Departures


class Laid(NamedTuple):
    """Newcomers by (class, node), victims who leave by class, and the pods left over by (class, side)."""

    counts: Mapping[tuple[int, int], int]
    leaving: Mapping[int, int]
    left: Sequence[tuple[int, int]]


class Layout:
    """The sides of a round, and how many pods of each class the best plan has there."""

    def __init__(
        self, problem: Problem, departures: Departures, sides: Sides, standing: Mapping[tuple[int, int], int]
    ) -> None:
        self._problem, self._departures, self._sides = problem, departures, sides
        self.nodes = [np.flatnonzero(side) for side in sides.nodes]
        side_of = {int(n): s for s, nodes in enumerate(self.nodes) for n in nodes}
        self._coming = np.zeros((len(problem.classes), len(self.nodes)), dtype=np.int64)
        for (c, n), count in standing.items():
            self._coming[c, side_of[n]] += count

    def lay_out(self, columns: Mapping[int, Column]) -> Laid:
        """Return a plan of given columns."""
        demand = self._departures.demand
        leaving: Counter[int] = Counter()
        for n, column in columns.items():
            steps = self._departures.choices.steps(column.kind, column.choice)
            for step, victims in zip(steps, self._departures.by_ladder(column.kind, n), strict=True):
                for v in victims:
                    leaving[v.index] += min(step, v.size)
                    step = max(step - v.size, 0)
        counts: Counter[tuple[int, int]] = Counter()
        for level in range(len(demand.least)):
            rows = np.flatnonzero(demand.level == level).tolist()
            slots = {n: sum(column.pods[d] for d in rows) for n, column in columns.items()}
            for (c, n), number in self._flow(demand.classes[rows[0]], slots):
                counts[c, n] += number
        self._drop(counts, leaving)
        return Laid(+counts, +leaving, list(self._left(counts)))

    def _flow(
        self, classes: Sequence[int], slots: Mapping[int, int]
    ) -> Iterator[tuple[tuple[int, int], int]]:
        """Yield how many pods of classes go to nodes with so many slots for them."""
        flow, arcs = max_flow.SimpleMaxFlow(), {}
        source, sink, first = 0, 1, 2 + self._problem.cluster.n_nodes
        for n, number in slots.items():
            flow.add_arc_with_capacity(2 + n, sink, number)
        for c in classes:
            tied = c in self._sides.tied
            parts = enumerate(self.nodes) if tied else [(-1, np.concatenate(self.nodes))]
            for s, nodes in parts:
                number = int(self._coming[c, s]) if tied else int(self._coming[c].sum())
                flow.add_arc_with_capacity(source, first, number)
                for n in nodes.tolist():
                    if slots.get(n) and self._sides.caps[c, n] > 0:
                        most = int(self._sides.caps[c, n])
                        arcs[flow.add_arc_with_capacity(first, 2 + n, most)] = c, n
                first += 1
        flow.solve(source, sink)
        for arc, place in arcs.items():
            if number := flow.flow(arc):
                yield place, number

    def _drop(self, counts: Counter[tuple[int, int]], leaving: Mapping[int, int]) -> None:
        """Take pods away where a node lacks room of any resource, those that ask for least of it last."""
        problem = self._problem
        free = np.vstack((problem.free_now, problem.slots_now)).astype(np.int64)
        for v, number in leaving.items():
            victim = problem.victims[v]
            free[:, victim.node] += number * np.array([*victim.usage.tolist(), 1])
        asked = {cls.index: np.array([*cls.request.tolist(), 1]) for cls in problem.classes}
        here: dict[int, list[int]] = {}
        for (c, n), number in counts.items():
            free[:, n] -= number * asked[c]
            here.setdefault(n, []).append(c)
        for n in np.flatnonzero((free < 0).any(axis=0)).tolist():
            while (free[:, n] < 0).any() and here.get(n):
                r = int(np.argmin(free[:, n]))
                c = max(here[n], key=lambda c: int(asked[c][r]))
                if not asked[c][r]:
                    break
                counts[c, n] -= 1
                free[:, n] += asked[c]
                if not counts[c, n]:
                    here[n].remove(c)

    def _left(self, counts: Mapping[tuple[int, int], int]) -> Iterator[tuple[int, int]]:
        """Yield the pods that are to be placed and are not, by class and side."""
        side_of = {int(n): s for s, nodes in enumerate(self.nodes) for n in nodes}
        placed = np.zeros_like(self._coming)
        for (c, n), number in counts.items():
            placed[c, side_of[n]] += number
        for c, (wanted, had) in enumerate(zip(self._coming, placed, strict=True)):
            if c in self._sides.tied:
                for s, number in enumerate((wanted - had).tolist()):
                    yield from [(c, s)] * number
            else:
                yield from [(c, 0)] * int(wanted.sum() - had.sum())
