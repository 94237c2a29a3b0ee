import pickle

import pytest

from kubestow.framework.state.moves import Bind, Deallocate, Leave, Mark, bound_nodes, pods_leaving

MOVES = (Mark(3), Leave(3), Bind(3, 0), Deallocate(3))


def test_moves_of_one_number_differ_by_what_happens():
    assert len(set(MOVES)) == len(MOVES)


@pytest.mark.parametrize("move", MOVES, ids=repr)
def test_a_move_is_the_same_after_a_journey_to_another_process(move):
    assert pickle.loads(pickle.dumps(move)) == move


def test_what_a_sequence_binds_and_what_leaves():
    assert bound_nodes((*MOVES, Bind(4, 1))) == {3: 0, 4: 1}
    assert pods_leaving((*MOVES, Mark(5))) == {3}
