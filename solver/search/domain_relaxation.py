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
from ...framework.measures.group_rules import broken_groups
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
        self._undecided: list[list[tuple[int, int]]] = []
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
        placed: Assignment | None = None
        for _ in range(self.params.domain_rounds):
            chosen = self._choose(until)
            if chosen is None or time.monotonic() > until:
                return placed
            placed, complete = self._expand(chosen, until)
            if complete:
                return placed
        return placed

    def _model(self, refuted: list[list[tuple[int, int]]]) -> cp_model.CpModel:
        """Copy the model by domains, without what turned out not to fit."""
        assert self._master is not None
        model = self._master.model.clone()
        for together in refuted:
            model.add_bool_or([self._master.inside[pair].negated() for pair in together])
        return model

    def _choose(self, until: float) -> list[tuple[int, int]] | None:
        """Solve the model by domains tier by tier; return the (group, domain) pairs chosen."""
        assert self._master is not None
        master, model = self._master, self._model([*self._refuted, *self._undecided])
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

    def _expand(self, chosen: list[tuple[int, int]], until: float) -> tuple[Assignment, bool]:
        """Place what was chosen, each set of domains that share nodes by itself; also whether all of it fits.

        What does not fit is noted, and left out with the groups that cannot do without it.
        """
        placed: dict[int, int] = {}
        allocations: dict[str, Allocation] = {}
        deallocated: set[int] = set()
        complete = True
        for pairs in self._sharing(chosen):
            part = self._part(pairs)
            model = RoundModel(part, self.options)
            self._start_all(model, pairs)
            names = [tiers.scheduled(level) for level in part.levels]
            left = max(self.params.min_domain_limit, until - time.monotonic())
            result = model.search(names, min(self.params.domain_limit, left), lambda value, bound: None)
            if result.interrupted:
                raise KeyboardInterrupt
            if result.solution is None:
                (self._refuted if result.infeasible else self._undecided).append(pairs)
                complete = False
                continue
            found = assign(part, result.solution)
            placed.update(found.placed)
            allocations.update(found.allocations)
            deallocated.update(found.deallocated)
        while broken := broken_groups(self.problem.cluster, placed, ()):
            complete = False
            for i in (i for group in broken for i in group.members):
                placed.pop(i, None)
        return Assignment(placed, frozenset(), allocations, tuple(sorted(deallocated))), complete

    def _sharing(self, chosen: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        """Divide (group, domain) pairs into those whose domains share nodes, directly or by others."""
        assert self._master is not None
        found: list[tuple[np.ndarray, list[tuple[int, int]]]] = []
        for pair in chosen:
            nodes, pairs = self._master.nodes[pair], [pair]
            apart = []
            for other, those in found:
                if (other & nodes).any():
                    nodes, pairs = np.asarray(nodes | other), [*those, *pairs]
                else:
                    apart.append((other, those))
            found = [*apart, (nodes, pairs)]
        return [pairs for _, pairs in found]

    def _start_all(self, model: RoundModel, pairs: list[tuple[int, int]]) -> None:
        """Hold every chosen group to its quorum."""
        every, context = groups(self.problem.cluster), model.context
        for g, _ in pairs:
            placed = context.placed(classes_of(context.problem, every[g]))
            missing = every[g].quorum - len(every[g].running)
            if missing > 0:
                context.model.add(placed.expression() >= missing)

    def _part(self, pairs: list[tuple[int, int]]) -> Problem:
        """Return the problem of some groups, each on the nodes of its domain, without evictions."""
        assert self._master is not None
        every = groups(self.problem.cluster)
        mine = [
            (cls, self._master.nodes[g, domain])
            for g, domain in pairs
            for cls in classes_of(self.problem, every[g])
        ]
        classes = tuple(self._narrowed(k, cls, nodes) for k, (cls, nodes) in enumerate(mine))
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
        # CP-SAT would keep Ctrl-C to itself, and leave Python without a handler for the next
        solver.parameters.catch_sigint_signal = False
        return solver
