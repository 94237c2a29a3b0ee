"""Lagrangian bounds less every rounding error: the results hold exactly.

Source: Neumaier and Shcherbina, Safe bounds in linear and mixed-integer linear programming; Higham, Accuracy
and Stability of Numerical Algorithms (errors of sums).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.linear import HIGHEST, LOWEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..model.sparse_rows import Ints, Rows, Sparse

    Floats = NDArray[np.float64]

# Twice the relative error of one rounding: the errors of computing an error are in it.
EPSILON = 2.0**-52


def limits(bounds: Ints) -> Floats:
    """Limits of rows as floats, where those that are none are infinite."""
    found = bounds.astype(float)
    found[bounds == LOWEST] = -np.inf
    found[bounds == HIGHEST] = np.inf
    return found


def usable(rows: Rows, duals: Floats) -> tuple[Floats, Floats]:
    """Duals whose row has a limit on the side of their sign, zero for the others; and these limits."""
    sides = np.where(duals > 0, limits(rows.floor), limits(rows.ceiling))
    good = np.isfinite(sides) & (duals != 0)
    return np.where(good, duals, 0.0), np.where(good, sides, 0.0)


def reduced_costs(columns: Sparse, cost: Ints, duals: Floats) -> tuple[Floats, Floats]:
    """Bound c − Aᵀy from below and above.

    Parameters
    ----------
    columns : Sparse
        A, variable by variable.
    """
    along, size = columns.row, len(cost)
    products = columns.value.astype(float) * duals[columns.column]
    found = cost - np.bincount(along, weights=products, minlength=size)
    magnitude = np.abs(cost) + np.bincount(along, weights=np.abs(products), minlength=size)
    error = EPSILON * (np.diff(columns.start) + 4) * magnitude
    return found - error, found + error


def least(low: Ints, high: Ints, reduced: tuple[Floats, Floats]) -> Floats:
    """Bound d·x from below for x from its domain, d between its bounds; each a product yet to be summed."""
    corners: Floats = np.minimum.reduce([d * x for d in reduced for x in (low, high)])
    return corners


def sum_below(parts: Floats) -> float:
    """Return a number not above the sum of products that are rounded once each."""
    total = math.fsum(parts)
    return total - EPSILON * (math.fsum(np.abs(parts)) + abs(total))
