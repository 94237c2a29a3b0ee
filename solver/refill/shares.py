"""Who comes and who leaves, divided among parts of the nodes so that each has its share of the room left.

A *kind* is a class that comes or a group of victims that leaves; of each resource one takes an amount, a
negative one where it gives something back. Victims are divided in proportion to those that run in a part,
pods in proportion to the room. Then single ones and pairs change places until the room left over, of the
resource that comes first, is even: in a round near its bound a few units decide whether a part can be filled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from random import Random

    from ...framework.vocabulary.arrays import Ints

# Changes of place for each part, at most.
CHANGES = 30

# Share of those that leave that may change places at random.
SHUFFLED = 0.15

# Room that even whole units cannot divide more evenly.
EVEN = 0.5


def divide(
    amounts: Ints, whole: Ints, caps: Ints, room: Ints, nodes: Ints, shuffle: Random | None = None
) -> Ints:
    """Divide kinds among parts.

    Parameters
    ----------
    amounts : int array (K, R)
        By kind, what one takes of each resource, in the first column of the one that decides.
    whole : int array (K,)
        How many there are of each kind.
    caps : int array (K, P)
        The most of each kind in each part.
    room : int array (P, R)
        What each part has free before.
    nodes : int array (P,)
        Nodes of each part.
    shuffle : Random, optional
        Lets some of those that leave change places at random, before the room is evened out.

    Returns
    -------
    int array (K, P)
        A cap is exceeded only where all parts are at theirs.
    """
    found = np.zeros(caps.shape, dtype=np.int64)
    left = room.astype(np.int64)
    for kind in sorted(range(len(whole)), key=lambda k: (amounts[k, 0] > 0, -abs(int(amounts[k, 0])))):
        gives = amounts[kind, 0] <= 0
        weight = caps[kind].astype(float) if gives else np.maximum(left[:, 0], 0).astype(float)
        if not weight.any():
            weight = nodes.astype(float)
        found[kind] = np.minimum(caps[kind], (whole[kind] * weight / weight.sum()).astype(np.int64))
        left -= np.outer(found[kind], amounts[kind])
        for _ in range(int(whole[kind] - found[kind].sum())):
            part = _next(amounts[kind], found[kind] < caps[kind], left, nodes)
            found[kind, part] += 1
            left[part] -= amounts[kind]
    if shuffle is not None and len(nodes) > 1:
        _shuffle(found, amounts, caps, left, shuffle)
    _even_out(found, amounts, caps, left, nodes)
    return found


def _shuffle(found: Ints, amounts: Ints, caps: Ints, left: Ints, random: Random) -> None:
    """Let a share of those that leave do so in another part."""
    kinds = [int(k) for k in np.flatnonzero((amounts[:, 0] < 0) & (found.sum(axis=1) > 0))]
    for _ in range(int(SHUFFLED * found[kinds].sum()) if kinds else 0):
        kind = random.choice(kinds)
        a, b = random.sample(range(found.shape[1]), 2)
        if found[kind, a] > 0 and found[kind, b] < caps[kind, b]:
            found[kind, a] -= 1
            found[kind, b] += 1
            left[a] += amounts[kind]
            left[b] -= amounts[kind]


def _next(amount: Ints, able: np.ndarray, left: Ints, nodes: Ints) -> int:
    """Choose the part for one more: where most room is left, or least if it gives some."""
    per_node = left[:, 0] / nodes if amount[0] <= 0 else -((left - amount) / _scale(left)).min(axis=1)
    if able.any():
        per_node[~able] = np.inf
    return int(np.argmin(per_node))


def _scale(left: Ints) -> np.ndarray:
    most: np.ndarray = np.maximum(np.abs(left).max(axis=0), 1)
    return most.astype(float)


def _even_out(found: Ints, amounts: Ints, caps: Ints, left: Ints, nodes: Ints) -> None:
    """Let one or two at a time change places until that makes the room left over no more even."""
    goal = left[:, 0].sum() * nodes / nodes.sum()
    nothing = np.zeros((1, amounts.shape[1]), dtype=np.int64)
    for _ in range(CHANGES * len(nodes)):
        off = left[:, 0] - goal
        a, b = int(np.argmax(off)), int(np.argmin(off))
        wanted = min(off[a], -off[b])
        if wanted <= EVEN:
            return
        into = np.flatnonzero((found[:, b] > 0) & (found[:, a] < caps[:, a]))
        out = np.flatnonzero((found[:, a] > 0) & (found[:, b] < caps[:, b]))
        change = _best_pair(np.vstack((nothing, amounts[into], -amounts[out])), left[a], left[b], wanted)
        if change is None:
            return
        for k in change:
            if k:
                kind, sign = (into[k - 1], 1) if k <= len(into) else (out[k - 1 - len(into)], -1)
                found[kind, a] += sign
                found[kind, b] -= sign
                left[a] -= sign * amounts[kind]
                left[b] += sign * amounts[kind]


def _best_pair(changes: Ints, giver: Ints, taker: Ints, wanted: float) -> tuple[int, int] | None:
    """Choose two changes of place that move nearly the room wanted; None where none improves the division.

    Parameters
    ----------
    changes : int array (K, R)
        What each takes of the giver and gives to the taker.
    giver, taker : int array (R,)
        What they have left; of the resources beside the first no part is to lack any, or more than it does.
    """
    pairs = changes[:, None, :] + changes[None, :, :]
    rest = pairs[..., 1:]
    sound = (giver[1:] - rest >= np.minimum(giver[1:], 0)) & (taker[1:] + rest >= np.minimum(taker[1:], 0))
    error = np.where(sound.all(axis=2), np.abs(pairs[..., 0] - wanted), np.inf)
    np.fill_diagonal(error, np.inf)  # there may be only one of a kind
    i, j = np.unravel_index(int(np.argmin(error)), error.shape)
    return (int(i), int(j)) if error[i, j] < wanted else None
