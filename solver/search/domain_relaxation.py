"""The relaxation of rounds with pod groups to domains: domains first, then nodes within each domain.

The model by domains (`encoders.domain_master`) bounds what groups can place, tier by tier; its solutions are
expanded into plans, one small model for each domain. A domain that cannot hold what was chosen for it becomes
a cut of the model by domains, which then chooses again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.domain_master import domain_master
from ...encoders.pod_groups import classes_of
from ...framework.rules.groups import groups
from ...models import tiers
from ..model.interrupts import run_or_leave
from ..model.round_model import RoundModel
from ..ordering.assignment import Assignment
from ..ordering.components import relations_of
from ..ordering.decoding import assign
from .params import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...encoders.problem import PodClass, Problem
    from ...framework.dra.allocation import Allocation
    from ..options import SolveOptions
    from .params import SearchParams


@dataclass
class DomainRelaxation:
    """Bounds and plans for the groups of a problem."""

    problem: Problem
    options: SolveOptions
    params: SearchParams = DEFAULT

    def __post_init__(self) -> None:
        self._master = domain_master(self.problem)
        self._refuted: list[list[tuple[int, int]]] = []
        # A domain was too small without evictions, and by itself. Without victims, and without filters that
        # look at other pods, that holds in every plan.
        self._for_good = not self.problem.victims and not relations_of(self.problem).components

    def bounds(self, values: Mapping[str, int], until: float) -> dict[str, int]:
        """Bound the tiers `scheduled` from the highest priority down, the tiers above keeping their values.

        Stops at the first tier whose bound the plan does not attain: bounds below depend on its value.
        """
        found: dict[str, int] = {}
        if self._master is None:
            return found
        model = self._model(self._refuted if self._for_good else [])
        for level in self.problem.levels:
            name = tiers.scheduled(level)
            bound = self._best(model, level, until)
            if bound is None:
                break
            single = self._master.single.get(level, 0)
            found[name] = bound + single
            if values[name] < found[name]:
                break
            terms = self._master.grouped.get(level)
            if terms is not None:
                model.add(terms.expression() >= values[name] - single)
        return found

    def _best(self, model: cp_model.CpModel, level: int, until: float) -> int | None:
        terms = self._master.grouped.get(level) if self._master is not None else None
        if terms is None:
            return 0
        model.maximize(terms.expression())
        solver = self._solver(until)
        status = run_or_leave(partial(solver.solve, model), solver.stop_search)
        return int(solver.value(terms.expression())) if status == cp_model.OPTIMAL else None

    def plan(self, until: float) -> Assignment | None:
        """Place groups by domains, higher priorities first, then their members node by node."""
        if self._master is None:
            return None
        for _ in range(self.params.domain_rounds):
            chosen = self._choose(until)
            if chosen is None or time.monotonic() > until:
                return None
            assignment, failed = self._expand(chosen, until)
            if not failed:
                return assignment
            self._refuted += failed
        return assignment

    def _model(self, refuted: list[list[tuple[int, int]]]) -> cp_model.CpModel:
        """Copy the model by domains, without the choices that turned out not to fit."""
        assert self._master is not None
        model = self._master.model.clone()
        for together in refuted:
            model.add_bool_or([self._master.inside[pair].negated() for pair in together])
        return model

    def _choose(self, until: float) -> list[tuple[int, int]] | None:
        """Solve the model by domains tier by tier; return the (group, domain) pairs chosen."""
        assert self._master is not None
        master, model = self._master, self._model(self._refuted)
        solver = self._solver(until)
        for level in self.problem.levels:
            terms = master.grouped.get(level)
            if terms is None:
                continue
            model.maximize(terms.expression())
            solver = self._solver(until)
            status = run_or_leave(partial(solver.solve, model), solver.stop_search)
            if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                return None
            model.add(terms.expression() >= int(solver.value(terms.expression())))
        return [pair for pair, literal in master.inside.items() if solver.boolean_value(literal)]

    def _expand(
        self, chosen: list[tuple[int, int]], until: float
    ) -> tuple[Assignment, list[list[tuple[int, int]]]]:
        """Place what was chosen, domain by domain; also return the pairs of each domain that is too small."""
        assert self._master is not None
        by_nodes: dict[bytes, list[tuple[int, int]]] = {}
        for pair in chosen:
            by_nodes.setdefault(self._master.nodes[pair].tobytes(), []).append(pair)
        placed: dict[int, int] = {}
        allocations: dict[str, Allocation] = {}
        deallocated: set[int] = set()
        failed: list[list[tuple[int, int]]] = []
        for pairs in by_nodes.values():
            part = self._part(pairs)
            model = RoundModel(part, self.options)
            names = [tiers.scheduled(level) for level in part.levels]
            wanted = sum(c.size for c in part.classes)
            left = max(self.params.min_domain_limit, until - time.monotonic())
            result = model.search(names, min(self.params.domain_limit, left), lambda value, bound: None)
            if result.interrupted:
                raise KeyboardInterrupt
            if result.solution is None:
                failed.append(pairs)
                continue
            found = assign(part, result.solution)
            placed.update(found.placed)
            allocations.update(found.allocations)
            deallocated.update(found.deallocated)
            if result.optimal and len(found.placed) < min(wanted, self._promised(pairs)):
                failed.append(pairs)
        return Assignment(placed, frozenset(), allocations, tuple(sorted(deallocated))), failed

    def _promised(self, pairs: list[tuple[int, int]]) -> int:
        """Count the members that the quorums of the chosen groups need at least."""
        every = groups(self.problem.cluster)
        return sum(max(0, every[g].quorum - len(every[g].running)) for g, _ in pairs)

    def _part(self, pairs: list[tuple[int, int]]) -> Problem:
        """Return the problem of some groups on the nodes of a domain, without evictions."""
        assert self._master is not None
        nodes = self._master.nodes[pairs[0]]
        every = groups(self.problem.cluster)
        mine = [cls for g, _ in pairs for cls in classes_of(self.problem, every[g])]
        classes = tuple(self._narrowed(k, cls, nodes) for k, cls in enumerate(mine))
        levels = tuple(sorted({c.priority for c in classes}, reverse=True))
        return replace(self.problem, classes=classes, victims=(), victims_on={}, levels=levels)

    def _narrowed(self, index: int, cls: PodClass, nodes: np.ndarray) -> PodClass:
        return replace(
            cls, index=index, mask=np.asarray(cls.mask & nodes), limit=np.where(nodes, cls.limit, 0)
        )

    def _solver(self, until: float) -> cp_model.CpSolver:
        solver = cp_model.CpSolver()
        solver.parameters.max_time_in_seconds = max(self.params.min_domain_limit, until - time.monotonic())
        solver.parameters.num_workers = self.options.workers
        solver.parameters.random_seed = self.options.seed
        # CP-SAT would swallow Ctrl-C, and leave Python without a handler for the next
        solver.parameters.catch_sigint_signal = False
        return solver
