"""Domains: the values of one node label, and which node is in which of them."""

from array import array
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...models.node import Node
from .arrays import Bools, Ints

_MOST_CHOICES: Final = 64


class Bins:
    """Some of the nodes sorted into domains.

    Attributes
    ----------
    size : int
        How many domains there are.
    of : array of int
        The domain of each node; `size` for the nodes that are left out.  Not numpy's: it is read one by one.
    """

    __slots__ = ("of", "size")

    def __init__(self, of: NDArray[Any], size: int) -> None:
        self.of = array("i", of.astype(np.intc).tobytes())
        self.size = size


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
    bins : Bins
        The nodes that have the label, by domain.
    """

    __slots__ = ("_bins", "_chosen", "_some", "bins", "ids", "key", "numbers", "present", "size", "values")

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
        self.bins = Bins(self._bins, self.size)
        self._some: dict[bytes, Bins] = {}
        self._chosen: dict[tuple[bool, ...], Bools] = {}

    def bins_of(self, where: Bools) -> Bins:
        """Return the bins of those nodes in `where` (bool[N]) that have the label; equal ones are shared."""
        counted = where & self.present
        if counted.sum() == self.present.sum():
            return self.bins
        key = np.packbits(counted).tobytes()
        found = self._some.get(key)
        if found is None:
            found = self._some[key] = Bins(np.where(counted, self.ids, self.size), self.size)
        return found

    def to_nodes(self, per_domain: NDArray[Any], missing: Any = 0) -> NDArray[Any]:
        """Give each node its domain's number, or `missing` where it lacks the label."""
        padded = np.append(per_domain, np.array([missing], dtype=per_domain.dtype))
        return padded[self._bins]

    def nodes_of(self, chosen: tuple[bool, ...]) -> Bools:
        """Return the nodes in the chosen ones of all domains; bool[N], shared by equal choices."""
        found = self._chosen.get(chosen)
        if found is None:
            if len(self._chosen) >= _MOST_CHOICES:
                self._chosen.clear()
            found = self._chosen[chosen] = self.to_nodes(np.array(chosen, dtype=np.bool_), missing=False)
        return found

    def count(self, nodes: Ints) -> int:
        """Count the domains of some nodes (by number); to lack the label is one more domain."""
        found = np.zeros(self.size + 1, dtype=np.bool_)
        found[self._bins[nodes]] = True
        return int(np.count_nonzero(found))

    def exists(self, where: Bools) -> Bools:
        """Say which domains have at least one of the nodes; bool[size]."""
        found = np.zeros(self.size + 1, dtype=np.bool_)
        found[self._bins[where]] = True
        return found[: self.size]
