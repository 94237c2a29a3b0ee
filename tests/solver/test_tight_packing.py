"""Tight packings: every pod is kept, no node is overfull in the end, and what fits only by swaps is found."""

import time
from random import Random

import numpy as np
import pytest
from support.proof import OPTIONS

from kubestow.solver.provision.swaps import Swaps
from kubestow.solver.provision.tight_packing import crammed, eased, searched


def drawn(seed):
    """Return nodes that pods of a few classes fill to the brim: asked, free, most, wanted."""
    draw = Random(seed)
    asked = np.array([[draw.randint(1, 9), draw.randint(1, 9), 1] for _ in range(draw.randint(2, 6))])
    nodes = range(draw.randint(2, 4))
    inside = np.array([[draw.randint(0, 4) for _ in nodes] for _ in asked])
    free = asked.T @ inside + np.array([[draw.randint(0, 1)] for _ in range(3)])
    most = np.full_like(inside, draw.randint(4, 9))
    return asked, free, most, inside.sum(axis=1)


def until():
    return time.monotonic() + OPTIONS.time_limit


@pytest.mark.parametrize("seed", range(12))
def test_no_pod_gets_lost_and_no_node_is_overfull_in_the_end(seed):
    asked, free, most, wanted = drawn(seed)
    start = crammed(asked, free, most, wanted, until())
    swapped = Swaps(asked, free, most, start).run(until())
    for counts in (start, swapped):
        assert (counts.sum(axis=1) == wanted).all()
        assert ((counts >= 0) & (counts <= most)).all()
    over = [
        np.maximum((asked.T @ counts - free) / free.sum(axis=1)[:, None], 0) for counts in (start, swapped)
    ]
    assert over[1].sum() <= over[0].sum() + 1e-9
    kept = eased(asked, free, swapped)
    assert (kept <= swapped).all()
    assert (asked.T @ kept <= free).all()
    found = searched(OPTIONS, asked, free, most, wanted, kept, until())
    assert (asked.T @ found <= free).all()
    assert (found.sum(axis=1) == wanted).all()


def test_two_nodes_are_evened_out_by_a_swap():
    """Each has room for ten; they have 6 + 6 and 4 + 4."""
    asked, free = np.array([[6], [4]]), np.array([[10, 10]])
    found = Swaps(asked, free, np.full((2, 2), 2), np.array([[2, 0], [0, 2]])).run(until())
    assert found.tolist() == [[1, 1], [1, 1]]


def test_a_class_goes_to_no_node_that_takes_no_more_of_it():
    asked, free, most = np.array([[2], [1]]), np.array([[2, 9]]), np.array([[2, 1], [1, 1]])
    found = Swaps(asked, free, most, np.array([[2, 0], [0, 0]])).run(until())
    assert found.tolist() == [[1, 1], [0, 0]]


def test_what_has_to_go_is_the_pod_with_which_least_has_to_go():
    asked, free = np.array([[6], [3]]), np.array([[10]])
    assert eased(asked, free, np.array([[1], [2]])).tolist() == [[1], [1]]
