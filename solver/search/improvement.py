"""Large-neighbourhood search from the incumbent, with its solutions decoded into plans."""

from __future__ import annotations

import math
import time
from contextlib import closing
from typing import TYPE_CHECKING

from ..ordering.decoding import counted
from .state import Decoded

if TYPE_CHECKING:
    from .tier_run import TierRun


def improve(run: TierRun, until: float, stall_limit: float = math.inf) -> None:
    """Improve the best plan until the deadline, or until too many steps in a row bring nothing.

    Parameters
    ----------
    stall_limit : float
        Steps without an improvement in a row that are too few to stop.
    """
    state = run.state
    goals = [n for n in run.group if n in state.model.goals]
    while time.monotonic() < until and run.open():
        plan = counted(state.problem, state.incumbent.best)
        if not state.lns.start(goals, *plan, until - time.monotonic()):
            return
        if not _follow(run, until, stall_limit):
            return


def _follow(run: TierRun, until: float, stall_limit: float) -> bool:
    """Take steps from the incumbent; return whether to restart, from another incumbent."""
    state, name, params = run.state, run.name, run.params
    found, spent, tried, idle = False, 0.0, time.monotonic(), 0
    with closing(state.lns.run(until)) as steps:
        try:
            for gain in steps:
                found |= gain
                idle = 0 if gain else idle + 1
                if idle > stall_limit:
                    break
                now = time.monotonic()
                if not found or now - tried < max(params.decode_seconds, params.decode_factor * spent):
                    continue
                solution = state.lns.solution
                decoded = state.decode(solution, run.names)
                found, tried = False, time.monotonic()
                spent = tried - now
                state.report_known(name)
                if decoded is not Decoded.ATTAINED or state.value(name) != solution.goals[name]:
                    return True
                if state.closed(name):
                    return False
        except KeyboardInterrupt:
            state.interrupted = True
    if found:
        state.decode(state.lns.solution, run.names)
        state.report_known(name)
    return False
