"""Evictions, their preemptors and their costs: preemption with PodDisruptionBudgets (KEP-4664).

    evicted[v] > 0  ->  Σ y[c,n] >= 1    over preempting classes c of higher priority, n the node of v
                                         (of a group that is evicted whole: the nodes of all its members)
    Σ over victims v that budget b covers of (evicted[v] − violating[v]) <= disruptionsAllowed(b)
    violating[v] <= evicted[v]
    violating[v] > 0 and v guarded with A  ->  Σ y[c,n] >= 1 over preempting classes c of priority >= A

A victim belongs to the lowest pending priority above its own, a guarded violating one to the lowest such that
is >= A too (`framework.rules.belonging`); each priority has a tier of violating victims and one for each
victim priority. Where the two levels of a guarded victim differ, a violating eviction counts at the second
level instead of the first: evicted[v] − violating[v]. Evicting a pod that terminates already costs nothing.
Limits on evictions (`models.eviction_limits`) are rows over the whole round; pods that one spares are no
victims at all:

    Σ evicted[v] <= evictions,    Σ violating[v] <= violations

Source: docs/model.md, "The objective"; KEP-4664; kube-scheduler 1.34.1 defaultpreemption, budgets by
`framework.rules.budgets`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..framework.rules.eviction_units import preemptor_nodes
from ..framework.vocabulary import names
from ..models import tiers
from .family import Family, Tie
from .terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ortools.sat.python import cp_model

    from ..framework.rules.budgets import Budget
    from .context import Context
    from .problem import Problem, VictimClass

name = names.DEFAULT_PREEMPTION


def applies(problem: Problem) -> bool:
    """Whether it applies: always but where pods move; without victims the tiers are the constant 0."""
    return bool(problem.classes) and problem.mobility is None


def encode(ctx: Context) -> None:
    """Add the rows for preemptors and budgets and register the tiers."""
    preemptors = _Preemptors(ctx)
    for v in ctx.problem.victims:
        variable = ctx.evictions[v.index]
        ctx.model.add(variable <= v.size * preemptors.above(v, v.priority + 1))
    violating = _budget_rows(ctx, preemptors)
    _limit_rows(ctx, violating)
    _goals(ctx, violating)


class _Preemptors:
    """Literals that may be true only if a preempting newcomer of some priority or more comes for a victim."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._literals: dict[tuple[tuple[int, ...], int], cp_model.IntVar] = {}
        self._known: dict[tuple[tuple[int, ...], int], cp_model.IntVar] = {}

    def above(self, v: VictimClass, priority: int) -> cp_model.IntVar:
        """Give the literal for a victim's node, or for the nodes of all that leave with it."""
        ctx = self._ctx
        nodes = preemptor_nodes(ctx.problem.cluster, v.pod)
        known = self._known.get((nodes, priority))
        if known is not None:
            return known
        classes = {
            c.index: c for n in nodes for c in ctx.classes_on(n) if c.preempts and c.priority >= priority
        }
        # equal sets of classes share a literal: the lowest priority among them names the set
        key = (nodes, min((c.priority for c in classes.values()), default=priority))
        if key not in self._literals:
            where = ",".join(ctx.problem.cluster.node_names[n] for n in nodes)
            literal = ctx.model.new_bool_var(f"preemptor[{where},{key[1]}]")
            ctx.at_most(Terms().add(literal, 1).extend(ctx.placed(classes.values(), nodes), -1), 0)
            self._literals[key] = literal
        self._known[nodes, priority] = self._literals[key]
        return self._literals[key]


def _budget_rows(ctx: Context, preemptors: _Preemptors) -> dict[int, cp_model.IntVar]:
    """Add the rows of the budgets; return the violating counts of the victim classes that may exceed one."""
    violating: dict[int, cp_model.IntVar] = {}
    for budget, victims in breakable(ctx.problem):
        paid = Terms()
        for v in victims:
            if v.index not in violating:
                violating[v.index] = _violating(ctx, preemptors, v)
            paid.extend(ctx.evicted([v])).add(violating[v.index], v.size, -1)
        ctx.at_most(paid, budget.allowed, name=f"budget[{budget.key}]")
    return violating


