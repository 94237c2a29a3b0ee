"""The relaxation of rounds with pod groups to domains: domains first, then nodes within each domain.

The model by domains (`encoders.domains.master`) bounds what groups can place, tier by tier; its solutions are
expanded into plans, one small model for each domain. A domain that cannot hold what was chosen for it becomes
a cut of the model by domains, which then chooses again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.domains.group_types import asking
from ...encoders.domains.master import DomainMaster, domain_masters
from ...encoders.pod_groups import classes_of
from ...framework.measures.group_rules import broken_groups
from ...framework.rules.groups import groups
from ...models import tiers
from ..model.cp_solver import cp_solver
from ..model.interrupts import run_or_leave
from ..model.round_model import RoundModel
from ..ordering.assignment import Assignment
from ..ordering.components import relations_of
from ..ordering.decoding import assign
from .params import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...encoders.problem import PodClass, Problem
    from ...framework.dra.allocation import Allocation
    from ..options import SolveOptions
    from .params import SearchParams


class _Choices:
    """A model by domains, with what does not fit together: for certain, and as far as was searched."""

    def __init__(self, make: Callable[[], DomainMaster]) -> None:
        self._make = make
        self.refuted: list[list[tuple[int, int]]] = []
        self.undecided: list[list[tuple[int, int]]] = []

    @cached_property
    def master(self) -> DomainMaster:
        """The model by domains."""
        return self._make()

    def model(self, *, proven: bool | None = None) -> cp_model.CpModel:
        """Copy the model without what does not fit; given `proven`, without what is refuted, or with all."""
        model = self.master.model.clone()
        out = [*self.refuted, *self.undecided] if proven is None else self.refuted if proven else []
        for together in out:
            self.master.exclude(model, together)
        return model


@dataclass
class DomainRelaxation:
    """Bounds and plans for the groups of a problem."""

    problem: Problem
    options: SolveOptions
    params: SearchParams = DEFAULT

    def __post_init__(self) -> None:
        self._masters = [_Choices(make) for make in domain_masters(self.problem)]
        # A domain was too small without evictions, and by itself. Without victims, and without filters that
        # look at other pods, that holds in every plan.
        self._for_good = not self.problem.victims and not relations_of(self.problem).components

    @property
    def share(self) -> float:
        """The share of the time left that the relaxation is worth: most of it where it speaks of all pods."""
        grouped = sum(len(classes) for classes in asking(self.problem).values())
        whole = grouped == len(self.problem.classes)
        return self.params.whole_domain_share if whole else self.params.domain_share

    def bounds(self, values: Mapping[str, int], until: float) -> dict[str, int]:
        """Bound the tiers `scheduled` from the highest priority down, the tiers above keeping their values.

        Stops at the first tier whose bound the plan does not attain: bounds below depend on its value.
        """
        found: dict[str, int] = {}
        if not self._masters:
            return found
        models: list[tuple[DomainMaster, cp_model.CpModel]] = []
        for level in self.problem.levels:
            name = tiers.scheduled(level)
            every = sum(cls.size for cls in self.problem.classes if cls.priority == level)
            if values[name] == every and level == self.problem.levels[-1]:
                found[name] = every
                break
            if not models:
                models = [(each.master, each.model(proven=self._for_good)) for each in self._masters]
            bound = self._bound(models, level, every, until)
            if bound is None:
                return found
            found[name] = bound
            if values[name] < found[name]:
                break
            for master, model in models:
                terms = master.grouped.get(level)
                if terms is not None:
                    model.add(terms.expression() >= values[name] - master.single.get(level, 0))
        return found

    def _bound(
        self, models: list[tuple[DomainMaster, cp_model.CpModel]], level: int, every: int, until: float
    ) -> int | None:
        """Bound what all models can place of a priority; None where there was no time for one of them."""
        bound = -1
        for master, model in models:
            best = self._best(master, model, level, until)
            if best is None:
                return None
            bound = max(bound, best + master.single.get(level, 0))
            if bound == every:
                break
        return bound

    def _best(self, master: DomainMaster, model: cp_model.CpModel, level: int, until: float) -> int | None:
        terms = master.grouped.get(level)
        if terms is None:
            return 0
        model.maximize(terms.expression())
        status, solver = self._search(model, until)
        if status == cp_model.INFEASIBLE:
            return -1
        return int(solver.value(terms.expression())) if status == cp_model.OPTIMAL else None

    def plan(self, until: float) -> Assignment | None:
        """Place groups by domains, higher priorities first, then their members node by node."""
        best: Assignment | None = None
        for number, choices in enumerate(self._masters):
            share = 1.0 if number + 1 == len(self._masters) else self.params.alternative_share
            found = self._plan(choices, time.monotonic() + share * (until - time.monotonic()))
            if found is not None and (best is None or self._better(found, best)):
                best = found
            if best is not None and len(best.placed) == len(self.problem.cluster.pending):
                break
        return best

    def _better(self, one: Assignment, other: Assignment) -> bool:
        def placed(assignment: Assignment) -> list[int]:
            levels = [self.problem.cluster.pods[i].priority for i in assignment.placed]
            return [levels.count(level) for level in self.problem.levels]

        return placed(one) > placed(other)

    def _plan(self, choices: _Choices, until: float) -> Assignment | None:
        placed: Assignment | None = None
        for _ in range(self.params.domain_rounds):
            chosen = self._choose(choices, until)
            if chosen is None or time.monotonic() > until:
                return placed
            placed, complete = self._expand(choices, chosen, until)
            if complete:
                return placed
        return placed

    def _choose(self, choices: _Choices, until: float) -> list[tuple[int, int]] | None:
        """Solve a model by domains tier by tier; return the (group, domain) pairs chosen."""
        master, model = choices.master, choices.model()
        solver = self._solver(model, until)
        for level in self.problem.levels:
            terms = master.grouped.get(level)
            if terms is None:
                continue
            model.maximize(terms.expression())
            status, solver = self._search(model, until)
            if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                return None
            model.add(terms.expression() >= int(solver.value(terms.expression())))
        return master.chosen(solver)

    def _expand(
        self, choices: _Choices, chosen: list[tuple[int, int]], until: float
    ) -> tuple[Assignment, bool]:
        """Place what was chosen, each set of domains that share nodes by itself; also whether all of it fits.

        What does not fit is noted, and left out with the groups that cannot do without it.
        """
        placed: dict[int, int] = {}
        allocations: dict[str, Allocation] = {}
        deallocated: set[int] = set()
        complete = True
        for pairs in _sharing(choices.master, chosen):
            part = self._part(choices.master, pairs)
            model = RoundModel(part, self.options)
            self._start_all(model, pairs)
            names = [tiers.scheduled(level) for level in part.levels]
            left = max(self.params.min_domain_limit, until - time.monotonic())
            result = model.search(names, min(self.params.domain_limit, left), lambda value, bound: None)
            if result.interrupted:
                raise KeyboardInterrupt
            if result.solution is None:
                (choices.refuted if result.infeasible else choices.undecided).append(pairs)
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

    def _start_all(self, model: RoundModel, pairs: list[tuple[int, int]]) -> None:
        """Hold every chosen group to its quorum."""
        every, context = groups(self.problem.cluster), model.context
        for g, _ in pairs:
            placed = context.placed(classes_of(context.problem, every[g]))
            missing = every[g].quorum - len(every[g].running)
            if missing > 0:
                context.model.add(placed.expression() >= missing)

    def _part(self, master: DomainMaster, pairs: list[tuple[int, int]]) -> Problem:
        """Return the problem of some groups, each on the nodes of its domain, without evictions."""
        every = groups(self.problem.cluster)
        mine = [
            (cls, master.nodes(g, domain))
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

    def _search(
        self, model: cp_model.CpModel, until: float
    ) -> tuple[cp_model.CpSolverStatus, cp_model.CpSolver]:
        """Solve a model by domains, anew with another seed whenever a try takes twice as long as the last."""
        size = max(1.0, len(model.proto.variables) / self.params.large_domain_model)
        seconds, seed = size * self.params.first_domain_try, self.options.seed
        best: tuple[cp_model.CpSolverStatus, cp_model.CpSolver] | None = None
        while True:
            solver = self._solver(model, min(until, time.monotonic() + seconds))
            solver.parameters.random_seed = seed
            status = run_or_leave(partial(solver.solve, model), solver.stop_search)
            if status in (cp_model.OPTIMAL, cp_model.INFEASIBLE):
                return status, solver
            if best is None or _placing(status, solver) > _placing(*best):
                best = status, solver
            if time.monotonic() > until:
                return best
            seconds, seed = 2 * seconds, seed + 1

    def _solver(self, model: cp_model.CpModel, until: float) -> cp_model.CpSolver:
        solver = cp_solver(seed=self.options.seed)
        parameters = solver.parameters
        parameters.max_time_in_seconds = max(self.params.min_domain_limit, until - time.monotonic())
        parameters.num_workers = self.options.workers
        if self.options.workers > 1:
            parameters.num_workers = max(self.options.workers, self.params.domain_workers)
        # The room of all domains together is what bounds a tree, and only the linear relaxation of every row
        # sees it: a tree of 20 groups was open after 9 s of processor time without it, and took 0.2 s with.
        parameters.linearization_level = 2
        if len(model.proto.variables) > self.params.large_domain_model:
            parameters.cp_model_probing_level = 0
            parameters.max_presolve_iterations = 1
        return solver


def _placing(status: cp_model.CpSolverStatus, solver: cp_model.CpSolver) -> float:
    """Return how many pods a search places, -1 where it has found nothing."""
    return solver.objective_value if status == cp_model.FEASIBLE else -1.0


def _sharing(master: DomainMaster, chosen: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Divide (group, domain) pairs into those whose domains share nodes, directly or by others."""
    found: list[tuple[np.ndarray, list[tuple[int, int]]]] = []
    for pair in chosen:
        nodes, pairs = master.nodes(*pair), [pair]
        apart = []
        for other, those in found:
            if (other & nodes).any():
                nodes, pairs = np.asarray(nodes | other), [*those, *pairs]
            else:
                apart.append((other, those))
        found = [*apart, (nodes, pairs)]
    return [pairs for _, pairs in found]
