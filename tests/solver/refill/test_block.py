"""Blocks: what stands and leaves adds up to what was to, and packings that exist are found."""

import math
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubestow.solver.refill.block import Block, BlockSearch
from kubestow.solver.refill.params import RefillParams

FEW = RefillParams(moves_per_node=30)
MANY = RefillParams(moves_per_node=2_000)


def block_of(seed, *, full):
    """A block in which a plan is hidden: its nodes hold what comes, once the right victims leave.

    With `full` the nodes have room for nothing else.
    """
    rng = Random(seed)
    need = [rng.randrange(3, 12) for _ in range(5)]
    gives = [rng.randrange(2, 7) for _ in range(3)]
    room, rest, victims, coming, leaving = [], [], [], Counter(), Counter()
    for _ in range(rng.randrange(3, 7)):
        inside = [rng.randrange(5) for _ in range(rng.randrange(2, 5))]
        used = sum(need[c] for c in inside)
        running = [rng.randrange(3) for _ in range(3)]
        gone = [g for g in running if rng.random() < 0.4 and gives[g] <= used][:1]
        coming.update(inside)
        leaving.update(gone)
        victims.append(running)
        room.append(used - sum(gives[g] for g in gone) + (0 if full else rng.randrange(6)))
        rest.append([len(inside) + (0 if full else 1)])
    return Block(
        need=need,
        other=[[1]] * 5,
        room=room,
        rest=rest,
        caps=[[4] * 5 for _ in room],
        coming=[coming[c] for c in range(5)],
        victims=victims,
        gives=gives,
        gives_other=[[0]] * 3,
        leaving=[leaving[g] for g in range(3)],
    )


@given(st.integers(0, 10_000), st.booleans())
def test_what_stands_and_leaves_adds_up(seed, full):
    block = block_of(seed, full=full)
    filled = BlockSearch(block, seed, FEW).run(math.inf)
    standing = Counter(c for classes in filled.standing for c in classes)
    leaving = Counter(g for groups in filled.leaving for g in groups)
    assert [standing[c] + filled.left.count(c) for c in range(5)] == block.coming
    assert [leaving[g] for g in range(3)] == block.leaving
    for n, (classes, groups) in enumerate(zip(filled.standing, filled.leaving, strict=True)):
        assert not Counter(groups) - Counter(block.victims[n])
        assert sum(block.need[c] for c in classes) <= block.room[n] + sum(block.gives[g] for g in groups)
        assert len(classes) <= block.rest[n][0]
        assert max(Counter(classes).values(), default=0) <= 4


@pytest.mark.parametrize("seed", range(8))
def test_a_plan_that_exists_is_found(seed):
    assert BlockSearch(block_of(seed, full=False), 0, MANY).run(math.inf).left == []


def test_a_seed_gives_one_plan():
    block = block_of(3, full=True)
    assert BlockSearch(block, 5, FEW).run(math.inf) == BlockSearch(block, 5, FEW).run(math.inf)


def test_no_move_is_made_when_time_is_out():
    search = BlockSearch(block_of(2, full=True), 0, MANY)
    search.run(-math.inf)
    assert search.moves == 0


def test_a_class_stands_on_a_node_no_more_often_than_it_may():
    block = Block(
        need=[1],
        other=[[]],
        room=[9, 9],
        rest=[[], []],
        caps=[[2], [1]],
        coming=[4],
        victims=[[], []],
        gives=[],
        gives_other=[],
        leaving=[],
    )
    filled = BlockSearch(block, 0, FEW).run(math.inf)
    assert [len(classes) for classes in filled.standing] == [2, 1]
    assert filled.left == [0]
