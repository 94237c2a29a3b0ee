"""Exact linear rows within CP-SAT's safe range.

CP-SAT 9.15 can drop the enforcement of a row whose Boolean coefficients add up past 2**31
(google/or-tools#5293), and sums past 2**63 are invalid. Memory in bytes reaches the first limit at 2 GiB. A
row is divided by the gcd of its coefficients (the right side rounds down, which is exact for integers); if it
is still too wide it becomes digit rows with a carry c, exact again:

    Σ lo·x <= C_lo + 2^k·c      and      Σ hi·x + c <= C_hi

There is an integer c for both exactly if Σ (2^k·hi + lo)·x <= 2^k·C_hi + C_lo.
"""

from __future__ import annotations

from math import gcd
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ortools.sat.python import cp_model

LIMIT = 2**31
LOWEST = -(2**63)
HIGHEST = 2**63 - 1


def add_row(
    model: cp_model.CpModel,
    coefficients: Sequence[int],
    variables: Sequence[cp_model.IntVar],
    low: int,
    high: int,
    *,
    when: cp_model.IntVar | None = None,
    name: str = "",
) -> None:
    """Add ``low <= Σ coefficients·variables <= high``, enforced by literal `when` if given.

    The row is written into the protobuf: for wide rows that is ten times faster than building an expression.
    """
    columns = [v.index for v in variables]
    if len(set(columns)) < len(columns):
        merged: dict[int, int] = {}
        for column, coefficient in zip(columns, coefficients, strict=True):
            merged[column] = merged.get(column, 0) + coefficient
        columns, coefficients = list(merged), list(merged.values())
    row = model.proto.constraints.add()
    linear = row.linear
    linear.vars.extend(columns)
    linear.coeffs.extend(coefficients)
    linear.domain.extend((low, high))
    if when is not None:
        row.enforcement_literal.append(when.index)
    if name:
        row.name = name


def add_at_most(
    model: cp_model.CpModel,
    coefficients: Sequence[int],
    variables: Sequence[cp_model.IntVar],
    uppers: Sequence[int],
    bound: int,
    *,
    when: cp_model.IntVar | None = None,
    name: str = "",
) -> None:
    """Add ``Σ coefficients·variables <= bound``, enforced by literal `when` if given.

    Parameters
    ----------
    coefficients : sequence of int
        Any size, any sign.
    uppers : sequence of int
        Upper limit of each variable; every variable starts at 0.
    """
    if sum(r for r in map(mul, coefficients, uppers) if r > 0) <= bound:
        return
    if not all(coefficients) or not all(uppers):
        kept = [k for k, (c, s) in enumerate(zip(coefficients, uppers, strict=True)) if c and s]
        coefficients = [coefficients[k] for k in kept]
        variables = [variables[k] for k in kept]
        uppers = [uppers[k] for k in kept]
    divisor = gcd(*coefficients) or 1
    if divisor > 1:
        coefficients = [c // divisor for c in coefficients]
        bound //= divisor
    reach = list(map(mul, coefficients, uppers))
    lowest = sum(r for r in reach if r < 0)
    if sum(reach) - 2 * lowest < LIMIT:
        # Past the lowest sum the row is infeasible; clamping keeps its right side inside the safe range.
        add_row(model, coefficients, variables, LOWEST, max(bound, lowest - 1), when=when, name=name)
        return
    count = sum(uppers)
    bits = max(1, 29 - count.bit_length())
    base = 1 << bits
    low = [c % base for c in coefficients]
    high = [c // base for c in coefficients]
    # low digits and variables are not negative, so the smallest carry that serves lies in [0, count]
    carry = model.new_int_var(0, count, f"carry[{name}]")
    columns = [*variables, carry]
    uppers = [*uppers, count]
    add_at_most(model, [*low, -base], columns, uppers, bound % base, when=when, name=f"{name}.low")
    add_at_most(model, [*high, 1], columns, uppers, bound // base, when=when, name=f"{name}.high")
