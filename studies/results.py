"""Rows as runs again, and runs as answers: what is known of an instance under a variant."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from ..models.study import ERROR

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..models.study_row import StudyRow


@dataclass(frozen=True)
class Result:
    """One run that is done.

    Attributes
    ----------
    first : StudyRow
        What all its rows say alike.
    tiers : tuple of StudyRow
        A row for each tier, most important first.
    """

    first: StudyRow
    tiers: tuple[StudyRow, ...]

    @property
    def failed(self) -> bool:
        """Whether it ended with an error."""
        return self.first.status == ERROR

    @property
    def proven(self) -> bool:
        """Whether no plan is better."""
        return self.first.status == "OPTIMAL"

    @property
    def names(self) -> tuple[str | None, ...]:
        """The names of its tiers."""
        return tuple(row.tier for row in self.tiers)

    @property
    def vector(self) -> tuple[int, ...]:
        """Values of which the lexicographically smaller ones are better, as of `models.plan.Plan`."""
        return tuple((row.value or 0) * (-1 if row.sense == "max" else 1) for row in self.tiers)


def results_of(rows: Iterable[StudyRow]) -> list[Result]:
    """Return the runs that rows are of; rows of one run follow each other."""
    found = []
    for _, group in groupby(rows, lambda row: row.run):
        of_run = list(group)
        tiers = sorted((row for row in of_run if row.tier is not None), key=lambda row: row.number or 0)
        found.append(Result(of_run[0], tuple(tiers)))
    return found


@dataclass(frozen=True)
class Answer:
    """What is known of one instance under one variant.

    Attributes
    ----------
    variant, family, instance : str
    best : Result
        The best of the optimal scheduler's runs, whatever their seeds; a proven one where there is one.
    greedy : Result
    """

    variant: str
    family: str
    instance: str
    best: Result
    greedy: Result


def answers_of(results: Iterable[Result]) -> list[Answer]:
    """Return the answers of all instances that both schedulers have solved, in the order of the runs.

    Seeds are repetitions of one search for one optimum, so their best plan stands for them.
    """
    runs: dict[tuple[str, str], dict[str, list[Result]]] = {}
    for result in results:
        if not result.failed:
            row = result.first
            of_both = runs.setdefault((row.variant, row.instance), {})
            of_both.setdefault(row.scheduler, []).append(result)
    found = []
    for (variant, instance), of_both in runs.items():
        if "optimal" in of_both and "greedy" in of_both:
            best = min(of_both["optimal"], key=lambda result: (result.vector, not result.proven))
            greedy = of_both["greedy"][0]
            found.append(Answer(variant, best.first.family, instance, best, greedy))
    return found
