"""One Boolean for each pod and node, straight in CP-SAT: the published constraint-programming fallback.

    x[p,n] in {0,1}, Σ_n x[p,n] <= 1, Σ_p request(p)·x[p,n] <= free(n) + what the evicted pods of n give back

Priority by priority, from the highest down: place the most pods, violate the fewest budgets, evict the
fewest; what was reached is held. Spread constraints are stated on the final counts. Groups, devices,
volumes, guarded budgets and affinity between pods are not in it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from kubestow.encoders.linear import add_at_most
from kubestow.framework.dra.index import device_index
from kubestow.framework.rules.affinity import required_affinity, required_anti_affinity
from kubestow.framework.rules.groups import groups
from kubestow.framework.rules.spread import eligible_nodes, group_key, hard_constraints, spread_matches
from kubestow.models import tiers
from kubestow.solver.ordering.assignment import Assignment

from . import RivalResult

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from kubestow.encoders.problem import Problem
    from kubestow.framework.rules.spread import SpreadConstraint


class _TooLate(Exception):
    """The time was up before the model was built."""


def plan(problem: Problem, seconds: float, workers: int) -> RivalResult:
    """Plan a round."""
    unknown = _unknown(problem)
    if unknown:
        return RivalResult(note=f"no {unknown}")
    deadline = time.monotonic() + seconds
    try:
        return _Model(problem, deadline).search(workers)
    except _TooLate:
        return RivalResult(note="not built in time")


def _unknown(problem: Problem) -> str:
    cluster = problem.cluster
    index = device_index(cluster)
    if any(group.pending for group in groups(cluster)):
        return "groups"
    if index is not None and any(index.needs_devices(c.pod) for c in problem.classes):
        return "devices"
    if any(
        required_affinity(cluster, c.pod) or required_anti_affinity(cluster, c.pod) for c in problem.classes
    ):
        return "affinity"
    if any(kind.guard is not None for kind in problem.victims):
        return "guarded budgets"
    return ""


class _Model:
    def __init__(self, problem: Problem, deadline: float) -> None:
        from ortools.sat.python import cp_model

        self.problem = problem
        self.deadline = deadline
        self.model = cp_model.CpModel()
        self.on_node: list[dict[int, cp_model.IntVar]] = [{} for _ in range(problem.cluster.n_nodes)]
        self.class_of = {i: c for c in problem.classes for i in c.pods}
        for cls in problem.classes:
            nodes = np.flatnonzero(cls.mask).tolist()
            for i in cls.pods:
                if time.monotonic() > deadline:
                    raise _TooLate
                row = [self.model.new_bool_var("") for _ in nodes]
                self.model.add_at_most_one(row)
                for n, x in zip(nodes, row, strict=True):
                    self.on_node[n][i] = x
        self.gone = {v: self.model.new_bool_var("") for kind in problem.victims for v in kind.pods}
        self.violating: dict[int, cp_model.IntVar] = {}
        self.kind_of = {v: kind for kind in problem.victims for v in kind.pods}
        for n in range(problem.cluster.n_nodes):
            self._capacity(n)
        self._preemptors()
        self._budgets()
        self._spread()

    def _capacity(self, n: int) -> None:
        if time.monotonic() > self.deadline:
            raise _TooLate
        problem = self.problem
        here = self.on_node[n]
        leaving = [v for kind in problem.victims_on.get(n, ()) for v in kind.pods]
        columns = [*here.values(), *(self.gone[v] for v in leaving)]
        asked = [self.class_of[i].request for i in here]
        given = [self.kind_of[v].usage for v in leaving]
        for r in range(len(problem.cluster.resources)):
            amounts = [int(request[r]) for request in asked]
            if any(amounts):
                amounts += [-int(usage[r]) for usage in given]
                ones = [1] * len(columns)
                add_at_most(self.model, amounts, columns, ones, int(problem.free_now[r, n]))
        slots = [1] * len(here) + [-1] * len(leaving)
        add_at_most(self.model, slots, columns, [1] * len(columns), int(problem.slots_now[n]))

    def _preemptors(self) -> None:
        """Nobody leaves unless a pod of higher priority comes."""
        for v, gone in self.gone.items():
            kind = self.kind_of[v]
            coming = [
                x
                for i, x in self.on_node[kind.node].items()
                if self.class_of[i].preempts and self.class_of[i].priority > kind.priority
            ]
            self.model.add_bool_or([*coming, gone.negated()])

    def _budgets(self) -> None:
        """Whoever leaves beyond a budget violates it, and is counted."""
        for b, budget in enumerate(self.problem.budgets):
            charged = [v for v in self.gone if b in self.kind_of[v].charges]
            if len(charged) <= budget.allowed:
                continue
            for v in charged:
                if v not in self.violating:
                    self.violating[v] = self.model.new_bool_var("")
                    self.model.add_implication(self.violating[v], self.gone[v])
            paid = sum(self.gone[v] - self.violating[v] for v in charged)
            self.model.add(paid <= budget.allowed)

    def _spread(self) -> None:
        cluster = self.problem.cluster
        carriers: dict[object, tuple[SpreadConstraint, list[int]]] = {}
        for cls in self.problem.classes:
            for constraint in hard_constraints(cluster, cls.pod):
                key = group_key(cluster, cls.pod, constraint)
                carriers.setdefault(key, (constraint, []))[1].extend(cls.pods)
        for constraint, pods in carriers.values():
            if time.monotonic() > self.deadline:
                raise _TooLate
            self._skew(constraint, pods)

    def _skew(self, constraint: SpreadConstraint, pods: list[int]) -> None:
        """Keep every domain that a carrier comes to within maxSkew of the emptiest, in the end."""
        cluster, state = self.problem.cluster, self.problem.state
        one = pods[0]
        ids = cluster.domains(constraint.topology_key).ids
        counting = np.flatnonzero(eligible_nodes(cluster, one, constraint) & (ids >= 0)).tolist()
        matching = self.problem.by_labels(lambda i: spread_matches(cluster, constraint, one, i))
        domains = sorted({int(ids[n]) for n in counting})
        terms: dict[int, list[cp_model.LinearExprT]] = {d: [] for d in domains}
        coming: dict[int, list[cp_model.IntVar]] = {d: [] for d in domains}
        fixed = dict.fromkeys(domains, 0)
        carried = set(pods)
        on_counting = set(counting)
        for i in (*cluster.bound,):
            n = int(state.node_of[i])
            if n in on_counting and not cluster.pods[i].terminating and matching(i):
                fixed[int(ids[n])] += 1
                if i in self.gone:
                    terms[int(ids[n])].append(-self.gone[i])
        for n in range(cluster.n_nodes):
            for i, x in self.on_node[n].items():
                if i in carried and ids[n] < 0:
                    self.model.add(x == 0)
                elif n in on_counting and matching(i):
                    terms[int(ids[n])].append(x)
                if i in carried and ids[n] >= 0:
                    coming[int(ids[n])].append(x)
        lowest = self.model.new_int_var(0, len(cluster.pods), "")
        few = len(domains) < constraint.min_domains
        for d in domains:
            self.model.add(lowest <= fixed[d] + sum(terms[d]))
        if few:
            self.model.add(lowest == 0)
        for d in domains:
            if coming[d]:
                lands = self.model.new_bool_var("")
                self.model.add_max_equality(lands, coming[d])
                room = int(constraint.max_skew - fixed[d])
                row = self.model.add(sum(terms[d]) <= lowest + room)
                row.only_enforce_if(lands)

    def search(self, workers: int) -> RivalResult:
        """Search the tiers from the highest priority down, half of the time left for each."""
        from ortools.sat.python import cp_model

        bounds: dict[str, int] = {}
        best: Assignment | None = None
        proven = True
        goals = list(self._goals())
        for number, (name, terms, most) in enumerate(goals):
            left = self.deadline - time.monotonic()
            if left <= 0:
                proven = False
                break
            total = cp_model.LinearExpr.sum(terms)
            if most:
                self.model.maximize(total)
            else:
                self.model.minimize(total)
            solver = cp_model.CpSolver()
            solver.parameters.max_time_in_seconds = left if number == len(goals) - 1 else left / 2
            solver.parameters.num_workers = workers
            status = solver.solve(self.model)
            if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                proven = False
                break
            value = sum(solver.value(x) for x in terms)
            bounds[name] = round(solver.best_objective_bound)
            proven &= status == cp_model.OPTIMAL
            self.model.add(total >= value if most else total <= value)
            best = self._read(solver)
        return RivalResult(best, bounds, proven, "" if best else "no solution in time")

    def _goals(self) -> list[tuple[str, list[cp_model.IntVar], bool]]:
        found: list[tuple[str, list[cp_model.IntVar], bool]] = []
        for level in self.problem.levels:
            placed = [
                x for here in self.on_node for i, x in here.items() if self.class_of[i].priority == level
            ]
            if placed:
                found.append((tiers.scheduled(level), placed, True))
            mine = {v: k for v, k in self.kind_of.items() if self.problem.belongs_to(k.priority) == level}
            broken = [self.violating[v] for v in mine if v in self.violating]
            if broken:
                found.append((tiers.violations(level), broken, False))
            for priority in sorted({k.priority for k in mine.values()}, reverse=True):
                leaving = [self.gone[v] for v, k in mine.items() if k.priority == priority and not k.free]
                if leaving:
                    found.append((tiers.evicted(level, priority), leaving, False))
        return found

    def _read(self, solver: cp_model.CpSolver) -> Assignment:
        placed = {
            i: n for n, here in enumerate(self.on_node) for i, x in here.items() if solver.boolean_value(x)
        }
        return Assignment(placed, frozenset(v for v, x in self.gone.items() if solver.boolean_value(x)))
