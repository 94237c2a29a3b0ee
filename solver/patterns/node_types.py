"""Nodes that are alike in a model: blocks of variables, and which of them can trade places.

A block is the part of a model for one node: its counts, its evictions, and the auxiliary variables that hang
on them alone. A row within one block is local; every other row links blocks. Blocks are of one type when
their local rows, their part in the linking rows and their part in every cost are the same: then any solution
stays one when two of them change places, so it matters only how often a pattern occurs in a type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..model.sparse_rows import extremes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..model.sparse_rows import Ints, Rows, Sparse


@dataclass(frozen=True)
class NodeType:
    """Blocks that can trade places: nodes of one type.

    Attributes
    ----------
    members : tuple of ints
        The variables of each block, in an order in which they correspond.
    local : ints
        The local rows of the first block, the one that stands for all.
    key : bytes
        Equal for types whose local rows are the same, in any model: a pattern of one is a pattern of the
        other.
    """

    members: tuple[Ints, ...]
    local: Ints
    key: bytes

    @property
    def first(self) -> Ints:
        """Variables of the block that stands for all."""
        return self.members[0]


@dataclass(frozen=True)
class NodeTypes:
    """A model as types of blocks, linking rows, and variables that belong to no block."""

    types: tuple[NodeType, ...]
    linking: Ints
    shared: Ints


def node_types_of(rows: Rows, node_of: Ints, costs: Sequence[Ints]) -> NodeTypes:
    """Split a model.

    Parameters
    ----------
    node_of : ints, shape (variables,)
        Node of each variable of which that is known from the start, -1 of the others.
    costs : sequence of ints, each of shape (variables,)
        Costs that will be minimised.
    """
    label = _labels(rows, node_of)
    of_row = _spread(rows, label)
    linking = np.flatnonzero(of_row < 0)
    by_node: dict[int, list[int]] = {}
    for variable in np.flatnonzero(label >= 0).tolist():
        by_node.setdefault(int(label[variable]), []).append(variable)
    local: dict[int, list[int]] = {}
    for r in np.flatnonzero(of_row >= 0).tolist():
        local.setdefault(int(of_row[r]), []).append(r)
    outer = rows.terms.take(linking).transposed(len(rows.low))
    literal = rows.literals.take(linking).transposed(len(rows.low))
    found: dict[tuple[bytes, bytes], list[tuple[Ints, Ints]]] = {}
    for node, variables in by_node.items():
        members = np.array(variables)
        mine = np.array(local.get(node, []), dtype=np.int64)
        seen = [column for side in (outer, literal) for column in _columns(side, members)]
        seen += [cost[members].tobytes() for cost in costs]
        found.setdefault((_inside(rows, members, mine), b"|".join(seen)), []).append((members, mine))
    return NodeTypes(
        types=tuple(
            NodeType(tuple(members for members, _ in alike), alike[0][1], key)
            for (key, _), alike in found.items()
        ),
        linking=linking,
        shared=np.flatnonzero(label < 0),
    )


def _labels(rows: Rows, node_of: Ints) -> Ints:
    """Node of each variable; -1 for those that hang on more than one."""
    label = node_of.copy()
    both = rows.terms.beside(rows.literals)
    row, column = both.row, both.column
    while True:
        least, most = _nodes(row, label[column], len(rows.floor))
        told = most[row] >= 0
        lowest, _ = extremes(column[told], least[row[told]], len(label))
        _, highest = extremes(column[told], most[row[told]], len(label))
        new = (label < 0) & (lowest == highest)
        if not new.any():
            return label
        label[new] = lowest[new]


def _nodes(groups: Ints, label: Ints, number: int) -> tuple[Ints, Ints]:
    """Least and most label of each group, without those that are not known."""
    known = label >= 0
    return extremes(groups[known], label[known], number)


def _spread(rows: Rows, label: Ints) -> Ints:
    """Node of each row whose variables are all of one node; -1 for the others."""
    both = rows.terms.beside(rows.literals)
    row, found = both.row, label[both.column]
    least, most = _nodes(row, found, len(rows.floor))
    whole = np.ones(len(rows.floor), dtype=bool)
    whole[row[found < 0]] = False
    return np.where(whole & (least == most), most, -1)


def _columns(side: Sparse, members: Ints) -> list[bytes]:
    taken = side.take(members)
    return [taken.start.tobytes(), taken.column.tobytes(), taken.value.tobytes()]


def _inside(rows: Rows, members: Ints, local: Ints) -> bytes:
    """Canonical form of a block's own rows, its variables numbered from 0."""
    place = {variable: k for k, variable in enumerate(members.tolist())}
    told = []
    for r in local.tolist():
        terms, literals = (
            sorted((place[v], int(a)) for v, a in zip(side.of(r)[0].tolist(), side.of(r)[1], strict=True))
            for side in (rows.terms, rows.literals)
        )
        told.append((terms, literals, int(rows.floor[r]), int(rows.ceiling[r])))
    domains = (rows.low[members].tolist(), rows.high[members].tolist())
    return repr((domains, sorted(told))).encode()
