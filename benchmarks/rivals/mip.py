"""The same class counts as a mixed-integer program for HiGHS: every row of the CP-SAT model, made linear.

An enforced row gets a big-M as small as the variables' reach allows; clauses and cardinalities are rows.
HiGHS comes with the extra `bench`.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from kubestow.encoders import encode
from kubestow.solver.model.solution import Solution
from kubestow.solver.ordering.decoding import assign

from . import RivalResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubestow.encoders.problem import Problem
    from kubestow.encoders.terms import Goal, Terms

FAR = 2**62
Row = tuple[float, float, list[int], list[float]]


def plan(problem: Problem, seconds: float, workers: int) -> RivalResult:
    """Plan a round."""
    try:
        highspy = import_module("highspy")
    except ImportError:
        return RivalResult(note="HiGHS is not installed")
    deadline = time.monotonic() + seconds
    if problem.devices is not None:
        return RivalResult(note="no devices")
    context = encode(problem)
    try:
        solver = _build(highspy, context.model.proto)
    except NotImplementedError as error:
        return RivalResult(note=str(error))
    solver.setOptionValue("threads", workers)
    bounds: dict[str, int] = {}
    values: np.ndarray[Any, Any] | None = None
    proven = True
    goals = [goal for goal in context.goals if goal.low < goal.high]
    for number, goal in enumerate(goals):
        left = deadline - time.monotonic()
        if left <= 0:
            proven = False
            break
        _aim(highspy, solver, goal, len(context.model.proto.variables))
        share = left if number == len(goals) - 1 else left / 2
        solver.setOptionValue("time_limit", solver.getRunTime() + share)  # its clock runs on
        if values is not None:
            start = highspy.HighsSolution()
            start.col_value = values.tolist()
            solver.setSolution(start)
        solver.run()
        info = solver.getInfo()
        optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        if np.isfinite(info.mip_dual_bound):
            bounds[goal.name] = int(_outward(info.mip_dual_bound, goal))
        proven &= optimal
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            proven = False
            break
        values = np.rint(solver.getSolution().col_value).astype(np.int64)
        _hold(solver, goal, values)
    if values is None:
        return RivalResult(None, bounds, False, "no solution in time")
    solution = Solution(
        counts={k: int(values[x.index]) for k, x in context.counts.items() if values[x.index]},
        leaving={k: int(values[x.index]) for k, x in context.evictions.items() if values[x.index]},
        goals={},
    )
    return RivalResult(assign(problem, solution), bounds, proven)


def _outward(bound: float, goal: Goal) -> int:
    return int(np.floor(bound + 1e-6)) if goal.sense == "max" else int(np.ceil(bound - 1e-6))


def _build(highspy: Any, proto: Any) -> Any:
    """Hand a CP-SAT model to HiGHS, row by row."""
    lower, upper = [], []
    for variable in proto.variables:
        low, *_, high = list(variable.domain)
        lower.append(low)
        upper.append(high)
    columns: list[int] = []
    coefficients: list[float] = []
    starts, row_low, row_high = [0], [], []
    for constraint in proto.constraints:
        for low, high, index, value in rows_of(constraint, lower, upper):
            merged: dict[int, float] = {}
            for k, v in zip(index, value, strict=True):
                merged[k] = merged.get(k, 0.0) + v
            columns += merged.keys()
            coefficients += merged.values()
            starts.append(len(columns))
            row_low.append(low)
            row_high.append(high)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(lower), len(row_low)
    program.col_cost_ = np.zeros(len(lower))
    program.col_lower_, program.col_upper_ = np.array(lower, float), np.array(upper, float)
    program.row_lower_, program.row_upper_ = np.array(row_low, float), np.array(row_high, float)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.array(starts)
    program.a_matrix_.index_ = np.array(columns)
    program.a_matrix_.value_ = np.array(coefficients, float)
    program.integrality_ = [highspy.HighsVarType.kInteger] * len(lower)
    solver = highspy.Highs()
    solver.silent()
    solver.passModel(program)
    return solver


def rows_of(constraint: Any, lower: Sequence[int], upper: Sequence[int]) -> Iterator[Row]:
    """Yield linear rows that admit exactly what a constraint of CP-SAT admits.

    Raises
    ------
    NotImplementedError
        For a kind of constraint that kubestow's models do not use.
    """
    when = list(constraint.enforcement_literal)
    if constraint.has_linear():
        linear = constraint.linear
        low, *middle, high = list(linear.domain)
        if middle:
            raise NotImplementedError("no rows with gaps")
        yield from _enforced(list(linear.vars), list(linear.coeffs), low, high, when, lower, upper)
    elif constraint.has_bool_or():
        yield _literals(list(constraint.bool_or.literals), 1, FAR, when)
    elif constraint.has_bool_and():
        for literal in list(constraint.bool_and.literals):
            yield _literals([literal], 1, FAR, when)
    elif constraint.has_at_most_one() and not when:
        yield _literals(list(constraint.at_most_one.literals), -FAR, 1, when)
    elif constraint.has_exactly_one() and not when:
        yield _literals(list(constraint.exactly_one.literals), 1, 1, when)
    else:
        raise NotImplementedError("no such rows")


def _literals(literals: list[int], low: int, high: int, when: list[int]) -> Row:
    """Return a row over literals; with `when` it has a lower limit of 1, and a false one satisfies it."""
    signs = [(k, 1.0) if k >= 0 else (-k - 1, -1.0) for k in literals]
    negated = sum(sign < 0 for _, sign in signs)
    signs += [(k, -1.0) if k >= 0 else (-k - 1, 1.0) for k in when]
    return (
        -np.inf if low == -FAR else low - negated - sum(k >= 0 for k in when),
        np.inf if high == FAR else high - negated,
        [k for k, _ in signs],
        [sign for _, sign in signs],
    )


def _enforced(
    variables: list[int],
    weights: list[int],
    low: int,
    high: int,
    when: list[int],
    lower: Sequence[int],
    upper: Sequence[int],
) -> Iterator[Row]:
    least = sum(c * (lower[v] if c > 0 else upper[v]) for v, c in zip(variables, weights, strict=True))
    most = sum(c * (upper[v] if c > 0 else lower[v]) for v, c in zip(variables, weights, strict=True))
    plain = [float(c) for c in weights]
    if not when:
        yield (low if low > -FAR else -np.inf, high if high < FAR else np.inf, variables, plain)
        return
    held = [(k, 1) if k >= 0 else (-k - 1, 0) for k in when]
    index = [*variables, *(k for k, _ in held)]
    if high < most:
        room = most - high
        extra = [float(room) if true else -float(room) for _, true in held]
        yield (-np.inf, high + room * sum(true for _, true in held), index, [*plain, *extra])
    if low > least:
        room = low - least
        extra = [-float(room) if true else float(room) for _, true in held]
        yield (low - room * sum(true for _, true in held), np.inf, index, [*plain, *extra])


def _aim(highspy: Any, solver: Any, goal: Goal, variables: int) -> None:
    cost = np.zeros(variables)
    for index, coefficient in _columns(goal.terms):
        cost[index] += coefficient
    solver.changeColsCost(variables, np.arange(variables, dtype=np.int32), cost)
    solver.changeObjectiveOffset(float(goal.terms.constant))
    sense = highspy.ObjSense.kMaximize if goal.sense == "max" else highspy.ObjSense.kMinimize
    solver.changeObjectiveSense(sense)


def _hold(solver: Any, goal: Goal, values: np.ndarray[Any, Any]) -> None:
    columns = list(_columns(goal.terms))
    reached = sum(coefficient * int(values[index]) for index, coefficient in columns)
    low, high = (reached, np.inf) if goal.sense == "max" else (-np.inf, reached)
    index = np.array([k for k, _ in columns], dtype=np.int32)
    weights = np.array([c for _, c in columns], dtype=float)
    solver.addRow(low, high, len(index), index, weights)


def _columns(terms: Terms) -> Iterator[tuple[int, int]]:
    for variable, coefficient in zip(terms.variables, terms.coefficients, strict=True):
        yield variable.index, coefficient