def _limit_rows(ctx: Context, violating: dict[int, cp_model.IntVar]) -> None:
    """Add the rows of the limits on evictions."""
    limits = ctx.problem.cluster.snapshot.limits
    if limits.evictions is not None:
        ctx.at_most(ctx.evicted(_costly(ctx.problem)), limits.evictions, name="limit[evictions]")
    if limits.violations is not None:
        broken = Terms()
        for v in ctx.problem.victims:
            if v.index in violating:
                broken.add(violating[v.index], v.size)
        ctx.at_most(broken, limits.violations, name="limit[violations]")


def _costly(problem: Problem) -> list[VictimClass]:
    """Return the victims whose eviction counts: those that do not terminate already."""
    return [v for v in problem.victims if not v.free]


def _violating(ctx: Context, preemptors: _Preemptors, v: VictimClass) -> cp_model.IntVar:
    key = ctx.problem.cluster.pods[v.pod].key
    variable = ctx.model.new_int_var(0, v.size, f"violating[{key}]")
    ctx.model.add(variable <= ctx.evictions[v.index])
    if v.guard is not None:
        ctx.model.add(variable <= v.size * preemptors.above(v, max(v.guard, v.priority + 1)))
    return variable


def _goals(ctx: Context, violating: dict[int, cp_model.IntVar]) -> None:
    """Register the tiers: each victim costs at its level, a guarded violating one at that of its guard."""
    leaving = (
        Leaving(v.priority, v.guard, ctx.evictions[v.index], v.size, violating.get(v.index))
        for v in ctx.problem.victims
        if not v.free
    )
    for tier, terms in eviction_tiers(ctx.problem, leaving).items():
        # no more of a class violate than leave
        ctx.goal(tier, "min", terms, least=0)


class Leaving(NamedTuple):
    """Victims that cost the same: how many leave, at most `size`, and how many of them violate a budget."""

    priority: int
    guard: int | None
    evicted: cp_model.IntVar
    size: int
    violating: cp_model.IntVar | None


def eviction_tiers(problem: Problem, leaving: Iterable[Leaving]) -> dict[str, Terms]:
    """Return what each tier of violations and evictions counts, level by level."""
    broken = {level: Terms() for level in problem.levels}
    gone: dict[tuple[int, int], Terms] = {}
    for v in leaving:
        level = problem.belongs_to(v.priority)
        if level is None:
            continue
        counted = gone.setdefault((level, v.priority), Terms()).add(v.evicted, v.size)
        breaking = problem.belongs_to(v.priority, v.guard)
        if v.violating is None or breaking is None:
            continue
        broken[breaking].add(v.violating, v.size)
        if breaking != level:
            counted.add(v.violating, v.size, -1)
            gone.setdefault((breaking, v.priority), Terms()).add(v.violating, v.size)
    found: dict[str, Terms] = {}
    for level in problem.levels:
        found[tiers.violations(level)] = broken[level]
        for priority in sorted((q for at, q in gone if at == level), reverse=True):
            found[tiers.evicted(level, priority)] = gone[level, priority]
    return found


def breakable(problem: Problem) -> Iterator[tuple[Budget, list[VictimClass]]]:
    """Yield the budgets that their victims could exceed, with these; the others never bind."""
    covered: dict[int, list[VictimClass]] = {}
    for v in problem.victims:
        for b in v.charges:
            covered.setdefault(b, []).append(v)
    for b, victims in covered.items():
        if sum(v.size for v in victims) > problem.budgets[b].allowed:
            yield problem.budgets[b], victims


def ties(problem: Problem) -> Iterator[Tie]:
    """Tie the victims of a budget that they may exceed, and of a limit."""
    if problem.mobility is not None:
        return
    exceeded = list(breakable(problem))
    for _, victims in exceeded:
        yield Tie((), victims)
    limits, costly = problem.cluster.snapshot.limits, _costly(problem)
    if limits.evictions is not None and sum(v.size for v in costly) > limits.evictions:
        yield Tie((), costly)
    broken = {v.index: v for _, victims in exceeded for v in victims}
    if limits.violations is not None and sum(v.size for v in broken.values()) > limits.violations:
        yield Tie((), list(broken.values()))


FAMILY = Family(name, applies, encode, ties=ties)
