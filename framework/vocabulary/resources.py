"""Resources by number, as `Cluster.resources` numbers them, and tables that have a row for each."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .domains import Ints

CPU: Final = 0
MEMORY: Final = 1
EPHEMERAL_STORAGE: Final = 2

FIRST_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
"""Every cluster has these, in this order; others follow in order of appearance."""

Rows = Ints | slice
"""Some rows of a table."""


def rows_of(numbers: Sequence[int]) -> Rows:
    """Return rows by number: a slice where they follow each other, for then `block` copies nothing."""
    if numbers and list(numbers) == list(range(numbers[0], numbers[0] + len(numbers))):
        return slice(numbers[0], numbers[0] + len(numbers))
    return np.array(numbers, dtype=np.int64)


def block(table: NDArray[Any], rows: Rows, nodes: Ints | slice) -> NDArray[Any]:
    """Return some rows of a table for some nodes; (rows, nodes), a view where both are slices."""
    if isinstance(rows, slice) or isinstance(nodes, slice):
        return table[rows, nodes]
    return table[rows[:, None], nodes]
