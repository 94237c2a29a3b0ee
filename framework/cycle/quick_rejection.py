"""Nodes where no eviction helps, found by filters that can judge many nodes at once after pods left them.

Preemption's dry run of such a node ends before any pod is put back: with all pods of lower priority gone, the
preemptor is rejected beside the pods nominated to the node, or without them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..vocabulary.arrays import Bools, Ints

if TYPE_CHECKING:
    from ..plugins.base import FilterPlugin
    from ..state.state import State
    from .filter_result import FilterResult
    from .nominated_pods import Mattering

_NONE: Final[Ints] = np.zeros(0, dtype=np.int64)


def hopeless(
    result: "FilterResult",
    state: "State",
    i: int,
    nodes: Ints,
    matters: "Mattering | None",
    pods: Ints,
    at: Ints,
    plain: Bools,
) -> Bools:
    """Return where a filter rejects pod i even after all pods that can leave have left.

    Parameters
    ----------
    result : FilterResult
        The verdicts of pod i in this state.
    state : State
    i : int
        The preemptor.
    nodes : int64[K]
        Ascending.
    matters : Mattering or None
        The pods that matter to other filters than NodeResourcesFit.
    pods, at : int64[M]
        The pods that leave, and the place of each one's node among the nodes.
    plain : bool[K]
        The nodes where none of the pods that leave matters to other filters than NodeResourcesFit.

    Returns
    -------
    bool[K]
        Not every such node, but every plain one that a filter other than NodeResourcesFit rejects beside
        nominated pods.
    """
    changes = [(pods, at, np.full(len(pods), -1, dtype=np.int64))]
    coming, where = _coming(state, i, nodes, matters)
    if coming.size:
        joined = (pods, coming), (at, where), (changes[0][2], np.ones(len(coming), dtype=np.int64))
        both, places, by = (np.concatenate(two) for two in joined)
        changes.append((both, places, by))
    failed = np.zeros(len(nodes), dtype=np.bool_)
    others: list[tuple[FilterPlugin, Any]] = []
    for plugin, data in result.cycle.entries:
        found = [plugin.judge_after(data, nodes, *change) for change in changes]
        for verdicts in found:
            if verdicts is not None:
                failed |= verdicts != 0
        if found[0] is None and matters is not None and plugin.name in matters.filters:
            others.append((plugin, data))
    for place in np.unique(where[plain[where] & ~failed[where]]).tolist() if others else ():
        n = int(nodes[place])
        beside = state.nominations.beside(i, n).pods
        failed[place] = any(_rejects(plugin, data, state, i, n, beside) for plugin, data in others)
    return failed


def _rejects(
    plugin: "FilterPlugin", data: Any, state: "State", i: int, n: int, beside: Sequence[int]
) -> bool:
    """Whether a filter rejects pod i beside some pods."""
    fork = plugin.fork(data, state, i, n)
    for j in beside:
        plugin.add(fork, j)
    return plugin.check(fork) != 0


def _coming(state: "State", i: int, nodes: Ints, matters: "Mattering | None") -> tuple[Ints, Ints]:
    """List the pods that matter and that pod i must leave room for, with their nodes' places among some."""
    if matters is None or not state.nominated:
        return _NONE, _NONE
    pods, there = state.nominations.among(i, matters.pods)
    places = np.searchsorted(nodes, there)
    asked = places < len(nodes)
    asked[asked] = nodes[places[asked]] == there[asked]
    return pods[asked], places[asked]
