"""All that may stand on a node: patterns to which no pod can be added.

Where nodes are alike, what stands on each of them in a plan is part of such a pattern, so a question about
plans that asks only for enough pods of each class is one about how often each pattern is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..patterns.enumeration import assignments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...framework.vocabulary.arrays import Ints

    Counts = NDArray[np.int8]

# Pods of a class on a node beyond which a pattern is not kept in bytes.
MOST_COPIES = 127

# Assignments that are looked at together.
CHUNK = 50_000


def maximal_patterns(weights: Ints, copies: Ints, room: Ints, most: int) -> Counts | None:
    """List all x, 0 <= x <= copies, with weights·x <= room to which nothing can be added.

    Parameters
    ----------
    weights : ints, shape (rows, classes)
        None negative.
    most : int
        Assignments that fit, also those to which something can be added, at most.

    Returns
    -------
    int8, shape (patterns, classes), or None where there are too many
    """
    if (room < 0).any() or copies.max(initial=0) > MOST_COPIES:
        return None
    # what weighs most goes first: where little fits after it, little is made
    heavy = (weights / np.maximum(room, 1)[:, None]).max(axis=0, initial=0.0)
    order = np.argsort(-heavy, kind="stable")
    weights, copies = weights[:, order], copies[order]
    every = assignments(weights, copies, room, most)
    if every is None:
        return None
    found = []
    for begin in range(0, len(every.loads), CHUNK):
        chosen = np.arange(begin, min(begin + CHUNK, len(every.loads)))
        patterns = np.ascontiguousarray(every.of(chosen).T, dtype=np.int8)
        free = np.ascontiguousarray((room - every.loads[chosen]).T)
        full = np.ones(len(chosen), dtype=np.bool_)
        for weight, pattern, top in zip(weights.T.tolist(), patterns, copies.tolist(), strict=True):
            fits = pattern < top
            for asked, left in zip(weight, free, strict=True):
                fits &= left >= asked
            full &= ~fits
        kept = np.empty((int(full.sum()), len(order)), dtype=np.int8)
        kept[:, order] = patterns[:, full].T
        found.append(kept)
    return np.concatenate(found)
