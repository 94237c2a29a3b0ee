"""Nodes where no eviction helps, as filters tell that can judge many nodes at once after pods left them.

Preemption's dry run of such a node ends before anybody is put back: with all pods of lower priority gone, the
preemptor is rejected beside the pods nominated to the node, or without them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .domains import Bools, Ints

if TYPE_CHECKING:
    from .filter_result import FilterResult
    from .state import State


def hopeless(
    result: "FilterResult",
    state: "State",
    i: int,
    nodes: Ints,
    mixed: Sequence[int],
    pods: Ints,
    at: Ints,
) -> Bools:
    """Say where a filter rejects pod i even after all who can have left; some such nodes, never another.

    Parameters
    ----------
    result : FilterResult
        The verdicts of pod i in this state.
    state : State
    i : int
        The preemptor.
    nodes : int64[K]
    mixed : sequence of int
        The nodes where nominated pods matter to other filters than NodeResourcesFit.
    pods, at : int64[M]
        The pods that leave, and the place of each one's node among the nodes.

    Returns
    -------
    bool[K]
    """
    changes = [(pods, at, np.full(len(pods), -1, dtype=np.int64))]
    coming, where = _coming(state, i, nodes, mixed)
    if coming.size:
        joined = (pods, coming), (at, where), (changes[0][2], np.ones(len(coming), dtype=np.int64))
        both, places, by = (np.concatenate(two) for two in joined)
        changes.append((both, places, by))
    failed = np.zeros(len(nodes), dtype=np.bool_)
    for plugin, data in result.cycle.entries:
        for change in changes:
            found = plugin.hopeless(data, nodes, *change)
            if found is not None:
                failed |= found
    return failed


def _coming(state: "State", i: int, nodes: Ints, mixed: Sequence[int]) -> tuple[Ints, Ints]:
    """List the pods that pod i must leave room for on mixed nodes, with their nodes' places."""
    pods: list[int] = []
    at: list[int] = []
    for place in np.flatnonzero(np.isin(nodes, mixed)).tolist():
        beside = state.nominations.beside(i, int(nodes[place]))
        pods += beside
        at += [place] * len(beside)
    return np.array(pods, dtype=np.int64), np.array(at, dtype=np.int64)
