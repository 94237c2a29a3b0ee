"""Exact linear rows within CP-SAT's safe range.

CP-SAT 9.15 can drop the enforcement of a row whose Boolean coefficients add up past 2**31
(google/or-tools#5293), and sums past 2**63 are invalid.  Memory in bytes reaches the first limit at 2 GiB.  A
row is divided by the gcd of its coefficients (the right side rounds down, which is exact for integers); if it
is still too wide it becomes digit rows with a carry c, exact again:

    Σ lo·x <= C_lo + 2^k·c      and      Σ hi·x + c <= C_hi

There is an integer c for both exactly if Σ (2^k·hi + lo)·x <= 2^k·C_hi + C_lo.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ortools.sat.python import cp_model

LIMIT = 2**31


def add_at_most(
    model: cp_model.CpModel,
    coefficients: Sequence[int],
    variables: Sequence[cp_model.IntVar],
    spans: Sequence[int],
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
    spans : sequence of int
        Upper limit of each variable; every variable starts at 0.
    """
    from ortools.sat.python import cp_model

    terms = [(c, v, s) for c, v, s in zip(coefficients, variables, spans, strict=True) if c and s]
    if sum(c * s for c, _, s in terms if c > 0) <= bound:
        return
    divisor = gcd(*(abs(c) for c, _, _ in terms)) if terms else 1
    terms = [(c // divisor, v, s) for c, v, s in terms]
    bound //= divisor
    widest = sum(abs(c) * s for c, _, s in terms)
    if widest < LIMIT:
        # Past the lowest sum the row is plainly false; clamping keeps its right side inside the safe range.
        lowest = sum(c * s for c, _, s in terms if c < 0)
        bound = max(bound, lowest - 1)
        row = model.add(
            cp_model.LinearExpr.weighted_sum([v for _, v, _ in terms], [c for c, _, _ in terms]) <= bound
        )
        row.with_name(name)
        if when is not None:
            row.only_enforce_if(when)
        return
    count = sum(s for _, _, s in terms)
    bits = max(1, 29 - count.bit_length())
    base = 1 << bits
    low = [c % base for c, _, _ in terms]
    high = [c // base for c, _, _ in terms]
    spans = [s for _, _, s in terms]
    # low digits and variables are not negative, so the smallest carry that serves lies in [0, count]
    carry = model.new_int_var(0, count, f"carry[{name}]")
    columns = [v for _, v, _ in terms] + [carry]
    spans = [*spans, count]
    add_at_most(model, [*low, -base], columns, spans, bound % base, when=when, name=f"{name}.low")
    add_at_most(model, [*high, 1], columns, spans, bound // base, when=when, name=f"{name}.high")
