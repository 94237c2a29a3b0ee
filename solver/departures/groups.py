"""Types of nodes in groups: a column of a group is one choice on each of its types, all at once.

A master that has a row for each of a thousand types takes long to solve, and one that has a single row needs
very many rounds. With a hundred rows both are few. Any prices give a bound, so nothing is lost.

Source: Trukhanov, Ntaimo and Schaefer, Adaptive multicut aggregation for two-stage stochastic linear programs
with recourse (the same for cuts).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...framework.vocabulary.arrays import Ints
    from .choices import Choices
    from .lagrangian import Best


class GroupColumn(NamedTuple):
    """A group, the pods that come to its nodes by row of the demand, and who leaves them by kind."""

    group: int
    pods: Ints
    leaving: Ints


class Groups:
    """The groups: types of one signature are next to each other.

    Parameters
    ----------
    kinds : int
        Kinds of victims.
    most : int
        Groups at most.
    """

    def __init__(self, choices: Choices, kinds: int, most: int) -> None:
        self._choices, self._kinds = choices, kinds
        types = len(choices.times)
        self.number = min(types, most)
        self._of_type = np.zeros(types, dtype=np.int64)
        order = np.argsort(choices.signature, kind="stable")
        self._of_type[order] = np.arange(types) * self.number // types

    def columns(self, best: Best) -> Iterator[GroupColumn]:
        """Yield what the best choices of all types come to, group by group."""
        choices = self._choices
        start, end = choices.start[best.choice], choices.start[best.choice + 1]
        lengths = end - start
        entries = np.repeat(start - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        leaving = np.zeros((self.number, self._kinds), dtype=np.int64)
        often = choices.number[entries] * np.repeat(choices.times, lengths)
        np.add.at(leaving, (np.repeat(self._of_type, lengths), choices.kind[entries]), often)
        pods = np.zeros((self.number, best.pods.shape[1]), dtype=np.int64)
        np.add.at(pods, self._of_type, best.pods * choices.times[:, None])
        yield from map(GroupColumn, range(self.number), pods, leaving)
