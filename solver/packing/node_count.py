"""Whether a tier of placed pods attains a value: counted in nodes, over all patterns of a node.

    1. All maximal patterns of a node (`solver.packing.pool`), where nodes are alike once all victims have
       left. Pods of the tiers below are not in them.
    2. The linear relaxation of the covering, and what its prices prove (`solver.packing.covering`): that the
       value is out of reach, or else which patterns may be on a node at all.
    3. A dive over these for a plan (`solver.packing.dive`).
    4. Where they are few, CP-SAT decides.

Only room is looked at, and the tiers of placed pods above are held: what is refuted is so for every plan, and
what is found is yet to be put in order.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from ...models import tiers
from ..model.interrupts import run_or_leave
from .covering import Covering, Relaxation, prove
from .dive import dive
from .params import DEFAULT
from .pool import maximal_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Bools, Ints
    from .params import PackingParams
    from .pool import Counts


class Verdict(Enum):
    """What is known of a value."""

    REFUTED = auto()
    ATTAINED = auto()
    """By room alone."""
    OPEN = auto()


class Answer(NamedTuple):
    """Whether a value is attained, and newcomers by (class, node) that attain it."""

    verdict: Verdict
    counts: Mapping[tuple[int, int], int] = {}


@dataclass
class NodeCount:
    """The question for the tiers of placed pods of one problem.

    Parameters
    ----------
    new_solver : callable
        Makes a solver with a limit in seconds.
    """

    problem: Problem
    seed: int
    new_solver: Callable[[float], cp_model.CpSolver]
    params: PackingParams = DEFAULT
    _pools: dict[int, tuple[Ints, Counts] | None] = field(default_factory=dict, init=False)
    _relaxations: dict[int, Relaxation] = field(default_factory=dict, init=False)

    @cached_property
    def nodes(self) -> Bools | None:
        """The nodes where pods may stand; None where they are not alike."""
        problem = self.problem
        limits = np.array([cls.limit for cls in problem.classes], dtype=np.int64)
        chosen: Bools = np.logical_or.reduce(limits > 0)
        kinds = np.vstack((problem.most_free, problem.most_slots, limits))[:, chosen]
        if not chosen.any() or (kinds != kinds[:, :1]).any():
            return None
        return chosen

    def lists(self, name: str, seconds: float) -> bool:
        """List all patterns down to a tier if that is worth while in so much time; return whether it was.

        Where it was not, each answer about the tier is open.
        """
        level, params = self._level(name), self.params
        if level not in self._pools:
            most = params.most_assignments * min(seconds / params.listing_seconds, 1.0)
            self._pools[level] = self._pool(level, int(most))
        return self._pools[level] is not None

    def decide(self, held: Sequence[tuple[str, int]], name: str, target: int, until: float) -> Answer:
        """Decide whether a tier attains a target.

        Parameters
        ----------
        held : sequence of (str, int)
            Tiers above, no worse than these values.
        """
        least = {**dict(held), name: target}
        level = self._level(name)
        if not self.lists(name, until - time.monotonic()):
            return Answer(Verdict.OPEN)
        pool = self._pools[level]
        assert pool is not None
        covering = self._covering(level, *pool, least)
        if min(covering.spare) < 0:
            return Answer(Verdict.REFUTED)
        relaxation = self._relaxations.setdefault(level, Relaxation(covering))
        relaxation.spare(covering.spare)
        relaxed = relaxation.solve(covering.sizes, until)
        if relaxed is None:
            return Answer(Verdict.OPEN)
        proof = prove(covering, relaxed.prices)
        if proof.refuted:
            return Answer(Verdict.REFUTED)
        usable = np.flatnonzero(proof.usable)
        cheap = usable[np.argsort(proof.slack[usable], kind="stable")[: self.params.most_dived]]
        fewer = replace(covering, patterns=covering.patterns[cheap])
        taken = dive(fewer, Relaxation(fewer), self.seed, self.params, until)
        if taken is not None:
            return Answer(Verdict.ATTAINED, self._counts(pool[0], fewer, taken))
        if len(usable) > self.params.most_chosen:
            return Answer(Verdict.OPEN)
        return self._choose(pool[0], replace(covering, patterns=covering.patterns[usable]), until)

    def _level(self, name: str) -> int:
        return next(level for level in self.problem.levels if tiers.scheduled(level) == name)

    def _pool(self, level: int, most: int) -> tuple[Ints, Counts] | None:
        """Return the classes down to a priority that fit on a node, and the patterns of them."""
        problem, nodes = self.problem, self.nodes
        if nodes is None:
            return None
        n = int(np.flatnonzero(nodes)[0])
        mine = [cls for cls in problem.classes if cls.priority >= level and cls.limit[n] > 0]
        room = np.maximum([*problem.most_free[:, n].tolist(), int(problem.most_slots[n])], 0)
        asked = [[*cls.request.tolist(), 1] for cls in mine]
        requests = np.array(asked, dtype=np.int64).reshape(len(mine), len(room)).T
        copies = np.array([min(cls.size, int(cls.limit[n])) for cls in mine], dtype=np.int64)
        scarce = requests @ copies > room
        scarce[-1] = True  # some row there is
        patterns = maximal_patterns(requests[scarce], copies, room[scarce], most)
        return None if patterns is None else (np.array([cls.index for cls in mine]), patterns)

    def _covering(self, level: int, chosen: Ints, patterns: Counts, least: Mapping[str, int]) -> Covering:
        assert self.nodes is not None
        classes = [self.problem.classes[c] for c in chosen.tolist()]
        sizes = np.array([cls.size for cls in classes], dtype=np.int64)
        priorities = np.array([cls.priority for cls in classes], dtype=np.int64)
        groups = [np.flatnonzero(priorities == p) for p in self.problem.levels if p >= level]
        names = [tiers.scheduled(p) for p in self.problem.levels if p >= level]
        spare = [int(sizes[g].sum()) - least.get(name, 0) for g, name in zip(groups, names, strict=True)]
        return Covering(patterns, int(self.nodes.sum()), sizes, groups, spare)

    def _choose(self, chosen: Ints, covering: Covering, until: float) -> Answer:
        """Let CP-SAT decide."""
        model = cp_model.CpModel()
        taken = [model.new_int_var(0, covering.nodes, "") for _ in covering.patterns]
        out = [model.new_int_var(0, size, "") for size in covering.sizes.tolist()]
        model.add(cp_model.LinearExpr.sum(taken) <= covering.nodes)
        for c, size in enumerate(covering.sizes.tolist()):
            some = np.flatnonzero(covering.patterns[:, c])
            terms = [taken[p] for p in some.tolist()]
            covered = cp_model.LinearExpr.weighted_sum(terms, covering.patterns[some, c].tolist())
            model.add(covered + out[c] >= size)
        for classes, spare in zip(covering.tiers, covering.spare, strict=True):
            model.add(cp_model.LinearExpr.sum([out[c] for c in classes.tolist()]) <= spare)
        solver = self.new_solver(until - time.monotonic())
        solver.parameters.num_workers = 1
        solver.parameters.max_deterministic_time = self.params.choice_work
        # a tree over the LP decides it: probing costs more than it gives
        solver.parameters.linearization_level = 2
        solver.parameters.cp_model_probing_level = 0
        status = run_or_leave(lambda: solver.solve(model), solver.stop_search)
        if status == cp_model.INFEASIBLE:
            return Answer(Verdict.REFUTED)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Answer(Verdict.OPEN)
        every = [p for p, variable in enumerate(taken) for _ in range(solver.value(variable))]
        return Answer(Verdict.ATTAINED, self._counts(chosen, covering, every))

    def _counts(self, chosen: Ints, covering: Covering, taken: Sequence[int]) -> dict[tuple[int, int], int]:
        """Give a node to each pattern taken, and each pod to the first pattern that has room for it."""
        assert self.nodes is not None
        left, counts = covering.sizes.copy(), {}
        for n, p in zip(np.flatnonzero(self.nodes).tolist(), taken, strict=False):
            here = np.minimum(covering.patterns[p], left)
            left -= here
            counts.update({(int(chosen[c]), n): int(here[c]) for c in np.flatnonzero(here).tolist()})
        return counts
