"""Ctrl-C during a search: it stops at once, keeps its best solution and says that it was interrupted."""

import os
import signal
import threading

import pytest

from kubestow.instances.generated import packing
from kubestow.instances.manifests import snapshot_of
from kubestow.solver.api import solve
from kubestow.solver.options import SolveOptions


@pytest.fixture
def round_without_end():
    """Two hundred pods that just do not fit: no tier below the first ones is proven for minutes."""
    return snapshot_of(packing(nodes=24, pods_per_node=8, priorities=4, utilisation=1.0, seed=1))


def test_the_best_plan_so_far_is_the_answer(round_without_end):
    heard = []

    def interrupt(progress):
        searching = threading.current_thread() is not threading.main_thread()
        if searching and not heard:
            heard.append(progress)
            os.kill(os.getpid(), signal.SIGINT)

    plan = solve(round_without_end, SolveOptions(time_limit=120, workers=2), interrupt)
    assert heard
    assert plan.stats.interrupted
    assert plan.stats.verified
    assert plan.status == "FEASIBLE"
    assert plan.stats.wall_seconds < 100
