"""Refill search as a phase: blueprints with less and less slack, each plan put in order."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from ...framework.rules.belonging import victim_priorities
from ...models import tiers
from ..model.round_model import new_solver
from ..ordering.decoding import counted
from ..refill.blueprint import blueprint

if TYPE_CHECKING:
    from ..departures.search import Departed
    from ..packing.search import Packed
    from ..refill.blueprint import Blueprint
    from ..refill.search import Refilled
    from .tier_run import TierRun


def refill(run: TierRun) -> None:
    """Improve what leaves for pods that are all placed, where nodes and pods are many."""
    state, params = run.state, run.params.refill
    if not concerns(run) or not state.refilling.worthwhile:
        return
    share, slack, attempt, again = run.share(run.params.refill_share), params.first_slack, 0, 0
    while attempt < params.attempts and run.open():
        until = min(share, run.until - state.finishing)
        if time.monotonic() >= until:
            return
        plan = _draw(run, slack)
        if plan is None:
            if not slack:
                return
            slack, again = int(slack * params.slack_shrinkage), 0
            continue
        end = time.monotonic() + params.attempt_share * (until - time.monotonic())
        found = state.refilling.carry_out(plan, params.attempts * attempt, end, again=again > 0)
        attempt += 1
        if found is not None:
            offer(run, found)
            state.finishing = time.monotonic() - found.searched
        if found is not None and not found.left:
            slack, again = int(slack * params.slack_shrinkage), 0
        elif again < params.retries:
            again += 1
        else:
            slack, again = int(slack * params.slack_growth), 0


def has_alone(run: TierRun) -> bool:
    """Whether refill search is all that a tier gets: a model of the round would be too large."""
    state = run.state
    return state.decisions > run.params.most_modelled and concerns(run) and state.refilling.worthwhile


def concerns(run: TierRun) -> bool:
    """Whether the tier counts victims, and all tiers of placed pods are above it."""
    levels = victim_priorities(run.state.problem.cluster)
    last = min(levels)
    return run.name == tiers.violations(last) or run.name in (tiers.evicted(last, q) for q in levels[last])


def _draw(run: TierRun, slack: int) -> Blueprint | None:
    state = run.state
    held = {name for name, _ in state.held}
    better = {tier.name: tier.value for tier in state.incumbent.valuation.tiers if tier.name not in held}
    standing, _ = counted(state.problem, state.incumbent.best)
    return blueprint(
        state.problem,
        state.refilling.sides,
        standing,
        state.held,
        better,
        slack,
        partial(new_solver, state.options),
        run.params.refill,
    )


def offer(run: TierRun, found: Refilled | Packed | Departed) -> None:
    """Put a plan in order."""
    run.state.follow(found.counts, found.leaving, run.until)
    run.state.report_known(run.name)
