"""Domains: the values of one node label, and which node is in which of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..models.node import Node

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Domains:
    """The nodes of a cluster divided by one label.

    Attributes
    ----------
    key : str
        The label.
    values : tuple of str
        The label's values in order of first appearance; a domain's number is its index here.
    numbers : dict
        Value to domain number.
    ids : int32[N]
        The domain of each node, -1 where it lacks the label.
    size : int
        How many domains there are.
    present : bool[N]
        Which nodes have the label.
    """

    __slots__ = ("_bins", "ids", "key", "numbers", "present", "size", "values")

    def __init__(self, key: str, nodes: Sequence[Node]) -> None:
        numbers: dict[str, int] = {}
        ids = np.full(len(nodes), -1, dtype=np.int32)
        for n, node in enumerate(nodes):
            value = node.metadata.labels.get(key)
            if value is not None:
                ids[n] = numbers.setdefault(value, len(numbers))
        self.key = key
        self.numbers = numbers
        self.values = tuple(numbers)
        self.size = len(numbers)
        self.ids = ids
        self.present: Bools = ids >= 0
        self._bins = np.where(self.present, ids, self.size)

    def total(self, per_node: NDArray[Any], where: Bools | None = None) -> Ints:
        """Add up a number per node over each domain.

        Parameters
        ----------
        per_node : int[N]
            The numbers (below 2**53 in sum).
        where : bool[N], optional
            Which nodes take part; all that have the label by default.

        Returns
        -------
        int64[size]
        """
        weights = per_node if where is None else np.where(where, per_node, 0)
        sums = np.bincount(self._bins, weights=weights, minlength=self.size + 1)
        return sums[: self.size].astype(np.int64)

    def to_nodes(self, per_domain: NDArray[Any], missing: Any = 0) -> NDArray[Any]:
        """Give each node its domain's number, or `missing` where it lacks the label."""
        padded = np.append(per_domain, np.array([missing], dtype=per_domain.dtype))
        return padded[self._bins]

    def exists(self, where: Bools) -> Bools:
        """Say which domains have at least one of the nodes; bool[size]."""
        found = np.zeros(self.size + 1, dtype=np.bool_)
        found[self._bins[where]] = True
        return found[: self.size]
