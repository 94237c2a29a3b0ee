"""Linear expressions over the variables of a model, and the tiers of the objective made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


@dataclass
class Terms:
    """A linear expression under construction: Σ coefficient·variable + constant, with its range."""

    variables: list[cp_model.IntVar] = field(default_factory=list)
    coefficients: list[int] = field(default_factory=list)
    uppers: list[int] = field(default_factory=list)
    constant: int = 0

    def add(self, variable: cp_model.IntVar, upper: int, coefficient: int = 1) -> Terms:
        """Add one term whose variable lies in [0, upper]."""
        self.variables.append(variable)
        self.coefficients.append(coefficient)
        self.uppers.append(upper)
        return self

    def extend(self, other: Terms, factor: int = 1) -> Terms:
        """Add another expression, scaled."""
        self.variables += other.variables
        self.coefficients += [factor * c for c in other.coefficients]
        self.uppers += other.uppers
        self.constant += factor * other.constant
        return self

    def weighted(self, coefficients: list[int]) -> Terms:
        """Return an expression over the same variables with other coefficients, one each."""
        return Terms(list(self.variables), coefficients, list(self.uppers))

    @property
    def low(self) -> int:
        """Smallest value within the limits of the variables."""
        return self.constant + sum(
            c * u for c, u in zip(self.coefficients, self.uppers, strict=True) if c < 0
        )

    @property
    def high(self) -> int:
        """Largest value within the limits of the variables."""
        return self.constant + sum(
            c * u for c, u in zip(self.coefficients, self.uppers, strict=True) if c > 0
        )

    def expression(self) -> cp_model.LinearExprT:
        """Return the expression for CP-SAT."""
        from ortools.sat.python import cp_model

        return cp_model.LinearExpr.weighted_sum(self.variables, self.coefficients) + self.constant


@dataclass(frozen=True)
class Goal:
    """One tier of the objective as the model sees it; every solution's value lies in [low, high]."""

    name: str
    sense: Literal["max", "min"]
    terms: Terms
    low: int
    high: int
