"""The promises of drains: what is said to be possible or impossible is, by trying every order."""

from collections import Counter

import pytest
from support.drain_rounds import drain_round
from support.oracle.drains import Oracle
from support.sweeps import few_or_all

from kubestow.solver.moves.drain import DrainOptions, drain
from kubestow.solver.options import SolveOptions

ANSWERS = {True: "possible", False: "impossible"}


def check(seed):
    snapshot, nodes, rolling = drain_round(seed)
    found = drain(snapshot, nodes, DrainOptions(rolling=rolling), SolveOptions(workers=1))
    assert found.verdict in ("undecided", ANSWERS[Oracle(snapshot, nodes, rolling).possible()])
    if found.in_name_order.finished:
        assert found.verdict == "possible"
    return found


@pytest.mark.parametrize("seed", range(few_or_all(15, 2_000)))
def test_every_order_agrees(seed):
    check(seed)


@pytest.mark.slow
def test_every_order_agrees_on_rounds_of_all_kinds():
    seen = Counter()
    for seed in range(100, 200):
        found = check(seed)
        seen[found.verdict] += 1
        seen.update({each.kind for each in found.obstacles})
        seen["better than by name"] += found.verdict == "possible" and not found.in_name_order.finished
        seen["waits"] += found.waits > 0
    assert min(seen[kind] for kind in ("possible", "budget", "room", "unmovable", "order", "waits")) >= 3
    assert seen["better than by name"]
    assert seen["undecided"] <= 5
