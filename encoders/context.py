"""The variables of one model, accessed in terms of the domain.

Encoders never index `y[...]`; they call `count(cls, node)`, `lands(cls, nodes)`, `evicted(victims)`. An
impossible pair has no variable at all, helper literals are made on first use, and every variable is named so
that an exported model can be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from .linear import LOWEST, add_row
from .terms import Goal, Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from ortools.sat.python import cp_model

    from ..framework.vocabulary.arrays import Bools
    from .problem import PodClass, Problem, VictimClass


T = TypeVar("T")


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
        self._limits = [cls.limit.tolist() for cls in problem.classes]
        self._row: list[dict[int, cp_model.IntVar]] = []
        self._classes_on: dict[int, list[PodClass]] = {}
        make = self.model.new_int_var
        for cls, limits in zip(problem.classes, self._limits, strict=True):
            label = pods[cls.pod].key
            row = {
                node: make(0, limits[node], f"y[{label},{names[node]}]")
                for node in np.flatnonzero(cls.mask).tolist()
            }
            self._row.append(row)
            for node, variable in row.items():
                self.counts[cls.index, node] = variable
                self._classes_on.setdefault(node, []).append(cls)
        self.evictions: dict[int, cp_model.IntVar] = {
            v.index: self.model.new_int_var(0, v.size, f"evicted[{pods[v.pod].key}]") for v in problem.victims
        }
        self.bought: dict[int, cp_model.IntVar] = {
            n: self.model.new_bool_var(f"bought[{names[n]}]") for n in sorted(problem.optional)
        }
        """Whether a node that a plan can do without is there."""
        for (index, node), variable in self.counts.items():
            if node in self.bought:
                limit = self._limits[index][node]
                add_row(self.model, (1, -limit), (variable, self.bought[node]), LOWEST, 0)
        self._lands: dict[tuple[int, tuple[int, ...]], cp_model.IntVar] = {}
        self._gone: dict[int, cp_model.IntVar] = {}
        self._memo: dict[Hashable, Any] = {}
        self.extras: dict[str, Any] = {}
        """Variables that a family keeps for its decoder, by its name."""
        for cls in problem.classes:
            self.at_most(self.placed([cls]), cls.size, name=f"size[{pods[cls.pod].key}]")

    def classes_on(self, node: int) -> Sequence[PodClass]:
        """Classes that may stand on a node."""
        return self._classes_on.get(node, ())

    def count(self, cls: PodClass, node: int) -> cp_model.IntVar | None:
        """How many pods of the class are newly on the node; None where none can be."""
        return self.counts.get((cls.index, node))

    def placed(self, classes: Iterable[PodClass], nodes: Iterable[int] | None = None) -> Terms:
        """How many pods of the classes are newly placed, on the given nodes or anywhere."""
        variables: list[cp_model.IntVar] = []
        uppers: list[int] = []
        wanted = None if nodes is None else list(nodes)
        for cls in classes:
            row, limits = self._row[cls.index], self._limits[cls.index]
            if wanted is not None and len(wanted) == 1:  # by far the most calls
                node = wanted[0]
                if node in row:
                    variables.append(row[node])
                    uppers.append(limits[node])
                continue
            here = row if wanted is None else [node for node in wanted if node in row]
            variables += [row[node] for node in here]
            uppers += [limits[node] for node in here]
        return Terms(variables, [1] * len(variables), uppers)

    def evicted(self, victims: Iterable[VictimClass]) -> Terms:
        """How many pods of the victim classes leave."""
        terms = Terms()
        for v in victims:
            terms.add(self.evictions[v.index], v.size)
        return terms

    def at_most(
        self, terms: Terms, bound: int, *, when: cp_model.IntVar | None = None, name: str = ""
    ) -> None:
        """Add the row that an expression is at most `bound`, where literal `when` holds, unless it always is.

        For small coefficients: amounts of resources go through `linear.add_at_most`.
        """
        if terms.high > bound:
            add_row(
                self.model,
                terms.coefficients,
                terms.variables,
                LOWEST,
                bound - terms.constant,
                when=when,
                name=name,
            )

    def lands(self, cls: PodClass, nodes: Sequence[int] | Bools) -> cp_model.IntVar | None:
        """Return a literal that is true whenever a pod of the class is newly on one of the nodes.

        One direction only: it may be true without a pod. None where no pod of the class can be there.
        """
        row, limits = self._row[cls.index], self._limits[cls.index]
        found = np.flatnonzero(nodes).tolist() if isinstance(nodes, np.ndarray) else sorted(nodes)
        where = tuple(n for n in found if n in row)
        if not where:
            return None
        key = (cls.index, where)
        if key not in self._lands:
            if len(where) == 1 and limits[where[0]] == 1:
                self._lands[key] = row[where[0]]
            else:
                label = self.problem.cluster.pods[cls.pod].key
                literal = self.model.new_bool_var(f"lands[{label},{len(self._lands)}]")
                for n in where:
                    add_row(self.model, (1, -limits[n]), (row[n], literal), LOWEST, 0)
                self._lands[key] = literal
        return self._lands[key]

    def any_bought(self, nodes: Iterable[int]) -> cp_model.IntVar | None:
        """Return a literal that is true exactly where one of the nodes is there; None where one always is."""
        where = tuple(nodes)
        if not self.bought or any(n not in self.bought for n in where):
            return None

        def make() -> cp_model.IntVar:
            literal = self.model.new_bool_var(f"there[{len(self._memo)}]")
            there = [self.bought[n] for n in where]
            self.model.add_max_equality(literal, there)
            return literal

        return self.memo(("any bought", where), make)

    def all_gone(self, victim: VictimClass) -> cp_model.IntVar:
        """Return a literal that may be true only if every pod of the victim class leaves."""
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

    def goal(
        self,
        name: str,
        sense: Literal["max", "min"],
        terms: Terms,
        *,
        least: int | None = None,
        most: int | None = None,
    ) -> None:
        """Register a tier; `least` and `most` limit its value where the terms alone reach further."""
        low = terms.low if least is None else max(least, terms.low)
        high = terms.high if most is None else min(most, terms.high)
        self.goals.append(Goal(name, sense, terms, low, high))
