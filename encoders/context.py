"""The variables of one model, spoken of in the words of the domain.

Encoders never index `y[...]`; they ask `count(cls, node)`, `lands(cls, nodes)`, `evicted(victims)`.  An
impossible pair has no variable at all, helper literals are made on first use, and every variable is named so
that an exported model can be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from ortools.sat.python import cp_model

    from .dynamic_resources import DeviceVariables
    from .problem import BoolArray, PodClass, Problem, VictimClass


T = TypeVar("T")


@dataclass
class Terms:
    """A linear expression under construction: Σ coefficient·variable + constant, with its reach."""

    variables: list[cp_model.IntVar] = field(default_factory=list)
    coefficients: list[int] = field(default_factory=list)
    spans: list[int] = field(default_factory=list)
    constant: int = 0

    def add(self, variable: cp_model.IntVar, span: int, coefficient: int = 1) -> Terms:
        """Add one term whose variable lies in [0, span]."""
        self.variables.append(variable)
        self.coefficients.append(coefficient)
        self.spans.append(span)
        return self

    def extend(self, other: Terms, factor: int = 1) -> Terms:
        """Add another expression, scaled."""
        self.variables += other.variables
        self.coefficients += [factor * c for c in other.coefficients]
        self.spans += other.spans
        self.constant += factor * other.constant
        return self

    @property
    def low(self) -> int:
        """Smallest value that the spans admit."""
        return self.constant + sum(c * s for c, s in zip(self.coefficients, self.spans, strict=True) if c < 0)

    @property
    def high(self) -> int:
        """Largest value that the spans admit."""
        return self.constant + sum(c * s for c, s in zip(self.coefficients, self.spans, strict=True) if c > 0)

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


class Context:
    """Variables of one CP-SAT model over one `Problem`."""

    def __init__(self, problem: Problem) -> None:
        from ortools.sat.python import cp_model

        self.problem = problem
        self.model = cp_model.CpModel()
        self.goals: list[Goal] = []
        names = problem.cluster.node_names
        pods = problem.cluster.pods
        self.counts: dict[tuple[int, int], cp_model.IntVar] = {}
        self._classes_on: dict[int, list[PodClass]] = {}
        for cls in problem.classes:
            label = pods[cls.pod].key
            for node in np.flatnonzero(cls.mask).tolist():
                variable = self.model.new_int_var(0, int(cls.limit[node]), f"y[{label},{names[node]}]")
                self.counts[cls.index, node] = variable
                self._classes_on.setdefault(node, []).append(cls)
        self.evictions: dict[int, cp_model.IntVar] = {
            v.index: self.model.new_int_var(0, v.size, f"evicted[{pods[v.pod].key}]") for v in problem.victims
        }
        self._lands: dict[tuple[int, tuple[int, ...]], cp_model.IntVar] = {}
        self._gone: dict[int, cp_model.IntVar] = {}
        self._memo: dict[Hashable, Any] = {}
        self.devices: DeviceVariables | None = None
        for cls in problem.classes:
            placed = self.placed([cls])
            if placed.high > cls.size:
                self.model.add(placed.expression() <= cls.size).with_name(f"size[{pods[cls.pod].key}]")

    def classes_on(self, node: int) -> Sequence[PodClass]:
        """Classes that may stand on a node."""
        return self._classes_on.get(node, ())

    def count(self, cls: PodClass, node: int) -> cp_model.IntVar | None:
        """How many pods of the class are newly on the node; None where none can be."""
        return self.counts.get((cls.index, node))

    def placed(self, classes: Iterable[PodClass], nodes: Iterable[int] | None = None) -> Terms:
        """How many pods of the classes are newly placed, on the given nodes or anywhere."""
        terms = Terms()
        wanted = None if nodes is None else list(nodes)
        for cls in classes:
            for node in np.flatnonzero(cls.mask).tolist() if wanted is None else wanted:
                variable = self.counts.get((cls.index, node))
                if variable is not None:
                    terms.add(variable, int(cls.limit[node]))
        return terms

    def evicted(self, victims: Iterable[VictimClass]) -> Terms:
        """How many pods of the victim classes leave."""
        terms = Terms()
        for v in victims:
            terms.add(self.evictions[v.index], v.size)
        return terms

    def lands(self, cls: PodClass, nodes: Sequence[int] | BoolArray) -> cp_model.IntVar | None:
        """Give a literal that is true whenever a pod of the class is newly on one of the nodes.

        One direction only: it may be true without a pod.  None where no pod of the class can be there.
        """
        found = np.flatnonzero(nodes).tolist() if isinstance(nodes, np.ndarray) else sorted(nodes)
        where = tuple(n for n in found if (cls.index, n) in self.counts)
        if not where:
            return None
        key = (cls.index, where)
        if key not in self._lands:
            if len(where) == 1 and cls.limit[where[0]] == 1:
                self._lands[key] = self.counts[cls.index, where[0]]
            else:
                label = self.problem.cluster.pods[cls.pod].key
                literal = self.model.new_bool_var(f"lands[{label},{len(self._lands)}]")
                for n in where:
                    variable = self.counts[cls.index, n]
                    limit = int(cls.limit[n])
                    self.model.add(variable <= limit * literal)
                self._lands[key] = literal
        return self._lands[key]

    def all_gone(self, victim: VictimClass) -> cp_model.IntVar:
        """Give a literal that may be true only if every pod of the victim class leaves."""
        variable = self.evictions[victim.index]
        if victim.size == 1:
            return variable
        if victim.index not in self._gone:
            literal = self.model.new_bool_var(f"gone[{victim.index}]")
            self.model.add(variable >= victim.size * literal)
            self._gone[victim.index] = literal
        return self._gone[victim.index]

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make()` returned when this key was first asked for: literals that families share."""
        if key not in self._memo:
            self._memo[key] = make()
        value: T = self._memo[key]
        return value

    def goal(self, name: str, sense: Literal["max", "min"], terms: Terms, *, most: int | None = None) -> None:
        """Register a tier; `most` caps its value where that is known to be less than the terms' own reach."""
        high = terms.high if most is None else min(most, terms.high)
        self.goals.append(Goal(name, sense, terms, terms.low, high))
