"""Packing: nodes filled one after another to an even share of the slack, the last few together.

    1. A node is filled from a pool of pods, large ones first: all subsets whose load leaves no more than the
       node's share of the slack, by meeting in the middle (`solver.patterns.enumeration.loads_between`); the
       one that leaves least.
    2. When few nodes are left, all patterns that leave no more than the slack are listed, and CP-SAT looks
       for a choice of them that takes every pod (`solver.packing.cover`).
    3. Where a node cannot be filled, or there is no such choice, some nodes are emptied again.

No node ever leaves more than the slack of all, so what is left of the pods always fits what is left of the
nodes in sum. Nothing here is a proof; that pods cannot be packed is never found out.

Source: Horowitz and Sahni, Computing partitions with applications to the knapsack problem; the order of the
steps is that of bin completion (Korf, A new algorithm for optimal bin packing).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from ..patterns.enumeration import loads_between
from .cover import exact_cover
from .params import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ortools.sat.python import cp_model

    from ...framework.vocabulary.arrays import Ints
    from ..bounds.safe_bounds import Floats
    from .params import PackingParams
    from .side import Side

# A share of less than this is taken for as much where shares are compared.
LEAST_SHARE = 0.5

# How many shares of the slack a node may leave of a resource of which whole pods could be spared.
LOOSE = 2.0


class Packer:
    """Packs the pods of one side.

    Parameters
    ----------
    new_solver : callable
        Makes a solver with a limit in seconds.
    """

    def __init__(
        self,
        side: Side,
        seed: Sequence[int],
        new_solver: Callable[[float], cp_model.CpSolver],
        params: PackingParams = DEFAULT,
    ) -> None:
        self._side, self._params, self._new_solver = side, params, new_solver
        self._random = np.random.default_rng(seed)
        self._mean = side.weights @ side.demand / max(int(side.demand.sum()), 1)
        slack = side.rooms.sum(axis=0) - side.weights @ side.demand
        self._tight = slack < self._mean * len(side.rooms)
        size = side.weights / np.maximum(self._mean, 1)[:, None]
        self._size: Floats = size[self._tight].max(axis=0, initial=0.0)
        self._pool, self._closeness = params.pool, 1.0
        self._fills = 0

    def run(self, until: float, effort: int) -> Ints | None:
        """Pack all pods; None where that was not achieved in time, or in so many attempts.

        Parameters
        ----------
        effort : int
            Fillings for each node, the last ones aside, at most.

        Returns
        -------
        ints, shape (nodes, classes)
        """
        params, nodes = self._params, len(self._side.rooms)
        filled = np.zeros((nodes, len(self._side.demand)), dtype=np.int64)
        free, failures = [int(n) for n in self._random.permutation(nodes)], 0
        left = self._side.demand.copy()
        # a few nodes are filled together at once: another attempt finds little else
        most = effort * max(nodes - params.last, 0) + params.few
        while self._fills < most and time.monotonic() < until:
            if len(free) <= params.last:
                self._fills += 1
                last = self._finish(free, left)
                if last is not None:
                    filled[free] = last
                    return filled
                pattern = None
            else:
                pattern = self._fill(free, left)
            if pattern is not None:
                n = free.pop()
                filled[n], left = pattern, left - pattern
                continue
            failures += 1
            taken = [n for n in range(nodes) if n not in free]
            if not taken:
                continue
            number = len(taken) if failures % params.restart == 0 else self._some()
            for n in self._random.permutation(taken)[:number].tolist():
                left = left + filled[n]
                filled[n] = 0
                free.append(n)
        return None

    def _some(self) -> int:
        return int(self._random.integers(1, self._params.most_emptied + 1))

    def _slack(self, free: Sequence[int], left: Ints) -> Ints:
        """Return what the free nodes have beyond what the pods that are left ask for."""
        slack: Ints = self._side.rooms[free].sum(axis=0) - self._side.weights @ left
        return slack

    # -- one node --

    def _fill(self, free: Sequence[int], left: Ints) -> Ints | None:
        """Fill the last of the free nodes; None where no pool had a subset that leaves little enough."""
        side, params = self._side, self._params
        n, tight = free[-1], self._tight
        slack, room = self._slack(free, left), side.rooms[n]
        part = room / np.maximum(side.rooms[free].sum(axis=0), 1)
        share = slack * part
        for _ in range(params.tries):
            self._fills += 1
            base, pool = self._draw(free, left, float(part.mean()))
            here, rest = np.flatnonzero(pool), room - side.weights @ base
            often = np.where(tight, self._closeness, LOOSE)
            width = np.minimum((often * share).astype(np.int64), slack)
            found = loads_between(
                side.weights[:, here], pool[here], np.maximum(rest - width, 0), rest, params.most_listed
            )
            if found is None:
                self._pool = max(self._pool - 4, params.least_pool)
            elif len(found):
                if len(found) > params.few:
                    self._choose_closer()
                unused = (rest - found @ side.weights[:, here].T) / np.maximum(share, LEAST_SHARE)
                base[here] += found[np.argmin(unused[:, tight].max(axis=1, initial=0.0))]
                if self._may_stand(n, base):
                    return base
            elif self._closeness < 1:
                self._closeness = min(2 * self._closeness, 1.0)
            else:
                self._pool = min(self._pool + 2, params.most_pool)
        return None

    def _choose_closer(self) -> None:
        """Let the next fillings leave less, or choose from fewer pods."""
        if self._closeness > self._params.closest:
            self._closeness /= 2
        else:
            self._pool = max(self._pool - 2, self._params.least_pool)

    def _draw(self, free: Sequence[int], left: Ints, part: float) -> tuple[Ints, Ints]:
        """Draw pods that a node takes in any case, and the pool from which it is filled up.

        Parameters
        ----------
        part : float
            Part of the room of all free nodes that the node has.
        """
        side, params, random = self._side, self._params, self._random
        n, others = free[-1], free[:-1]
        spared = np.maximum(left - side.least[others].sum(axis=0), 0)
        room, most = side.rooms[n], np.minimum(spared, side.most[n])
        places = side.most[others].sum(axis=0)
        forced = np.maximum(left - places, side.least[n])
        spare = max(1 - params.brim / max(part * left.sum(), 1), 0.0)
        even = np.floor(spare * part * left + random.random(len(left))).astype(np.int64) * (spare > 0)
        base = np.minimum(np.maximum(even, forced), most)
        while (side.weights @ base > room).any():
            base[random.choice(np.flatnonzero(base))] -= 1
        pods = np.repeat(np.arange(len(left)), most - base)
        eager = params.large_first * self._size + left / np.maximum(places + side.most[n], 1)
        order = pods[np.argsort(random.random(len(pods)) - eager[pods], kind="stable")]
        return base, np.bincount(order[: self._pool], minlength=len(left))

    # -- the last nodes --

    def _finish(self, free: list[int], left: Ints) -> Ints | None:
        """Fill nodes with all pods that are left; None where no way was found."""
        side, params = self._side, self._params
        if len(free) == 1:
            fits = self._may_stand(free[0], left) and (self._slack(free, left) >= 0).all()
            return left[None] if fits else None
        here, slack = np.flatnonzero(left), self._slack(free, left)
        kinds: dict[bytes, list[int]] = {}
        for n in free:
            limits = side.least[n].tobytes() + side.most[n, here].tobytes()
            kinds.setdefault(side.rooms[n].tobytes() + limits, []).append(n)
        listed = []
        for n, *_ in kinds.values():
            copies = np.minimum(left, side.most[n])[here]
            low = np.maximum(side.rooms[n] - slack, 0)
            found = loads_between(side.weights[:, here], copies, low, side.rooms[n], params.most_listed)
            if found is None:
                pattern = self._fill(free, left)
                return None if pattern is None else self._with(pattern, free, left)
            listed.append(found[(found >= side.least[n, here]).all(axis=1)])
        if min(map(len, listed)) == 0:
            return None
        if len(free) > 2 and sum(map(len, listed)) <= params.most_covered:
            return self._cover(free, left, here, kinds, listed)
        n = free[-1]
        kind = next(k for k, nodes in enumerate(kinds.values()) if n in nodes)
        return self._branch(free, left, here, listed[kind], slack / len(free))

    def _cover(
        self, free: list[int], left: Ints, here: Ints, kinds: dict[bytes, list[int]], listed: list[Ints]
    ) -> Ints | None:
        def new_solver() -> cp_model.CpSolver:
            solver = self._new_solver(self._params.cover_work)
            solver.parameters.num_workers = 1
            solver.parameters.max_deterministic_time = self._params.cover_work
            # such a model is small: what probing costs is more than the search
            solver.parameters.cp_model_probing_level = 0
            return solver

        chosen = exact_cover(listed, [len(nodes) for nodes in kinds.values()], left[here], new_solver)
        if chosen is None:
            return None
        found = np.zeros((len(free), len(left)), dtype=np.int64)
        place = {n: k for k, n in enumerate(free)}
        for nodes, patterns in zip(kinds.values(), chosen, strict=True):
            for n, pattern in zip(nodes, patterns, strict=True):
                found[place[n], here] = pattern
        return found

    def _branch(self, free: list[int], left: Ints, here: Ints, listed: Ints, share: Floats) -> Ints | None:
        """Fill the last of the nodes in some ways near an even share of the slack, each time the others."""
        unused = self._side.rooms[free[-1]] - listed @ self._side.weights[:, here].T
        off = (np.abs(unused - share) / np.maximum(share, LEAST_SHARE)).max(axis=1, initial=0.0)
        off += self._random.random(len(listed))
        for k in np.argsort(off, kind="stable")[: self._params.branches]:
            pattern = np.zeros(len(left), dtype=np.int64)
            pattern[here] = listed[k]
            found = self._with(pattern, free, left)
            if found is not None:
                return found
        return None

    def _may_stand(self, n: int, pattern: Ints) -> bool:
        return bool(((pattern >= self._side.least[n]) & (pattern <= self._side.most[n])).all())

    def _with(self, pattern: Ints, free: list[int], left: Ints) -> Ints | None:
        """Fill the other nodes, the last having a pattern."""
        others = self._finish(free[:-1], left - pattern)
        return None if others is None else np.concatenate((others, pattern[None]))
